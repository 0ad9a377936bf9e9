#pragma once
#include <cstddef>
#include <vector>

#include "pursuit/base/random.hpp"

namespace pursuit::io {

/// Draws numbers in proportion to weights, each in constant time (Walker's alias method, as Vose builds it).
class AliasTable {
 public:
  explicit AliasTable(const std::vector<double>& weights) : bins_(weights.size()) {
    double total = 0;
    for (const double weight : weights) total += weight;
    // Weights in units of a bin; a bin that is not full shares its room with one that overflows.
    std::vector<int> poor, rich;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      bins_[k] = {weights[k] * static_cast<double>(weights.size()) / total, static_cast<int>(k)};
      (bins_[k].share < 1 ? poor : rich).push_back(static_cast<int>(k));
    }
    while (!poor.empty() && !rich.empty()) {
      Bin& filled = bins_[static_cast<std::size_t>(poor.back())];
      Bin& giver = bins_[static_cast<std::size_t>(rich.back())];
      poor.pop_back();
      filled.other = rich.back();
      giver.share -= 1 - filled.share;
      if (giver.share < 1) {
        poor.push_back(rich.back());
        rich.pop_back();
      }
    }
    // What rounding left over is full up to rounding, and shares with itself.
  }

  int draw(Random& random) const {
    const double position = random.uniform() * static_cast<double>(bins_.size());
    const auto bin = static_cast<std::size_t>(position);
    return position - static_cast<double>(bin) < bins_[bin].share ? static_cast<int>(bin) : bins_[bin].other;
  }

 private:
  struct Bin {
    double share = 1;  // of the bin that its own number has
    int other = 0;     // the number that has the rest
  };
  std::vector<Bin> bins_;
};

}  // namespace pursuit::io
