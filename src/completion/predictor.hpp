#pragma once
// The prediction of an entry: the one place that adds up offsets, factors and structured atoms (model.hpp),
// for fits that judge themselves, for predictions, recommendations and new rows alike.

#include <algorithm>

#include "base/parallel.hpp"
#include "pursuit/completion/model.hpp"

namespace pursuit {

/// a_i + b_j + u_i . v_j, of members with their offsets first.
inline double inner(const float* row, const float* col, Index width) {
  double sum = double(row[0]) + col[0];
  for (Index c = 1; c < width; ++c) sum += double(row[c]) * col[c];
  return sum;
}

/// What a newcomer's entry with this member has on top.
inline float selection(const CompletionSide& side, int index) {
  return index < 0 || side.selection.empty() ? 0.0F : side.selection[std::size_t(index)];
}

/// Of the self-tuned part of an entry, in scaled units; `variance` without the noise.
struct Moments {
  double mean = 0, variance = 0, noise = 0;
};

/// From the posteriors of a row and a column, offsets first.
inline Moments moments_of(const float* row, const float* row_variance, const float* col,
                          const float* col_variance, Index width) {
  Moments result{inner(row, col, width), double(row_variance[0]) + col_variance[0], 0};
  for (Index k = 1; k < width; ++k) {
    const double u = row[k], v = col[k], su = row_variance[k], sv = col_variance[k];
    result.variance += u * u * sv + v * v * su + su * sv;
  }
  return result;
}

/// The probability of a 1 whose log-odds have this mean and variance, by MacKay's approximation.
Prediction through_link(const Loss& loss, double mean, double variance);

/// The linear predictor whose mean is kept within the model's range; that of grades is as it is.
double within_range(const CompletionModel& model, double x);

/// The same by averaging over draws.
class DrawnEntry {
 public:
  void add(double value, double noise) {
    sum_ += value;
    squares_ += value * value;
    noise_ += noise;
  }

  Moments moments(double draws) const {
    const double mean = sum_ / draws;
    return {mean, std::max(0.0, squares_ / draws - mean * mean), noise_ / draws};
  }

 private:
  double sum_ = 0, squares_ = 0, noise_ = 0;
};

/// A row or a column in the structured atoms: its own entries, weighted for rows, or where it has none to
/// learn them from, those of an average member with their spread.
struct AtomMember {
  const Matrix& entries;
  const Vector* weights;         // of rows
  const AverageMember* average;  // of a member without entries
  int index;

  double mean(Index k) const {
    if (average) return average->mean[k];
    return weights ? (*weights)[k] * entries(index, k) : entries(index, k);
  }
  double variance(Index k) const { return average ? average->variance[k] : 0; }
};

/// work(e) for all of `count` entries, many to a task.
template <class Work>
void for_entries(std::size_t count, int threads, const Work& work) {
  constexpr std::size_t kPerTask = 4096;
  parallel_for(Index((count + kPerTask - 1) / kPerTask), threads, [&](Index task) {
    const std::size_t first = std::size_t(task) * kPerTask;
    for (std::size_t e = first; e < std::min(count, first + kPerTask); ++e) work(e);
  });
}

/// What all predictions of one model need is made once.
class Predictor {
 public:
  /// For members with entries only, or for any.
  enum class Members { seen, any };
  explicit Predictor(const CompletionModel& model, Members members = Members::any);

  /// InvalidArgument for positions outside the matrix.
  Prediction operator()(Position at) const;
  /// Not yet within the model's range, and of a position inside.
  Prediction unclipped(Position at) const { return unclipped(at, self_tuned(at)); }
  void require_inside(Position at) const;
  /// The linear predictor, of a position inside.
  double linear_mean(Position at) const { return linear(at, self_tuned(at)).mean; }
  /// What an entry y costs as it is predicted, within the range: minus the log-likelihood of zeros, ones and
  /// grades, else half the deviance.
  double cost(Position at, double y) const;

  /// From the self-tuned part, however it was come by.
  Prediction unclipped(Position at, const Moments& self_tuned) const;
  Prediction clipped(Prediction prediction) const {
    prediction.value = std::clamp(prediction.value, model_.lowest, model_.highest);
    return prediction;
  }

  AtomMember row(int index) const;
  AtomMember column(int index) const;

 private:
  Moments self_tuned(Position at) const;
  /// The sum of all parts, in units of the data; the noise is of scaled values still.
  Moments linear(Position at, const Moments& self_tuned) const;

  const CompletionModel& model_;
  AverageMember row_, col_;  // of structured atoms
};

}  // namespace pursuit
