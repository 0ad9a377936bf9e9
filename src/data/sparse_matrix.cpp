#include "data/sparse_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/fresh_pages.hpp"
#include "base/machine.hpp"
#include "base/work.hpp"
#include "linalg/products.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// The first of all rows that is bad; `rows` where none is.
template <class Bad>
Index first_bad_row(Index rows, int threads, const Bad& bad) {
  const Chunks chunks(rows);
  std::vector<Index> found(std::size_t(chunks.count()), rows);
  parallel_for(chunks.count(), threads, [&](Index c) {
    for (Index i = chunks.first(c); i < chunks.first(c + 1); ++i)
      if (bad(i)) {
        found[std::size_t(c)] = i;
        break;
      }
  });
  return *std::min_element(found.begin(), found.end());
}

/// The first row in which a column comes twice, in whatever order; `rows` where there is none. Who looks
/// through some of the rows marks the columns it has met: there are no more marks than entries.
template <class Scalar, class StoredIndex>
Index first_repeating_row(const SparseView<Scalar, StoredIndex>& A, int threads) {
  const Index most = std::clamp<Index>(Index(A.start[A.rows]) / std::max<Index>(A.cols, 1), 1, 64);
  const Chunks parts(A.rows, 1, most);
  std::vector<Index> found(std::size_t(parts.count()), A.rows);
  parallel_for(parts.count(), threads, [&](Index part) {
    std::vector<Index> met(std::size_t(A.cols), -1);  // the last row that has an entry there
    for (Index i = parts.first(part); i < parts.first(part + 1); ++i)
      for (Index e = Index(A.start[i]); e < Index(A.start[i + 1]); ++e)
        if (std::exchange(met[std::size_t(A.index[e])], i) == i) {
          found[std::size_t(part)] = i;
          return;
        }
  });
  return *std::min_element(found.begin(), found.end());
}

/// Where rows begin and end, that their columns are those of the matrix, and that numbers are finite, before
/// anything is read through them.
template <class Scalar, class StoredIndex>
void require_sound_rows(const SparseView<Scalar, StoredIndex>& A, int threads) {
  if (A.rows == 0 || A.cols == 0)
    throw InvalidInput(fmt::format(
        "the matrix is empty ({} x {}); at least one row and one column are needed", A.rows, A.cols));
  if (A.start[0] != 0) throw InvalidInput("the first row of the sparse matrix does not begin at entry 0");
  const Index ended = first_bad_row(A.rows, threads, [&](Index i) { return A.start[i + 1] < A.start[i]; });
  const Index unsound = first_bad_row(ended, threads, [&](Index i) {
    const StoredIndex *begin = A.index + A.start[i], *end = A.index + A.start[i + 1];
    if (begin == end) return false;
    bool sound = begin[0] >= 0 && end[-1] < A.cols;
    if (A.in_order)
      for (const StoredIndex* column = begin + 1; column != end; ++column) sound &= column[-1] < column[0];
    else
      for (const StoredIndex* column = begin; column != end; ++column)
        sound &= *column >= 0 && *column < A.cols;
    for (StoredIndex e = A.start[i]; e < A.start[i + 1]; ++e)
      sound &= std::abs(A.values[e]) <= std::numeric_limits<Scalar>::max();
    return !sound;
  });
  if (unsound < ended) {
    const StoredIndex *begin = A.index + A.start[unsound], *end = A.index + A.start[unsound + 1];
    if (A.in_order && std::adjacent_find(begin, end, std::greater_equal<>()) != end)
      throw InvalidInput(
          fmt::format("row {} of the sparse matrix has duplicate or unsorted entries", unsound + 1));
    const auto [first, last] = std::minmax_element(begin, end);
    if (*first < 0 || *last >= A.cols)
      throw InvalidInput(fmt::format("row {} of the sparse matrix has an entry in column {} of {}",
                                     unsound + 1, *first < 0 ? Index(*first) : Index(*last) + 1, A.cols));
    const StoredIndex* bad = std::find_if(
        begin, end, [&](const StoredIndex& column) { return !std::isfinite(A.values[&column - A.index]); });
    throw InvalidInput(fmt::format("entry ({}, {}) of the matrix is {}; every entry must be a finite number",
                                   unsound + 1, *bad + 1, A.values[bad - A.index]));
  }
  if (ended < A.rows)
    throw InvalidInput(fmt::format("row {} of the sparse matrix ends before it begins", ended + 1));
}

