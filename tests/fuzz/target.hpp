#pragma once
// What is fed with arbitrary bytes: a target reads them, holds what it was given against what readers
// promise, and ends the process where a promise is broken. libFuzzer invents the bytes (fuzzer.cpp), and so
// does a test, for a short while (replay_test.cpp).

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace pursuit::fuzz {

void read_matrices(std::string_view bytes);
void read_ratings_files(std::string_view bytes);
void read_feature_tables(std::string_view bytes);
void read_arrays(std::string_view bytes);
void read_models(std::string_view bytes);
void read_atom_specs(std::string_view bytes);
void read_arguments(std::string_view bytes);
void read_checkpoints(std::string_view bytes);
std::vector<std::string> checkpoint_seeds();

struct Target {
  std::string name;  // of the folder of its seeds, too
  void (*feed)(std::string_view bytes);
  /// Beside those of the folder: of what this program alone reads, and another version does not.
  std::vector<std::string> (*made_seeds)() = nullptr;
};

inline void PrintTo(const Target& target, std::ostream* out) {  // as GoogleTest shows it
  *out << target.name;
}

inline std::vector<Target> targets() {
  return {{"matrices", read_matrices},       {"ratings", read_ratings_files},
          {"features", read_feature_tables}, {"arrays", read_arrays},
          {"models", read_models},           {"atom_specs", read_atom_specs},
          {"arguments", read_arguments},     {"checkpoints", read_checkpoints, checkpoint_seeds}};
}

inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

/// The readers take files; this one is in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("input", 0)) {
    require(descriptor_ >= 0 && ::write(descriptor_, bytes.data(), bytes.size()) == ssize_t(bytes.size()),
            "no file in memory");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace pursuit::fuzz
