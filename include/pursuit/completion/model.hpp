#pragma once
// A completed matrix: what is predicted for any entry, and how surely.
//
//   entry (i, j) = mean + scale * (a_i + b_j + u_i . v_j)  +  sum_k weight_k l_ik r_jk,     within [lowest,
//   highest]
//
// The first part is the self-tuned one, offsets a, b and factors u, v with their variances; the second is the
// sum of structured atoms. Either may be empty. Where posterior samples are kept, the first part is averaged
// over them.

#include <span>
#include <vector>

#include "pursuit/linalg/observed_matrix.hpp"
#include "pursuit/objective/model.hpp"

namespace pursuit {

/// Members by row, their numbers side by side.
using FactorMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows or columns of a completed matrix. Every matrix has 1 + rank columns: offset first, then the factors.
struct CompletionSide {
  FactorMatrix mean, variance;  // one row per member: the posterior of its offset and factors
  FactorMatrix
      pattern;  // one row per member of the other side: what having an entry there says (may be empty)
  FactorMatrix features;                      // one row per feature of side information (may be empty)
  Eigen::VectorXf intercept, prior_variance;  // of a member of which nothing is known
  std::vector<float> noise_weight;            // entries of a member have noise variance / its weight

  Index size() const { return mean.rows(); }
};

/// One draw from the posterior.
struct CompletionSample {
  FactorMatrix rows, cols;
  std::vector<float> row_noise_weight, col_noise_weight;
  double noise_variance = 1;
};

/// Predictions are kept inside.
struct Range {
  double lowest, highest;
};

struct CompletionModel {
  double mean = 0, scale = 1;
  double noise_variance = 1;       // of scaled values
  double lowest = 0, highest = 0;  // predictions are clipped to this range
  CompletionSide rows, cols;
  std::vector<CompletionSample> samples;
  Model atoms;

  /// Atoms beyond the offsets, of both kinds.
  Index rank() const { return std::max<Index>(rows.mean.cols() - 1, 0) + atoms.rank(); }
  /// Standard deviation of the noise of a typical entry, in the units of the data.
  double noise() const;
};

/// A pair of indices; -1 stands for a row or column that the model has never seen.
struct Position {
  int row, col;
};

struct Prediction {
  double value = 0;
  double deviation = 0;  // standard deviation of the entry around `value`, noise included
};

Prediction predict(const CompletionModel& model, Position position);
std::vector<Prediction> predict(const CompletionModel& model, std::span<const Position> positions,
                                int threads = 1);

/// The `count` columns of largest predicted value in `row`, best first; `excluded` (ascending) are left out.
struct Recommendation {
  int col;
  Prediction prediction;
};
std::vector<Recommendation> recommend(const CompletionModel& model, int row, Index count,
                                      std::span<const int> excluded = {});

/// The same for rows first .. last - 1, leaving out the entries of `seen` (by row) where it is given.
std::vector<std::vector<Recommendation>> recommend(const CompletionModel& model, int first, int last,
                                                   Index count, const GroupedEntries* seen, int threads);

/// How predictions compare with values that were seen later.
struct Accuracy {
  Index count = 0;
  double rmse = 0, mae = 0;
  double inside_50 = 0, inside_80 = 0, inside_95 = 0;  // share of values inside the central intervals
};
Accuracy accuracy(std::span<const Prediction> predictions, std::span<const float> values);

}  // namespace pursuit
