#include "objective/compressed_array.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/chunks.hpp"
#include "base/work.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"
#include "pursuit/objective/tensor.hpp"

namespace pursuit {
namespace {

using RowMajorArray = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Contractions go through the core: factors into its coordinates, what comes out of them back. The norm is
/// that of the whole array, so that f differs from that of the array by little.
class CompressedArray final : public Target {
 public:
  CompressedArray(TargetPtr core, std::vector<Panel> bases, double squared_norm, int threads)
      : core_(std::move(core)), bases_(std::move(bases)), squared_norm_(squared_norm) {
    for (const Panel& basis : bases_) axes_.emplace_back(basis.rows(), threads);
    own_.resize(bases_.size());
    std::iota(own_.begin(), own_.end(), Index(0));
  }

  Index modes() const override { return Index(axes_.size()); }
  const Axis& axis(Index mode) const override { return axes_[std::size_t(mode)]; }
  void contract(Index mode, const Factors& z, Panel& out) const override {
    std::vector<Panel> inside;
    for (Index m = 0; m < modes(); ++m)
      inside.push_back(m == mode ? Panel(0, z.count()) : Panel(basis(m).transpose() * z[m]));
    Panel small;
    core_->contract(mode, {std::move(inside), own_}, small);
    out.noalias() = basis(mode) * small;
  }

  double squared_norm() const override { return squared_norm_; }
  std::optional<double> squared_distance(const Expansion&) const override { return std::nullopt; }
  double contraction_work() const override { return core_->contraction_work(); }

 private:
  const Panel& basis(Index mode) const { return bases_[std::size_t(mode)]; }

  TargetPtr core_;
  std::vector<Panel> bases_;
  std::vector<Axis> axes_;
  std::vector<Index> own_;
  double squared_norm_;
};

/// A group of modes, and vectors along all of them together: arrays whose last index runs fastest.
struct ModeGroup {
  std::vector<Index> shape;
  int threads;

  /// The leading directions along one of the modes, of all columns together; all, where there are no more.
  Panel directions(const Panel& columns, std::size_t mode, Index most) const {
    const Index size = shape[mode];
    if (size <= most) return Panel::Identity(size, size);
    Index after = 1;
    for (std::size_t m = mode + 1; m < shape.size(); ++m) after *= shape[m];
    const Index before = columns.rows() / (size * after);
    std::vector<Matrix> grams(std::size_t(columns.cols()), Matrix::Zero(size, size));
    parallel_for(columns.cols(), threads_for(double(columns.size()) * double(size), threads), [&](Index k) {
      for (Index b = 0; b < before; ++b) {
        const Eigen::Map<const RowMajorArray> slice(columns.col(k).data() + b * size * after, size, after);
        grams[std::size_t(k)].selfadjointView<Eigen::Lower>().rankUpdate(Matrix(slice));
      }
    });
    tree_sum(grams, [](Matrix& into, const Matrix& other) { into += other; });
    return symmetric_eigen(grams.front()).vectors.rightCols(most).rowwise().reverse();
  }

