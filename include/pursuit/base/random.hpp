#pragma once
// Random numbers by place: every one is a function of a seed and of where it belongs, computed without those
// before it. They are the same on every platform and standard library (std::normal_distribution is not),
// whoever asks for them and in whatever order.

#include <compare>
#include <cstdint>
#include <optional>

#include "pursuit/base/state_archive.hpp"

namespace pursuit {

/// The 128 random bits of a place: Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011). No two places of a
/// seed have the same.
struct RandomBlock {
  std::uint64_t first, second;

  auto operator<=>(const RandomBlock&) const = default;
};
RandomBlock random_block(std::uint64_t seed, std::uint64_t place, std::uint64_t plane);

class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}

  /// Numbers of its own for a place (a row, an atom), and for a place in that; nothing here is used up.
  Random stream(Index place) const;

  // One number after the other.
  std::uint64_t bits();
  double uniform();          // in [0, 1)
  double gaussian();         // N(0, 1)
  Index below(Index bound);  // uniform on 0 .. bound-1

  /// Entry (i, j) of the d-th matrix drawn depends on the seed, d, i and j alone...
  Matrix gaussian_matrix(Index rows, Index cols) { return gaussian_rows(0, rows, cols); }
  /// ...so that whoever owns a part of its rows draws these, and they are those of the whole.
  Matrix gaussian_rows(Index first, Index count, Index cols);

  void visit_state(StateArchive& archive);

 private:
  std::uint64_t seed_;
  std::uint64_t blocks_ = 0, matrices_ = 0;  // used so far
  std::optional<std::uint64_t> spare_bits_;  // the other half of a block
  std::optional<double> spare_gaussian_;
};

}  // namespace pursuit
