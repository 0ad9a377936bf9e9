#include "atoms/passes.hpp"

#include <cmath>
#include <limits>

#include "base/kernel.hpp"
#include "base/packs.hpp"

namespace pursuit::passes {
namespace {

using namespace packs;

PURSUIT_KERNEL double differences(const double* x, Index n) {
  Pack lanes[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        lanes[lane] += y - y;  // NaN where it is not finite
      });
  return sum_of(lanes);
}

PURSUIT_KERNEL void sums_kernel(const double* x, Index n, double floor, Sums& sums) {
  Pack difference[kPacks] = {}, most[kPacks] = {}, squares[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        difference[lane] += y - y;
        raise_to(floor, y);
        squares[lane] += y * y;
        make_positive(y);
        raise_to(y, most[lane]);
      });
  sums = {sum_of(difference) == 0, largest_of(most), sum_of(squares)};
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
  Pack difference[kPacks] = {}, most[kPacks] = {};
  Pack up_squares[kPacks] = {}, down_squares[kPacks] = {}, up_gains[kPacks] = {}, down_gains[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack slope, curvature;
        load(b + i, count, slope);
        load(a + i, count, curvature);
        difference[lane] += (slope - slope) + (curvature - curvature);
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
  sums = {sum_of(difference) == 0, largest_of(most), sum_of(up_squares),
          sum_of(down_squares),    sum_of(up_gains), sum_of(down_gains)};
}

/// What a gather adds up beside the keys it finds.
struct Totals {
  double difference = 0, largest = 0, squares = 0, gains = 0;
};

/// The keys in (lo, hi] with their places. entry(i, count, y, key, difference) makes the entries from place i
/// on. Most packs hold no such key, and are done without a look at single entries.
template <class Entry>
PURSUIT_INLINE Gathered gather_keys(Index n, double lo, double hi, double* keys, int* places, Totals& totals,
                                    const Entry& entry) {
  Pack difference[kPacks] = {}, most[kPacks] = {}, squares[kPacks] = {}, gains[kPacks] = {};
  Counts over[kPacks] = {};
  Index inside = 0;
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y, key;
        entry(i, count, y, key, difference[lane]);
        const Counts above = key > hi, within = (key > lo) & (key <= hi);
        over[lane] -= above;
        squares[lane] += above ? y * y : Pack{};
        gains[lane] += above ? key : Pack{};
        make_positive(y);
        raise_to(y, most[lane]);
        if (((within[0] | within[1]) | (within[2] | within[3])) == 0) return;
        for (Index j = 0; j < Index(count); ++j) {
          keys[inside] = key[j];
          places[inside] = int(i + j);
          inside -= Index(within[j]);
        }
      });
  totals = {sum_of(difference), largest_of(most), sum_of(squares), sum_of(gains)};
  const Counts all = (over[0] + over[1]) + (over[2] + over[3]);
  return {(all[0] + all[1]) + (all[2] + all[3]), inside};
}

PURSUIT_KERNEL void gather_sizes(const double* x, Index n, double floor, double lo, double hi, double* keys,
                                 int* places, Totals& totals, Gathered& found) {
  found = gather_keys(
      n, lo, hi, keys, places,
      totals, [&](Index i, auto count, Pack& y, Pack& key, Pack& difference) __attribute__((always_inline)) {
        load(x + i, count, y);
        difference += y - y;
        raise_to(floor, y);
        key = y;
        make_positive(key);
      });
}

PURSUIT_KERNEL void gather_gains(const double* b, const double* a, Index n, double sign, double floor,
                                 double lo, double hi, double* u, double* keys, int* places, Totals& totals,
                                 Gathered& found) {
  found = gather_keys(
      n, lo, hi, keys, places,
      totals, [&](Index i, auto count, Pack& y, Pack& key, Pack& difference) __attribute__((always_inline)) {
        Pack slope, curvature;
        load(b + i, count, slope);
        load(a + i, count, curvature);
        difference += (slope - slope) + (curvature - curvature);
        y = curvature > 0 ? slope / curvature : Pack{};
        store(y, count, u + i);
        key = sign * y;
        raise_to(floor, key);
        key *= sign * slope;
      });
}

PURSUIT_KERNEL void keep_sizes_kernel(const double* x, Index n, double bound, double floor, double scale,
                                      double* u) {
  for_each_pack(
      n, [&](Index i, auto count, int) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        raise_to(floor, y);
        Pack key = y;
        make_positive(key);
        store(Pack(key >= bound ? scale * y : Pack{}), count, u + i);
      });
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
  return differences(x.data(), x.size()) == 0;
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
    keys[j] = std::isfinite(x) ? std::abs(std::max(x, floor_)) : x - x;
  }
}

Gathered SizeKeys::gather(double lo, double hi, double* keys, int* places) {
  Totals totals;
  Gathered found{};
  gather_sizes(x_.data(), x_.size(), floor_, lo, hi, keys, places, totals, found);
  finite = totals.difference == 0;
  largest = totals.largest;
  squares_above = totals.squares;
  return found;
}

void keep_sizes(ConstVectorRef x, const TopK& top, double floor, double scale, VectorRef u) {
  with_bounds(top, x.size(), [&](Index first, Index count, double bound) {
    keep_sizes_kernel(x.data() + first, count, bound, floor, scale, u.data() + first);
  });
}

void GainKeys::copy(Index first, Index count, double* keys) const {
  for (Index j = 0; j < count; ++j) {
    const double b = b_[first + j], a = a_[first + j];
    const bool known = std::isfinite(a) && std::isfinite(b);
    keys[j] = known ? std::max(a > 0 ? sign_ * b / a : 0.0, floor_) * (sign_ * b) : (b - b) + (a - a);
  }
}

Gathered GainKeys::gather(double lo, double hi, double* keys, int* places) {
  Totals totals;
  Gathered found{};
  gather_gains(b_.data(), a_.data(), b_.size(), sign_, floor_, lo, hi, u_.data(), keys, places, totals,
               found);
  finite = totals.difference == 0;
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
