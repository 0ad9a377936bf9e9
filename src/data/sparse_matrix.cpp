#include "data/sparse_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/kernel.hpp"
#include "base/parallel.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr Index kLanes = 8;  // block widths are padded to this many columns
/// Ranges of columns: narrow enough that their rows of a block stay in the second cache, wide enough that a
/// row has several entries in each.
Index ranges_for(Index rows, Index cols, Index entries) {
  return std::clamp<Index>(std::min(cols / 2048, entries / (8 * std::max<Index>(rows, 1))), 1, 64);
}

constexpr Index kRowBlocks = 16;  // pieces of work, whatever the number of threads

/// Eight doubles that the compiler keeps in vector registers: one of 512 bits, or several narrower ones.
typedef double Lane __attribute__((vector_size(kLanes * sizeof(double))));

/// A block of vectors, row-major, each row a whole number of aligned lanes: no access crosses a cache line.
class LaneBlock {
 public:
  LaneBlock(Index rows, Index columns)
      : rows_(rows),
        lanes_((columns + kLanes - 1) / kLanes),
        data_(
            static_cast<Lane*>(std::aligned_alloc(sizeof(Lane), std::size_t(rows * lanes_) * sizeof(Lane)))) {
    if (!data_) throw std::bad_alloc();
    std::fill_n(reinterpret_cast<double*>(data_.get()), rows * lanes_ * kLanes, 0.0);
  }
  explicit LaneBlock(const Matrix& block) : LaneBlock(block.rows(), block.cols()) {
    values().leftCols(block.cols()) = block;
  }

  Index lanes() const { return lanes_; }
  Lane* data() { return data_.get(); }
  const Lane* data() const { return data_.get(); }
  void copy_to(Matrix& out, Index columns) { out = values().leftCols(columns); }

 private:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  struct Free {
    void operator()(Lane* pointer) const { std::free(pointer); }
  };
  Eigen::Map<RowMajor> values() { return {reinterpret_cast<double*>(data_.get()), rows_, lanes_ * kLanes}; }

  Index rows_, lanes_;
  std::unique_ptr<Lane[], Free> data_;
};

/// out[:] += a_ij v[j, :] over the entries of one row from `begin` to `end`; Width lanes in registers.
template <int Width, class Scalar, class StoredIndex>
inline void gather_row(const Scalar* values, const StoredIndex* columns, StoredIndex begin, StoredIndex end,
                       const Lane* v, Lane* out, Index stride) {
  Lane sum[Width];
  for (int c = 0; c < Width; ++c) sum[c] = out[c];
  for (StoredIndex e = begin; e < end; ++e) {
    const double a = double(values[e]);
    const Lane* source = v + Index(columns[e]) * stride;
    for (int c = 0; c < Width; ++c) sum[c] += a * source[c];
  }
  for (int c = 0; c < Width; ++c) out[c] = sum[c];
}

/// out[j, :] += a_ij u[:] over the entries of one row from `begin` to `end`.
template <int Width, class Scalar, class StoredIndex>
inline void scatter_row(const Scalar* values, const StoredIndex* columns, StoredIndex begin, StoredIndex end,
                        const Lane* u, Lane* out, Index stride) {
  Lane source[Width];
  for (int c = 0; c < Width; ++c) source[c] = u[c];
  for (StoredIndex e = begin; e < end; ++e) {
    const double a = double(values[e]);
    Lane* target = out + Index(columns[e]) * stride;
    for (int c = 0; c < Width; ++c) target[c] += a * source[c];
  }
}

/// The entries of rows first..last-1 in one range of columns: consecutive splits bound those of a row.
template <class Scalar, class StoredIndex, int Width>
struct Kernels {
  PURSUIT_KERNEL static void gather(const Scalar* values, const StoredIndex* columns,
                                    const StoredIndex* splits, Index split_stride, Index first, Index last,
                                    const Lane* v, Lane* out, Index stride) {
    for (Index i = first; i < last; ++i)
      gather_row<Width>(values, columns, splits[i * split_stride], splits[i * split_stride + 1], v,
                        out + i * stride, stride);
  }
  PURSUIT_KERNEL static void scatter(const Scalar* values, const StoredIndex* columns,
                                     const StoredIndex* splits, Index split_stride, Index first, Index last,
                                     const Lane* u, Lane* out, Index stride) {
    for (Index i = first; i < last; ++i)
      scatter_row<Width>(values, columns, splits[i * split_stride], splits[i * split_stride + 1],
                         u + i * stride, out, stride);
  }
};

/// Calls work with the compile-time width of each slice of a block: slices of four lanes, and what is left.
template <class Work>
void for_each_slice(Index lanes, const Work& work) {
  for (Index c = 0; c < lanes; c += 4) {
    switch (std::min<Index>(4, lanes - c)) {
      case 1: work(c, std::integral_constant<int, 1>()); break;
      case 2: work(c, std::integral_constant<int, 2>()); break;
      case 3: work(c, std::integral_constant<int, 3>()); break;
      default: work(c, std::integral_constant<int, 4>());
    }
  }
}