  /// Every column in the coordinates of the bases.
  Matrix projected(const Panel& columns, const std::vector<Panel>& bases) const {
    Index coordinates = 1;
    for (const Panel& basis : bases) coordinates *= basis.cols();
    Matrix result(coordinates, columns.cols());
    parallel_for(columns.cols(), threads_for(double(columns.size()), threads), [&](Index k) {
      Vector held = columns.col(k), next;
      Index before = 1, after = held.size();
      for (const Panel& basis : bases) {
        const Index size = basis.rows(), kept = basis.cols();
        after /= size;
        next.resize(before * kept * after);
        for (Index b = 0; b < before; ++b)
          Eigen::Map<RowMajorArray>(next.data() + b * kept * after, kept, after).noalias() =
              basis.transpose() *
              Eigen::Map<const RowMajorArray>(held.data() + b * size * after, size, after);
        before *= kept;
        held.swap(next);
      }
      result.col(k) = held;
    });
    return result;
  }
};

/// A ~ tall * wide^T with orthonormal columns in one of them, from three products with blocks of columns.
struct RoughProduct {
  Panel rows, columns;
};

RoughProduct rough_product(const DataMatrix& A, Index width, Random& random) {
  const auto scaled = [](Panel& block) {
    block /= std::max(block.norm(), std::numeric_limits<double>::min());
  };
  RoughProduct result;
  if (A.cols() <= A.rows()) {
    A.apply(random.gaussian_matrix(A.cols(), width), result.rows);
    scaled(result.rows);  // no powers of ||A||
    A.apply_transposed(result.rows, result.columns);
    result.columns = orthonormal_basis(result.columns);
    A.apply(result.columns, result.rows);
  } else {
    A.apply_transposed(random.gaussian_matrix(A.rows(), width), result.columns);
    scaled(result.columns);
    A.apply(result.columns, result.rows);
    result.rows = orthonormal_basis(result.rows);
    A.apply_transposed(result.rows, result.columns);
  }
  return result;
}

/// The other side of a rough product, each column as long as it is in the matrix.
Panel lengthened(const Panel& orthonormal, const Panel& other) {
  const SymmetricEigen eigen = symmetric_eigen(gram_of(other));
  return orthonormal * eigen.vectors * eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

}  // namespace

TargetPtr compressed_array(const DataMatrix& unfolded, const std::vector<Index>& shape, Index split,
                           Index directions, double squared_norm, Random& random) {
  constexpr double kSmaller = 4;
  constexpr Index kMore = 10;  // columns of the products beyond directions
  double core_size = 1;
  for (const Index size : shape) core_size *= double(std::min(size, directions));
  const Index width = directions + kMore;
  if (kSmaller * core_size > unfolded.product_work() ||
      width > std::min(unfolded.rows(), unfolded.cols()) / 2)
    return nullptr;
  const int threads = unfolded.threads();
  const RoughProduct rough = rough_product(unfolded, width, random);
  const bool tall = unfolded.cols() <= unfolded.rows();  // the columns are orthonormal
  const Panel& as_rows = rough.rows;
  const Panel weighted_rows = tall ? as_rows : lengthened(as_rows, rough.columns),
              weighted_columns = tall ? lengthened(rough.columns, as_rows) : rough.columns;
  const ModeGroup first{{shape.begin(), shape.begin() + split}, threads},
      second{{shape.begin() + split, shape.end()}, threads};
  std::vector<Panel> row_bases, column_bases;
  for (std::size_t m = 0; m < first.shape.size(); ++m)
    row_bases.push_back(first.directions(weighted_rows, m, directions));
  for (std::size_t m = 0; m < second.shape.size(); ++m)
    column_bases.push_back(second.directions(weighted_columns, m, directions));
  // In the order of the array, however it is cut into rows.
  const RowMajorArray core =
      first.projected(as_rows, row_bases) * second.projected(rough.columns, column_bases).transpose();
  std::vector<Index> core_shape;
  std::vector<Panel> bases = std::move(row_bases);
  bases.insert(bases.end(), std::make_move_iterator(column_bases.begin()),
               std::make_move_iterator(column_bases.end()));
  core_shape.reserve(bases.size());
  for (const Panel& basis : bases) core_shape.push_back(basis.cols());
  const Index core_split = balanced_split(core_shape);
  Index rows = 1;
  for (Index m = 0; m < core_split; ++m) rows *= core_shape[std::size_t(m)];
  const DataMatrixPtr core_unfolded =
      data_matrix(Matrix(Eigen::Map<const RowMajorArray>(core.data(), rows, core.size() / rows)), threads);
  return std::make_shared<CompressedArray>(dense_tensor(core_unfolded, core_shape), std::move(bases),
                                           squared_norm, threads);
}

}  // namespace pursuit
