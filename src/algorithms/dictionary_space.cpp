#include "pursuit/algorithms/dictionary_space.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/chunks.hpp"
#include "base/kernel.hpp"
#include "base/work.hpp"
#include "linalg/products.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {
namespace {

// All inner products are kept where they take at most so many times the memory of the dictionary, or are few.
constexpr Index kGramPerDictionary = 8, kSmallGram = Index(1) << 24;
constexpr Index kColumnsAtOnce = 1024;
constexpr Index kFirstCapacity = 32;  // atoms of a signal, before more room is made

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

/// The column that correlates most.
Found<Index> largest_of(const Vector& correlations, bool either_sign) {
  Index best = 0;
  if (either_sign)
    correlations.cwiseAbs().maxCoeff(&best);
  else
    correlations.maxCoeff(&best);
  return {best, correlations[best]};
}

}  // namespace

UnitColumns::UnitColumns(const DenseView<double>& D, bool with_gram, int threads)
    : view_(D), data_(data_matrix(D, threads)), norms_(D.cols) {
  // Each column on its own scale: squares may vanish or overflow.
  const Chunks chunks(D.cols, 64);
  parallel_for(chunks.count(), resolve_threads(threads), [&](Index c) {
    const Index first = chunks.first(c), count = chunks.length(c);
    auto norms = norms_.segment(first, count);
    if (D.row_major) {
      const auto row = [&](Index i) {
        return Eigen::Map<const Vector>(D.data + i * D.stride + first, count);
      };
      Vector scale = Vector::Zero(count);
      for (Index i = 0; i < D.rows; ++i) scale = scale.cwiseMax(row(i).cwiseAbs());
      scale = scale.unaryExpr(&unit_scale).eval();
      norms.setZero();
      for (Index i = 0; i < D.rows; ++i) norms += row(i).cwiseProduct(scale).cwiseAbs2();
      norms = norms.cwiseSqrt().cwiseQuotient(scale).eval();
    } else {
      for (Index j = 0; j < count; ++j)
        norms[j] = Eigen::Map<const Vector>(D.data + (first + j) * D.stride, D.rows).stableNorm();
    }
  });
  inverse_norms_ = (norms_.array() > 0).select(norms_.cwiseInverse(), 0.0);
  const bool affordable = size() <= kGramPerDictionary * dimension() || size() * size() <= kSmallGram;
  if (!with_gram || !affordable) return;
  gram_.resize(size(), size());
  for (Index first = 0; first < size(); first += kColumnsAtOnce) {
    const Index count = std::min(kColumnsAtOnce, size() - first);
    gram_.middleCols(first, count) = products(columns(first, count));
  }
}

Matrix UnitColumns::columns(Index first, Index count) const {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto scale = inverse_norms_.segment(first, count).asDiagonal();
  const Eigen::OuterStride<> stride(view_.stride);
  if (view_.row_major)
    return Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>(view_.data + first, dimension(), count,
                                                               stride) *
           scale;
  return Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>(view_.data + first * view_.stride, dimension(),
                                                           count, stride) *
         scale;
}

Matrix UnitColumns::products(const Matrix& signals) const {
  Matrix result;
  data_->apply_transposed(signals, result);
  parallel_for(result.cols(), threads_for(double(result.size()), data_->threads()),
               [&](Index s) { result.col(s).array() *= inverse_norms_.array(); });
  return result;
}

const double* UnitColumns::gram_column(Index j, Vector& scratch) const {
  if (keeps_gram()) return gram_.col(j).data();
  scratch.resize(size());
  multiply(view_.transposed(), columns(j, 1), scratch);
  scratch.array() *= inverse_norms_.array();
  return scratch.data();
}

DictionarySpace::DictionarySpace(const UnitColumns& dictionary, Vector correlations,
                                 double target_norm_squared, WeightRule weights, Index capacity,
                                 double lmo_accuracy)
    : dictionary_(dictionary),
      correlations_(std::move(correlations)),
      residual_correlations_(correlations_),
      target_norm_squared_(target_norm_squared),
      rule_(weights),
      lmo_accuracy_(lmo_accuracy),
      gram_columns_(dictionary.size(), std::min(capacity, kFirstCapacity)),
      weights_(0),
      objective_(0.5 * target_norm_squared) {
  atoms_.reserve(std::size_t(std::min(capacity, kFirstCapacity)));
}

Found<Index> DictionarySpace::find_atom() {
  subtract_columns(correlations_.data(), gram_columns_.data(), weights_.data(), dictionary_.size(),
                   weights_.size(), residual_correlations_.data());
  const bool either_sign = rule_.allows_negative();
  const auto& values = residual_correlations_;
  Found<Index> found = largest_of(values, either_sign);
  const double largest = either_sign ? std::abs(found.value) : found.value;
  if (lmo_accuracy_ < 1 && largest > 0) {
    double worst = largest;
    for (Index j = 0; j < values.size(); ++j) {
      const double value = either_sign ? std::abs(values[j]) : values[j];
      if (value < lmo_accuracy_ * largest || value >= worst) continue;
      worst = value;
      found = {j, values[j]};
    }
  }
  return found;
}

Vector DictionarySpace::inner_products(Index atom) const {
  Vector result(Index(atoms_.size()));
  for (std::size_t i = 0; i < atoms_.size(); ++i) result[Index(i)] = gram_columns_(atom, Index(i));
  return result;
}

void DictionarySpace::append(const Found<Index>& found) {
  const Index atom = found.atom;
  const Index r = Index(atoms_.size());
  if (r == gram_columns_.cols()) gram_columns_.conservativeResize(Eigen::NoChange, 2 * r + 1);
  const double* column = dictionary_.gram_column(atom, scratch_);
  std::copy_n(column, dictionary_.size(), gram_columns_.col(r).data());
  atoms_.push_back(atom);
}

void DictionarySpace::set_weights(const Vector& weights) {
  weights_ = weights;
  double change = 0;  // -c^T alpha + 1/2 alpha^T G alpha
  for (Index i = 0; i < weights.size(); ++i) {
    const Index atom = atoms_[std::size_t(i)];
    change +=
        weights[i] * (0.5 * gram_columns_.row(atom).head(weights.size()).dot(weights) - correlations_[atom]);
  }
  objective_ = std::max(0.0, 0.5 * target_norm_squared_ + change);
}

Found<Index> ResidualSpace::find_atom() const {
  return largest_of(correlations_, rule_.allows_negative());
}

Vector ResidualSpace::inner_products(Index atom) const {
  if (atoms_.empty()) return Vector(0);
  return columns_.leftCols(Index(atoms_.size())).transpose() * dictionary_.columns(atom, 1);
}

void ResidualSpace::append(const Found<Index>& found) {
  const auto r = Index(atoms_.size());
  if (r == columns_.cols()) columns_.conservativeResize(signal_.size(), 2 * r + 4);
  columns_.col(r) = dictionary_.columns(found.atom, 1);
  atoms_.push_back(found.atom);
}

void ResidualSpace::set_weights(const Vector& weights) {
  weights_ = weights;
  residual_ = signal_;
  residual_.noalias() -= columns_.leftCols(weights.size()) * weights;
}

}  // namespace pursuit
