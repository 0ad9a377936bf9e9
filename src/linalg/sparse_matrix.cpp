#include "linalg/sparse_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/kernel.hpp"
#include "base/parallel.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr Index kLanes = 8;       // block widths are padded to this many columns
constexpr Index kRowBlocks = 16;  // pieces of work, whatever the number of threads

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

RowMajor padded_row_major(const Matrix& block) {
  const Index width = (block.cols() + kLanes - 1) / kLanes * kLanes;
  RowMajor result(block.rows(), width);
  result.leftCols(block.cols()) = block;
  result.rightCols(width - block.cols()).setZero();
  return result;
}

/// out[i, :] = sum of a_ij v[j, :] over the entries of rows first..last; Width columns in registers.
template <int Width, class Scalar>
inline void gather_rows(const Scalar* values, const int* columns, const int* row_start, Index first,
                        Index last, const double* v, double* out, Index stride) {
  for (Index i = first; i < last; ++i) {
    double sum[Width] = {};
    for (int e = row_start[i]; e < row_start[i + 1]; ++e) {
      const double a = double(values[e]);
      const double* __restrict source = v + Index(columns[e]) * stride;
      for (int c = 0; c < Width; ++c) sum[c] += a * source[c];
    }
    for (int c = 0; c < Width; ++c) out[i * stride + c] = sum[c];
  }
}

/// out[j, :] += a_ij u[i, :] over the entries of row i from `begin` to `end`.
template <int Width, class Scalar>
inline void scatter_row(const Scalar* values, const int* columns, int begin, int end, const double* u,
                        double* out, Index stride) {
  double source[Width];
  for (int c = 0; c < Width; ++c) source[c] = u[c];
  for (int e = begin; e < end; ++e) {
    const double a = double(values[e]);
    double* __restrict target = out + Index(columns[e]) * stride;
    for (int c = 0; c < Width; ++c) target[c] += a * source[c];
  }
}

// One entry point per width: 8, 16, 24 or 32 columns at a time.
template <class Scalar, int Width>
struct Kernels {
  PURSUIT_KERNEL static void gather(const Scalar* values, const int* columns, const int* row_start,
                                    Index first, Index last, const double* v, double* out, Index stride) {
    gather_rows<Width>(values, columns, row_start, first, last, v, out, stride);
  }
  PURSUIT_KERNEL static void scatter(const Scalar* values, const int* columns, const int* splits,
                                     Index split_stride, Index rows, const double* u, double* out,
                                     Index stride) {
    for (Index i = 0; i < rows; ++i)
      scatter_row<Width>(values, columns, splits[i * split_stride], splits[i * split_stride + 1],
                         u + i * stride, out, stride);
  }
};

/// Calls work with the compile-time width of each slice of a padded block: slices of 32, and what is left.
template <class Work>
void for_each_slice(Index width, const Work& work) {
  for (Index c = 0; c < width; c += 32) {
    switch (std::min<Index>(32, width - c)) {
      case 8:
        work(c, std::integral_constant<int, 8>());
        break;
      case 16:
        work(c, std::integral_constant<int, 16>());
        break;
      case 24:
        work(c, std::integral_constant<int, 24>());
        break;
      default:
        work(c, std::integral_constant<int, 32>());
    }
  }
}

/// w += A^T (A v) for rows first..last, each row's entries read once for both products.
template <class Scalar>
struct GramKernel {
  PURSUIT_KERNEL static void run(const Scalar* values, const int* columns, const int* row_start, Index first,
                                 Index last, const double* v, double* w) {
    for (Index i = first; i < last; ++i) {
      double sum = 0, other = 0;  // two chains hide the latency of the additions
      int e = row_start[i];
      const int end = row_start[i + 1];
      for (; e + 1 < end; e += 2) {
        sum += double(values[e]) * v[columns[e]];
        other += double(values[e + 1]) * v[columns[e + 1]];
      }
      if (e < end) sum += double(values[e]) * v[columns[e]];
      sum += other;
      for (e = row_start[i]; e < end; ++e) w[columns[e]] += double(values[e]) * sum;
    }
  }
};

}  // namespace

template <class Scalar>
SparseDataMatrix<Scalar>::SparseDataMatrix(const SparseMatrixOf<Scalar>& A, int threads)
    : A_(A), threads_(threads), ranges_(std::clamp<Index>(A.cols() / 512, 1, 16)) {
  if (A.rows() == 0 || A.cols() == 0)
    throw InvalidInput(fmt::format(
        "the matrix is empty ({} x {}); at least one row and one column are needed", A.rows(), A.cols()));
  if (!A.isCompressed())
    throw InvalidArgument("the sparse matrix is not compressed; call makeCompressed() on it first");
  splits_.resize(std::size_t(rows() * (ranges_ + 1)));
  for (Index i = 0; i < rows(); ++i) {
    const int *begin = A.innerIndexPtr() + A.outerIndexPtr()[i],
              *end = A.innerIndexPtr() + A.outerIndexPtr()[i + 1];
    if (std::adjacent_find(begin, end, std::greater_equal<>()) != end)
      throw InvalidInput(fmt::format("row {} of the sparse matrix has duplicate or unsorted entries", i + 1));
    for (Index range = 0; range <= ranges_; ++range)
      splits_[std::size_t(i * (ranges_ + 1) + range)] =
          int(std::lower_bound(begin, end, range_first(range)) - A.innerIndexPtr());
    for (const int* column = begin; column != end; ++column)
      if (const Scalar value = A.valuePtr()[column - A.innerIndexPtr()]; !std::isfinite(value))
        throw InvalidInput(
            fmt::format("entry ({}, {}) of the matrix is {}; every entry must be a finite number", i + 1,
                        *column + 1, value));
  }
}

