#pragma once
// The bytes of a file, or of memory: mapped where the file can be, unpacked on the way where they are gzip.
// Gzip in both directions.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pursuit::io {

/// Bytes and what keeps them where they are.
struct Bytes {
  std::string_view view;
  std::shared_ptr<const void> owner;
};

class ByteSource {
 public:
  /// Throws InvalidInput, with the system's reason, where the file cannot be opened or read or holds nothing.
  /// A file must not become shorter while it is read: what is mapped and no longer there ends the process.
  explicit ByteSource(const std::filesystem::path& path);
  /// Memory that outlives this; `name` stands for the file in messages. Gzip may unpack to `limit` bytes.
  ByteSource(std::string_view bytes, std::string name, std::uint64_t limit = kPlausible);
  ByteSource(ByteSource&&) noexcept;
  ~ByteSource();

  /// The file as the user named it, for messages.
  const std::string& name() const { return name_; }

  /// What the bytes start with: a block of them, or all where there are fewer.
  std::string_view head() const;

  /// All of them, where they lie in memory or in a mapped file; none where they have to be unpacked or come
  /// through a pipe.
  std::optional<std::string_view> in_place() const;

  /// Says that these bytes of in_place() are not needed again, which gives their memory back. Threads may do
  /// so side by side.
  void forget(std::size_t from, std::size_t to) const;

  /// Appends the next bytes, at most about `size` of them; false where there were none left. Damaged,
  /// truncated and implausibly small gzip data are refused.
  bool read(std::string& into, std::size_t size);

  /// All that is left: in place, or in memory of their own. Throws InvalidInput where that is more than the
  /// memory that is free.
  Bytes take_all();

 private:
  static constexpr std::uint64_t kPlausible = std::numeric_limits<std::uint64_t>::max();
  class Input;
  class Inflater;

  void open();

  std::string name_;
  std::uint64_t limit_ = kPlausible;
  std::unique_ptr<Input> input_;
  std::unique_ptr<Inflater> inflater_;  // null where the bytes are not packed
  std::string head_;                    // read already, where they are not in place
};

/// Throws InvalidInput for bytes that cannot be text; `offset` is where they start in the file.
void require_no_zero_byte(std::string_view bytes, const std::string& name, std::size_t offset = 0);

/// How many bytes compressed input may expand to: a small file that unpacks to more than all memory is an
/// attack or an accident. Real data stays far below this ratio; small inputs may expand up to a fixed size
/// regardless.
std::uint64_t expansion_limit(std::uint64_t compressed_size);

/// A size for a message: "1.5 GiB".
std::string human_size(std::uint64_t bytes);

/// Whether the bytes start like a gzip file.
bool is_gzip(std::string_view bytes);

/// Packs; equal bytes give equal results (no time stamp). Packed pieces after each other are a gzip file too.
std::string gzip(std::string_view bytes);

}  // namespace pursuit::io
