#pragma once
// From numbers to positions on a picture: ranges, axis ticks, shades.

#include <string>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit::report {

/// A closed interval of finite numbers.
struct Interval {
  double lo, hi;

  /// Where `value` lies: 0 at `lo`, 1 at `hi`. Only for lo < hi.
  double position(double value) const;
  bool holds(double value) const { return lo <= value && value <= hi; }
};

/// Smallest and largest coefficient; InvalidArgument if there is none or one is not finite. `what` names the
/// values in the message, e.g. "terminal_line_plot: y".
Interval range_of(ConstMatrixRef values, const std::string& what);

/// `range` itself where an axis can show it, else (all values equal, to rounding) something wider around it.
Interval drawable(Interval range);

/// Where logarithmic axes begin: below, the steps between ticks could lose digits.
inline constexpr double kSmallestOnLogAxis = 1e-280;

struct Tick {
  double value;
  std::string label;
};

/// Ticks at multiples of 1, 2 or 5 times a power of ten inside `range`, which is drawable: as many as
/// possible, no more than `at_most`, at least 2 if `at_most` is at least 5. Labels show just enough digits to
/// differ.
std::vector<Tick> linear_ticks(Interval range, int at_most);

/// Ticks for a logarithmic axis, no more than `at_most`, which is at least 5: those of a linear axis where
/// the range is short, 1, 2 and 5 times powers of ten where there are few enough of them, else powers of ten
/// alone, evenly spaced. `range` starts at kSmallestOnLogAxis or a little below.
std::vector<Tick> log_ticks(Interval range, int at_most);

/// Position of `value` in `range` in [0, 1]; a range of one value, which has no positions, is 0 for zero and
/// 1 for anything else.
double shade(double value, Interval range);

}  // namespace pursuit::report
