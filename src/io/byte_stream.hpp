#pragma once
// The bytes of a file block by block, unpacked on the way where the file is gzip.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct gzFile_s;  // zlib's

namespace pursuit::io {

class ByteStream {
 public:
  static constexpr std::size_t kBlock = std::size_t{1} << 18;

  /// Throws InvalidInput, with the system's reason, where the file cannot be opened or read or holds nothing.
  explicit ByteStream(const std::filesystem::path& path);

  /// The file as the user named it, for messages.
  const std::string& name() const { return name_; }

  /// What the file starts with: all of its first block, read already.
  std::string_view head() const { return head_; }

  /// Appends the next bytes, at most `size` of them; false where there were none left. Damaged, truncated
  /// and implausibly small gzip data are refused.
  bool read(std::string& into, std::size_t size = kBlock);

  /// All that is left.
  std::string read_all();

 private:
  struct Closer {
    void operator()(gzFile_s* file) const;
  };

  void fetch(std::string& into, std::size_t size);
  void require_sound();

  std::string name_;
  std::unique_ptr<gzFile_s, Closer> file_;
  std::uint64_t unpacked_ = 0;
  std::string head_;
  bool head_taken_ = false;
};

}  // namespace pursuit::io
