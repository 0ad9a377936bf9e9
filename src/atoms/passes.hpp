#pragma once
// Single passes over vectors, for the oracles that consist of little else. Compiled for wide vectors; sums
// run in a fixed number of lanes, so that they depend on their input alone.

#include "linalg/top_k.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit::passes {

/// Below every number: max(x, kUnbounded) is x.
inline constexpr double kUnbounded = -1.7976931348623157e308;

bool all_finite(ConstVectorRef x);

/// Of y_i = max(x_i, floor).
struct Sums {
  bool finite;  // every x_i
  double largest, squares;
};
Sums sums_of(ConstVectorRef x, double floor);

/// u_i = scale max(sign x_i, floor), sign 1 or -1; u may be x.
void scale_into(ConstVectorRef x, double sign, double floor, double scale, VectorRef u);

/// u_i = b_i / a_i, and 0 where a_i = 0; sums over its positive (up) and negative (down) entries.
struct QuotientSums {
  bool finite;  // every a_i and b_i
  double largest;
  double up_squares, down_squares;  // of u_i
  double up_gains, down_gains;      // b_i u_i
};
QuotientSums divide_into(ConstVectorRef b, ConstVectorRef a, VectorRef u);

/// The keys |x_i| or, floored, max(x_i, 0), which are never stored as a vector.
class SizeKeys final : public KeySource {
 public:
  SizeKeys(ConstVectorRef x, bool floored) : x_(x), floored_(floored) {}
  Index size() const override { return x_.size(); }
  void copy(Index first, Index count, double* keys) const override;
  Gathered gather(double lo, double hi, double* keys, int* places) override;

  // Of the last gather.
  bool finite = true;
  double squares_above = 0;  // of the keys above hi

 private:
  ConstVectorRef x_;
  bool floored_;
};
/// Sum of the squares of the keys above a bound.
double squares_above(const double* keys, Index n, double bound);
/// u_i = scale x_i, or scale max(x_i, 0), where the key is among the largest, and 0 elsewhere.
void keep_sizes(ConstVectorRef x, const TopK& top, bool floored, double scale, VectorRef u);

/// The keys y_i sign b_i of y_i = max(sign b_i / a_i, floor), which are never stored as a vector; a gather
/// writes b_i / a_i into u.
class GainKeys final : public KeySource {
 public:
  GainKeys(ConstVectorRef b, ConstVectorRef a, double sign, double floor, VectorRef u)
      : b_(b), a_(a), sign_(sign), floor_(floor), u_(u) {}
  Index size() const override { return b_.size(); }
  void copy(Index first, Index count, double* keys) const override;
  Gathered gather(double lo, double hi, double* keys, int* places) override;

  double value(Index i) const { return std::max(sign_ * u_[i], floor_); }  // y_i, after a gather

  // Of the last gather.
  bool finite = true;
  double largest = 0;                         // |b_i / a_i|
  double squares_above = 0, gains_above = 0;  // of the y_i, and of the keys, with keys above hi

 private:
  ConstVectorRef b_, a_;
  double sign_, floor_;
  VectorRef u_;
};
/// u_i = scale max(sign u_i, floor) where its product with sign b_i is among the largest, and 0 elsewhere.
void keep_gains(ConstVectorRef b, const TopK& top, double sign, double floor, double scale, VectorRef u);

}  // namespace pursuit::passes