/// w += A^T (A v) for rows first..last, each row's entries read once for both products.
template <class Scalar, class StoredIndex>
struct GramKernel {
  PURSUIT_KERNEL static void run(const Scalar* values, const StoredIndex* columns,
                                 const StoredIndex* row_start, Index first, Index last, const double* v,
                                 double* w) {
    for (Index i = first; i < last; ++i) {
      double sum = 0, other = 0;  // two chains hide the latency of the additions
      StoredIndex e = row_start[i];
      const StoredIndex end = row_start[i + 1];
      for (; e + 1 < end; e += 2) {
        sum += double(values[e]) * v[columns[e]];
        other += double(values[e + 1]) * v[columns[e + 1]];
      }
      if (e < end) sum += double(values[e]) * v[columns[e]];
      sum += other;
      for (e = row_start[i]; e < end; ++e) w[Index(columns[e])] += double(values[e]) * sum;
    }
  }
};

/// Where a row begins and ends, and that its columns are those of the matrix, is checked before anything is
/// read through them.
template <class Scalar, class StoredIndex>
void require_valid(const SparseView<Scalar, StoredIndex>& A) {
  if (A.rows == 0 || A.cols == 0)
    throw InvalidInput(fmt::format(
        "the matrix is empty ({} x {}); at least one row and one column are needed", A.rows, A.cols));
  if (A.start[0] != 0) throw InvalidInput("the first row of the sparse matrix does not begin at entry 0");
  for (Index i = 0; i < A.rows; ++i) {
    if (A.start[i + 1] < A.start[i])
      throw InvalidInput(fmt::format("row {} of the sparse matrix ends before it begins", i + 1));
    const StoredIndex *begin = A.index + A.start[i], *end = A.index + A.start[i + 1];
    if (std::adjacent_find(begin, end, std::greater_equal<>()) != end)
      throw InvalidInput(fmt::format("row {} of the sparse matrix has duplicate or unsorted entries", i + 1));
    if (begin != end && (begin[0] < 0 || end[-1] >= A.cols))
      throw InvalidInput(fmt::format("row {} of the sparse matrix has an entry in column {} of {}", i + 1,
                                     begin[0] < 0 ? Index(begin[0]) : Index(end[-1]) + 1, A.cols));
    for (const StoredIndex* column = begin; column != end; ++column)
      if (const Scalar value = A.values[column - A.index]; !std::isfinite(value))
        throw InvalidInput(
            fmt::format("entry ({}, {}) of the matrix is {}; every entry must be a finite number", i + 1,
                        *column + 1, value));
  }
}

}  // namespace

template <class Scalar, class StoredIndex>
SparseDataMatrix<Scalar, StoredIndex>::SparseDataMatrix(const SparseView<Scalar, StoredIndex>& A, int threads)
    : A_((require_valid(A), A.rows), A.cols, A.start[A.rows], A.start, A.index, A.values),
      threads_(threads),
      ranges_(ranges_for(A.rows, A.cols, Index(A.start[A.rows]))) {
  splits_.resize(std::size_t(rows() * (ranges_ + 1)));
  for (Index i = 0; i < rows(); ++i) {
    const StoredIndex *begin = A.index + A.start[i], *end = A.index + A.start[i + 1];
    for (Index range = 0; range <= ranges_; ++range)
      splits_[std::size_t(i * (ranges_ + 1) + range)] =
          StoredIndex(std::lower_bound(begin, end, range_first(range)) - A.index);
  }
}

template <class Scalar, class StoredIndex>
void SparseDataMatrix<Scalar, StoredIndex>::apply(const Matrix& V, Matrix& out) const {
  const LaneBlock v(V);
  LaneBlock result(rows(), V.cols());
  parallel_for(kRowBlocks, threads_, [&](Index b) {
    const Index first = rows() * b / kRowBlocks, last = rows() * (b + 1) / kRowBlocks;
    for (Index range = 0; range < ranges_; ++range)
      for_each_slice(v.lanes(), [&](Index c, auto width) {
        Kernels<Scalar, StoredIndex, width>::gather(A_.valuePtr(), A_.innerIndexPtr(), splits_.data() + range,
                                                    ranges_ + 1, first, last, v.data() + c, result.data() + c,
                                                    v.lanes());
      });
  });
  result.copy_to(out, V.cols());
}

template <class Scalar, class StoredIndex>
void SparseDataMatrix<Scalar, StoredIndex>::apply_transposed(const Matrix& U, Matrix& out) const {
  const LaneBlock u(U);
  LaneBlock result(cols(), U.cols());
  parallel_for(ranges_, threads_, [&](Index range) {
    for_each_slice(u.lanes(), [&](Index c, auto width) {
      Kernels<Scalar, StoredIndex, width>::scatter(A_.valuePtr(), A_.innerIndexPtr(), splits_.data() + range,
                                                   ranges_ + 1, 0, rows(), u.data() + c, result.data() + c,
                                                   u.lanes());
    });
  });
  result.copy_to(out, U.cols());
}