template <class Scalar, class StoredIndex>
const SparseView<Scalar, StoredIndex>& require_valid(const SparseView<Scalar, StoredIndex>& A, int threads) {
  require_sound_rows(A, threads);
  if (!A.in_order)
    if (const Index row = first_repeating_row(A, threads); row < A.rows)
      throw InvalidInput(fmt::format("row {} of the sparse matrix has duplicate entries", row + 1));
  return A;
}

/// to[i] = convert(from[i]) in a list of its own.
template <class From, class To, class Convert>
void copy_on(int threads, const From* from, Index count, std::vector<To>& to, const Convert& convert) {
  resize_on(threads, to, std::size_t(count));
  const Chunks chunks(count, 1 << 14);
  parallel_for(chunks.count(), threads_for(double(count), threads), [&](Index c) {
    std::transform(from + chunks.first(c), from + chunks.first(c + 1), to.begin() + chunks.first(c), convert);
  });
}
template <class From, class To>
void copy_on(int threads, const From* from, Index count, std::vector<To>& to) {
  copy_on(threads, from, count, to, [](From value) { return To(value); });
}

/// Sum of term(row) over all rows.
template <class Scalar, class StoredIndex, class Term>
double sum_over_rows(const CompressedRows<Scalar, StoredIndex>& A, int threads, const Term& term) {
  std::vector<double> parts(std::size_t(A.chunks()), 0.0);
  parallel_for(A.chunks(), threads, [&](Index c) {
    double sum = 0;
    for (Index i = A.first_row(c); i < A.first_row(c + 1); ++i) sum += term(i);
    parts[std::size_t(c)] = sum;
  });
  tree_sum(parts, [](double& into, double part) { into += part; });
  return parts.front();
}

/// ||A - shift 1^T||^2, where most entries are not stored.
template <class Scalar, class StoredIndex>
double squared_norm_about_rows(const CompressedRows<Scalar, StoredIndex>& rows, const Vector& shift,
                               int threads) {
  const SparseView<Scalar, StoredIndex>& A = rows.view();
  return sum_over_rows(rows, threads, [&](Index i) {
    double sum = double(A.cols - Index(A.start[i + 1] - A.start[i])) * shift[i] * shift[i];
    for (StoredIndex e = A.start[i]; e < A.start[i + 1]; ++e) {
      const double about = double(A.values[e]) - shift[i];
      sum += about * about;
    }
    return sum;
  });
}

}  // namespace

template <class Scalar, class StoredIndex>
bool has_duplicates(const SparseView<Scalar, StoredIndex>& A, int threads) {
  const SparseView<Scalar, StoredIndex> rows{
      A.start, A.index, A.values, A.by_columns ? A.cols : A.rows, A.by_columns ? A.rows : A.cols,
      false,   false};
  require_sound_rows(rows, threads);
  return first_repeating_row(rows, threads) < rows.rows;
}
template bool has_duplicates(const SparseView<double, int>&, int);
template bool has_duplicates(const SparseView<float, int>&, int);
template bool has_duplicates(const SparseView<double, std::int64_t>&, int);
template bool has_duplicates(const SparseView<float, std::int64_t>&, int);

template <class Scalar, class StoredIndex>
SparseDataMatrix<Scalar, StoredIndex>::SparseDataMatrix(const SparseView<Scalar, StoredIndex>& A, int threads)
    : threads_(threads), A_(require_valid(A, threads), threads) {}

template <class Scalar, class StoredIndex>
const CompressedRows<Scalar, StoredIndex>* SparseDataMatrix<Scalar, StoredIndex>::transposed() const {
  std::call_once(transposed_once_, [&] {
    if (TransposedCopy<Scalar, StoredIndex>::bytes(A_) < available_memory() / 2)
      transposed_ = std::make_unique<TransposedCopy<Scalar, StoredIndex>>(A_, threads_);
  });
  return transposed_ ? &transposed_->rows() : nullptr;
}

