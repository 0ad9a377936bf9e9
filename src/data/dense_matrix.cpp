#include "data/dense_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// Fixed cuts of 0..size: enough blocks to share, none so small that OpenBLAS packs more than it multiplies.
struct Blocks {
  explicit Blocks(Index size) : size_(size), count(std::clamp<Index>(size / 128, 1, 16)) {}
  Index first(Index b) const { return size_ * b / count; }
  Index length(Index b) const { return first(b + 1) - first(b); }

 private:
  Index size_;

 public:
  Index count;
};

template <class Scalar>
void blocked_product(const DenseView<Scalar>& A, const Matrix& V, Matrix& out, int threads) {
  using Block = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  out.resize(A.rows, V.cols());
  const Blocks blocks(A.rows);
  const int callers = std::min(threads, int(blocks.count));
  const SingleThreadedBlas single_threaded(callers);
  if (single_threaded.callers() < callers) threads = single_threaded.callers();  // there is little memory
  const auto multiply = [&](const Scalar* v, Scalar* result) {
    parallel_for(blocks.count, threads, [&](Index b) {
      block_product(A.row_block(blocks.first(b), blocks.length(b)), v, V.cols(), result + blocks.first(b),
                    A.rows);
    });
  };
  if constexpr (std::is_same_v<Scalar, double>) {
    multiply(V.data(), out.data());
  } else {
    // By a power of two, so that the vectors have their largest entry near one: products of products leave
    // the range of single precision otherwise.
    const double largest = V.size() > 0 ? V.lpNorm<Eigen::Infinity>() : 0;
    const double scale = unit_scale(largest);
    const Block narrow = (scale * V).template cast<Scalar>();
    Block result(A.rows, V.cols());
    multiply(narrow.data(), result.data());
    out = result.template cast<double>() / scale;
  }
}

}  // namespace

template <class Scalar>
DenseDataMatrix<Scalar>::DenseDataMatrix(const DenseView<Scalar>& view, int threads)
    : view_(view), threads_(threads) {
  if (view.rows == 0 || view.cols == 0)
    throw InvalidInput(fmt::format(
        "the matrix is empty ({} x {}); at least one row and one column are needed", view.rows, view.cols));
  visit_lines([&](Index line, const auto& entries) {
    if (entries.allFinite()) return;
    Index place = 0;
    while (std::isfinite(entries[place])) ++place;
    throw InvalidInput(fmt::format("entry ({}, {}) of the matrix is {}; every entry must be a finite number",
                                   (view.row_major ? line : place) + 1, (view.row_major ? place : line) + 1,
                                   entries[place]));
  });
}

template <class Scalar>
template <class Visit>
void DenseDataMatrix<Scalar>::visit_lines(const Visit& visit) const {
  using Line = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  const Index lines = view_.row_major ? view_.rows : view_.cols,
              length = view_.row_major ? view_.cols : view_.rows;
  for (Index i = 0; i < lines; ++i) visit(i, Eigen::Map<const Line>(view_.data + i * view_.stride, length));
}

template <class Scalar>
void DenseDataMatrix<Scalar>::apply(const Matrix& V, Matrix& out) const {
  // A block of sparse vectors touches few columns: those alone are read.
  constexpr Index kFewest = 512, kShare = 8;
  std::vector<Index> used;
  if (view_.cols >= kFewest)
    for (Index j = 0; j < V.rows() && Index(used.size()) * kShare <= view_.cols; ++j)
      if ((V.row(j).array() != 0).any()) used.push_back(j);
  if (view_.cols < kFewest || Index(used.size()) * kShare > view_.cols)
    return blocked_product(view_, V, out, threads_);
  if (used.empty()) used.push_back(0);
  const auto count = Index(used.size());
  const bool by_rows = view_.row_major;  // read, and kept, in the order of the matrix
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> columns(by_rows ? count : view_.rows,
                                                                by_rows ? view_.rows : count);
  if (by_rows)
    for (Index i = 0; i < view_.rows; ++i)
      for (Index c = 0; c < count; ++c) columns(c, i) = view_.data[i * view_.stride + used[std::size_t(c)]];
  else
    for (Index c = 0; c < count; ++c)
      std::copy_n(view_.data + used[std::size_t(c)] * view_.stride, view_.rows, columns.col(c).data());
  const DenseView<Scalar> few{columns.data(), view_.rows, count, columns.rows(), by_rows};
  blocked_product(few, Matrix(V(used, Eigen::all)), out, threads_);
}

