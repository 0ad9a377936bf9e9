#pragma once
// Files that appear whole or not at all: written to a temporary file in the same directory, flushed to disk,
// then renamed over the target. A reader never sees half a file, and a failed run leaves the previous file
// untouched. Where the file system can, the temporary file has no name until it is whole, so that nothing is
// left of it however the process ends.

#include <filesystem>
#include <memory>
#include <string_view>

namespace pursuit {

/// The absolute path at which a file written to `path` appears: with symbolic links followed, those too that
/// lead nowhere yet.
std::filesystem::path destination_of(const std::filesystem::path& path);

/// Throws OutputFailure unless a file can be created at `path`; asked before long work, so that it is not
/// lost.
void require_writable(const std::filesystem::path& path);

/// Replaces or creates the file at `path`. A symbolic link is followed; an existing file's permissions are
/// kept. A device or a pipe (/dev/stdout) cannot be replaced and is written to directly. Throws OutputFailure
/// naming the path and the system's reason; no temporary file is left behind.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// The same for a file too large to have in memory: written piece by piece, it takes its place on commit().
/// Without that nothing is left of it.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view bytes);
  void commit();

 private:
  struct Target;
  std::unique_ptr<Target> target_;
};

}  // namespace pursuit
