#include "linalg/products.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/aligned.hpp"
#include "base/chunks.hpp"
#include "base/packs.hpp"
#include "base/work.hpp"

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

constexpr Index kPlaces = 128;      // products that are added before the sum goes to memory
constexpr Index kWidest = 192;      // columns of a panel at a time, so that its sums stay in the second cache
constexpr Index kThin = 2;          // columns up to which lines are multiplied as they are
constexpr Index kRowGroup = 24;     // rows of all register tiles go into it: 8, 6 and 3
constexpr Index kManyPieces = 128;  // beyond these no sum is cut to have more of them

constexpr std::size_t kHalfBytes = 32;  // of the widest vectors
template <class Scalar, std::size_t bytes>
struct Vectors {
  typedef Scalar Type __attribute__((vector_size(bytes)));
};
template <class Scalar>
constexpr Index kHalf = Index(kHalfBytes / sizeof(Scalar));  // panels are packed in multiples of it

/// Part of a matrix: row i of the result and place k of the sums meet at data[i * stride + k] where sums go
/// along lines, at data[i + k * stride] where they go across.
template <class Scalar>
struct Part {
  const Scalar* data;
  Index stride, rows, places;
};

template <class Scalar, std::size_t bytes>
PURSUIT_INLINE void add_to(double* sums, const typename Vectors<Scalar, bytes>::Type& part) {
  if constexpr (sizeof(Scalar) < sizeof(double) && bytes > kHalfBytes) {  // the whole would be two vectors
    typename Vectors<Scalar, bytes / 2>::Type halves[2];
    std::memcpy(halves, &part, sizeof part);
    add_to<Scalar, bytes / 2>(sums, halves[0]);
    add_to<Scalar, bytes / 2>(sums + bytes / 2 / sizeof(Scalar), halves[1]);
  } else {
    typename Vectors<double, bytes / sizeof(Scalar) * sizeof(double)>::Type sum;
    std::memcpy(&sum, sums, sizeof sum);
    sum += __builtin_convertvector(part, decltype(sum));
    std::memcpy(sums, &sum, sizeof sum);
  }
}

/// `Rows` rows times `Fulls` vectors of `bytes` each, and perhaps half a one. Fewer rows than a tile has are
/// a `rest`: its last rows are the last one that there is, and their sums go nowhere.
template <class Scalar, bool along, bool rest, int Rows, std::size_t bytes, int Fulls, bool half>
PURSUIT_INLINE void add_tile(const Part<Scalar>& A, const Scalar* panel, double* sums, Index sums_stride) {
  using Full = typename Vectors<Scalar, bytes>::Type;
  using Half = typename Vectors<Scalar, bytes / 2>::Type;
  constexpr int kFulls = std::max(Fulls, 1);  // there are no arrays of nothing
  constexpr Index kOne = Index(bytes / sizeof(Scalar)), kWidth = Fulls * kOne + (half ? kOne / 2 : 0);
  const Scalar* row[Rows];
  for (int i = 0; i < Rows; ++i)
    row[i] = A.data + (rest ? std::min<Index>(i, A.rows - 1) : i) * (along ? A.stride : 1);
  Full full_sum[Rows][kFulls];
  Half half_sum[Rows];
  for (int i = 0; i < Rows; ++i) {
    for (int c = 0; c < Fulls; ++c) full_sum[i][c] = Full{};
    half_sum[i] = Half{};
  }
  for (Index k = 0; k < A.places; ++k) {
    Full fulls[kFulls];
    Half last{};
    for (int c = 0; c < Fulls; ++c) std::memcpy(&fulls[c], panel + k * kWidth + c * kOne, sizeof(Full));
    if constexpr (half) std::memcpy(&last, panel + k * kWidth + Fulls * kOne, sizeof(Half));
    for (int i = 0; i < Rows; ++i) {
      const Scalar x = row[i][along ? k : k * A.stride];
      for (int c = 0; c < Fulls; ++c) full_sum[i][c] += x * fulls[c];
      if constexpr (half) half_sum[i] += x * last;
    }
    // The next rows, into the first cache. Across lines these are steps from page to page that the processor
    // does not foresee, and the next places are asked for too.
    if constexpr (!along) {
      __builtin_prefetch(A.data + k * A.stride + Rows);
      __builtin_prefetch(A.data + (k + kPlaces) * A.stride, 0, 2);
    } else if (!rest && k % 8 == 0) {
      for (int i = 0; i < Rows; ++i) __builtin_prefetch(row[i] + Rows * A.stride + k);
    }
  }
  for (int i = 0; i < Rows && !(rest && i >= A.rows); ++i) {
    double* to = sums + i * sums_stride;
    for (int c = 0; c < Fulls; ++c) add_to<Scalar, bytes>(to + c * kOne, full_sum[i][c]);
    if constexpr (half) add_to<Scalar, bytes / 2>(to + Fulls * kOne, half_sum[i]);
  }
}

