#include "io/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <new>
#include <optional>
#include <system_error>

#include "base/machine.hpp"
#include "io/defect.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {

namespace {

constexpr std::size_t kSmallestBuffer = std::size_t{1} << 16;

[[noreturn]] void fail_to_read(const std::filesystem::path& path, int code) {
  throw InvalidInput(
      fmt::format("cannot read '{}': {}", path.string(), std::generic_category().message(code)));
}

class ReadDescriptor {
 public:
  explicit ReadDescriptor(const std::filesystem::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail_to_read(path, errno);
  }
  ReadDescriptor(const ReadDescriptor&) = delete;
  ReadDescriptor& operator=(const ReadDescriptor&) = delete;
  ~ReadDescriptor() { ::close(descriptor_); }

  /// What the system says the size is; none where it cannot know, as for a pipe.
  std::optional<std::size_t> expected_size() const {
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) fail_to_read(path_, errno);
    if (S_ISDIR(status.st_mode)) fail_to_read(path_, EISDIR);
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    return static_cast<std::size_t>(status.st_size);
  }

  /// Fewer bytes than asked for; none at the end.
  std::size_t read(char* into, std::size_t size) const {
    while (true) {
      const ssize_t count = ::read(descriptor_, into, size);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) fail_to_read(path_, errno);
    }
  }

 private:
  const std::filesystem::path& path_;
  int descriptor_;
};

bool starts_like_binary(std::string_view bytes) {
  return is_gzip(bytes) || bytes.starts_with("PK") || bytes.starts_with("\x93NUMPY");
}

/// zlib counts in 32 bits: how much of a buffer one call may be given.
uInt one_call(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

class Inflater {
 public:
  Inflater() {
    constexpr int kGzipWrapper = 16;
    if (::inflateInit2(&stream, MAX_WBITS + kGzipWrapper) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream); }
  z_stream stream = {};
};

class Deflater {
 public:
  Deflater() {
    constexpr int kGzipWrapper = 16, kMemoryLevel = 8;
    if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipWrapper, kMemoryLevel,
                       Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { ::deflateEnd(&stream); }
  z_stream stream = {};
};

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const ReadDescriptor file(path);
  const std::optional<std::size_t> size = file.expected_size();
  const auto refuse_beyond = [&](std::uint64_t wanted) {
    constexpr std::uint64_t kSmall = std::uint64_t{1} << 25;  // not worth asking
    const std::uint64_t most =
        wanted < kSmall ? kSmall : available_memory() / 2;  // what is made of it needs as much
    if (wanted > most)
      refuse(path.string(),
             fmt::format("reading it needs more memory than there is: it has {}{}, and {} are free",
                         size ? "" : "at least ", human_size(wanted), human_size(2 * most)));
  };
  refuse_beyond(size.value_or(0));
  // One byte more than expected, so that the usual file is known to have ended without growing the buffer.
  std::string bytes(std::max(size.value_or(0) + 1, kSmallestBuffer), '\0');
  std::size_t filled = 0;
  while (const std::size_t count = file.read(bytes.data() + filled, bytes.size() - filled)) {
    const bool first = filled == 0;
    filled += count;
    // A device may have no end: what is no format of ours is not read on.
    const std::string_view start = std::string_view(bytes).substr(0, filled);
    if (first && !size && !starts_like_binary(start)) require_no_zero_byte(start, path.string());
    if (filled < bytes.size()) continue;
    refuse_beyond(2 * bytes.size());
    bytes.resize(2 * bytes.size());
  }
  bytes.resize(filled);
  if (bytes.empty()) refuse(path.string(), "the file is empty");
  return bytes;
}

void require_no_zero_byte(std::string_view bytes, const std::string& name) {
  if (const std::size_t zero = bytes.find('\0'); zero != std::string_view::npos)
    refuse(name,
           fmt::format("byte {} is zero: this is neither text nor a MatrixMarket, .npy or .npz file", zero));
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

std::string gunzip(std::string_view bytes, const std::string& name, std::uint64_t limit) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::string unpacked;
  std::size_t filled = 0, taken = 0;
  while (true) {
    if (filled == unpacked.size()) {
      const std::size_t wanted = std::max({kSmallestBuffer, 2 * bytes.size(), 2 * unpacked.size()});
      unpacked.resize(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, limit + 1)));
    }
    const uInt room = one_call(unpacked.size() - filled), supply = one_call(bytes.size() - taken);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())) + taken;
    stream.avail_in = supply;
    stream.next_out = reinterpret_cast<Bytef*>(unpacked.data()) + filled;
    stream.avail_out = room;
    const int outcome = ::inflate(&stream, Z_NO_FLUSH);
    taken += supply - stream.avail_in;
    filled += room - stream.avail_out;

    if (filled > limit) {
      refuse(name,
             fmt::format("the {} of gzip data unpack to more than {}, the most allowed for a file of this "
                         "size; unpack the file first if it is genuine",
                         human_size(bytes.size()), human_size(limit)));
    }
    if (outcome == Z_STREAM_END) {
      // Another member may follow, or the zeros that pad a file to whole blocks.
      const std::size_t next = std::min(bytes.find_first_not_of('\0', taken), bytes.size());
      if (next == bytes.size()) break;
      if (next != taken || !is_gzip(bytes.substr(taken))) {
        refuse(name, fmt::format("corrupt gzip data: byte {} starts no gzip member", next));
      }
      ::inflateReset(&stream);
    } else if (outcome == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      refuse(name, fmt::format("corrupt gzip data at byte {}: {}", taken,
                               stream.msg != nullptr ? stream.msg : "not a deflate stream"));
    } else if (taken == bytes.size() && stream.avail_out != 0) {
      refuse(name, fmt::format("truncated gzip data: it breaks off after {} bytes", bytes.size()));
    }
  }
  unpacked.resize(filled);
  return unpacked;
}

std::string gzip(std::string_view bytes) {
  Deflater deflater;
  z_stream& stream = deflater.stream;
  std::string packed;
  std::size_t filled = 0, taken = 0;
  int outcome = Z_OK;
  while (outcome != Z_STREAM_END) {
    if (filled == packed.size())
      packed.resize(std::max({kSmallestBuffer, bytes.size() / 4, 2 * packed.size()}));
    const uInt room = one_call(packed.size() - filled), supply = one_call(bytes.size() - taken);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())) + taken;
    stream.avail_in = supply;
    stream.next_out = reinterpret_cast<Bytef*>(packed.data()) + filled;
    stream.avail_out = room;
    outcome = ::deflate(&stream, taken + supply == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    taken += supply - stream.avail_in;
    filled += room - stream.avail_out;
  }
  packed.resize(filled);
  return packed;
}

}  // namespace pursuit::io
