#pragma once
// Small pictures for pages: they take their colours from the style of the page, and tell their numbers to the
// pointer.

#include <string>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit::report {

struct Bar {
  std::string name;
  double value;
};

/// A bar for every value, to the right of a common zero or to its left, with name and number.
std::string svg_bars(const std::vector<Bar>& bars, double width = 320);

/// A square for every entry of a matrix, of entries in [-1, 1]: the larger the darker; `names` of rows and
/// columns alike.
std::string svg_heat_map(const Matrix& values, const std::vector<std::string>& names);

/// How the values of a group lie: 5, 25, 50, 75 and 95 of 100 are below.
struct Spread {
  std::string name;
  Index count;
  double low, lower, middle, upper, high;
};
Spread spread_of(std::string name, std::vector<double> values);

/// Boxes on one axis, one below the other.
std::string svg_boxes(const std::vector<Spread>& groups, double width = 320);

}  // namespace pursuit::report
