#pragma once
// Zip archives from contents in memory.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/text_writer.hpp"
#include "io/zip_pieces.hpp"

namespace pursuit::io {

/// An archive while it is written, entry after entry in the order of their names. Large ones are deflated
/// only where that saves a tenth or more; all are dated the first day a zip file can express: equal contents
/// give equal bytes, whatever the number of threads.
class ZipWriter {
 public:
  explicit ZipWriter(Sink sink) : sink_(std::move(sink)) {}

  /// An entry whose contents are here, one after the other.
  void write(const std::string& name, const std::vector<std::string_view>& contents, int threads);
  /// An entry of this size; put() has to bring all its bytes.
  void begin(const std::string& name, bool packed, const PackedSize& size);
  void put(std::string_view bytes);
  /// The list of entries, at the end of an archive.
  void finish();

 private:
  Sink sink_;
  std::uint64_t at_ = 0, count_ = 0;
  std::string list_;
};

/// Writes contents, each in pieces that are read where they lie.
using ZipPieces = std::map<std::string, std::vector<std::string_view>>;
void write_zip(const ZipPieces& entries, const Sink& sink, int threads);

}  // namespace pursuit::io
