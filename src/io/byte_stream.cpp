#include "io/byte_stream.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include "io/byte_source.hpp"
#include "io/defect.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {

namespace {

[[noreturn]] void fail_to_read(const std::string& name, int code) {
  throw InvalidInput(fmt::format("cannot read '{}': {}", name, std::generic_category().message(code)));
}

gzFile open(const std::filesystem::path& path) {
  errno = 0;
  gzFile file = ::gzopen(path.c_str(), "rbe");  // e: closed in programs that this one starts
  if (file == nullptr && errno == 0) throw std::bad_alloc();
  if (file == nullptr) fail_to_read(path.string(), errno);
  constexpr unsigned kBuffer = 1U << 17;
  ::gzbuffer(file, kBuffer);
  return file;
}

}  // namespace

void ByteStream::Closer::operator()(gzFile_s* file) const {
  ::gzclose(file);
}

ByteStream::ByteStream(const std::filesystem::path& path) : name_(path.string()), file_(open(path)) {
  fetch(head_, kBlock);
  if (head_.empty()) refuse(name_, "the file is empty");
  if (is_gzip(head_)) refuse(name_, "the file was packed with gzip twice; unpack it once");
}

bool ByteStream::read(std::string& into, std::size_t size) {
  const std::size_t before = into.size();
  if (!head_taken_) {
    into += head_;
    head_taken_ = true;
    head_ = {};
  } else {
    fetch(into, size);
  }
  return into.size() != before;
}

std::string ByteStream::read_all() {
  std::string bytes;
  while (read(bytes)) {
  }
  return bytes;
}

void ByteStream::fetch(std::string& into, std::size_t size) {
  const std::size_t before = into.size();
  into.resize(before + size);
  errno = 0;
  const int count = ::gzread(file_.get(), into.data() + before, static_cast<unsigned>(size));
  if (count < static_cast<int>(size)) require_sound();
  into.resize(before + static_cast<std::size_t>(count));
  unpacked_ += static_cast<std::uint64_t>(count);
  if (::gzdirect(file_.get()) != 0) return;
  const auto packed = static_cast<std::uint64_t>(std::max<z_off_t>(0, ::gzoffset(file_.get())));
  if (unpacked_ > expansion_limit(packed)) {
    refuse(name_, fmt::format("{} of gzip data unpack to more than {}, the most allowed for this size; "
                              "unpack the file first if it is genuine",
                              human_size(packed), human_size(expansion_limit(packed))));
  }
}

/// Throws unless what ended the reading was the end of the file.
void ByteStream::require_sound() {
  const int system_error = errno;
  int code = Z_OK;
  const char* reason = ::gzerror(file_.get(), &code);
  const auto offset = ::gzoffset(file_.get());
  switch (code) {
    case Z_OK:
    case Z_STREAM_END: return;
    case Z_ERRNO: fail_to_read(name_, system_error);
    case Z_MEM_ERROR: throw std::bad_alloc();
    case Z_BUF_ERROR: refuse(name_, fmt::format("truncated gzip data: it breaks off after {} bytes", offset));
    default: refuse(name_, fmt::format("corrupt gzip data within the first {} bytes: {}", offset, reason));
  }
}

}  // namespace pursuit::io
