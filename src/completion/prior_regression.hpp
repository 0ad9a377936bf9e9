#pragma once
// What is known of a member of one side (a user, say) before any of its values: a linear function of its
// features,
//
//   x_i ~ N(p_i, diag tau),     p_i = sum_f  F_if y_f,     y_f ~ N(0, diag nu).
//
// Features are the pattern of what was observed (F_if = 1/sqrt(count of i) where entry (i, f) was seen: which
// films a user rated says much about the user; Koren 2008, Salakhutdinov and Mnih 2008), or a table that the
// user brings. The y_f are updated one at a time, all coordinates of x side by side. Cost: two gathers of x_i
// - p_i per feature entry.

#include <cstdint>
#include <span>

#include "base/aligned.hpp"
#include "pursuit/completion/model.hpp"
#include "pursuit/data/observed_matrix.hpp"

namespace pursuit {

/// The features of a side in column order; `entries.size()` features. Values are entries.value[e] or, where
/// scale is given, scale[member] whatever the entry.
struct Features {
  const GroupedEntries* entries;
  std::vector<float> scale;

  float value(std::int64_t e) const { return scale.empty() ? entries->value[e] : scale[entries->index[e]]; }
};

class PriorRegression {
 public:
  PriorRegression(Features features, int width);

  /// One coordinate step for every y_f, and an update of nu. `deviation` holds x_i - p_i, rows of `width`,
  /// and is kept true. Means and variances (draws = false), or draws from the conditionals with random
  /// numbers of `seed`. Returns per coordinate the sum over i of the variance of p_i.
  std::vector<double> update(std::span<const double> tau, bool draws, std::uint64_t seed, int threads,
                             AlignedVector<float>& deviation);

  void widen(int width);

  /// Other entries of the same features; the weights are kept.
  void rebind(Features features);

  /// Takes up weights of an earlier run, one row per feature, and adds what they say to the prior means.
  void start_from(const FactorMatrix& weights, AlignedVector<float>& prior_mean);

  int width() const { return width_; }
  const Features& features() const { return features_; }
  const AlignedVector<float>& weights() const { return weights_; }  // y_f, rows of `width`

 private:
  Features features_;
  int width_;
  std::vector<float> squared_norm_;  // of the columns of F
  AlignedVector<float> weights_;
  std::vector<double> nu_;
};

/// Rows of `width` floats copied into rows of `wider`, the rest zero.
AlignedVector<float> widened(const AlignedVector<float>& rows, int width, int wider);

}  // namespace pursuit
