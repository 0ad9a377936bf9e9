#pragma once
// Random numbers that are the same on every platform and standard library (std::normal_distribution is not).

#include <cstdint>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t bits();
  double uniform();          // in [0, 1)
  double gaussian();         // N(0, 1)
  Index below(Index bound);  // uniform on 0 .. bound-1
  Matrix gaussian_matrix(Index rows, Index cols);

 private:
  std::uint64_t state_[4];
};

}  // namespace pursuit
