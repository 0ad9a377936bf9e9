#pragma once
// Weights of features drawn one after the other, each given all others, by many threads. What a draw needs
// is the inner product of its feature with deviations that follow the draws before it. For a block of
// features these are taken at once, and then kept up with the draws inside the block by the products of its
// features with each other:
//
//   F_g . (d - sum_f F_f change_f)  =  F_g . d - sum_f (F_g . F_f) change_f.
//
// Passes over members, which are nearly all of the work, are thus shared by all threads: members are cut into
// ranges, and every thread keeps to its own. Blocks and ranges follow from the entries alone.

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "completion/features.hpp"

namespace pursuit {

/// Entries of one feature, by its place in a block, with members of one range.
struct FeatureRun {
  std::uint16_t feature, count;
};

class FeatureBlocks {
 public:
  FeatureBlocks(const Features& features, int threads);

  /// Rows are of `width` numbers, a multiple of kFactorLanes.
  struct Draw {
    int width;
    std::span<const float> squared_norm;       // per feature; where it is zero, nothing is drawn
    const AlignedVector<float>&tau, &ratio;    // per coordinate: tau, tau / nu
    const AlignedVector<float>& normal;        // a row per feature: standard normal numbers
    AlignedVector<float>&deviation, &weights;  // a row per member, per feature
    AlignedVector<float>& room;                // for what is kept while drawing
  };
  /// Returns per coordinate the sum of squared weights.
  std::vector<double> draw(const Draw& draw, int threads) const;

  Index blocks() const { return Index(blocks_.size()); }
  Index ranges() const { return Index(range_.size()) - 1; }

 private:
  /// Entries of a block with members of one range, in the order of features.
  struct Cell {
    std::vector<FeatureRun> runs;
    std::vector<std::uint16_t> members;  // by their places in the range
    std::vector<float> values;           // where features have them
  };
  struct Block {
    Index first, last;        // features
    std::vector<Cell> cells;  // one per range
    // Products of feature f with earlier ones: numbers start[f] .. start[f + 1] - 1; the others are zero.
    std::vector<std::int32_t> start;
    std::vector<std::uint16_t> earlier;
    std::vector<float> product;

    Index size() const { return last - first; }
  };

  void cut_members();
  void cut_features();
  void fill(Block& block) const;
  void find_products(Block& block) const;

  Features features_;
  std::vector<Index> range_;  // their first members, and the end
  std::vector<Block> blocks_;
  Index largest_ = 0;  // features of a block
};

}  // namespace pursuit
