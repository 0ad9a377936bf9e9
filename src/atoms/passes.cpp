#include "atoms/passes.hpp"

#include <cmath>
#include <limits>

#include "base/kernel.hpp"
#include "base/packs.hpp"

namespace pursuit::passes {
namespace {

using namespace packs;

/// Zero times every entry: 0, or NaN where one is not finite. The same in the kernels below.
PURSUIT_KERNEL double zero_times(const double* x, Index n) {
  Pack lanes[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        lanes[lane] += 0 * y;
      });
  return sum_of(lanes);
}

PURSUIT_KERNEL void sums_kernel(const double* x, Index n, double floor, Sums& sums) {
  Pack nothing[kPacks] = {}, most[kPacks] = {}, squares[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        nothing[lane] += 0 * y;
        raise_to(floor, y);
        squares[lane] += y * y;
        make_positive(y);
        raise_to(y, most[lane]);
      });
  sums = {sum_of(nothing) == 0, largest_of(most), sum_of(squares)};
}

PURSUIT_KERNEL void scale_kernel(const double* x, Index n, double sign, double floor, double scale,
                                 double* u) {
  for_each_pack(
      n, [&](Index i, auto count, int) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        y *= sign;
        raise_to(floor, y);
        store(Pack(scale * y), count, u + i);
      });
}

PURSUIT_KERNEL void divide_kernel(const double* b, const double* a, Index n, double* u, QuotientSums& sums) {
  Pack nothing[kPacks] = {}, most[kPacks] = {};
  Pack up_squares[kPacks] = {}, down_squares[kPacks] = {}, up_gains[kPacks] = {}, down_gains[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack slope, curvature;
        load(b + i, count, slope);
        load(a + i, count, curvature);
        nothing[lane] += 0 * slope + 0 * curvature;
        Pack y = curvature > 0 ? slope / curvature : Pack{};
        store(y, count, u + i);
        const Pack square = y * y, gain = y * slope;
        up_squares[lane] += y > 0 ? square : Pack{};
        down_squares[lane] += y > 0 ? Pack{} : square;
        up_gains[lane] += y > 0 ? gain : Pack{};
        down_gains[lane] += y > 0 ? Pack{} : gain;
        make_positive(y);
        raise_to(y, most[lane]);
      });
  sums = {sum_of(nothing) == 0, largest_of(most), sum_of(up_squares),
          sum_of(down_squares), sum_of(up_gains), sum_of(down_gains)};
}

/// What a gather adds up beside the keys it finds.
struct Totals {
  double nothing = 0, largest = 0, squares = 0, gains = 0;
};

/// The places of the keys in (lo, hi] within one pack; most packs hold none, and are done without a look at
/// single entries.
template <class Count>
PURSUIT_INLINE void collect(const Pack& key, const Counts& within, Index i, Count count, double* keys,
                            int* places, Index& inside) {
  if (((within[0] | within[1]) | (within[2] | within[3])) == 0) return;
  for (Index j = 0; j < Index(count); ++j) {
    keys[inside] = key[j];
    places[inside] = int(i + j);
    inside -= Index(within[j]);
  }
}

PURSUIT_INLINE Index total_of(const Counts* lanes) {
  const Counts all = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  return (all[0] + all[1]) + (all[2] + all[3]);
}

template <bool floored>
PURSUIT_INLINE void gather_sizes_loop(const double* x, Index n, double lo, double hi, double* keys,
                                      int* places, Totals& totals, Gathered& found) {
  Pack nothing[kPacks] = {}, squares[kPacks] = {};
  Counts over[kPacks] = {};
  Index inside = 0;
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack key;
        load(x + i, count, key);
        nothing[lane] += 0 * key;
        if constexpr (floored)
          raise_to(0.0, key);
        else
          make_positive(key);
        const Counts above = key > hi;
        over[lane] -= above;
        squares[lane] += above ? key * key : Pack{};
        collect(key, Counts((key > lo) & ~above), i, count, keys, places, inside);
      });
  totals.nothing = sum_of(nothing);
  totals.squares = sum_of(squares);
  found = {total_of(over), inside};
}

PURSUIT_KERNEL void gather_sizes(const double* x, Index n, bool floored, double lo, double hi, double* keys,
                                 int* places, Totals& totals, Gathered& found) {
  if (floored)
    gather_sizes_loop<true>(x, n, lo, hi, keys, places, totals, found);
  else
    gather_sizes_loop<false>(x, n, lo, hi, keys, places, totals, found);
}

/// All keys, with their places.
PURSUIT_KERNEL void all_sizes(const double* x, Index n, double floor, double* keys, int* places,
                              Totals& totals) {
  Pack nothing[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack key;
        load(x + i, count, key);
        nothing[lane] += 0 * key;
        raise_to(floor, key);
        make_positive(key);
        store(key, count, keys + i);
      });
  for (Index i = 0; i < n; ++i) places[i] = int(i);
  totals.nothing = sum_of(nothing);
}

PURSUIT_KERNEL void gather_gains(const double* b, const double* a, Index n, double sign, double floor,
                                 double lo, double hi, double* u, double* keys, int* places, Totals& totals,
                                 Gathered& found) {
  Pack nothing[kPacks] = {}, most[kPacks] = {}, squares[kPacks] = {}, gains[kPacks] = {};
  Counts over[kPacks] = {};
  Index inside = 0;
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack slope, curvature;
        load(b + i, count, slope);
        load(a + i, count, curvature);
        nothing[lane] += 0 * slope + 0 * curvature;
        Pack y = curvature > 0 ? slope / curvature : Pack{}, key = sign * y;
        store(y, count, u + i);
        raise_to(floor, key);
        key *= sign * slope;
        const Counts above = key > hi;
        over[lane] -= above;
        squares[lane] += above ? y * y : Pack{};
        gains[lane] += above ? key : Pack{};
        make_positive(y);
        raise_to(y, most[lane]);
        collect(key, Counts((key > lo) & ~above), i, count, keys, places, inside);
      });
  totals = {sum_of(nothing), largest_of(most), sum_of(squares), sum_of(gains)};
  found = {total_of(over), inside};
}