template <class Scalar, class StoredIndex>
void SparseDataMatrix<Scalar, StoredIndex>::apply_transposed(const Matrix& U, Matrix& out) const {
  if (const auto* copy = transposed())
    copy->multiply(U, out);
  else
    A_.multiply_transposed(U, out);
}

template <class Scalar, class StoredIndex>
double SparseDataMatrix<Scalar, StoredIndex>::squared_norm() const {
  return chunked_sum<double>(Chunks(A_.entries(), 8192), threads_, [&](Index first, Index count) {
    return Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>(A_.view().values + first, count)
        .template cast<double>()
        .square()
        .sum();
  });
}

template <class Scalar, class StoredIndex>
double SparseDataMatrix<Scalar, StoredIndex>::squared_norm_about(const Vector& column_shift) const {
  if (const auto* copy = transposed()) return pursuit::squared_norm_about_rows(*copy, column_shift, threads_);
  const auto& A = A_.view();
  Vector unstored = Vector::Constant(cols(), double(rows()));  // entries of each column
  for (Index e = 0; e < A_.entries(); ++e) --unstored[Index(A.index[e])];
  return sum_over_rows(A_, threads_,
                       [&](Index i) {
                         double sum = 0;
                         for (StoredIndex e = A.start[i]; e < A.start[i + 1]; ++e) {
                           const double about = double(A.values[e]) - column_shift[Index(A.index[e])];
                           sum += about * about;
                         }
                         return sum;
                       }) +
         unstored.dot(column_shift.cwiseAbs2());
}

template <class Scalar, class StoredIndex>
double SparseDataMatrix<Scalar, StoredIndex>::squared_norm_about_rows(const Vector& row_shift) const {
  return pursuit::squared_norm_about_rows(A_, row_shift, threads_);
}

template <class Scalar, class StoredIndex>
Vector SparseDataMatrix<Scalar, StoredIndex>::column_means() const {
  Matrix sums;
  apply_transposed(Matrix::Ones(rows(), 1), sums);
  return sums / double(rows());
}

template <class Scalar, class StoredIndex>
Vector SparseDataMatrix<Scalar, StoredIndex>::row_means() const {
  Matrix sums;
  apply(Matrix::Ones(cols(), 1), sums);
  return sums / double(cols());
}

template <class Scalar, class StoredIndex>
std::optional<double> SparseDataMatrix<Scalar, StoredIndex>::squared_distance(const Matrix& L,
                                                                              const Matrix& R) const {
  // Every entry of L R^T counts, stored or not: only worth it where the matrix is not much larger than its
  // entries.
  if (double(rows()) * double(cols()) > 100.0 * double(A_.entries()) + 1e6) return std::nullopt;
  const SparseView<Scalar, StoredIndex>& A = A_.view();
  const Matrix left = L.transpose();
  const Chunks blocks(rows(), 16, Index(1) << 40);
  return chunked_sum<double>(blocks, threads_, [&](Index first, Index count) {
    Matrix rest = Matrix::Zero(cols(), count);  // transposed: Y - L R^T
    subtract_product(R, left.middleCols(first, count), rest);
    for (Index i = 0; i < count; ++i)
      for (StoredIndex e = A.start[first + i]; e < A.start[first + i + 1]; ++e)
        rest(Index(A.index[e]), i) += double(A.values[e]);
    return rest.squaredNorm();
  });
}

