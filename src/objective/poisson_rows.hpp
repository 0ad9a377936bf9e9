#pragma once
// One row u >= 0 of a factor under the Poisson loss, all else fixed:
//
//   f(u) = b . u - sum_e y_e log x_e + l1 |u| + l2/2 |u|^2 ,     x_e = floor + u . v_e ,
//
// over the entries e of the row, v_e the rows of the other factor, b what all entries, listed or not, take of
// u. A step is Newton's over all coordinates at once: the quadratic at u, by coordinate descent. It is taken
// only as far as f is proven not to rise: with t_e the relative change of x_e,
//
//   -log(1 + t) <= -t + t^2/2                        for t >= 0,
//   -log(1 + t) <= -t + t^2/2 (1 - t / (1 + t))      for -1 < t < 0,
//
// so that what the quadratic promises is kept but for entries that fall.

#include <cstdint>

#include "base/aligned.hpp"
#include "base/kernel.hpp"
#include "objective/factor_rows.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit {

/// The entries of one row that count.
struct CountRow {
  const int* index;       // the row of the other factor
  const double* count;    // y times its weight
  const double* exposed;  // what multiplies x in f, for every entry; null where `background` says it all
  Index size;
  FurtherPlaces further = {};
};

struct RowDescent {
  FactorRows other;  // the stride is a multiple of 4
  double floor;      // of x: an entry that no atom covers costs much, and not everything
  double l1 = 0, l2 = 0;
  Index first = 0;     // coordinates before this one stay
  int passes = 4;      // of coordinate descent on the quadratic
  bool value = false;  // whether the costs are asked for
};

class RowNewton {
 public:
  explicit RowNewton(KernelLevel level = kernel_level()) : level_(level) {}

  /// Moves u. `background` is b, of coordinate 0 on, where the row has no `exposed`, and times `scale`.
  /// Returns what the entries cost in the end, sum_e exposed_e x_e - y_e log x_e, where that is asked for.
  double descend(const CountRow& row, const RowDescent& d, const double* background, double scale, double* u);

  /// sum_e factor_e v_e v_e^T, both triangles.
  void gram(const CountRow& row, const FactorRows& other, const double* factors, double* sums);

  /// Of u as it is, nothing moved: the same costs, and to where x_e goes if not null.
  double costs(const CountRow& row, const RowDescent& d, const double* u, double* x = nullptr);

 private:
  KernelLevel level_;
  AlignedVector<double> memory_;
};

}  // namespace pursuit
