#include "io/market_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>
#include <vector>

#include "io/defect.hpp"

namespace pursuit::io {

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

/// The banner and the line of sizes.
class MarketHeaderReader {
 public:
  MarketHeaderReader(TextLines& lines, bool observed, const SparseRoom& room)
      : lines_(lines), observed_(observed), room_(room) {}

  MarketHeader read() {
    read_banner();
    do {
      if (!lines_.next_filled(line_)) refuse(lines_.name(), "the file ends before the line of sizes");
    } while (line_[line_.find_first_not_of(" \t")] == '%');
    read_sizes();
    return header_;
  }

 private:
  void read_banner() {
    lines_.next(line_);
    CellScanner words = market_words(line_, lines_.name(), lines_.number() - 1);
    words.seek_record();
    const auto next = [&] { return words.has_cell() ? std::string(words.next_cell().text) : std::string(); };
    const std::string banner = next(), object = next(), format = next(), type = next(), mirror = next();
    const auto pick = [&](const char* what, const std::string& word, const std::vector<std::string_view>& all,
                          std::size_t of_observed) {
      const std::size_t allowed = observed_ ? of_observed : all.size();
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(allowed);
      const auto found = std::find(all.begin(), end, lower_case(word));
      if (found == end)
        refuse(lines_.here(),
               fmt::format("{} {} is not supported{}; supported: {}", what, shown(word),
                           observed_ ? " for observed entries" : "", fmt::join(all.begin(), end, ", ")));
      return found - all.begin();
    };
    if (lower_case(banner) != lower_case(kMarketBanner))
      refuse(lines_.here(),
             fmt::format("the file starts with {}, not with '{}'", shown(banner), kMarketBanner));
    pick("object", object, {"matrix"}, 1);
    header_.sparse = pick("format", format, {"coordinate", "array"}, 1) == 0;
    // SciPy writes "unsigned-integer", which the format's definition does not have.
    constexpr std::array kFields = {MarketField::kReal, MarketField::kInteger, MarketField::kInteger,
                                    MarketField::kPattern};
    header_.field = kFields[pick("entry type", type, {"real", "integer", "unsigned-integer", "pattern"}, 3)];
    header_.symmetry =
        static_cast<MarketSymmetry>(pick("symmetry", mirror, {"general", "symmetric", "skew-symmetric"}, 1));
    if (!header_.sparse && header_.field == MarketField::kPattern)
      refuse(lines_.here(), "entry type 'pattern' is only allowed for format 'coordinate'");
    require_end(words);
  }

  void read_sizes() {
    const std::string where = lines_.here();
    CellScanner words = market_words(line_, lines_.name(), lines_.number() - 1);
    words.seek_record();
    header_.rows = next_size(words, "rows");
    header_.columns = next_size(words, "columns");
    if (header_.sparse) {
      header_.count = next_size(words, "entries");
      require_storable(where, header_.rows, header_.columns, header_.count, room_);
    } else {
      require_indexable(where, header_.rows, header_.columns);
    }
    if (header_.mirrored() && header_.rows != header_.columns)
      refuse(where,
             fmt::format("a symmetric matrix must be square, not {} x {}", header_.rows, header_.columns));
    if (!header_.sparse) {  // both sizes fit int, so their product fits int64
      header_.count = header_.rows * header_.columns;
      if (header_.symmetry == MarketSymmetry::kSymmetric) header_.count = (header_.count + header_.rows) / 2;
      if (header_.symmetry == MarketSymmetry::kSkewSymmetric)
        header_.count = (header_.count - header_.rows) / 2;
    }
    require_end(words);
    const std::size_t shortest = std::strlen(!header_.sparse                          ? "1\n"
                                             : header_.field == MarketField::kPattern ? "1 1\n"
                                                                                      : "1 1 1\n");
    const auto rest = lines_.rest();
    // The newline of the last entry may be missing.
    if (rest && !observed_ && static_cast<std::uint64_t>(header_.count) > (rest->size() + 1) / shortest)
      refuse(where, fmt::format("the header promises {} entries, more than the remaining {} bytes can hold",
                                header_.count, rest->size()));
  }

  /// A number of the line of sizes. One too large for int64 saturates, to be refused for its size.
  std::int64_t next_size(CellScanner& words, const char* what) const {
    const std::string_view word = words.has_cell() ? words.next_cell().text : std::string_view();
    std::int64_t size = 0;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (last != word.data() + word.size() || error == std::errc::invalid_argument)
      refuse(lines_.here(), fmt::format("the number of {} {} is not a whole number", what, shown(word)));
    if (error == std::errc::result_out_of_range)
      size = word.front() == '-' ? -1 : std::numeric_limits<std::int64_t>::max();
    return size;
  }

  void require_end(CellScanner& words) const {
    if (words.has_cell())
      refuse(lines_.here(),
             fmt::format("unexpected {} after the end of the entry", shown(words.next_cell().text)));
  }

  TextLines& lines_;
  bool observed_;
  const SparseRoom& room_;
  std::string_view line_;
  MarketHeader header_;
};

}  // namespace

std::pair<Index, Index> MarketHeader::position(std::size_t entry) const {
  auto left = static_cast<Index>(entry);
  for (Index j = 0;; ++j) {
    const Index top = first_row(j);
    if (left < rows - top || j + 1 == columns) return {top + left + 1, j + 1};
    left -= rows - top;
  }
}

MarketHeader read_market_header(TextLines& lines, bool observed, const SparseRoom& room) {
  return MarketHeaderReader(lines, observed, room).read();
}

CellScanner market_words(std::string_view text, const std::string& name, std::size_t lines_before) {
  return {text, Separator::kBlanks, CellScanner::Quotes::end_with_line, &name, lines_before};
}

}  // namespace pursuit::io
