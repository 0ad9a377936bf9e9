#include "io/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "base/machine.hpp"
#include "io/defect.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {

namespace {

constexpr std::size_t kHead = std::size_t{1} << 16;
constexpr int kGzipWrapper = 16;

[[noreturn]] void fail_to_read(const std::string& name, int code) {
  throw InvalidInput(fmt::format("cannot read '{}': {}", name, std::generic_category().message(code)));
}

/// A file's bytes in the address space; the system reads them as they are looked at.
class Mapping {
 public:
  Mapping(int descriptor, std::size_t size)
      : size_(size), bytes_(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0)) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (sound()) ::munmap(bytes_, size_);
  }
  bool sound() const { return bytes_ != MAP_FAILED; }
  std::string_view view() const { return {static_cast<const char*>(bytes_), size_}; }

  void forget(std::size_t from, std::size_t to) const {
    constexpr std::size_t kPage = 4096;
    const std::size_t first = from / kPage * kPage, last = to / kPage * kPage;  // of neighbours, end to end
    if (first < last) ::madvise(static_cast<char*>(bytes_) + first, last - first, MADV_DONTNEED);
  }

 private:
  std::size_t size_;
  void* bytes_;
};

/// zlib counts in 32 bits: how much of a buffer one call may be given.
uInt one_call(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

Bytef* zlib_bytes(const char* bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes));
}

}  // namespace

/// Bytes as they are stored: all of them in place, or block by block from a pipe or a device.
class ByteSource::Input {
 public:
  explicit Input(std::string_view bytes) : left_(bytes), in_place_(true) {}

  explicit Input(const std::filesystem::path& path) : name_(path.string()) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) fail_to_read(name_, errno);
    if (S_ISDIR(status.st_mode)) fail_to_read(name_, EISDIR);
    if (!S_ISREG(status.st_mode) || status.st_size == 0) return;
    mapping_ = std::make_shared<Mapping>(descriptor_, static_cast<std::size_t>(status.st_size));
    if (!mapping_->sound()) {  // some file systems cannot: they are read like pipes
      mapping_.reset();
      return;
    }
    left_ = mapping_->view();
    in_place_ = true;
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool in_place() const { return in_place_; }
  std::string_view left() const { return left_; }
  std::size_t taken() const { return taken_; }
  const std::shared_ptr<const Mapping>& mapping() const { return mapping_; }

  void take(std::size_t count) {
    left_.remove_prefix(count);
    taken_ += count;
  }

  void forget(std::size_t from, std::size_t to) const {
    if (mapping_) mapping_->forget(from, to);
  }

  /// Sees to it that something is left; false at the end.
  bool refill() {
    if (!left_.empty()) return true;
    if (in_place_) return false;
    constexpr std::size_t kBlock = std::size_t{1} << 18;
    buffer_.resize(kBlock);
    ssize_t count = 0;
    do count = ::read(descriptor_, buffer_.data(), kBlock);
    while (count < 0 && errno == EINTR);
    if (count < 0) fail_to_read(name_, errno);
    left_ = std::string_view(buffer_).substr(0, static_cast<std::size_t>(count));
    return count > 0;
  }

 private:
  std::string name_, buffer_;
  std::string_view left_;
  std::size_t taken_ = 0;
  bool in_place_ = false;
  int descriptor_ = -1;
  std::shared_ptr<const Mapping> mapping_;
};

/// Unpacks gzip of one or several members; checks lengths and checksums.
class ByteSource::Inflater {
 public:
  Inflater() {
    if (::inflateInit2(&stream_, MAX_WBITS + kGzipWrapper) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream_); }

  std::uint64_t unpacked() const { return unpacked_; }

  /// Writes up to `room` bytes; 0 at the end.
  std::size_t unpack(Input& input, char* into, std::size_t room, const std::string& name) {
    std::size_t filled = 0;
    while (filled < room && !ended_) {
      const bool more = input.refill();
      if (between_members_) {
        start_member(input, more, name);
        continue;
      }
      const uInt supply = one_call(input.left().size()), space = one_call(room - filled);
      stream_.next_in = zlib_bytes(input.left().data());
      stream_.avail_in = supply;
      stream_.next_out = zlib_bytes(into + filled);
      stream_.avail_out = space;
      const int outcome = ::inflate(&stream_, Z_NO_FLUSH);
      input.take(supply - stream_.avail_in);
      filled += space - stream_.avail_out;
      if (outcome == Z_MEM_ERROR) throw std::bad_alloc();
      if (outcome == Z_STREAM_END) {
        between_members_ = true;
      } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
        refuse(name, fmt::format("corrupt gzip data at byte {}: {}", input.taken(),
                                 stream_.msg != nullptr ? stream_.msg : "not a deflate stream"));
      } else if (!more && stream_.avail_out != 0) {
        refuse(name, fmt::format("truncated gzip data: it breaks off after {} bytes", input.taken()));
      }
    }
    unpacked_ += filled;
    return filled;
  }

 private:
  /// Behind a member another one may follow, or the zeros that pad a file to whole blocks.
  void start_member(Input& input, bool more, const std::string& name) {
    if (!more) {
      ended_ = true;
      return;
    }
    const bool padding = input.left().front() == '\0';
    if (!padding && !padded_ && input.left().front() == '\x1F') {
      ::inflateReset(&stream_);
      between_members_ = false;
      return;
    }
    if (!padding)
      refuse(name, fmt::format("corrupt gzip data: byte {} starts no gzip member", input.taken()));
    padded_ = true;
    input.take(std::min(input.left().find_first_not_of('\0'), input.left().size()));
  }

  z_stream stream_ = {};
  std::uint64_t unpacked_ = 0;
  bool between_members_ = false, padded_ = false, ended_ = false;
};