template <class Scalar, bool along, int Rows, std::size_t bytes, int Fulls, bool half>
PURSUIT_INLINE void add_rows(Part<Scalar> A, const Scalar* panel, double* sums, Index sums_stride) {
  for (; A.rows >= Rows; A.rows -= Rows) {
    add_tile<Scalar, along, false, Rows, bytes, Fulls, half>(A, panel, sums, sums_stride);
    A.data += Rows * (along ? A.stride : 1);
    sums += Rows * sums_stride;
  }
  if (A.rows > 0) add_tile<Scalar, along, true, Rows, bytes, Fulls, half>(A, panel, sums, sums_stride);
}

/// Tiles fill the vector registers: 32 of 512 bits, 16 of 256, 16 of 128. `halves` is the width of the panel.
template <class Scalar, bool along>
struct Tiles {
  using Add = void (*)(Index halves, const Part<Scalar>&, const Scalar* panel, double* sums,
                       Index sums_stride);

  PURSUIT_KERNEL_V4 static void v4(Index halves, const Part<Scalar>& A, const Scalar* panel, double* sums,
                                   Index sums_stride) {
    switch (halves) {
      case 1: return add_rows<Scalar, along, 8, 64, 0, true>(A, panel, sums, sums_stride);
      case 2: return add_rows<Scalar, along, 8, 64, 1, false>(A, panel, sums, sums_stride);
      case 3: return add_rows<Scalar, along, 8, 64, 1, true>(A, panel, sums, sums_stride);
      case 4: return add_rows<Scalar, along, 8, 64, 2, false>(A, panel, sums, sums_stride);
      case 5: return add_rows<Scalar, along, 8, 64, 2, true>(A, panel, sums, sums_stride);
      default: return add_rows<Scalar, along, 8, 64, 3, false>(A, panel, sums, sums_stride);
    }
  }
  PURSUIT_KERNEL_V3 static void v3(Index halves, const Part<Scalar>& A, const Scalar* panel, double* sums,
                                   Index sums_stride) {
    if (halves == 1) return add_rows<Scalar, along, 6, 32, 1, false>(A, panel, sums, sums_stride);
    add_rows<Scalar, along, 6, 32, 2, false>(A, panel, sums, sums_stride);
  }
  static void baseline(Index halves, const Part<Scalar>& A, const Scalar* panel, double* sums,
                       Index sums_stride) {
    if (halves == 1) return add_rows<Scalar, along, 3, 16, 2, false>(A, panel, sums, sums_stride);
    add_rows<Scalar, along, 3, 16, 4, false>(A, panel, sums, sums_stride);
  }

  static Add at(KernelLevel level) {
    return level == KernelLevel::v4 ? v4 : level == KernelLevel::v3 ? v3 : baseline;
  }
};

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

