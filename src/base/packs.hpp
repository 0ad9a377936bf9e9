#pragma once
// Small vectors of the compiler (GCC and Clang have them), for the loops that its vectoriser leaves alone:
// sums and extremes over lanes in a fixed order, and choices. Inside PURSUIT_KERNEL functions they become the
// vectors of the instruction set at hand.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pursuit/base/types.hpp"

#define PURSUIT_INLINE [[gnu::always_inline]] inline

namespace pursuit::packs {

inline constexpr Index kPack = 4;   // entries of a vector
inline constexpr Index kPacks = 4;  // vectors at a time
using Pack = double __attribute__((vector_size(kPack * sizeof(double))));
using Counts = std::int64_t __attribute__((vector_size(kPack * sizeof(double))));
using Full = std::integral_constant<Index, kPack>;

/// The first `count` entries, zeros after them.
template <class Count>
PURSUIT_INLINE void load(const double* from, Count count, Pack& x) {
  x = Pack{};
  std::memcpy(&x, from, std::size_t(count) * sizeof(double));
}
template <class Count>
PURSUIT_INLINE void store(const Pack& x, Count count, double* to) {
  std::memcpy(to, &x, std::size_t(count) * sizeof(double));
}
PURSUIT_INLINE void raise_to(double floor, Pack& x) {
  x = x > floor ? x : Pack{} + floor;
}
PURSUIT_INLINE void raise_to(const Pack& least, Pack& x) {
  x = x > least ? x : least;
}
PURSUIT_INLINE void make_positive(Pack& x) {
  Counts bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= Counts{} + 0x7fffffffffffffff;  // all but the sign
  std::memcpy(&x, &bits, sizeof bits);
}

/// Calls body(i, count, lane) for the places i, i + kPack, ... of n entries; count is below kPack at the end.
template <class Body>
PURSUIT_INLINE void for_each_pack(Index n, const Body& body) {
  Index i = 0;
  for (; i + kPack * kPacks <= n; i += kPack * kPacks) {
    body(i, Full(), 0);
    body(i + kPack, Full(), 1);
    body(i + 2 * kPack, Full(), 2);
    body(i + 3 * kPack, Full(), 3);
  }
  for (; i + kPack <= n; i += kPack) body(i, Full(), 0);
  if (i < n) body(i, n - i, 0);
}

PURSUIT_INLINE double sum_of(const Pack* lanes) {
  const Pack sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
PURSUIT_INLINE double largest_of(Pack* lanes) {
  raise_to(lanes[1], lanes[0]);
  raise_to(lanes[3], lanes[2]);
  raise_to(lanes[2], lanes[0]);
  double most = 0;
  for (Index j = 0; j < kPack; ++j) most = lanes[0][j] > most ? lanes[0][j] : most;
  return most;
}

}  // namespace pursuit::packs
