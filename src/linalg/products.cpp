#include "linalg/products.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/aligned.hpp"
#include "base/chunks.hpp"
#include "base/fresh_pages.hpp"
#include "base/packs.hpp"
#include "base/work.hpp"
#include "linalg/product_kernels.hpp"

// Two ways to multiply, each for both orders of the matrix: sums go along its lines (the contiguous
// direction) or across them.
//
// A panel of three columns and more is packed into rows of vectors, and a tile of the result, some rows by
// some vectors, stays in registers while one number of the matrix after the other is spread over a vector: no
// part of the matrix is copied, and its order only decides which number comes next. Tiles are summed over 128
// places, for which the panel stays in the first cache. One or two columns would waste the vectors: there
// lines are multiplied as they are, in double precision.

namespace pursuit {
namespace {

constexpr Index kWidest = 192;      // columns of a panel at a time, so that its sums stay in the second cache
constexpr Index kThin = 2;          // columns up to which lines are multiplied as they are
constexpr Index kRowGroup = 24;     // rows of all register tiles go into it: 8, 6 and 3
constexpr Index kManyPieces = 128;  // beyond these no sum is cut to have more of them

/// to[i * to_stride + j] = scale * from[j * from_stride + i] for `rows` i and `columns` j.
template <class Scalar>
struct Transposition {
  static constexpr Index kSide = packs::kPack;

  PURSUIT_INLINE static void copy_square(const double* from, Index from_stride, double scale, Scalar* to,
                                         Index to_stride) {
    packs::Pack column[kSide], half[kSide], row[kSide];
    for (Index j = 0; j < kSide; ++j) packs::load(from + j * from_stride, packs::Full(), column[j]);
    for (Index j = 0; j < kSide; j += 2) {
      half[j] = __builtin_shufflevector(column[j], column[j + 1], 0, 4, 2, 6);
      half[j + 1] = __builtin_shufflevector(column[j], column[j + 1], 1, 5, 3, 7);
    }
    for (Index i = 0; i < 2; ++i) {
      row[i] = __builtin_shufflevector(half[i], half[i + 2], 0, 1, 4, 5);
      row[i + 2] = __builtin_shufflevector(half[i], half[i + 2], 2, 3, 6, 7);
    }
    for (Index i = 0; i < kSide; ++i) {
      using Narrow = typename Vectors<Scalar, kSide * sizeof(Scalar)>::Type;
      const Narrow narrow = __builtin_convertvector(scale * row[i], Narrow);
      std::memcpy(to + i * to_stride, &narrow, sizeof narrow);
    }
  }

  PURSUIT_KERNEL static void copy(const double* from, Index from_stride, Index rows, Index columns,
                                  double scale, Scalar* to, Index to_stride) {
    Index i = 0;
    for (; i + kSide <= rows; i += kSide) {
      Index j = 0;
      for (; j + kSide <= columns; j += kSide)
        copy_square(from + j * from_stride + i, from_stride, scale, to + i * to_stride + j, to_stride);
      for (; j < columns; ++j)
        for (Index k = i; k < i + kSide; ++k)
          to[k * to_stride + j] = Scalar(scale * from[j * from_stride + k]);
    }
    for (; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) to[i * to_stride + j] = Scalar(scale * from[j * from_stride + i]);
  }
};

/// A panel in slices as wide as a tile, each row by row; columns up to a multiple of half a vector.
template <class Scalar>
class PackedPanel {
 public:
  PackedPanel(const ConstMatrixRef& V, double scale, KernelLevel level, int threads)
      : halves_((V.cols() + kHalf<Scalar> - 1) / kHalf<Scalar>),
        slices_((halves_ + most_halves(level) - 1) / most_halves(level)),
        places_(V.rows()),
        data_(std::size_t(places_ * width())) {
    const Chunks chunks(places_, 256);
    parallel_for(chunks.count(), threads, [&](Index chunk) {
      for (Index s = 0; s < slices_; ++s) pack(V, scale, s, chunks.first(chunk), chunks.first(chunk + 1));
    });
  }

  Index width() const { return halves_ * kHalf<Scalar>; }