/// Room for numbers that nobody has written yet: the threads that write them meet their pages.
template <class T>
class Room {
 public:
  explicit Room(Index size) : data_(CacheAligned<T>().allocate(std::size_t(size))) {}
  ~Room() { CacheAligned<T>().deallocate(data_, 0); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  T* data_;
};

/// A panel in slices as wide as a tile, each row by row; columns up to a multiple of half a vector.
template <class Scalar>
class PackedPanel {
 public:
  PackedPanel(const ConstMatrixRef& V, double scale, KernelLevel level, int threads)
      : halves_((V.cols() + kHalf<Scalar> - 1) / kHalf<Scalar>),
        slices_((halves_ + most_halves(level) - 1) / most_halves(level)),
        places_(V.rows()),
        data_(places_ * width()) {
    const Chunks chunks(places_, 256);
    parallel_for(chunks.count(), threads, [&](Index chunk) {
      for (Index s = 0; s < slices_; ++s) pack(V, scale, s, chunks.first(chunk), chunks.first(chunk + 1));
    });
  }

  Index width() const { return halves_ * kHalf<Scalar>; }

  /// Row i of the sums needs no more than columns from `diagonal` + i on.
  void add_product(typename Tiles<Scalar, true>::Add add, Part<Scalar> A, Index place, Index diagonal,
                   double* sums) const {
    const Index rows = A.rows;
    for (Index s = 0; s < slices_; ++s) {
      A.rows = std::clamp<Index>(first_half(s + 1) * kHalf<Scalar> - diagonal, 0, rows);
      add(first_half(s + 1) - first_half(s), A, slice(s) + place * slice_width(s),
          sums + first_half(s) * kHalf<Scalar>, width());
    }
  }

 private:
  static Index most_halves(KernelLevel level) { return level == KernelLevel::v4 ? 6 : 2; }
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

/// One or two columns, as they are. Sums of a column lie together.
template <class Scalar, int Columns>
struct ThinKernels {
  static constexpr int kLines = 4 / Columns;
  static constexpr Index kLane = 8;
  using Lane = typename Vectors<double, kLane * sizeof(double)>::Type;
  using Narrow = typename Vectors<Scalar, kLane * sizeof(Scalar)>::Type;

  PURSUIT_INLINE static void load(const Scalar* from, Lane& lane) {
    Narrow narrow;
    std::memcpy(&narrow, from, sizeof narrow);
    lane = __builtin_convertvector(narrow, Lane);
  }

  template <int Lines>
  PURSUIT_INLINE static void add_dots(const Scalar* a, Index stride, Index places, const double* v,
                                      Index v_stride, double* sums, Index sums_stride) {
    Lane sum[Lines][Columns] = {}, x, panel[Columns];
    Index k = 0;
    for (; k + kLane <= places; k += kLane) {
      for (int c = 0; c < Columns; ++c) std::memcpy(&panel[c], v + c * v_stride + k, sizeof(Lane));
      for (int i = 0; i < Lines; ++i) {
        load(a + i * stride + k, x);
        for (int c = 0; c < Columns; ++c) sum[i][c] += x * panel[c];
      }
    }
    for (int i = 0; i < Lines; ++i)
      for (int c = 0; c < Columns; ++c) {
        const Lane& s = sum[i][c];
        double total = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
        for (Index j = k; j < places; ++j) total += double(a[i * stride + j]) * v[c * v_stride + j];
        sums[c * sums_stride + i] += total;
      }
  }

  template <int Lines>
  PURSUIT_INLINE static void add_lines(const Scalar* a, Index stride, Index rows, const double* v,
                                       Index v_stride, double* sums, Index sums_stride) {
    Lane sum, x[Lines];
    Index i = 0;
    for (; i + kLane <= rows; i += kLane) {
      for (int k = 0; k < Lines; ++k) load(a + k * stride + i, x[k]);
      for (int c = 0; c < Columns; ++c) {
        std::memcpy(&sum, sums + c * sums_stride + i, sizeof sum);
        for (int k = 0; k < Lines; ++k) sum += v[c * v_stride + k] * x[k];
        std::memcpy(sums + c * sums_stride + i, &sum, sizeof sum);
      }
    }
    for (; i < rows; ++i)
      for (int c = 0; c < Columns; ++c)
        for (int k = 0; k < Lines; ++k)
          sums[c * sums_stride + i] += v[c * v_stride + k] * double(a[k * stride + i]);
  }