template <class Scalar>
void SparseDataMatrix<Scalar>::apply(const Matrix& V, Matrix& out) const {
  const RowMajor v = padded_row_major(V);
  RowMajor result(rows(), v.cols());
  parallel_for(kRowBlocks, threads_, [&](Index b) {
    const Index first = rows() * b / kRowBlocks, last = rows() * (b + 1) / kRowBlocks;
    for_each_slice(v.cols(), [&](Index c, auto width) {
      Kernels<Scalar, width>::gather(A_.valuePtr(), A_.innerIndexPtr(), A_.outerIndexPtr(), first, last,
                                     v.data() + c, result.data() + c, v.cols());
    });
  });
  out = result.leftCols(V.cols());
}

template <class Scalar>
void SparseDataMatrix<Scalar>::apply_transposed(const Matrix& U, Matrix& out) const {
  const RowMajor u = padded_row_major(U);
  RowMajor result = RowMajor::Zero(cols(), u.cols());
  parallel_for(ranges_, threads_, [&](Index range) {
    for_each_slice(u.cols(), [&](Index c, auto width) {
      Kernels<Scalar, width>::scatter(A_.valuePtr(), A_.innerIndexPtr(), splits_.data() + range, ranges_ + 1,
                                      rows(), u.data() + c, result.data() + c, u.cols());
    });
  });
  out = result.leftCols(U.cols());
}

template <class Scalar>
void SparseDataMatrix<Scalar>::apply_gram(const Matrix& V, Matrix& out) const {
  if (V.cols() != 1) return DataMatrix::apply_gram(V, out);
  Matrix parts = Matrix::Zero(cols(), kRowBlocks);
  parallel_for(kRowBlocks, threads_, [&](Index b) {
    GramKernel<Scalar>::run(A_.valuePtr(), A_.innerIndexPtr(), A_.outerIndexPtr(), rows() * b / kRowBlocks,
                            rows() * (b + 1) / kRowBlocks, V.data(), parts.col(b).data());
  });
  out = parts.rowwise().sum();
}

template <class Scalar>
double SparseDataMatrix<Scalar>::squared_norm() const {
  return Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>(A_.valuePtr(), A_.nonZeros())
      .template cast<double>()
      .square()
      .sum();
}

template <class Scalar>
double SparseDataMatrix<Scalar>::squared_norm_about(const Vector& column_shift) const {
  double sum =
      double(rows()) * column_shift.squaredNorm();  // every entry zero, then the stored ones put right
  for (Index i = 0; i < rows(); ++i)
    for (typename SparseMatrixOf<Scalar>::InnerIterator entry(A_, i); entry; ++entry) {
      const double shift = column_shift[entry.col()], value = double(entry.value());
      sum += value * (value - 2 * shift);  // (value - shift)^2 - shift^2
    }
  return std::max(sum, 0.0);
}

template <class Scalar>
Vector SparseDataMatrix<Scalar>::column_means() const {
  Matrix sums;
  apply_transposed(Matrix::Ones(rows(), 1), sums);
  return sums / double(rows());
}

template <class Scalar>
std::optional<double> SparseDataMatrix<Scalar>::squared_distance(const Matrix& L, const Matrix& R) const {
  // Every entry of L R^T counts, stored or not: only worth it where the matrix is not much larger than its
  // entries.
  if (double(rows()) * double(cols()) > 100.0 * double(A_.nonZeros()) + 1e6) return std::nullopt;
  double sum = 0;
  for (Index i = 0; i < rows(); ++i) {
    Vector row = R * L.row(i).transpose();
    for (typename SparseMatrixOf<Scalar>::InnerIterator entry(A_, i); entry; ++entry)
      row[entry.col()] -= double(entry.value());
    sum += row.squaredNorm();
  }
  return sum;
}

template <class Scalar>
double SparseDataMatrix<Scalar>::asymmetry() const {
  const SparseMatrixOf<Scalar> difference = A_ - SparseMatrixOf<Scalar>(A_.transpose());
  double largest = 0;
  for (Index e = 0; e < difference.nonZeros(); ++e)
    largest = std::max(largest, std::abs(double(difference.valuePtr()[e])));
  return largest;
}

template class SparseDataMatrix<double>;
template class SparseDataMatrix<float>;

}  // namespace pursuit