  /// Row i of the sums needs no more than columns from `diagonal` + i on.
  void add_product(AddTiles<Scalar> add, Part<Scalar> A, Index place, Index diagonal, double* sums) const {
    const Index rows = A.rows;
    for (Index s = 0; s < slices_; ++s) {
      A.rows = std::clamp<Index>(first_half(s + 1) * kHalf<Scalar> - diagonal, 0, rows);
      add(first_half(s + 1) - first_half(s), A, slice(s) + place * slice_width(s),
          sums + first_half(s) * kHalf<Scalar>, width());
    }
  }

 private:
  Index first_half(Index s) const { return halves_ * s / slices_; }
  Index slice_width(Index s) const { return (first_half(s + 1) - first_half(s)) * kHalf<Scalar>; }
  const Scalar* slice(Index s) const { return data_.data() + places_ * first_half(s) * kHalf<Scalar>; }

  void pack(const ConstMatrixRef& V, double scale, Index s, Index begin, Index end) {
    const Index first = first_half(s) * kHalf<Scalar>, width = slice_width(s);
    const Index columns = std::min(width, V.cols() - first);
    Scalar* to = data_.data() + places_ * first + begin * width;
    Transposition<Scalar>::copy(V.data() + first * V.outerStride() + begin, V.outerStride(), end - begin,
                                columns, scale, to, width);
    for (Index k = 0; k < end - begin; ++k)
      std::fill(to + k * width + columns, to + (k + 1) * width, Scalar(0));
  }

