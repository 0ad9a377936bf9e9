#include "algorithms/weighted_squares.hpp"

#include <utility>

namespace pursuit {
namespace {

/// Few non-zeros and signs are what scaling keeps.
bool is_kept_by_scaling(const Atoms& atoms) {
  return !atoms.varies() && atoms.traits().simple;
}

bool are_scales(const Vector& weights, Index size) {
  return weights.size() == 0 || (weights.size() == size && weights.allFinite() && weights.minCoeff() >= 0);
}

Vector roots_of(const Vector& weights, Index size) {
  return weights.size() == 0 ? Vector(Vector::Ones(size)) : Vector(weights.cwiseSqrt());
}

DataMatrixPtr times(StoredEntries entries, const Vector& rows, const Vector& cols, int threads) {
  for (Index i = 0; i < entries.rows; ++i) {
    const auto first = entries.start[std::size_t(i)];
    for (auto e = first; e < entries.start[std::size_t(i) + 1]; ++e)
      entries.value[std::size_t(e)] *=
          rows[i] * cols[entries.is_dense() ? e - first : entries.index[std::size_t(e)]];
  }
  if (entries.is_dense()) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return data_matrix(
        Eigen::MatrixXd(Eigen::Map<const RowMajor>(entries.value.data(), entries.rows, entries.cols)),
        threads);
  }
  const std::vector<int> start(entries.start.begin(), entries.start.end());
  return data_matrix(SparseMatrixOf<double>(Eigen::Map<const SparseMatrixOf<double>>(
                         entries.rows, entries.cols, Index(entries.value.size()), start.data(),
                         entries.index.data(), entries.value.data())),
                     threads);
}

/// Columns of unit length, what that takes being part of the weights.
void divide(const Vector& roots, Panel& factors, Vector& weights) {
  const Vector inverse = (roots.array() > 0).select(roots.cwiseInverse(), 0.0);
  factors = inverse.asDiagonal() * factors;
  for (Index k = 0; k < factors.cols(); ++k)
    if (const double length = factors.col(k).norm(); length > 0) {
      factors.col(k) /= length;
      weights[k] *= length;
    }
}

}  // namespace

DataMatrixPtr weighted_squares(const DataMatrix& Y, const FactorOptions& o) {
  constexpr std::size_t kMostEntries = std::size_t(1) << 31;  // places of a sparse copy are ints
  const EntryWeights& weights = o.entry_weights;
  const bool rule = o.weights.kind == WeightRule::free || o.weights.kind == WeightRule::nonneg ||
                    o.weights.kind == WeightRule::newest;
  if (o.loss.kind != Loss::squares || o.offsets || o.row_scale.size() > 0 || weights.entries || !rule ||
      o.initial.rank() > 0 || !is_kept_by_scaling(o.left) || !is_kept_by_scaling(o.right) ||
      !are_scales(weights.rows, Y.rows()) || !are_scales(weights.cols, Y.cols()))
    return nullptr;
  auto entries = Y.stored_entries();
  if (!entries || entries->value.size() >= kMostEntries) return nullptr;
  return times(std::move(*entries), roots_of(weights.rows, Y.rows()), roots_of(weights.cols, Y.cols()),
               Y.threads());
}

void undo_weights(const EntryWeights& weights, Expansion& model) {
  if (weights.rows.size() > 0) divide(weights.rows.cwiseSqrt(), model.left(), model.weights);
  if (weights.cols.size() > 0) divide(weights.cols.cwiseSqrt(), model.right(), model.weights);
}

}  // namespace pursuit
