#include "data/dense_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/chunks.hpp"
#include "base/fresh_pages.hpp"
#include "base/work.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// Lines of so many entries cut for threads, in pieces that the sizes alone decide.
Chunks pieces_of_lines(Index lines, Index length) {
  constexpr Index kEntries = Index(1) << 15;
  return Chunks(lines, std::max<Index>(1, kEntries / length), 1024);
}

}  // namespace

template <class Scalar>
DenseDataMatrix<Scalar>::DenseDataMatrix(const DenseView<Scalar>& view, int threads)
    : view_(view), threads_(threads) {
  if (view.rows == 0 || view.cols == 0)
    throw InvalidInput(fmt::format(
        "the matrix is empty ({} x {}); at least one row and one column are needed", view.rows, view.cols));
  if constexpr (std::is_floating_point_v<Scalar>) require_finite();
}

template <class Scalar>
void DenseDataMatrix<Scalar>::require_finite() const {
  const Chunks chunks = pieces_of_lines(lines(), length());
  std::vector<Index> first_bad(std::size_t(chunks.count()), -1);  // line of each chunk
  for_chunks([&](Index chunk) {
    visit_lines(chunks, chunk, [&](Index i, const auto& entries) {
      if (Index& bad = first_bad[std::size_t(chunk)]; bad < 0 && !entries.allFinite()) bad = i;
    });
  });
  for (const Index bad : first_bad) {
    if (bad < 0) continue;
    const auto entries = line(bad);
    Index place = 0;
    while (std::isfinite(entries[place])) ++place;
    throw InvalidInput(fmt::format("entry ({}, {}) of the matrix is {}; every entry must be a finite number",
                                   (view_.row_major ? bad : place) + 1, (view_.row_major ? place : bad) + 1,
                                   entries[place]));
  }
}

template <class Scalar>
template <class Visit>
void DenseDataMatrix<Scalar>::visit_lines(const Chunks& chunks, Index chunk, const Visit& visit) const {
  for (Index i = chunks.first(chunk); i < chunks.first(chunk + 1); ++i) visit(i, line(i));
}

template <class Scalar>
template <class Work>
void DenseDataMatrix<Scalar>::for_chunks(const Work& work) const {
  parallel_for(pieces_of_lines(lines(), length()).count(), threads_for(product_work(), threads_), work);
}

template <class Scalar>
template <class Visit>
void DenseDataMatrix<Scalar>::for_lines(const Visit& visit) const {
  const Chunks chunks = pieces_of_lines(lines(), length());
  for_chunks([&](Index chunk) { visit_lines(chunks, chunk, visit); });
}

template <class Scalar>
template <class Sum, class Visit>
Sum DenseDataMatrix<Scalar>::sum_over_lines(const Sum& zero, const Visit& visit) const {
  const Chunks chunks = pieces_of_lines(lines(), length());
  std::vector<Sum> sums(std::size_t(chunks.count()), zero);
  for_chunks([&](Index chunk) {
    visit_lines(chunks, chunk,
                [&](Index i, const auto& entries) { visit(i, entries, sums[std::size_t(chunk)]); });
  });
  tree_sum(sums, [](Sum& into, const Sum& part) { into += part; });
  return sums.front();
}

