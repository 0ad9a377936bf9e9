#pragma once
// A vector for the length of a call, from memory that the thread keeps: no allocation in a steady state, also
// where lengths alternate, and no harm where a call leads to another one of its kind.

#include <utility>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

class ScratchMemory {
 protected:
  explicit ScratchMemory(Index n) {
    if (auto& kept = pool(); !kept.empty()) {
      memory_ = std::move(kept.back());
      kept.pop_back();
    }
    if (memory_.size() < std::size_t(n)) memory_.resize(std::size_t(n));
  }
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;
  ~ScratchMemory() { pool().push_back(std::move(memory_)); }
  double* data() { return memory_.data(); }

 private:
  static std::vector<std::vector<double>>& pool() {
    thread_local std::vector<std::vector<double>> kept;
    return kept;
  }
  std::vector<double> memory_;
};

/// Its entries are whatever they were.
class Scratch : private ScratchMemory, public Eigen::Map<Vector> {
 public:
  explicit Scratch(Index n) : ScratchMemory(n), Eigen::Map<Vector>(ScratchMemory::data(), n) {}
  using Eigen::Map<Vector>::operator=;
  using Eigen::Map<Vector>::data;
};

}  // namespace pursuit