  Index halves_, slices_, places_;
  Room<Scalar> data_;
};

template <class Whole>
struct Widening {
  PURSUIT_KERNEL static void copy(const Whole* from, Index stride, Index lines, Index length, double* to) {
    for (Index i = 0; i < lines; ++i, from += stride, to += length)
      for (Index k = 0; k < length; ++k) to[k] = double(from[k]);
  }
};

/// Numbers that can be multiplied, where they lie, or in a tile that the next call overwrites.
template <class Stored>
Part<Multiplied<Stored>> part_of(const DenseView<Stored>& A, Index row, Index rows, Index place,
                                 Index places) {
  const Stored* data = A.data + (A.row_major ? row * A.stride + place : row + place * A.stride);
  if constexpr (std::is_integral_v<Stored>) {
    const Index lines = A.row_major ? rows : places, length = A.row_major ? places : rows;
    thread_local AlignedVector<double> tile;
    if (Index(tile.size()) < lines * length) tile.resize(std::size_t(lines * length));
    Widening<Stored>::copy(data, A.stride, lines, length, tile.data());
    return {tile.data(), length, rows, places};
  } else {
    return {data, A.stride, rows, places};
  }
}

/// Cuts the product into tasks, rows of the result by ranges of places, and adds the ranges along a tree.
/// Calls add(row, rows, place, places, sums) for sums that begin as zeros, `width` a row, and deliver(row,
/// rows, sums) for those that are complete.
template <class Add, class Deliver>
void in_pieces(Index rows, Index places, Index width, Index shortest, int threads, const Add& add,
               const Deliver& deliver) {
  const Chunks groups((rows + kRowGroup - 1) / kRowGroup, std::max<Index>(1, shortest / kRowGroup), rows);
  const Chunks ranges(places, 4 * kPlaces, std::max<Index>(1, kManyPieces / groups.count()));
  const auto first = [&](Index group) { return std::min(rows, groups.first(group) * kRowGroup); };
  const auto length = [&](Index group) { return first(group + 1) - first(group); };
  if (ranges.count() == 1) {
    parallel_for(groups.count(), threads, [&](Index g) {
      thread_local AlignedVector<double> sums;
      sums.assign(std::size_t(length(g) * width), 0.0);
      add(first(g), length(g), 0, places, sums.data());
      deliver(first(g), length(g), sums.data());
    });
    return;
  }
  Room<double> sums(std::size_t(ranges.count() * rows * width));
  const auto sums_of = [&](Index g, Index range) { return sums.data() + (range * rows + first(g)) * width; };
  parallel_for(groups.count() * ranges.count(), threads, [&](Index task) {
    const Index g = task / ranges.count(), range = task % ranges.count();
    std::fill_n(sums_of(g, range), length(g) * width, 0.0);
    add(first(g), length(g), ranges.first(range), ranges.length(range), sums_of(g, range));
  });
  parallel_for(groups.count(), threads, [&](Index g) {
    std::vector<double*> parts(std::size_t(ranges.count()));
    for (Index range = 0; range < ranges.count(); ++range) parts[std::size_t(range)] = sums_of(g, range);
    tree_sum(parts, [&](double* into, const double* part) {
      for (Index e = 0; e < length(g) * width; ++e) into[e] += part[e];
    });
    deliver(first(g), length(g), parts.front());
  });
}

/// A power of two that brings the largest entry of a panel near one: products with it would leave the range
/// of single precision otherwise.
template <class Scalar>
double scale_for(const ConstMatrixRef& V, int threads) {
  constexpr int kMost = 1000;  // the inverse is a normal number too
  if (std::is_same_v<Scalar, double> || V.rows() == 0) return 1;
  Vector sizes(V.cols());
  parallel_for(V.cols(), threads, [&](Index c) { sizes[c] = V.col(c).lpNorm<Eigen::Infinity>(); });
  const double largest = sizes.maxCoeff();
  return largest > 0 ? std::ldexp(1.0, -std::clamp(std::ilogb(largest), -kMost, kMost)) : 1;
}

enum class Write { over, upper, off };  // what was there, on and above the diagonal; off what was there

PURSUIT_KERNEL void take_off(const double* part, Index count, double* from) {
  for (Index i = 0; i < count; ++i) from[i] -= part[i];
}

/// Columns of the result, `stride` apart; data in single precision may have one in single precision.
template <class Result>
struct Columns {
  Result* data;
  Index stride;
};

template <class Result>
void write_column(const double* column, Index count, Write write, Result* to) {
  if constexpr (std::is_same_v<Result, double>)
    if (write == Write::off) return take_off(column, count, to);
  std::copy_n(column, count, to);
}

template <class Stored, class Result>
void multiply_thin(const DenseView<Stored>& A, const ConstMatrixRef& V, const Columns<Result>& out,
                   int threads, Write write) {
  const auto add = thin_adding<Multiplied<Stored>>(V.cols(), A.row_major);
  in_pieces(
      A.rows, A.cols, V.cols(), A.row_major ? 48 : 504, threads,
      [&](Index row, Index rows, Index place, Index places, double* sums) {
        // Tiles of whole lines: no sum along one is cut.
        constexpr Index kTile = Index(1) << 14, kLines = 8;
        const Index lines = std::is_integral_v<Stored>
                                ? std::max(kLines, kTile / (A.row_major ? places : rows))
                            : A.row_major ? rows
                                          : places;
        if (A.row_major)
          for (Index i = 0; i < rows; i += lines)
            add(part_of(A, row + i, std::min(lines, rows - i), place, places), V.data() + place,
                V.outerStride(), sums + i, rows);
        else
          for (Index k = place; k < place + places; k += lines)
            add(part_of(A, row, rows, k, std::min(lines, place + places - k)), V.data() + k, V.outerStride(),
                sums, rows);
      },
      [&](Index row, Index rows, const double* sums) {
        for (Index c = 0; c < V.cols(); ++c)
          write_column(sums + c * rows, rows, write, out.data + c * out.stride + row);
      });
}

template <class Stored, class Result>
void multiply_packed(const DenseView<Stored>& A, const ConstMatrixRef& V, const Columns<Result>& out,
                     int threads, KernelLevel level, Write write, Index diagonal) {
  using Scalar = Multiplied<Stored>;
  const double scale = scale_for<Scalar>(V, threads);
  const PackedPanel<Scalar> panel(V, scale, level, threads);
  const AddTiles<Scalar> add = tiles_adding<Scalar>(A.row_major, level);
  const Index width = panel.width();
  // Long enough that a line is read in long runs, while there are pieces for all threads and sums stay in
  // cache.
  const Index shortest = width > 24 ? 96 : A.rows >= 64 * 192 ? 192 : 48;
  in_pieces(
      A.rows, A.cols, width, shortest, threads,
      [&](Index row, Index rows, Index place, Index places, double* sums) {
        for (Index k = place; k < place + places; k += kPlaces)
          panel.add_product(add, part_of(A, row, rows, k, std::min(kPlaces, place + places - k)), k,
                            diagonal + row, sums);
      },
      [&](Index row, Index rows, const double* sums) {
        if (write != Write::off)
          return Transposition<Result>::copy(sums, width, V.cols(), rows, 1 / scale, out.data + row,
                                             out.stride);
        thread_local AlignedVector<double> columns;
        columns.resize(std::size_t(rows * V.cols()));
        Transposition<double>::copy(sums, width, V.cols(), rows, 1 / scale, columns.data(), rows);
        for (Index c = 0; c < V.cols(); ++c)
          write_column(columns.data() + c * rows, rows, write, out.data + c * out.stride + row);
      });
}

template <class Stored, class Result>
void multiply_and(const DenseView<Stored>& A, const ConstMatrixRef& V, Columns<Result> out, int threads,
                  KernelLevel level, Write write) {
  if (A.rows == 0) return;
  for (Index c = 0; c < V.cols(); c += kWidest, out.data += kWidest * out.stride) {
    const auto part = V.middleCols(c, std::min(kWidest, V.cols() - c));
    const int used = threads_for(double(A.rows) * double(A.cols) * double(part.cols() + 4), threads);
    if (part.cols() <= kThin)
      multiply_thin(A, part, out, used, write);
    else
      multiply_packed(A, part, out, used, level, write, write == Write::upper ? -c : -A.rows);
  }
}

Columns<double> columns_of(MatrixRef& out) {
  return {out.data(), out.outerStride()};
}

DenseView<double> whole(const ConstMatrixRef& A) {
  return {A.data(), A.rows(), A.cols(), A.outerStride()};
}

}  // namespace

template <class Stored>
void multiply(const DenseView<Stored>& A, const ConstMatrixRef& V, MatrixRef out, int threads,
              KernelLevel level) {
  multiply_and(A, V, columns_of(out), threads, level, Write::over);
}
template void multiply(const DenseView<double>&, const ConstMatrixRef&, MatrixRef, int, KernelLevel);
template void multiply(const DenseView<float>&, const ConstMatrixRef&, MatrixRef, int, KernelLevel);
#define PURSUIT_MULTIPLY(Whole) \
  template void multiply(const DenseView<Whole>&, const ConstMatrixRef&, MatrixRef, int, KernelLevel);
PURSUIT_FOR_WHOLE_NUMBERS(PURSUIT_MULTIPLY)
#undef PURSUIT_MULTIPLY

void multiply(const DenseView<float>& A, const ConstMatrixRef& V, Eigen::Ref<Eigen::MatrixXf> out) {
  multiply_and(A, V, Columns<float>{out.data(), out.outerStride()}, 1, kernel_level(), Write::over);
}

Matrix transposed_product(const ConstMatrixRef& A, const ConstMatrixRef& B, int threads) {
  if (A.cols() < B.cols()) return transposed_product(B, A, threads).transpose();  // the thinner one is packed
  if (A.data() == B.data() && A.cols() == B.cols() && A.outerStride() == B.outerStride())
    return gram_of(A, threads);
  Matrix result(A.cols(), B.cols());
  multiply(whole(A).transposed(), B, result, threads);
  return result;
}

Matrix gram_of(const ConstMatrixRef& A, int threads) {
  Matrix result(A.cols(), A.cols());
  multiply_and(whole(A).transposed(), A, Columns<double>{result.data(), result.rows()}, threads,
               kernel_level(), Write::upper);
  result.triangularView<Eigen::StrictlyLower>() = result.transpose();
  return result;
}

void subtract_product(const ConstMatrixRef& A, const ConstMatrixRef& B, MatrixRef out, int threads) {
  multiply_and(whole(A), B, columns_of(out), threads, kernel_level(), Write::off);
}

}  // namespace pursuit
