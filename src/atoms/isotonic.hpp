#pragma once
// Weighted isotonic regression of prefixes: min over x_1 <= ... <= x_i of sum a x^2 - 2 b x, for every i in
// turn, by pooling adjacent violators (Ayer et al. 1955). O(n) in all.
//
// The fit of a prefix is a stack of blocks of equal values, the newest on top. Values may be kept from
// falling below a floor: bounded isotonic regression is the unbounded one, clipped.

#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

class IsotonicPrefixes {
 public:
  /// Forgets everything; values are at least `floor` from now on.
  void restart(double floor);

  /// Appends an entry with its parabola and returns what the fit of the prefix gains, -min >= 0.
  double push(double a, double b);

  /// Writes the fit of the entries pushed so far.
  template <class Write>
  void write(const Write& at) const {  // at(i, value), i = 0, 1, ...
    Index i = 0;
    for (const Block& block : blocks_)
      for (; i < block.end; ++i) at(i, clipped(block));
  }

 private:
  struct Block {
    double a, b;        // sums over its entries
    double value;       // b / a; that of the block below where a = 0
    double gain_below;  // of all blocks below
    Index end;          // one past its last entry
  };
  double clipped(const Block& block) const { return block.value > floor_ ? block.value : floor_; }
  double gain(const Block& block) const;

  std::vector<Block> blocks_;
  double floor_ = 0;
};

}  // namespace pursuit
