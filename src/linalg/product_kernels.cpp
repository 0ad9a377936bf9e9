#include "linalg/product_kernels.hpp"

#include <cstring>

#include "base/packs.hpp"

namespace pursuit {
namespace {

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

  static AddTiles<Scalar> at(KernelLevel level) {
    return level == KernelLevel::v4 ? v4 : level == KernelLevel::v3 ? v3 : baseline;
  }
};

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

}  // namespace

template <class Scalar>
AddTiles<Scalar> tiles_adding(bool along, KernelLevel level) {
  return along ? Tiles<Scalar, true>::at(level) : Tiles<Scalar, false>::at(level);
}
template AddTiles<double> tiles_adding<double>(bool, KernelLevel);
template AddTiles<float> tiles_adding<float>(bool, KernelLevel);

template <class Scalar>
AddThin<Scalar> thin_adding(Index columns, bool along) {
  using One = ThinKernels<Scalar, 1>;
  using Two = ThinKernels<Scalar, 2>;
  if (columns == 1) return along ? One::along : One::across;
  return along ? Two::along : Two::across;
}
template AddThin<double> thin_adding<double>(Index, bool);
template AddThin<float> thin_adding<float>(Index, bool);

}  // namespace pursuit
