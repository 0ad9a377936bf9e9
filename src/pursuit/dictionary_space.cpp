#include "pursuit/pursuit/dictionary_space.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/kernel.hpp"
#include "linalg/blas.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/linalg/linear_operator.hpp"

namespace pursuit {
namespace {

/// out = start - columns * weights, a few hundred rows at a time so that `out` stays in registers and first
/// cache.
PURSUIT_KERNEL void subtract_columns(const double* start, const double* columns, const double* weights,
                                     Index rows, Index count, double* __restrict out) {
  constexpr Index kTile = 64;
  Index first = 0;
  for (; first + kTile <= rows; first += kTile) {
    double sum[kTile];
    for (Index t = 0; t < kTile; ++t) sum[t] = start[first + t];
    for (Index j = 0; j < count; ++j) {
      const double weight = weights[j];
      const double* column = columns + j * rows + first;
      for (Index t = 0; t < kTile; ++t) sum[t] -= weight * column[t];
    }
    for (Index t = 0; t < kTile; ++t) out[first + t] = sum[t];
  }
  for (; first < rows; ++first) {
    double sum = start[first];
    for (Index j = 0; j < count; ++j) sum -= weights[j] * columns[j * rows + first];
    out[first] = sum;
  }
}

}  // namespace

Dictionary::Dictionary(const Matrix& D, bool with_gram, int threads) : unit_(D), norms_(D.colwise().norm()) {
  for (Index j = 0; j < D.cols(); ++j) {
    if (!(norms_[j] > 0))
      throw InvalidInput(
          fmt::format("column {} of the dictionary is zero; every atom needs a direction", j + 1));
    unit_.col(j) /= norms_[j];
  }
  if (with_gram) data_matrix(unit_, threads)->apply_transposed(unit_, gram_);
}

const double* Dictionary::gram_column(Index j, Vector& scratch) const {
  if (gram_.size() > 0) return gram_.col(j).data();
  scratch = transposed_product(unit_, unit_.col(j));
  return scratch.data();
}

DictionarySpace::DictionarySpace(const Dictionary& dictionary, Vector correlations,
                                 double target_norm_squared, WeightRule weights, Index capacity,
                                 double lmo_accuracy)
    : dictionary_(dictionary),
      correlations_(std::move(correlations)),
      residual_correlations_(correlations_),
      target_norm_squared_(target_norm_squared),
      rule_(weights),
      lmo_accuracy_(lmo_accuracy),
      gram_columns_(dictionary.size(), std::min(capacity, dictionary.size())),
      weights_(0) {
  atoms_.reserve(std::size_t(capacity));
}

Found<Index> DictionarySpace::find_atom() {
  subtract_columns(correlations_.data(), gram_columns_.data(), weights_.data(), dictionary_.size(),
                   weights_.size(), residual_correlations_.data());
  const bool either_sign = rule_.allows_negative();
  const auto& values = residual_correlations_;
  Index best = 0;
  const double largest = either_sign ? values.cwiseAbs().maxCoeff(&best) : values.maxCoeff(&best);
  if (lmo_accuracy_ < 1 && largest > 0) {
    double worst = largest;
    for (Index j = 0; j < values.size(); ++j) {
      const double value = either_sign ? std::abs(values[j]) : values[j];
      if (value < lmo_accuracy_ * largest || value >= worst) continue;
      worst = value;
      best = j;
    }
  }
  return {best, values[best]};
}

Vector DictionarySpace::inner_products(Index atom) const {
  Vector result(Index(atoms_.size()));
  for (std::size_t i = 0; i < atoms_.size(); ++i) result[Index(i)] = gram_columns_(atom, Index(i));
  return result;
}

void DictionarySpace::append(Index atom) {
  const Index r = Index(atoms_.size());
  if (r == gram_columns_.cols()) gram_columns_.conservativeResize(Eigen::NoChange, 2 * r + 1);
  const double* column = dictionary_.gram_column(atom, scratch_);
  std::copy_n(column, dictionary_.size(), gram_columns_.col(r).data());
  atoms_.push_back(atom);
}

}  // namespace pursuit