PURSUIT_KERNEL double squares_kernel(const double* keys, Index n, double bound) {
  Pack lanes[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack key;
        load(keys + i, count, key);
        lanes[lane] += key > bound ? key * key : Pack{};
      });
  return sum_of(lanes);
}

template <bool floored>
PURSUIT_INLINE void keep_sizes_loop(const double* x, Index n, double bound, double scale, double* u) {
  for_each_pack(
      n, [&](Index i, auto count, int) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        if constexpr (floored) raise_to(0.0, y);
        Pack key = y;
        if constexpr (!floored) make_positive(key);
        store(Pack(key >= bound ? scale * y : Pack{}), count, u + i);
      });
}

PURSUIT_KERNEL void keep_sizes_kernel(const double* x, Index n, double bound, bool floored, double scale,
                                      double* u) {
  if (floored)
    keep_sizes_loop<true>(x, n, bound, scale, u);
  else
    keep_sizes_loop<false>(x, n, bound, scale, u);
}

PURSUIT_KERNEL void keep_gains_kernel(const double* b, Index n, double bound, double sign, double floor,
                                      double scale, double* u) {
  for_each_pack(
      n, [&](Index i, auto count, int) __attribute__((always_inline)) {
        Pack y, slope;
        load(u + i, count, y);
        load(b + i, count, slope);
        y *= sign;
        raise_to(floor, y);
        const Pack key = y * (sign * slope);
        store(Pack(key >= bound ? scale * y : Pack{}), count, u + i);
      });
}

/// Calls part(first, count, bound) for the entries up to the last tie that is taken, and for those after it.
template <class Part>
void with_bounds(const TopK& top, Index n, const Part& part) {
  part(Index(0), top.ties_end, top.threshold);
  part(top.ties_end, n - top.ties_end,
       std::nextafter(top.threshold, std::numeric_limits<double>::infinity()));
}

}  // namespace

bool all_finite(ConstVectorRef x) {
  return zero_times(x.data(), x.size()) == 0;
}

Sums sums_of(ConstVectorRef x, double floor) {
  Sums sums{};
  sums_kernel(x.data(), x.size(), floor, sums);
  return sums;
}

void scale_into(ConstVectorRef x, double sign, double floor, double scale, VectorRef u) {
  scale_kernel(x.data(), x.size(), sign, floor, scale, u.data());
}

QuotientSums divide_into(ConstVectorRef b, ConstVectorRef a, VectorRef u) {
  QuotientSums sums{};
  divide_kernel(b.data(), a.data(), b.size(), u.data(), sums);
  return sums;
}

void SizeKeys::copy(Index first, Index count, double* keys) const {
  for (Index j = 0; j < count; ++j) {
    const double x = x_[first + j];
    keys[j] = !std::isfinite(x) ? std::numeric_limits<double>::quiet_NaN()
              : floored_        ? std::max(x, 0.0)
                                : std::abs(x);
  }
}

Gathered SizeKeys::gather(double lo, double hi, double* keys, int* places) {
  Totals totals;
  Gathered found{0, x_.size()};
  if (lo < 0 && std::isinf(hi))
    all_sizes(x_.data(), x_.size(), floored_ ? 0.0 : kUnbounded, keys, places, totals);
  else
    gather_sizes(x_.data(), x_.size(), floored_, lo, hi, keys, places, totals, found);
  finite = totals.nothing == 0;
  squares_above = totals.squares;
  return found;
}

double squares_above(const double* keys, Index n, double bound) {
  return squares_kernel(keys, n, bound);
}

void keep_sizes(ConstVectorRef x, const TopK& top, bool floored, double scale, VectorRef u) {
  with_bounds(top, x.size(), [&](Index first, Index count, double bound) {
    keep_sizes_kernel(x.data() + first, count, bound, floored, scale, u.data() + first);
  });
}

void GainKeys::copy(Index first, Index count, double* keys) const {
  for (Index j = 0; j < count; ++j) {
    const double b = b_[first + j], a = a_[first + j];
    const bool known = std::isfinite(a) && std::isfinite(b);
    keys[j] = known ? std::max(a > 0 ? sign_ * b / a : 0.0, floor_) * (sign_ * b)
                    : std::numeric_limits<double>::quiet_NaN();
  }
}

Gathered GainKeys::gather(double lo, double hi, double* keys, int* places) {
  Totals totals;
  Gathered found{};
  gather_gains(b_.data(), a_.data(), b_.size(), sign_, floor_, lo, hi, u_.data(), keys, places, totals,
               found);
  finite = totals.nothing == 0;
  largest = totals.largest;
  squares_above = totals.squares;
  gains_above = totals.gains;
  return found;
}

void keep_gains(ConstVectorRef b, const TopK& top, double sign, double floor, double scale, VectorRef u) {
  with_bounds(top, b.size(), [&](Index first, Index count, double bound) {
    keep_gains_kernel(b.data() + first, count, bound, sign, floor, scale, u.data() + first);
  });
}

}  // namespace pursuit::passes