  PURSUIT_KERNEL static void along(const Part<Scalar>& A, const double* v, Index v_stride, double* sums,
                                   Index sums_stride) {
    Index i = 0;
    for (; i + kLines <= A.rows; i += kLines)
      add_dots<kLines>(A.data + i * A.stride, A.stride, A.places, v, v_stride, sums + i, sums_stride);
    for (; i < A.rows; ++i)
      add_dots<1>(A.data + i * A.stride, A.stride, A.places, v, v_stride, sums + i, sums_stride);
  }
  PURSUIT_KERNEL static void across(const Part<Scalar>& A, const double* v, Index v_stride, double* sums,
                                    Index sums_stride) {
    constexpr int kAcross = 2 * kLines;
    Index k = 0;
    for (; k + kAcross <= A.places; k += kAcross)
      add_lines<kAcross>(A.data + k * A.stride, A.stride, A.rows, v + k, v_stride, sums, sums_stride);
    for (; k < A.places; ++k)
      add_lines<1>(A.data + k * A.stride, A.stride, A.rows, v + k, v_stride, sums, sums_stride);
  }
};

template <class Scalar>
Part<Scalar> part_of(const DenseView<Scalar>& A, Index row, Index rows, Index place, Index places) {
  return {A.data + (A.row_major ? row * A.stride + place : row + place * A.stride), A.stride, rows, places};
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
  Room<double> sums(ranges.count() * rows * width);
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

template <class Scalar, class Result>
void multiply_thin(const DenseView<Scalar>& A, const ConstMatrixRef& V, const Columns<Result>& out,
                   int threads, Write write) {
  using One = ThinKernels<Scalar, 1>;
  using Two = ThinKernels<Scalar, 2>;
  const auto add =
      V.cols() == 1 ? (A.row_major ? One::along : One::across) : (A.row_major ? Two::along : Two::across);
  in_pieces(
      A.rows, A.cols, V.cols(), A.row_major ? 48 : 504, threads,
      [&](Index row, Index rows, Index place, Index places, double* sums) {
        add(part_of(A, row, rows, place, places), V.data() + place, V.outerStride(), sums, rows);
      },
      [&](Index row, Index rows, const double* sums) {
        for (Index c = 0; c < V.cols(); ++c)
          write_column(sums + c * rows, rows, write, out.data + c * out.stride + row);
      });
}

template <class Scalar, class Result>
void multiply_packed(const DenseView<Scalar>& A, const ConstMatrixRef& V, const Columns<Result>& out,
                     int threads, KernelLevel level, Write write, Index diagonal) {
  const double scale = scale_for<Scalar>(V, threads);
  const PackedPanel<Scalar> panel(V, scale, level, threads);
  const auto add = A.row_major ? Tiles<Scalar, true>::at(level) : Tiles<Scalar, false>::at(level);
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

template <class Scalar, class Result>
void multiply_and(const DenseView<Scalar>& A, const ConstMatrixRef& V, Columns<Result> out, int threads,
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

template <class Scalar>
void multiply(const DenseView<Scalar>& A, const ConstMatrixRef& V, MatrixRef out, int threads,
              KernelLevel level) {
  multiply_and(A, V, columns_of(out), threads, level, Write::over);
}
template void multiply(const DenseView<double>&, const ConstMatrixRef&, MatrixRef, int, KernelLevel);
template void multiply(const DenseView<float>&, const ConstMatrixRef&, MatrixRef, int, KernelLevel);

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
