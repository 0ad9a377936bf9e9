#pragma once
// A finished model seen from its rows, as row_posteriors.hpp has it: values are (value - mean) / scale, and
// entries of structured atoms are taken to unit size, for single precision. The step that gives rows that the
// model was not made from (new_rows.hpp) their factors, and that tells what each entry of a row has moved
// (explain.hpp).

#include "base/aligned.hpp"
#include "completion/predictor.hpp"
#include "completion/row_posteriors.hpp"
#include "pursuit/completion/model.hpp"

namespace pursuit {

class RowStep {
 public:
  explicit RowStep(const CompletionModel& model);

  /// Posterior of rows with these entries, in the units of the model: offset, factors, weighted entries of
  /// structured atoms; with a link the variance is that of the last squares.
  struct Posterior {
    Matrix mean, variance;
  };
  Posterior posterior(GroupedEntries entries, int threads) const;

  /// Number of factors of a row.
  Index width() const { return unit_.size(); }
  /// Of a row before its entries are known; `variance` is tau.
  Vector prior_mean() const { return prior_mean_.head(width()); }
  Vector prior_variance() const { return Eigen::Map<const Vector>(variance_.data(), width()); }
  /// Adds what having an entry in column j says about a row with so many of them.
  void add_pattern(int j, Index entries, Vector& prior) const;
  double noise_variance() const;
  /// Factors of a row in the units of column().
  Vector in_units(const Vector& row) const { return row.cwiseQuotient(unit_); }

  /// c_j, z_j and its variance, w_j.
  struct Column {
    double offset, noise_weight;
    Vector factors, variance;
  };
  Column column(int j) const;

 private:
  bool has_link() const { return model_.loss.kind != Loss::squares; }
  Regressors columns(int threads) const;
  AlignedVector<float> prior_means(const GroupedEntries& entries) const;
  void keep_nonnegative(const GroupedEntries& entries, const AlignedVector<float>& priors, int threads,
                        Matrix& mean) const;

  const CompletionModel& model_;
  Predictor predictor_;
  Index own_;  // offset and factors
  int padded_;
  Vector unit_;  // of factors of rows
  Vector prior_mean_;
  std::vector<double> variance_;
};

}  // namespace pursuit
