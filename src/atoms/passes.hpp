#pragma once
// Single passes over vectors, for the oracles that consist of little else. Compiled for wide vectors; sums
// run in a fixed number of lanes, so that they depend on their input alone.

#include "pursuit/base/types.hpp"

namespace pursuit::passes {

/// Below every number: max(x, kUnbounded) is x.
inline constexpr double kUnbounded = -1.7976931348623157e308;

bool all_finite(ConstVectorRef x);

/// max |y_i| for y_i = max(x_i, floor).
double largest(ConstVectorRef x, double floor);
/// sum (scale y_i)^2 for y_i = max(x_i, floor).
double sum_squares(ConstVectorRef x, double floor, double scale);
/// u_i = scale max(x_i, floor); u may be x.
void scale_into(ConstVectorRef x, double floor, double scale, VectorRef u);

/// u_i = |max(x_i, floor)|; returns the largest.
double sizes_into(ConstVectorRef x, double floor, VectorRef u);
/// sum (scale max(x_i, floor))^2 over the entries whose key is at least `bound`.
double kept_squares(ConstVectorRef x, ConstVectorRef keys, double bound, double floor, double scale);
/// u_i = scale max(x_i, floor) where the key is at least `bound`, and 0 elsewhere; u may be x or keys.
void keep_into(ConstVectorRef x, ConstVectorRef keys, double bound, double floor, double scale, VectorRef u);

/// u_i = b_i / a_i, and 0 where a_i = 0; returns the largest size.
double divide_into(ConstVectorRef b, ConstVectorRef a, VectorRef u);
/// sum a_i (scale x_i)^2 over the positive entries of x, and over the negative ones.
struct Sides {
  double up, down;
};
Sides energies_of_sides(ConstVectorRef a, ConstVectorRef x, double scale);
/// keys_i = a_i (scale y_i)^2 for y_i = max(sign x_i, floor).
void energies_into(ConstVectorRef a, ConstVectorRef x, double sign, double floor, double scale,
                   VectorRef keys);
/// sum of the keys that are at least `bound`.
double kept_sum(ConstVectorRef keys, double bound);

}  // namespace pursuit::passes
