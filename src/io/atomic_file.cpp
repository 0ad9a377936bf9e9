#include "pursuit/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "pursuit/base/error.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit {

namespace fs = std::filesystem;

namespace {

constexpr const char *kTemporaryStart = ".pursuit-", *kTemporaryEnd = ".tmp";

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw OutputFailure(fmt::format("cannot write '{}': {}", path.string(), why));
}

[[noreturn]] void fail_with_errno(const fs::path& path) {
  fail(path, std::generic_category().message(errno));
}

/// A file open for writing. Every step reports failure, even closing: a full disk may first show there.
class OpenFile {
 public:
  /// `named` is the path the user gave, for messages.
  OpenFile(int descriptor, const fs::path& named) : descriptor_(descriptor), named_(named) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  void write(std::string_view bytes) {
    constexpr std::size_t kLargestWrite = std::size_t{1} << 30;  // Linux writes at most 2 GiB a call
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kLargestWrite));
      if (written >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        fail_with_errno(named_);
      }
    }
  }

  int descriptor() const { return descriptor_; }

  void set_permissions(mode_t permissions) {
    // Some file systems have none to set; that is no reason to lose the result.
    [[maybe_unused]] const int outcome = ::fchmod(descriptor_, permissions);
  }

  void flush_to_disk() {
    // EINVAL: some file systems have nothing to flush.
    if (::fsync(descriptor_) != 0 && errno != EINVAL) fail_with_errno(named_);
  }

  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail_with_errno(named_);
  }

 private:
  int descriptor_;
  const fs::path& named_;
};

/// What killed processes have left of files that they were writing here is removed, once for every directory.
/// Whoever writes one holds a lock on it, which ends with the process.
void sweep_left_files(const fs::path& directory) {
  static std::mutex mutex;
  static std::set<fs::path> swept;
  std::error_code failed;
  const fs::path place = fs::canonical(directory, failed);
  if (failed) return;
  const std::lock_guard<std::mutex> alone(mutex);
  if (!swept.insert(place).second) return;
  fs::directory_iterator files(place, failed);
  for (; !failed && files != fs::directory_iterator(); files.increment(failed)) {
    const std::string name = files->path().filename().string();
    if (!name.starts_with(kTemporaryStart) || !name.ends_with(kTemporaryEnd)) continue;
    const int descriptor = ::open(files->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(files->path().c_str());
    ::close(descriptor);
  }
}

/// A new file in the target's directory, removed again unless it takes the target's place.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& target, const fs::path& named)
      : target_(target), named_(named), file_(create(), named) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  OpenFile& file() { return file_; }

  void take_place_of_target() {
    if (path_.empty()) {
      const std::string nameless = fmt::format("/proc/self/fd/{}", file_.descriptor());
      const auto link = [&](const fs::path& path) {
        return ::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);
      };
      if (with_new_name(link) != 0) fail_with_errno(named_);
    }
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail_with_errno(named_);
    path_.clear();
    file_.close();
    flush_directory();
  }

 private:
  fs::path directory() const { return target_.has_parent_path() ? target_.parent_path() : fs::path("."); }

  /// The new name itself has to survive a crash. Some file systems cannot say so, and the file is there
  /// anyway.
  void flush_directory() const {
    const int descriptor = ::open(directory().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    [[maybe_unused]] const int outcome = ::fsync(descriptor);
    ::close(descriptor);
  }

  /// What `create` returns for a name that no file has; path_ is that name where it succeeds.
  template <class Create>
  int with_new_name(const Create& create) {
    static std::atomic<unsigned> counter{0};
    int outcome = -1;
    do {
      // Short whatever the target is called: a target of the longest allowed name still has a neighbour.
      path_ = directory() / fmt::format("{}{}-{}{}", kTemporaryStart, ::getpid(), counter++, kTemporaryEnd);
      outcome = create(path_);
    } while (outcome < 0 && (errno == EEXIST || errno == EINTR));
    if (outcome < 0) path_.clear();
    return outcome;
  }

  int create() {
    sweep_left_files(directory());
    const int nameless = ::open(directory().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (nameless >= 0 && ::access("/proc/self/fd", X_OK) == 0) {
      ::flock(nameless, LOCK_EX | LOCK_NB);  // before it has a name
      return nameless;
    }
    if (nameless >= 0) ::close(nameless);  // it could not be given a name later
    const int descriptor = with_new_name([](const fs::path& path) {
      const int opened = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (opened < 0 || (::flock(opened, LOCK_EX | LOCK_NB) == 0 && has_name(opened, path)) ||
          errno == ENOLCK || errno == ENOSYS)
        return opened;
      ::close(opened);  // somebody has swept it away before it was locked
      errno = EEXIST;
      return -1;
    });
    if (descriptor < 0) {
      const std::string reason = std::generic_category().message(errno);
      fail(named_, fmt::format("no file can be created in directory '{}': {}", directory().string(), reason));
    }
    return descriptor;
  }

  static bool has_name(int descriptor, const fs::path& path) {
    struct stat opened = {}, named = {};
    const bool both = ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0;
    errno = 0;
    return both && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
  }

  const fs::path& target_;
  const fs::path& named_;
  fs::path path_;  // empty while it has no name
  OpenFile file_;
};

/// The path that a symbolic link stands for, whether there is a file or not.
fs::path follow_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as in Linux
  std::error_code none;
  for (int k = 0; k < kMostLinks && fs::is_symlink(fs::symlink_status(path, none)); ++k) {
    const fs::path target = fs::read_symlink(path, none);
    if (none) break;
    path = path.parent_path() / target;  // an absolute target replaces all of it
  }
  return path;
}