template <class Scalar, class StoredIndex>
double SparseDataMatrix<Scalar, StoredIndex>::asymmetry() const {
  const TransposedCopy<Scalar, StoredIndex> copy(A_, threads_);
  std::optional<TransposedCopy<Scalar, StoredIndex>> ordered;
  if (!A_.view().in_order) ordered.emplace(copy.rows(), threads_);
  const SparseView<Scalar, StoredIndex>&A = ordered ? ordered->rows().view() : A_.view(),
                           &T = copy.rows().view();
  std::vector<double> largest(std::size_t(A_.chunks()), 0.0);
  parallel_for(A_.chunks(), threads_, [&](Index c) {
    double& most = largest[std::size_t(c)];
    for (Index i = A_.first_row(c); i < A_.first_row(c + 1); ++i) {
      StoredIndex a = A.start[i], t = T.start[i];
      while (a < A.start[i + 1] || t < T.start[i + 1]) {
        const bool here = t == T.start[i + 1] || (a < A.start[i + 1] && A.index[a] <= T.index[t]);
        const bool there = a == A.start[i + 1] || (t < T.start[i + 1] && T.index[t] <= A.index[a]);
        const double difference = (here ? double(A.values[a]) : 0.0) - (there ? double(T.values[t]) : 0.0);
        most = std::max(most, std::abs(difference));
        a += here;
        t += there;
      }
    }
  });
  return *std::max_element(largest.begin(), largest.end());
}

template <class Scalar, class StoredIndex>
double SparseDataMatrix<Scalar, StoredIndex>::largest_magnitude() const {
  const Chunks chunks(A_.entries(), 8192);
  std::vector<double> largest(std::size_t(chunks.count()), 0.0);
  parallel_for(chunks.count(), threads_, [&](Index c) {
    for (Index e = chunks.first(c); e < chunks.first(c + 1); ++e)
      largest[std::size_t(c)] = std::max(largest[std::size_t(c)], std::abs(double(A_.view().values[e])));
  });
  return *std::max_element(largest.begin(), largest.end());
}

template <class Scalar, class StoredIndex>
std::optional<NegativePart> SparseDataMatrix<Scalar, StoredIndex>::negative_part() const {
  const Chunks chunks(A_.entries(), 8192);
  std::vector<NegativePart> parts(static_cast<std::size_t>(chunks.count()));
  parallel_for(chunks.count(), threads_, [&](Index c) {
    for (Index e = chunks.first(c); e < chunks.first(c + 1); ++e)
      parts[std::size_t(c)].add(double(A_.view().values[e]));
  });
  NegativePart whole;
  for (const NegativePart& part : parts) whole.add(part);
  return whole;
}

template <class Scalar, class StoredIndex>
DataMatrixPtr SparseDataMatrix<Scalar, StoredIndex>::scaled_copy(double power_of_two, bool transposed) const {
  struct Copy {
    std::vector<StoredIndex> start, index;
    std::vector<Scalar> values;
  };
  const SparseView<Scalar, StoredIndex>& A = A_.view();
  const auto copy = std::make_shared<Copy>();
  copy_on(threads_, A.start, A.rows + 1, copy->start);
  copy_on(threads_, A.index, A_.entries(), copy->index);
  copy_on(threads_, A.values, A_.entries(), copy->values,
          [&](Scalar value) { return Scalar(power_of_two * double(value)); });
  const DataMatrixPtr operation =
      data_matrix(SparseView<Scalar, StoredIndex>{copy->start.data(), copy->index.data(), copy->values.data(),
                                                  transposed ? cols() : rows(), transposed ? rows() : cols(),
                                                  transposed, A.in_order},
                  threads_);
  return {operation.get(), [copy, operation](const DataMatrix*) {}};
}

template <class Scalar, class StoredIndex>
std::optional<StoredEntries> SparseDataMatrix<Scalar, StoredIndex>::stored_entries() const {
  const SparseView<Scalar, StoredIndex>& A = A_.view();
  StoredEntries entries{A.rows, A.cols, {}, {}, {}};
  copy_on(threads_, A.start, A.rows + 1, entries.start);
  copy_on(threads_, A.index, A_.entries(), entries.index);
  copy_on(threads_, A.values, A_.entries(), entries.value);
  return A.in_order ? std::move(entries) : entries.transposed(threads_).transposed(threads_);
}

template class SparseDataMatrix<double, int>;
template class SparseDataMatrix<float, int>;
template class SparseDataMatrix<double, std::int64_t>;
template class SparseDataMatrix<float, std::int64_t>;

}  // namespace pursuit