template <class Scalar, class StoredIndex>
void SparseDataMatrix<Scalar, StoredIndex>::apply_gram(const Matrix& V, Matrix& out) const {
  if (V.cols() != 1) return DataMatrix::apply_gram(V, out);
  Matrix parts = Matrix::Zero(cols(), kRowBlocks);
  parallel_for(kRowBlocks, threads_, [&](Index b) {
    GramKernel<Scalar, StoredIndex>::run(A_.valuePtr(), A_.innerIndexPtr(), A_.outerIndexPtr(),
                                         rows() * b / kRowBlocks, rows() * (b + 1) / kRowBlocks, V.data(),
                                         parts.col(b).data());
  });
  out = parts.rowwise().sum();
}

template <class Scalar, class StoredIndex>
double SparseDataMatrix<Scalar, StoredIndex>::squared_norm() const {
  return Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>(A_.valuePtr(), A_.nonZeros())
      .template cast<double>()
      .square()
      .sum();
}

template <class Scalar, class StoredIndex>
double SparseDataMatrix<Scalar, StoredIndex>::squared_norm_about(const Vector& column_shift) const {
  double sum = 0;
  Vector unstored = Vector::Constant(cols(), double(rows()));  // entries of each column
  for (Index i = 0; i < rows(); ++i)
    for (Entry entry(A_, i); entry; ++entry) {
      const double about = double(entry.value()) - column_shift[entry.col()];
      sum += about * about;
      --unstored[entry.col()];
    }
  return sum + unstored.dot(column_shift.cwiseAbs2());
}

template <class Scalar, class StoredIndex>
Vector SparseDataMatrix<Scalar, StoredIndex>::column_means() const {
  Matrix sums;
  apply_transposed(Matrix::Ones(rows(), 1), sums);
  return sums / double(rows());
}

template <class Scalar, class StoredIndex>
std::optional<double> SparseDataMatrix<Scalar, StoredIndex>::squared_distance(const Matrix& L,
                                                                              const Matrix& R) const {
  // Every entry of L R^T counts, stored or not: only worth it where the matrix is not much larger than its
  // entries.
  if (double(rows()) * double(cols()) > 100.0 * double(A_.nonZeros()) + 1e6) return std::nullopt;
  double sum = 0;
  for (Index i = 0; i < rows(); ++i) {
    Vector row = R * L.row(i).transpose();
    for (Entry entry(A_, i); entry; ++entry) row[entry.col()] -= double(entry.value());
    sum += row.squaredNorm();
  }
  return sum;
}

template <class Scalar, class StoredIndex>
double SparseDataMatrix<Scalar, StoredIndex>::asymmetry() const {
  const Stored difference = A_ - Stored(A_.transpose());
  double largest = 0;
  for (Index e = 0; e < difference.nonZeros(); ++e)
    largest = std::max(largest, std::abs(double(difference.valuePtr()[e])));
  return largest;
}

template <class Scalar, class StoredIndex>
double SparseDataMatrix<Scalar, StoredIndex>::largest_magnitude() const {
  double largest = 0;
  for (Index e = 0; e < A_.nonZeros(); ++e) largest = std::max(largest, std::abs(double(A_.valuePtr()[e])));
  return largest;
}

template <class Scalar, class StoredIndex>
DataMatrixPtr SparseDataMatrix<Scalar, StoredIndex>::scaled_copy(double power_of_two, bool transposed) const {
  const auto copy = std::make_shared<Stored>(A_);
  for (Index e = 0; e < copy->nonZeros(); ++e)
    copy->valuePtr()[e] = Scalar(power_of_two * double(copy->valuePtr()[e]));
  const SparseView<Scalar, StoredIndex> view{
      copy->outerIndexPtr(),        copy->innerIndexPtr(),        copy->valuePtr(),
      transposed ? cols() : rows(), transposed ? rows() : cols(), transposed};
  const DataMatrixPtr operation = data_matrix(view, threads_);
  return {operation.get(), [copy, operation](const DataMatrix*) {}};
}

template <class Scalar, class StoredIndex>
Vector SparseDataMatrix<Scalar, StoredIndex>::row_means() const {
  Matrix sums;
  apply(Matrix::Ones(cols(), 1), sums);
  return sums / double(cols());
}

template <class Scalar, class StoredIndex>
double SparseDataMatrix<Scalar, StoredIndex>::squared_norm_about_rows(const Vector& row_shift) const {
  double sum = 0;
  for (Index i = 0; i < rows(); ++i) {
    Index unstored = cols();
    for (Entry entry(A_, i); entry; ++entry, --unstored) {
      const double about = double(entry.value()) - row_shift[i];
      sum += about * about;
    }
    sum += double(unstored) * row_shift[i] * row_shift[i];
  }
  return sum;
}

template class SparseDataMatrix<double, int>;
template class SparseDataMatrix<float, int>;
template class SparseDataMatrix<double, std::int64_t>;
template class SparseDataMatrix<float, std::int64_t>;

}  // namespace pursuit
