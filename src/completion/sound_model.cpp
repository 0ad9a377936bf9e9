#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "pursuit/base/error.hpp"
#include "pursuit/completion/model.hpp"

namespace pursuit {
namespace {

constexpr double kLargestFloat = std::numeric_limits<float>::max();
// Values have unit variance in the self-tuned part: what is this large was not estimated, and would not
// survive being squared and summed in single precision.
constexpr double kLargestFactor = 1e9;

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidInput("a completed matrix that makes no sense: " + what);
}

void require_number(const char* name, double value, double lowest, double highest) {
  if (!(value >= lowest && value <= highest))
    refuse(fmt::format("{} is {}; allowed is {:.6g} to {:.6g}", name, value, lowest, highest));
}

/// Every number in [lowest, highest]; NaN is in no such range.
template <class Numbers>
void require_within(const std::string& name, const Numbers& numbers, double lowest, double highest) {
  for (Index k = 0; k < Index(numbers.size()); ++k)
    if (const double value = numbers.data()[k]; !(value >= lowest && value <= highest))
      refuse(
          fmt::format("'{}' has the entry {}; allowed are {:.6g} to {:.6g}", name, value, lowest, highest));
}

template <class Array>
void require_shape(const std::string& name, const Array& array, Index rows, Index cols) {
  if (array.rows() != rows || array.cols() != cols)
    refuse(fmt::format("'{}' is {} x {}, must be {} x {}", name, array.rows(), array.cols(), rows, cols));
}

template <class Numbers>
void require_length(const std::string& name, const Numbers& numbers, Index length) {
  if (Index(numbers.size()) != length)
    refuse(fmt::format("'{}' has {} entries, must have {}", name, numbers.size(), length));
}

void require_weights(const std::string& name, const std::vector<float>& weights, Index length) {
  require_length(name, weights, length);
  require_within(name, weights, std::numeric_limits<float>::denorm_min(), kLargestFloat);
}

void require_sound(const std::string& name, const CompletionSide& side, Index other, Index width) {
  const Index size = side.size();
  require_shape(name + "_mean", side.mean, size, width);
  require_within(name + "_mean", side.mean, -kLargestFactor, kLargestFactor);
  require_shape(name + "_variance", side.variance, size, width);
  require_within(name + "_variance", side.variance, 0, kLargestFactor);
  if (side.pattern.size() > 0) require_shape(name + "_pattern", side.pattern, other, width);
  require_within(name + "_pattern", side.pattern, -kLargestFactor, kLargestFactor);
  if (side.features.size() > 0) require_shape(name + "_features", side.features, side.features.rows(), width);
  require_within(name + "_features", side.features, -kLargestFloat, kLargestFloat);
  require_length(name + "_intercept", side.intercept, width);
  require_within(name + "_intercept", side.intercept, -kLargestFactor, kLargestFactor);
  require_length(name + "_prior_variance", side.prior_variance, width);
  require_within(name + "_prior_variance", side.prior_variance, 0, kLargestFactor);
  for (const auto& [part, variances] : {std::pair("_pattern_variance", &side.pattern_variance),
                                        {"_features_variance", &side.features_variance}}) {
    if (variances->size() > 0) require_length(name + part, *variances, width);
    require_within(name + part, *variances, 0, kLargestFactor);
  }
  require_number((name + "_noise_shape").c_str(), side.noise_shape, std::numeric_limits<double>::min(),
                 kLargestFactor);
  require_weights(name + "_noise_weight", side.noise_weight, size);
  if (side.base_intercept.size() > 0 || side.base_variance.size() > 0) {
    require_length(name + "_base_intercept", side.base_intercept, width);
    require_length(name + "_base_variance", side.base_variance, width);
  }
  require_within(name + "_base_intercept", side.base_intercept, -kLargestFactor, kLargestFactor);
  require_within(name + "_base_variance", side.base_variance, 0, kLargestFactor);
  if (!side.selection.empty()) require_length(name + "_selection", side.selection, size);
  require_within(name + "_selection", side.selection, -kLargestFactor, kLargestFactor);
  require_within(name + "_unseen", side.unseen, 0, double(size - 1));
  if (!std::is_sorted(side.unseen.begin(), side.unseen.end()))
    refuse(fmt::format("'{}_unseen' does not ascend", name));
}

void require_sound(const CompletionSample& sample, Index rows, Index cols) {
  const Index width = std::max<Index>(sample.rows.cols(), 1);
  require_shape("sample_rows", sample.rows, rows, width);
  require_shape("sample_columns", sample.cols, cols, width);
  require_within("sample_rows", sample.rows, -kLargestFactor, kLargestFactor);
  require_within("sample_columns", sample.cols, -kLargestFactor, kLargestFactor);
  require_weights("sample_row_noise_weight", sample.row_noise_weight, rows);
  require_weights("sample_column_noise_weight", sample.col_noise_weight, cols);
  require_number("an entry of 'sample_noise_variance'", sample.noise_variance, 0, kLargestFactor);
}

void require_sound(const std::string& name, const DriftOf& drift, Index size) {
  if (!drift.is_on() && drift.reach == 0 && drift.start.empty()) return;
  constexpr double kLargest = std::numeric_limits<double>::max();
  require_number((name + "_reach").c_str(), drift.reach, std::numeric_limits<double>::min(), kLargest);
  require_number((name + "_ridge").c_str(), drift.ridge, 1 / kLargestFactor, kLargest);
  const auto knots = Index(drift.time.size());
  bool fits = !drift.start.empty() && Index(drift.start.size()) <= size + 1 && drift.start.front() == 0 &&
              drift.start.back() == knots && std::is_sorted(drift.start.begin(), drift.start.end());
  for (std::size_t i = 0; fits && i + 1 < drift.start.size(); ++i)
    fits = std::is_sorted(drift.time.begin() + drift.start[i], drift.time.begin() + drift.start[i + 1]);
  if (!fits) refuse(fmt::format("'{}_start' does not divide knots in the order of time", name));
  require_within(name + "_time", drift.time, -kLargest, kLargest);
  require_length(name + "_sum", drift.sum, knots);
  require_within(name + "_sum", drift.sum, -kLargestFloat, kLargestFloat);
  require_length(name + "_count", drift.count, knots);
  require_within(name + "_count", drift.count, 0, kLargestFloat);
}

void require_sound(const Loss& loss, const OwnTerms& own) {
  require_within("grades", own.grades, -kLargestFactor, kLargestFactor);
  require_within("thresholds", own.thresholds, -kLargestFactor, kLargestFactor);
  if (loss.kind == Loss::ordinal)
    require_length("thresholds", own.thresholds, std::max<Index>(own.grades.size(), 1) - 1);
  if (loss.kind == Loss::ordinal && own.grades.size() == 0) refuse("grades without a grade");
  for (const auto& [name, numbers] : {std::pair("grades", &own.grades), {"thresholds", &own.thresholds}})
    if (!std::is_sorted(numbers->begin(), numbers->end())) refuse(fmt::format("'{}' do not ascend", name));
  if (loss.kind == Loss::negative_binomial)
    require_number("the size of a negative binomial", own.size, std::numeric_limits<double>::min(), 1e12);
}

}  // namespace

