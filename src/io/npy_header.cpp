#include "io/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "io/defect.hpp"

namespace pursuit::io {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

std::string_view without_byte_order(std::string_view type) {
  return !type.empty() && std::string_view("<>=|").find(type.front()) != std::string_view::npos
             ? type.substr(1)
             : type;
}

/// Says what an element type that NumPy has and we do not read would mean, and what to do about it.
[[noreturn]] void refuse_type(const std::string& name, std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"O", "Python objects; save an array of numbers, for example array.astype('float64')"},
      {"c", "complex numbers; save array.real if the real part is what is meant"},
      {"V", "records or raw bytes; save an array of numbers"},
      {"M", "dates; save an array of numbers"},
      {"m", "durations; save an array of numbers"},
      {"f", "floating point of an unusual size; save array.astype('float32') or array.astype('float64')"},
  };
  const std::string_view kind = without_byte_order(type).substr(0, 1);
  for (const auto& [known, meaning] : kKinds) {
    if (kind == known) refuse(name, fmt::format("element type {} is not read: {}", shown(type), meaning));
  }
  refuse(name, fmt::format("element type {} is unknown", shown(type)));
}

void read_type(std::string_view type, NpyHeader& header, const std::string& name) {
  const std::string_view bare = without_byte_order(type);
  if (bare.empty()) refuse_type(name, type);
  std::size_t size = 0;
  const auto [last, error] = std::from_chars(bare.data() + 1, bare.data() + bare.size(), size);
  if (error != std::errc{} || last != bare.data() + bare.size()) refuse_type(name, type);

  header.kind = bare.front();
  const bool is_integer = header.kind == 'i' || header.kind == 'u';
  const bool is_text = header.kind == 'U' || header.kind == 'S';
  const bool known = (header.kind == 'f' && (size == 2 || size == 4 || size == 8)) ||
                     (header.kind == 'b' && size == 1) ||
                     (is_integer && (size == 1 || size == 2 || size == 4 || size == 8)) || is_text;
  if (!known) refuse_type(name, type);
  // Text of length 0 would let a header of a few bytes promise any number of elements.
  constexpr std::size_t kLongestText = std::size_t{1} << 24;
  if (is_text && (size == 0 || size > kLongestText)) {
    refuse(name, fmt::format("element type {} is not read: text must be 1 to {} characters long", shown(type),
                             kLongestText));
  }
  header.size = header.kind == 'U' ? 4 * size : size;
  const bool foreign = (type.front() == '<' || type.front() == '>') && type.front() != kNativeByteOrder;
  header.swapped = foreign && header.kind != 'S' && header.kind != 'b';
}

