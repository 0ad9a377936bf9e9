#include "atoms/passes.hpp"

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

PURSUIT_KERNEL double largest_kernel(const double* x, Index n, double floor) {
  Pack lanes[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        raise_to(floor, y);
        make_positive(y);
        raise_to(y, lanes[lane]);
      });
  return largest_of(lanes);
}

PURSUIT_KERNEL double squares_kernel(const double* x, Index n, double floor, double scale) {
  Pack lanes[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        raise_to(floor, y);
        y *= scale;
        lanes[lane] += y * y;
      });
  return sum_of(lanes);
}

PURSUIT_KERNEL void scale_kernel(const double* x, Index n, double floor, double scale, double* u) {
  for_each_pack(
      n, [&](Index i, auto count, int) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        raise_to(floor, y);
        store(Pack(scale * y), count, u + i);
      });
}

PURSUIT_KERNEL double sizes_kernel(const double* x, Index n, double floor, double* u) {
  Pack lanes[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y;
        load(x + i, count, y);
        raise_to(floor, y);
        make_positive(y);
        raise_to(y, lanes[lane]);
        store(y, count, u + i);
      });
  return largest_of(lanes);
}

PURSUIT_KERNEL double kept_squares_kernel(const double* x, const double* keys, Index n, double bound,
                                          double floor, double scale) {
  Pack lanes[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y, key;
        load(x + i, count, y);
        load(keys + i, count, key);
        raise_to(floor, y);
        y = key >= bound ? scale * y : Pack{};
        lanes[lane] += y * y;
      });
  return sum_of(lanes);
}

PURSUIT_KERNEL void keep_kernel(const double* x, const double* keys, Index n, double bound, double floor,
                                double scale, double* u) {
  for_each_pack(
      n, [&](Index i, auto count, int) __attribute__((always_inline)) {
        Pack y, key;
        load(x + i, count, y);
        load(keys + i, count, key);
        raise_to(floor, y);
        store(Pack(key >= bound ? scale * y : Pack{}), count, u + i);
      });
}

PURSUIT_KERNEL double divide_kernel(const double* b, const double* a, Index n, double* u) {
  Pack lanes[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y, curvature;
        load(b + i, count, y);
        load(a + i, count, curvature);
        y = curvature > 0 ? y / curvature : Pack{};
        store(y, count, u + i);
        make_positive(y);
        raise_to(y, lanes[lane]);
      });
  return largest_of(lanes);
}

PURSUIT_KERNEL void sides_kernel(const double* a, const double* x, Index n, double scale, double& up,
                                 double& down) {
  Pack above[kPacks] = {}, below[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack y, curvature;
        load(x + i, count, y);
        load(a + i, count, curvature);
        y *= scale;
        const Pack energy = curvature * (y * y);
        above[lane] += y > 0 ? energy : Pack{};
        below[lane] += y < 0 ? energy : Pack{};
      });
  up = sum_of(above);
  down = sum_of(below);
}

PURSUIT_KERNEL void energies_kernel(const double* a, const double* x, Index n, double sign, double floor,
                                    double scale, double* keys) {
  for_each_pack(
      n, [&](Index i, auto count, int) __attribute__((always_inline)) {
        Pack y, curvature;
        load(x + i, count, y);
        load(a + i, count, curvature);
        y *= sign;
        raise_to(floor, y);
        y *= scale;
        store(Pack(curvature * (y * y)), count, keys + i);
      });
}

PURSUIT_KERNEL double kept_sum_kernel(const double* keys, Index n, double bound) {
  Pack lanes[kPacks] = {};
  for_each_pack(
      n, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        Pack key;
        load(keys + i, count, key);
        lanes[lane] += key >= bound ? key : Pack{};
      });
  return sum_of(lanes);
}

}  // namespace

bool all_finite(ConstVectorRef x) {
  return differences(x.data(), x.size()) == 0;
}
double largest(ConstVectorRef x, double floor) {
  return largest_kernel(x.data(), x.size(), floor);
}
double sum_squares(ConstVectorRef x, double floor, double scale) {
  return squares_kernel(x.data(), x.size(), floor, scale);
}
void scale_into(ConstVectorRef x, double floor, double scale, VectorRef u) {
  scale_kernel(x.data(), x.size(), floor, scale, u.data());
}
double sizes_into(ConstVectorRef x, double floor, VectorRef u) {
  return sizes_kernel(x.data(), x.size(), floor, u.data());
}
double kept_squares(ConstVectorRef x, ConstVectorRef keys, double bound, double floor, double scale) {
  return kept_squares_kernel(x.data(), keys.data(), x.size(), bound, floor, scale);
}
void keep_into(ConstVectorRef x, ConstVectorRef keys, double bound, double floor, double scale, VectorRef u) {
  keep_kernel(x.data(), keys.data(), x.size(), bound, floor, scale, u.data());
}
double divide_into(ConstVectorRef b, ConstVectorRef a, VectorRef u) {
  return divide_kernel(b.data(), a.data(), b.size(), u.data());
}
Sides energies_of_sides(ConstVectorRef a, ConstVectorRef x, double scale) {
  Sides sides{};
  sides_kernel(a.data(), x.data(), a.size(), scale, sides.up, sides.down);
  return sides;
}
void energies_into(ConstVectorRef a, ConstVectorRef x, double sign, double floor, double scale,
                   VectorRef keys) {
  energies_kernel(a.data(), x.data(), a.size(), sign, floor, scale, keys.data());
}
double kept_sum(ConstVectorRef keys, double bound) {
  return kept_sum_kernel(keys.data(), keys.size(), bound);
}

}  // namespace pursuit::passes