template <class Scalar>
void DenseDataMatrix<Scalar>::apply_transposed(const Matrix& U, Matrix& out) const {
  blocked_product(view_.transposed(), U, out, threads_);
}

template <class Scalar>
double DenseDataMatrix<Scalar>::squared_norm() const {
  double sum = 0;
  visit_lines([&](Index, const auto& line) { sum += line.template cast<double>().squaredNorm(); });
  return sum;
}

template <class Scalar>
double DenseDataMatrix<Scalar>::squared_norm_about(const Vector& column_shift) const {
  double sum = 0;
  visit_lines([&](Index i, const auto& line) {
    if (view_.row_major)
      sum += (line.template cast<double>() - column_shift).squaredNorm();
    else
      sum += (line.template cast<double>().array() - column_shift[i]).matrix().squaredNorm();
  });
  return sum;
}

template <class Scalar>
Vector DenseDataMatrix<Scalar>::column_means() const {
  Vector sums = Vector::Zero(view_.cols);
  visit_lines([&](Index i, const auto& line) {
    if (view_.row_major)
      sums += line.template cast<double>();
    else
      sums[i] = line.template cast<double>().sum();
  });
  return sums / double(view_.rows);
}

template <class Scalar>
std::optional<double> DenseDataMatrix<Scalar>::squared_distance(const Matrix& L, const Matrix& R) const {
  const Matrix &across = view_.row_major ? L : R, &along = view_.row_major ? R : L;
  double sum = 0;
  visit_lines([&](Index i, const auto& line) {
    sum += (line.template cast<double>() - along * across.row(i).transpose()).squaredNorm();
  });
  return sum;
}

template <class Scalar>
double DenseDataMatrix<Scalar>::asymmetry() const {
  double largest = 0;
  for (Index j = 0; j < view_.cols; ++j)
    for (Index i = 0; i < j; ++i)
      largest = std::max(largest, std::abs(double(view_.data[i + j * view_.stride]) -
                                           double(view_.data[j + i * view_.stride])));
  return largest;
}

template <class Scalar>
double DenseDataMatrix<Scalar>::largest_magnitude() const {
  double largest = 0;
  visit_lines([&](Index, const auto& line) {
    largest = std::max(largest, double(line.template lpNorm<Eigen::Infinity>()));
  });
  return largest;
}

template <class Scalar>
template <class Change>
DataMatrixPtr DenseDataMatrix<Scalar>::changed_copy(const Change& change) const {
  using Copy = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  const Index length = view_.row_major ? view_.cols : view_.rows;
  const auto copy = std::make_shared<Copy>(length, view_.row_major ? view_.rows : view_.cols);
  visit_lines([&](Index i, const auto& line) {
    copy->col(i) = change(i, line.template cast<double>()).template cast<Scalar>();
  });
  const DenseView<Scalar> view{copy->data(), view_.rows, view_.cols, length, view_.row_major};
  return {new DenseDataMatrix(view, threads_), [copy](const DataMatrix* A) { delete A; }};
}

template <class Scalar>
DataMatrixPtr DenseDataMatrix<Scalar>::scaled(double power_of_two) const {
  return changed_copy([&](Index, const auto& line) { return power_of_two * line; });
}

template <class Scalar>
DataMatrixPtr DenseDataMatrix<Scalar>::shifted(const Vector& column_shift) const {
  // Products lose the digits that the norm of the matrix has more than that of the shifted one.
  constexpr double kLoss = std::is_same_v<Scalar, double> ? 1e4 : 10;
  if (!(squared_norm() > kLoss * kLoss * squared_norm_about(column_shift))) return nullptr;
  return changed_copy([&](Index i, const auto& line) -> Vector {
    return view_.row_major ? Vector(line - column_shift) : Vector(line.array() - column_shift[i]);
  });
}

template class DenseDataMatrix<double>;
template class DenseDataMatrix<float>;

}  // namespace pursuit
