#pragma once
// Thresholds between grades as the loss of an entry looks them up: those about every whole number from the
// first grade to the last.

#include <limits>

#include "objective/entry_loss.hpp"

namespace pursuit {

template <class Grades>
void set_thresholds(LossShape& shape, const Grades& grades, const Vector& thresholds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto levels = Index(grades.size());
  shape.first_grade = levels > 0 ? double(grades[0]) : 0.0;
  const double last = levels > 0 ? double(grades[decltype(grades.size())(levels - 1)]) : 0.0;
  const auto span = std::size_t(last - shape.first_grade) + 1;
  shape.lower.assign(span, -kInfinity);
  shape.upper.assign(span, kInfinity);
  for (Index level = 0; level < levels; ++level) {
    const auto at = std::size_t(double(grades[decltype(grades.size())(level)]) - shape.first_grade);
    if (level > 0) shape.lower[at] = thresholds[level - 1];
    if (level + 1 < levels) shape.upper[at] = thresholds[level];
  }
}

}  // namespace pursuit