template <class Scalar>
void DenseDataMatrix<Scalar>::apply(const Matrix& V, Matrix& out) const {
  // A block of sparse vectors touches few columns: those alone are read.
  constexpr Index kFewest = 512, kShare = 8;
  std::vector<Index> used;
  if (view_.cols >= kFewest)
    for (Index j = 0; j < V.rows() && Index(used.size()) * kShare <= view_.cols; ++j)
      if ((V.row(j).array() != 0).any()) used.push_back(j);
  if (view_.cols < kFewest || Index(used.size()) * kShare > view_.cols) return product(view_, V, out);
  if (used.empty()) used.push_back(0);
  const auto count = Index(used.size());
  const bool by_rows = view_.row_major;  // read, and kept, in the order of the matrix
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> columns(by_rows ? count : view_.rows,
                                                                by_rows ? view_.rows : count);
  const Chunks chunks(by_rows ? view_.rows : count, 16);
  parallel_for(chunks.count(), threads_for(double(columns.size()), threads_), [&](Index chunk) {
    for (Index i = chunks.first(chunk); i < chunks.first(chunk + 1); ++i)
      if (by_rows)
        for (Index c = 0; c < count; ++c) columns(c, i) = view_.data[i * view_.stride + used[std::size_t(c)]];
      else
        std::copy_n(view_.data + used[std::size_t(i)] * view_.stride, view_.rows, columns.col(i).data());
  });
  const DenseView<Scalar> few{columns.data(), view_.rows, count, columns.rows(), by_rows};
  product(few, V(used, Eigen::all), out);
}

template <class Scalar>
void DenseDataMatrix<Scalar>::apply_transposed(const Matrix& U, Matrix& out) const {
  product(view_.transposed(), U, out);
}

template <class Scalar>
void DenseDataMatrix<Scalar>::product(const DenseView<Scalar>& A, const Matrix& V, Matrix& out) const {
  out.resize(A.rows, V.cols());
  multiply(A, V, out, threads_);
}

template <class Scalar>
double DenseDataMatrix<Scalar>::squared_norm() const {
  return sum_over_lines(
      0.0, [](Index, const auto& line, double& sum) { sum += line.template cast<double>().squaredNorm(); });
}

template <class Scalar>
double DenseDataMatrix<Scalar>::squared_norm_about(const Vector& column_shift) const {
  return sum_over_lines(0.0, [&](Index i, const auto& line, double& sum) {
    if (view_.row_major)
      sum += (line.template cast<double>() - column_shift).squaredNorm();
    else
      sum += (line.template cast<double>().array() - column_shift[i]).matrix().squaredNorm();
  });
}

template <class Scalar>
Vector DenseDataMatrix<Scalar>::column_means() const {
  Vector sums(view_.cols);
  if (view_.row_major)
    sums = sum_over_lines(Vector(Vector::Zero(view_.cols)),
                          [](Index, const auto& line, Vector& sum) { sum += line.template cast<double>(); });
  else
    for_lines([&](Index i, const auto& line) { sums[i] = line.template cast<double>().sum(); });
  return sums / double(view_.rows);
}

template <class Scalar>
std::optional<double> DenseDataMatrix<Scalar>::squared_distance(const Matrix& L, const Matrix& R) const {
  constexpr Index kLines = 48, kEntries = 480;  // of L R^T at a time
  const Matrix &across = view_.row_major ? L : R, &along = view_.row_major ? R : L;
  const Chunks chunks(lines(), kLines, 1024);
  return chunked_sum<double>(
      chunks, threads_for(product_work() * double(L.cols() + 1), threads_), [&](Index first, Index count) {
        double sum = 0;
        Matrix block(kEntries, kLines);
        for (Index i = first; i < first + count; i += kLines) {
          const Index block_lines = std::min(kLines, first + count - i);
          const Matrix panel = across.middleRows(i, block_lines).transpose();
          for (Index j = 0; j < length(); j += kEntries) {
            const Index entries = std::min(kEntries, length() - j);
            multiply<double>({along.data() + j, entries, along.cols(), along.rows()}, panel,
                             block.topLeftCorner(entries, block_lines));
            for (Index k = 0; k < block_lines; ++k)
              sum += (line(i + k).segment(j, entries).template cast<double>() - block.col(k).head(entries))
                         .squaredNorm();
          }
        }
        return sum;
      });
}