void require_sound(const CompletionModel& model) {
  const bool self_tuned = model.rows.mean.cols() > 1 || !model.samples.empty();
  if (self_tuned && model.loss.kind != Loss::squares && model.loss.kind != Loss::bernoulli)
    refuse(
        fmt::format("self-tuned factors of loss {}; these are of squares or bernoulli", model.loss.spec()));
  require_sound(model.loss, model.own_terms);
  require_number("the mean in 'scaling'", model.mean, -kLargestFloat, kLargestFloat);
  require_number("the scale in 'scaling'", model.scale, std::numeric_limits<double>::min(),
                 2 * kLargestFloat);
  require_number("the noise variance in 'scaling'", model.noise_variance, 0, kLargestFactor);
  if (!(model.lowest <= model.highest))
    refuse(fmt::format("'scaling' has predictions from {} to {}", model.lowest, model.highest));
  const ImplicitPrior& implicit = model.implicit;
  require_number("the weight of zeros in 'implicit'", implicit.zeros, 0, kLargestFactor);
  require_number("the ridge in 'implicit'", implicit.ridge, 0, kLargestFactor);
  require_number("the first number of the confidence in 'implicit'", implicit.confidence.a, 0,
                 kLargestFactor);
  require_number("the second number of the confidence in 'implicit'", implicit.confidence.b,
                 1 / kLargestFactor, kLargestFactor);
  if (model.is_implicit() && (implicit.ridge == 0 || model.loss.kind != Loss::squares))
    refuse("'implicit' in a model without a ridge or with a loss");
  if (model.is_implicit() && model.atoms.rank() > 0 && model.rows.mean.cols() > 1)
    refuse("'implicit' in a model with factors and structured atoms");
  const Index rows = model.row_count(), cols = model.column_count(), width = model.rows.mean.cols();
  if (rows < 1 || cols < 1 || width < 1)
    refuse(fmt::format("{} rows and {} columns with {} offsets and factors", rows, cols, width));
  require_sound("drift", model.drift.all, 1);
  require_sound("drift_row", model.drift.rows, rows);
  require_sound("drift_column", model.drift.cols, cols);
  if (model.drift.is_on())
    require_number("the newest time in 'drift'", model.drift.newest, -std::numeric_limits<double>::max(),
                   std::numeric_limits<double>::max());
  if (model.drift.is_on() && model.loss.kind != Loss::squares) refuse("'drift' in a model of another loss");
  require_sound("row", model.rows, cols, width);
  require_sound("column", model.cols, rows, width);
  for (const CompletionSample& sample : model.samples) {
    if (sample.rows.cols() != model.samples.front().rows.cols()) refuse("'sample_rows' of different widths");
    require_sound(sample, rows, cols);
  }
  if (model.average_rows.size() > 0 || model.average_cols.size() > 0) {
    const Index averaged = std::max<Index>(model.average_rows.cols(), 1);
    require_shape("average_rows", model.average_rows, rows, averaged);
    require_shape("average_columns", model.average_cols, cols, averaged);
    require_within("average_rows", model.average_rows, -kLargestFactor, kLargestFactor);
    require_within("average_columns", model.average_cols, -kLargestFactor, kLargestFactor);
  }
  const Index atoms = model.atoms.rank();
  if (atoms > 0 || model.atoms.left().size() > 0 || model.atoms.right().size() > 0) {
    require_shape("left", model.atoms.left(), rows, atoms);
    require_shape("right", model.atoms.right(), cols, atoms);
    require_within("left", model.atoms.left(), -kLargestFloat, kLargestFloat);
    require_within("right", model.atoms.right(), -kLargestFloat, kLargestFloat);
    constexpr double kLargestWeight =
        std::numeric_limits<double>::max() / kLargestFloat / kLargestFloat / 1e9;
    require_within("weights", model.atoms.weights, -kLargestWeight, kLargestWeight);
    for (const auto& [name, factor, nonnegative] :
         {std::tuple("left", &model.atoms.left(), model.rows.nonnegative),
          {"right", &model.atoms.right(), model.cols.nonnegative}})
      if (nonnegative) {
        require_within(name, *factor, 0, kLargestFloat);
        require_within("weights", model.atoms.weights, 0, kLargestWeight);
      }
  }
}

}  // namespace pursuit