struct Destination {
  fs::path path;           // with symbolic links followed
  bool special = false;    // a device, pipe or socket
  mode_t permissions = 0;  // of the existing file; 0 where there is none
};

Destination find_destination(const fs::path& path) {
  if (path.empty()) fail(path, "the file name is empty");
  Destination destination{path};
  struct stat existing = {};
  if (::stat(path.c_str(), &existing) != 0) {
    if (errno != ENOENT) fail_with_errno(path);
    destination.path = follow_links(path);
    return destination;
  }
  if (S_ISDIR(existing.st_mode)) fail(path, std::generic_category().message(EISDIR));
  destination.special = !S_ISREG(existing.st_mode);
  if (!destination.special) {
    destination.permissions = existing.st_mode & 0777;
    std::error_code unresolved;
    if (fs::path followed = fs::canonical(path, unresolved); !unresolved)
      destination.path = std::move(followed);
  }
  return destination;
}

int open_special_file(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail_with_errno(path);
  return descriptor;
}

}  // namespace

/// Either the device itself or a file that will replace the one of this name.
struct AtomicFile::Target {
  explicit Target(const fs::path& path) : named(path), destination(find_destination(path)) {
    if (destination.special) {
      device.emplace(open_special_file(named), named);
    } else {
      temporary.emplace(destination.path, named);
      if (destination.permissions != 0) temporary->file().set_permissions(destination.permissions);
    }
  }

  const fs::path named;
  const Destination destination;
  std::optional<OpenFile> device;
  std::optional<TemporaryFile> temporary;
};

AtomicFile::AtomicFile(const fs::path& path) : target_(std::make_unique<Target>(path)) {}

AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::string_view bytes) {
  (target_->device ? *target_->device : target_->temporary->file()).write(bytes);
}

void AtomicFile::commit() {
  if (target_->device) return target_->device->close();
  // Without this, a crash soon after the rename could leave the name on a file without its content.
  target_->temporary->file().flush_to_disk();
  target_->temporary->take_place_of_target();
}

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

fs::path destination_of(const fs::path& path) {
  std::error_code unresolved;
  const fs::path followed = follow_links(path);
  fs::path canonical = fs::weakly_canonical(fs::absolute(followed, unresolved), unresolved);
  return unresolved ? followed : canonical;
}

void require_writable(const fs::path& path) {
  const Destination destination = find_destination(path);
  if (destination.special) {
    if (::access(path.c_str(), W_OK) != 0) fail_with_errno(path);
  } else {
    TemporaryFile probe(destination.path, path);  // created, then removed at once
  }
}

}  // namespace pursuit
