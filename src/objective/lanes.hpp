#pragma once
// Numbers side by side, as many as a kernel takes at once, and what it needs of them: sums and logarithms.

#include <cstdint>
#include <cstring>

#include "base/packs.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::lanes {

using packs::Pack;
typedef double Wide __attribute__((vector_size(2 * sizeof(Pack))));
PURSUIT_INLINE void fold(const Pack& a, Pack& out) {
  out = a;
}
PURSUIT_INLINE void fold(const Wide& a, Pack& out) {
  out = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
}

typedef std::int64_t PackBits __attribute__((vector_size(sizeof(Pack))));
typedef std::int64_t WideBits __attribute__((vector_size(sizeof(Wide))));

template <class Lane, class Bits>
struct Lanes {
  static constexpr Index kLane = Index(sizeof(Lane) / sizeof(double));

  // NOLINTNEXTLINE(readability-non-const-parameter): what is returned can be written to
  PURSUIT_INLINE static Lane& at(double* place) { return *reinterpret_cast<Lane*>(place); }
  PURSUIT_INLINE static const Lane& at(const double* place) { return *reinterpret_cast<const Lane*>(place); }

  PURSUIT_INLINE static double sum_of(const Lane& a) {
    Pack folded;
    fold(a, folded);
    return (folded[0] + folded[1]) + (folded[2] + folded[3]);
  }
  /// The sums of four.
  PURSUIT_INLINE static void sums_of(const Lane* a, Pack& out) {
    Pack f[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) fold(a[i], f[i]);
    const Pack low = __builtin_shufflevector(f[0], f[1], 0, 4, 2, 6) +
                     __builtin_shufflevector(f[0], f[1], 1, 5, 3, 7),
               high = __builtin_shufflevector(f[2], f[3], 0, 4, 2, 6) +
                      __builtin_shufflevector(f[2], f[3], 1, 5, 3, 7);
    out = __builtin_shufflevector(low, high, 0, 1, 4, 5) + __builtin_shufflevector(low, high, 2, 3, 6, 7);
  }

  /// Of positive numbers, to about the last bit: those near one by the series of 2 atanh.
  PURSUIT_INLINE static void logarithm(const Lane& x, Lane& out) {
    constexpr std::int64_t kRootHalf = 0x3fe6a09e667f3bcd, kMantissa = 0x000fffffffffffff;
    Bits bits;
    std::memcpy(&bits, &x, sizeof bits);
    const Bits shifted = bits - kRootHalf;
    const Bits exponent = shifted >> 52;
    const Bits fraction = (shifted & kMantissa) + kRootHalf;
    const Bits counted = exponent + 0x4338000000000000;  // 1.5 * 2^52 and a whole number
    Lane m, e;
    std::memcpy(&m, &fraction, sizeof m);
    std::memcpy(&e, &counted, sizeof e);
    e -= 0x1.8p52;
    const Lane s = (m - 1.0) / (m + 1.0), z = s * s;
    Lane series = Lane{} + 1.0 / 21;
    series = series * z + 1.0 / 19;
    series = series * z + 1.0 / 17;
    series = series * z + 1.0 / 15;
    series = series * z + 1.0 / 13;
    series = series * z + 1.0 / 11;
    series = series * z + 1.0 / 9;
    series = series * z + 1.0 / 7;
    series = series * z + 1.0 / 5;
    series = series * z + 1.0 / 3;
    out = e * 0.6931471805599453 + (2.0 * s + 2.0 * s * z * series);
  }
};

}  // namespace pursuit::lanes
