#pragma once
// The step that all of completion rests on. One side of the matrix is held, the other gets its posterior, row
// by row:
//
//   y_ij = c_j + x_i . z_j + noise of variance sigma^2 / (w_i w_j),     x_i ~ N(p_i, diag tau)
//   A_i = w_i/sigma^2 sum_j w_j (z_j z_j^T + diag var z_j) + diag 1/tau
//   mean_i = A_i^-1 (w_i/sigma^2 sum_j w_j (y_ij - c_j) z_j + p_i / tau)
//
// j over the entries seen in row i. z_j0 = 1, so that x_i0 is the offset of row i; c_j is the offset of
// column j. Columns are treated by the same step with the roles exchanged, and so are rows that a finished
// model has not seen (new_rows.hpp). Either the means and variances are
// returned (variational Bayes) or a draw from N(mean_i, A_i^-1) (Gibbs).
//
// Entries may have weights, by which their noise variance is divided. Entries of another likelihood are
// entries of squares with weights and values that follow from x_i before the step (logistic_weight.hpp);
// their z_j are known, and their sigma^2 and w are 1.
//
// Where what was not seen counts as a weak zero (implicit.hpp), the sum of z_j z_j^T over all members, seen
// or not, stands beside the sum over entries; means alone are found then.
//
// Cost per entry: one gathered row of z and width^2 / 2 multiply-adds; the systems are factored side by side
// (batched_cholesky.hpp). The systems of long rows are sums over segments. Reference for the
// blocks: Salakhutdinov and Mnih 2008; for variances inside A_i: Lim and Teh 2007.

#include <cstdint>
#include <functional>
#include <span>

#include "base/aligned.hpp"
#include "base/shared_numbers.hpp"
#include "completion/entry_tasks.hpp"
#include "pursuit/objective/loss.hpp"

namespace pursuit {

/// Widths of factor vectors are a multiple of this.
constexpr int kFactorLanes = 8;
inline int padded_width(int numbers) {
  return (numbers + kFactorLanes - 1) / kFactorLanes * kFactorLanes;
}

/// The held side.
struct Regressors {
  int width = 0;
  SharedNumbers<float> scaled;  // sqrt(w_j) z_j, rows of `width`; the first of each is sqrt(w_j)
  SharedNumbers<float>
      spread;  // w_j var z_j, the first of each w_j var c_j; empty where z_j is known, not estimated
  SharedNumbers<float> offset;  // c_j, in the units of the values
  float value_scale = 1;        // values are divided by this, after their offset is taken off
  Loss::Kind loss = Loss::squares;
  AlignedVector<float> everywhere =
      {};  // what all members add to the sums of every row, offsets aside: a lower
           // triangle, width x width; empty where only what was seen counts
};

/// Of a side with these factor vectors, offsets c_j first (in units of value_scale, and around value_mean);
/// `variance` is empty where they are known, not estimated. The memory of `held` is used again; where it is
/// shared by the ranks of a machine, which all call this, each makes a part.
void set_regressors(Regressors& held, std::span<const float> mean, std::span<const float> variance,
                    std::span<const float> noise_weight, int width, double value_mean, double value_scale,
                    int threads, Ranks* ranks = nullptr);

/// Every member, seen by a row or not, counts as an entry of this weight whose value is 0.
void set_everywhere(Regressors& held, double weight, int threads);

/// What is known of the rows before their entries.
struct RowPriors {
  const AlignedVector<float>& mean;     // p_i, rows of `width`
  std::span<const double> variance;     // tau, `width` of them
  std::span<const float> noise_weight;  // w_i
  double noise_variance;                // sigma^2
  bool nonnegative = false;             // x_i >= 0; means alone, each begun where the mean is
};

/// Likelihoods other than squares read what is there before they write.
struct RowPosteriors {
  std::span<float> mean;               // or the draw
  std::span<float> variance;           // diagonal of A_i^-1; empty for a draw, and for means alone
  std::vector<double>& squared_error;  // sum_j w_j E (y_ij - c_j - x_i . z_j)^2, for the noise of squares
};

/// `seed` is used for draws only; every row has its own stream of random numbers, so that threads do not
/// matter. Rows that are left when `stop` says true stay as they are.
void update_rows(const EntryTasks& tasks, const Regressors& held, const RowPriors& priors, std::uint64_t seed,
                 int threads, const RowPosteriors& out, const std::function<bool()>& stop = {});

}  // namespace pursuit