/// Reads the Python dictionary that describes the array: text keys, and the few kinds of values NumPy writes.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void read(NpyHeader& header) {
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = read_string();
      expect(':');
      if (key == "descr" && !has_type) {
        if (peek() == '[') refuse(name_, "the array holds records with named fields, not plain numbers");
        read_type(read_string(), header, name_);
        has_type = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran_order = read_truth();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = read_shape();
        has_shape = true;
      } else {
        refuse(name_, fmt::format("the .npy header has the unexpected or repeated key {}", shown(key)));
      }
      if (!accept(',') && peek() != '}') unexpected("',' or '}'");
    }
    if (peek() != '\0') unexpected("the end of the header");
    if (!has_type || !has_order || !has_shape) {
      refuse(name_, fmt::format("the .npy header lacks {}", !has_type    ? "'descr'"
                                                            : !has_order ? "'fortran_order'"
                                                                         : "'shape'"));
    }
  }

 private:
  /// The next character that is not a blank; NUL at the end.
  char peek() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) unexpected(fmt::format("'{}'", c));
  }

  [[noreturn]] void unexpected(std::string_view wanted) {
    peek();
    refuse(name_, fmt::format("malformed .npy header: {} expected, but found {} at character {}", wanted,
                              shown(text_.substr(at_)), at_ + 1));
  }

  std::string_view read_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') unexpected("a quoted string");
    const std::size_t first = ++at_, close = text_.find(quote, first);
    if (close == std::string_view::npos) unexpected("a closing quote");
    at_ = close + 1;
    return text_.substr(first, close - first);
  }

  bool read_truth() {
    peek();
    for (const auto& [word, truth] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return truth;
      }
    }
    unexpected("True or False");
  }

  std::vector<Index> read_shape() {
    std::vector<Index> shape;
    expect('(');
    while (!accept(')')) {
      peek();
      Index extent = 0;
      const auto [last, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc{} || extent < 0) unexpected("an extent, a whole number that 64 bits can hold,");
      at_ = static_cast<std::size_t>(last - text_.data());
      accept('L');  // how Python 2 marked a long integer
      shape.push_back(extent);
      if (shape.size() > kMostDimensions) {
        refuse(name_, fmt::format("the array has more than {} dimensions", kMostDimensions));
      }
      if (!accept(',') && peek() != ')') unexpected("',' or ')'");
    }
    return shape;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

/// The product, or nothing where it overflows. Any extent of 0 makes it 0.
std::optional<Index> product(const std::vector<Index>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  Index count = 1;
  for (const Index extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return count;
}

/// A little-endian number of so many bytes.
std::size_t little_endian(std::string_view bytes) {
  std::size_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

}  // namespace

bool is_npy(std::string_view bytes) {
  return bytes.starts_with(kMagic);
}

std::string shape_text(const std::vector<Index>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

NpyHeader parse_npy_header(std::string_view bytes, const std::string& name) {
  if (!is_npy(bytes)) refuse(name, "this is not a .npy array: the first bytes are not '\\x93NUMPY'");
  const std::string_view version = bytes.substr(kMagic.size()).substr(0, 2);
  const char major = version.size() == 2 ? version[0] : '\0';
  if (version.size() == 2 && (major < 1 || major > 3)) {
    refuse(name, fmt::format(".npy version {} is not supported; supported: 1, 2, 3", int{major}));
  }
  const std::size_t length_size = major == 1 ? 2 : 4, text_start = kMagic.size() + 2 + length_size;
  if (bytes.size() < text_start)
    refuse(name, fmt::format("truncated .npy: {} bytes hold no header", bytes.size()));
  const std::size_t text_size = little_endian(bytes.substr(kMagic.size() + 2, length_size));
  if (text_size > bytes.size() - text_start) {
    refuse(name, fmt::format("truncated .npy: the header should have {} bytes, but only {} are left",
                             text_size, bytes.size() - text_start));
  }

  NpyHeader header;
  DictionaryReader(bytes.substr(text_start, text_size), name).read(header);
  header.data = bytes.substr(text_start + text_size);
  const std::optional<Index> count = product(header.shape);
  // Division, because the number of bytes may overflow where the number of elements does not.
  if (!count || static_cast<std::size_t>(*count) > header.data.size() / header.size) {
    refuse(name,
           fmt::format("truncated .npy: shape {} needs more than the {} bytes of data that follow the header",
                       shape_text(header.shape), header.data.size()));
  }
  header.count = *count;
  if (const std::size_t used = static_cast<std::size_t>(*count) * header.size; used != header.data.size()) {
    refuse(name, fmt::format("excess data: shape {} needs {} bytes, but {} follow the header",
                             shape_text(header.shape), used, header.data.size()));
  }
  return header;
}

std::string format_npy_header(std::string_view type, bool fortran_order, const std::vector<Index>& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type,
                                 fortran_order ? "True" : "False", shape_text(shape));
  constexpr std::size_t kAlignment = 64;  // so that the data of a memory-mapped file are aligned
  const std::size_t before_text = kMagic.size() + 4, unpadded = before_text + text.size() + 1;
  text.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  text += '\n';

  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace pursuit::io
