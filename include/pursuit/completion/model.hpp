#pragma once
// A completed matrix: what is predicted for any entry, and how surely.
//
//   entry (i, j) = mean + scale * (a_i + b_j + u_i . v_j)  +  sum_k weight_k l_ik r_jk,     within [lowest,
//   highest]
//
// The first part is the self-tuned one, offsets a, b and factors u, v with their variances; the second is the
// sum of structured atoms, which may be empty. Models of structured atoms have no u and v, and offsets of
// zero where none were asked for. Where posterior samples were drawn, the first part is its mean over them.
//
// A row that the model has never seen, or only without entries, has the a and u of a newcomer, and in
// structured atoms what rows with entries have on average; the spread of these goes into the deviation.
// Entries are not made at random: in a column that has some, a newcomer gets the column's `selection` on top.
// The same for columns.
//
// Of implicit feedback (implicit.hpp) the sum is a preference, near 1 for what is like what a row has and
// near 0 for the rest: an order more than a value.
//
// Of entries that have times offsets may drift (`drift`). Predictions are then those without it; at_time()
// (complete_in_time.hpp) is the model at a time.
//
// Of other losses the sum is the linear predictor x, and an entry is the mean that follows from it: a
// probability, a rate, the expected grade. Self-tuned are squares and bernoulli.

#include <span>
#include <string>
#include <vector>

#include "pursuit/completion/confidence.hpp"
#include "pursuit/completion/drift.hpp"
#include "pursuit/data/observed_matrix.hpp"
#include "pursuit/objective/expansion.hpp"
#include "pursuit/objective/loss.hpp"

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
  Eigen::VectorXf pattern_variance, features_variance;  // prior of the numbers in pattern, and in features
                                                        // for columns of unit size (may be empty)
  std::vector<float> noise_weight;                // entries of a member have noise variance / its weight
  double noise_shape = 10;                        // weights are Gamma(shape, shape)
  Eigen::VectorXf base_intercept, base_variance;  // of a member with entries, before what its pattern and
                                                  // features say (empty: intercept and prior_variance)
  std::vector<float> selection;  // by how much more than newcomers the others suit a member that it has
                                 // entries for (may be empty)
  std::vector<int> unseen;       // members without an entry, ascending; they count as never seen
  bool nonnegative = false;      // no entry of a member in structured atoms is negative, by their sets and
                                 // weights, nor is one of members that come later

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

/// How factors of implicit feedback follow from entries: what new rows and further entries are fitted by.
struct ImplicitPrior {
  double zeros = 0;  // weight of an entry that was not seen; 0 where the model is not of implicit feedback
  double ridge = 0;  // times the sum of the weights of a row, seen or not: the weight of its squared factors
  Confidence confidence;  // the weight of an entry that was seen
};

struct CompletionModel {
  Loss loss = {};
  double mean = 0, scale = 1;      // with a link the scale is 1
  double noise_variance = 1;       // of scaled values; of bernoulli the share of variances that counts, of
                                   // other losses what multiplies the variance that a mean brings with it
  double lowest = 0, highest = 0;  // predictions are clipped to this range
  CompletionSide rows, cols;
  std::vector<CompletionSample> samples;
  FactorMatrix average_rows, average_cols;  // with samples: offsets and factors whose products are the mean
                                            // over all draws, not over stored ones only (may be empty)
  Expansion atoms;
  ImplicitPrior implicit = {};
  Drift drift = {};
  OwnTerms own_terms = {};  // what the loss has fitted: grades and thresholds, a size; offsets are above

  bool is_implicit() const { return implicit.zeros > 0; }
  Index row_count() const { return rows.size(); }
  Index column_count() const { return cols.size(); }
  /// Atoms beyond the offsets, of both kinds.
  Index rank() const { return std::max<Index>(rows.mean.cols() - 1, 0) + atoms.rank(); }
  /// Standard deviation of the noise of a typical entry, in the units of the data; NaN where it depends on
  /// the mean.
  double noise() const;
};

/// Rows or columns without offsets and factors.
CompletionSide plain_side(Index size);

/// Rows as columns and columns as rows.
CompletionModel transposed(CompletionModel model);

/// InvalidInput, naming the part, where numbers of a model are not finite or out of reason, or where its
/// parts do not fit together. What passes predicts finite numbers.
void require_sound(const CompletionModel& model);

/// Notes which rows and columns have none of the entries.
void note_unseen(CompletionModel& model, const GroupedEntries& by_row);
/// The same from where the entries of every row would begin in a list of all, and those of every column.
void note_unseen(CompletionModel& model, const std::vector<std::int64_t>& row_start,
                 const std::vector<std::int64_t>& col_start);

/// False for members never seen: those without an entry, and -1.
bool has_entries(const CompletionSide& side, int index);

/// What structured atoms are like for a member of which nothing is known: the mean and the variance, over the
/// members with entries, of weight_k l_ik (rows) and of r_jk (columns).
struct AverageMember {
  Vector mean, variance;
};
AverageMember average_row(const CompletionModel& model);
AverageMember average_column(const CompletionModel& model);

/// A pair of indices; -1 stands for a row or column that the model has never seen.
struct Position {
  int row, col;
};

std::vector<Position> positions_of(const ObservedEntries& entries);

struct Prediction {
  double value = 0;
  double deviation = 0;  // standard deviation of the entry around `value`, noise included
};

/// InvalidArgument for positions outside the matrix.
Prediction predict(const CompletionModel& model, Position position);
std::vector<Prediction> predict(const CompletionModel& model, std::span<const Position> positions,
                                int threads = 1);

/// How predictions compare with values that were seen later.
struct Accuracy {
  Index count = 0;
  double rmse = 0, mae = 0;
  double inside_50 = 0, inside_80 = 0, inside_95 = 0;  // share of values inside the central intervals
  double log_likelihood = 0;  // mean of the log density of values, normal around predictions
};
Accuracy accuracy(std::span<const Prediction> predictions, std::span<const float> values);

/// log P(value), of a 1 that has this probability.
double log_likelihood(double probability, double value);

/// How probabilities compare with zeros and ones that were seen later.
struct LikelihoodScore {
  Index count = 0;
  double log_likelihood = 0;  // mean of log P(value)
  double accuracy = 0;        // share of values that were the likelier ones
  double auc = 0;             // probability that a 1 was predicted more than a 0; 1/2 where there is no pair
  double calibration = 0;     // mean distance of probabilities from shares of ones, over ten bins of them
};
LikelihoodScore likelihood_score(std::span<const Prediction> predictions, std::span<const float> values);

/// What errors under a loss are: the RMSE of squares, the log loss of bernoulli and ordinal, the mean
/// deviance of counts and positive numbers, the mean of the loss itself for the others.
std::string error_name(const Loss& loss);
/// That error of a model over entries that were seen later, which may count differently.
double mean_error(const CompletionModel& model, std::span<const Position> positions,
                  std::span<const float> values, std::span<const float> weights = {}, int threads = 1);
/// The same from sums of weights and of costs (cost_of).
double mean_error(const Loss& loss, double costs, double weights);

}  // namespace pursuit