ByteSource::ByteSource(const std::filesystem::path& path)
    : name_(path.string()), input_(std::make_unique<Input>(path)) {
  open();
}
ByteSource::ByteSource(std::string_view bytes, std::string name, std::uint64_t limit)
    : name_(std::move(name)), limit_(limit), input_(std::make_unique<Input>(bytes)) {
  open();
}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

void ByteSource::open() {
  input_->refill();
  if (is_gzip(input_->left())) inflater_ = std::make_unique<Inflater>();
  if (!in_place()) {
    std::string start;
    read(start, kHead);
    head_ = std::move(start);
  }
  if (head().empty()) refuse(name_, "the file is empty");
  if (inflater_ && is_gzip(head_)) refuse(name_, "the file was packed with gzip twice; unpack it once");
}

std::string_view ByteSource::head() const {
  return in_place() ? in_place()->substr(0, kHead) : std::string_view(head_);
}

std::optional<std::string_view> ByteSource::in_place() const {
  if (inflater_ || !input_->in_place()) return std::nullopt;
  return input_->left();
}

void ByteSource::forget(std::size_t from, std::size_t to) const {
  input_->forget(from, to);
}

bool ByteSource::read(std::string& into, std::size_t size) {
  if (!head_.empty()) {
    into += std::exchange(head_, {});
    return true;
  }
  const std::size_t before = into.size();
  if (!inflater_) {
    while (into.size() - before < size && input_->refill()) {
      const std::string_view next = input_->left().substr(0, size - (into.size() - before));
      into += next;
      input_->take(next.size());
    }
    return into.size() != before;
  }
  into.resize(before + size);
  into.resize(before + inflater_->unpack(*input_, into.data() + before, size, name_));
  const std::uint64_t packed = input_->taken(), most = std::min(limit_, expansion_limit(packed));
  if (inflater_->unpacked() > most)
    refuse(name_,
           fmt::format("{} of gzip data unpack to more than {}, the most allowed for this size; unpack the "
                       "file first if it is genuine",
                       human_size(packed), human_size(most)));
  return into.size() != before;
}

Bytes ByteSource::take_all() {
  if (const auto all = in_place()) return {*all, input_->mapping()};
  const auto bytes = std::make_shared<std::string>();
  for (std::size_t size = kHead; read(*bytes, size); size = bytes->size()) {
    constexpr std::uint64_t kSmall = std::uint64_t{1} << 25;  // not worth asking
    const std::uint64_t wanted = 2 * bytes->size(), most = wanted < kSmall ? kSmall : available_memory();
    if (wanted > most)
      refuse(name_, fmt::format("reading it needs more memory than {}: it has at least {}, and {} are free",
                                memory_there_is(), human_size(bytes->size()), human_size(most)));
  }
  return {*bytes, bytes};
}

void require_no_zero_byte(std::string_view bytes, const std::string& name, std::size_t offset) {
  if (const std::size_t zero = bytes.find('\0'); zero != std::string_view::npos)
    refuse(name, fmt::format("byte {} is zero: this is neither text nor a MatrixMarket, .npy or .npz file",
                             offset + zero));
}

std::uint64_t expansion_limit(std::uint64_t compressed_size) {
  constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{1} << 30, kRatio = 250;
  return std::max(kAlwaysAllowed, kRatio * compressed_size);
}

std::string human_size(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  auto size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{:.4g} {}", size, kUnits[unit]);
}

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1F\x8B");
}

std::string gzip(std::string_view bytes) {
  constexpr int kMemoryLevel = 8;
  z_stream stream = {};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipWrapper, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&::deflateEnd)> ended(&stream, &::deflateEnd);
  std::string packed;
  std::size_t filled = 0, taken = 0;
  for (int outcome = Z_OK; outcome != Z_STREAM_END;) {
    if (filled == packed.size()) packed.resize(std::max({kHead, bytes.size() / 4, 2 * packed.size()}));
    const uInt room = one_call(packed.size() - filled), supply = one_call(bytes.size() - taken);
    stream.next_in = zlib_bytes(bytes.data()) + taken;
    stream.avail_in = supply;
    stream.next_out = zlib_bytes(packed.data()) + filled;
    stream.avail_out = room;
    outcome = ::deflate(&stream, taken + supply == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    taken += supply - stream.avail_in;
    filled += room - stream.avail_out;
  }
  packed.resize(filled);
  return packed;
}

}  // namespace pursuit::io