template <class Scalar>
double DenseDataMatrix<Scalar>::asymmetry() const {
  constexpr Index kSide = 64;  // of squares, so that steps from column to column stay in cache
  const Index squares = (view_.cols + kSide - 1) / kSide;
  std::vector<double> largest(std::size_t(squares), 0.0);
  parallel_for(squares, threads_for(product_work(), threads_), [&](Index s) {
    for (Index t = 0; t <= s; ++t)
      for (Index j = s * kSide; j < std::min(view_.cols, (s + 1) * kSide); ++j)
        for (Index i = t * kSide; i < std::min(j, (t + 1) * kSide); ++i)
          largest[std::size_t(s)] = std::max(
              largest[std::size_t(s)],
              std::abs(double(view_.data[i + j * view_.stride]) - double(view_.data[j + i * view_.stride])));
  });
  return *std::max_element(largest.begin(), largest.end());
}

template <class Scalar>
double DenseDataMatrix<Scalar>::largest_magnitude() const {
  Vector largest(lines());
  for_lines([&](Index i, const auto& line) {
    largest[i] = line.template cast<double>().template lpNorm<Eigen::Infinity>();
  });
  return largest.maxCoeff();
}

template <class Scalar>
std::optional<NegativePart> DenseDataMatrix<Scalar>::negative_part() const {
  std::vector<NegativePart> parts(static_cast<std::size_t>(lines()));
  for_lines([&](Index i, const auto& line) {
    for (Index j = 0; j < line.size(); ++j) parts[std::size_t(i)].add(double(line[j]));
  });
  NegativePart whole;
  for (const NegativePart& part : parts) whole.add(part);
  return whole;
}

template <class Scalar>
template <class Change>
DataMatrixPtr DenseDataMatrix<Scalar>::changed_copy(const Change& change) const {
  using Number = Multiplied<Scalar>;
  using Copy = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
  const auto copy = std::make_shared<Copy>(length(), lines());
  for_lines([&](Index i, const auto& line) {
    copy->col(i) = change(i, line.template cast<double>()).template cast<Number>();
  });
  const DenseView<Number> view{copy->data(), view_.rows, view_.cols, length(), view_.row_major};
  return {new DenseDataMatrix<Number>(view, threads_), [copy](const DataMatrix* A) { delete A; }};
}

template <class Scalar>
DataMatrixPtr DenseDataMatrix<Scalar>::scaled(double power_of_two) const {
  return changed_copy([&](Index, const auto& line) { return power_of_two * line; });
}

template <class Scalar>
DataMatrixPtr DenseDataMatrix<Scalar>::shifted(const Vector& column_shift) const {
  // Products lose the digits that the norm of the matrix has more than that of the shifted one.
  constexpr double kLoss = std::is_same_v<Multiplied<Scalar>, double> ? 1e4 : 10;
  if (!(squared_norm() > kLoss * kLoss * squared_norm_about(column_shift))) return nullptr;
  return changed_copy([&](Index i, const auto& line) -> Vector {
    return view_.row_major ? Vector(line - column_shift) : Vector(line.array() - column_shift[i]);
  });
}

template <class Scalar>
std::optional<StoredEntries> DenseDataMatrix<Scalar>::stored_entries() const {
  StoredEntries lying{lines(), length(), std::vector<std::int64_t>(std::size_t(lines()) + 1), {}, {}};
  resize_on(threads_, lying.value, std::size_t(lines() * length()));
  for (Index i = 0; i <= lines(); ++i) lying.start[std::size_t(i)] = i * length();
  for_lines([&](Index i, const auto& line) {
    Eigen::Map<Vector>(lying.value.data() + i * length(), length()) = line.template cast<double>();
  });
  return view_.row_major ? std::move(lying) : lying.transposed(threads_);
}

template class DenseDataMatrix<double>;
template class DenseDataMatrix<float>;
#define PURSUIT_DENSE(Whole) template class DenseDataMatrix<Whole>;
PURSUIT_FOR_WHOLE_NUMBERS(PURSUIT_DENSE)
#undef PURSUIT_DENSE

}  // namespace pursuit
