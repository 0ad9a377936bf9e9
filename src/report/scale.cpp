#include "report/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "pursuit/base/error.hpp"

namespace pursuit::report {
namespace {

double magnitude(Interval range) {
  return std::max(std::abs(range.lo), std::abs(range.hi));
}

/// The power of ten of the first digit of `x` > 0.
int exponent_of(double x) {
  return static_cast<int>(std::floor(std::log10(x) + 1e-9));
}

/// mantissa * 10^exponent, as exactly as a double can hold it ("0.3", not "0.1 times 3").
double decimal(double mantissa, int exponent) {
  // 10^-exponent is exact up to 22, so the division rounds once.
  return exponent < 0 ? mantissa / std::pow(10.0, -exponent) : mantissa * std::pow(10.0, exponent);
}

/// `value` to the digit 10^exponent. `largest` is the largest absolute value on the same axis: it decides for
/// all of its labels alike whether they are in scientific notation.
std::string label_of(double value, int exponent, double largest) {
  if (value == 0.0) return "0";
  const bool scientific = largest >= 1e6 || largest < 1e-3;
  if (!scientific) return fmt::format("{:.{}f}", value, std::max(0, -exponent));
  // "1.0e+06" becomes "1e6": fmt writes digits that are not needed.
  const std::string text =
      fmt::format("{:.{}e}", value, std::max(0, exponent_of(std::abs(value)) - exponent));
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, e);
  if (digits.find('.') != std::string::npos) digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return fmt::format("{}e{}", digits, std::stoi(text.substr(e + 1)));
}

std::string short_label(double value) {
  const int exponent = exponent_of(value);
  return label_of(value, exponent, value);
}

std::vector<Tick> mantissa_ticks(Interval range, const std::vector<double>& mantissas, int every) {
  std::vector<Tick> ticks;
  for (int exponent = exponent_of(range.lo); exponent <= exponent_of(range.hi); ++exponent) {
    if (exponent % every != 0) continue;
    for (const double mantissa : mantissas) {
      const double value = decimal(mantissa, exponent);
      if (range.holds(value)) ticks.push_back({value, short_label(value)});
    }
  }
  return ticks;
}

}  // namespace

double Interval::position(double value) const {
  // Halved before they are subtracted: the difference of two large numbers may overflow.
  return (value / 2 - lo / 2) / (hi / 2 - lo / 2);
}

Interval range_of(ConstMatrixRef values, const std::string& what) {
  if (values.size() == 0) throw InvalidArgument(what + " is empty; at least one value is needed to draw");
  for (Index j = 0; j < values.cols(); ++j) {
    for (Index i = 0; i < values.rows(); ++i) {
      if (!std::isfinite(values(i, j))) {
        throw InvalidArgument(
            fmt::format("{} holds {} at row {}, column {} (counting from 0); only finite values can be drawn",
                        what, values(i, j), i, j));
      }
    }
  }
  return {values.minCoeff(), values.maxCoeff()};
}

Interval drawable(Interval range) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  constexpr double kSmallest = 1e-300;  // below, numbers lose digits
  const double size = magnitude(range);
  if (size < kSmallest) return {-1.0, 1.0};
  if (range.hi / 2 - range.lo / 2 > std::max(1e-12 * size, kSmallest)) return range;
  return {std::max(range.lo - size / 2, -kLargest), std::min(range.hi + size / 2, kLargest)};
}

std::vector<Tick> linear_ticks(Interval range, int at_most) {
  // The finest step of the form {1, 2, 5} * 10^exponent that gives few enough ticks.
  constexpr std::array kMantissas{1.0, 2.0, 5.0};
  const double finest = range.hi / at_most - range.lo / at_most;
  for (int exponent = exponent_of(finest) - 1;; ++exponent) {
    for (const double mantissa : kMantissas) {
      const double step = decimal(mantissa, exponent);
      // Ends that miss a multiple of the step by rounding only count as being on it.
      const double first = std::ceil(range.lo / step - 1e-9), last = std::floor(range.hi / step + 1e-9);
      const double count = last - first + 1;
      if (count > at_most) continue;
      std::vector<Tick> ticks;
      const double largest = std::max(std::abs(first), std::abs(last)) * step;
      for (int i = 0; i < static_cast<int>(count); ++i) {
        const double value = std::clamp(decimal((first + i) * mantissa, exponent), range.lo, range.hi);
        ticks.push_back({value, label_of(first + i == 0.0 ? 0.0 : value, exponent, largest)});
      }
      return ticks;
    }
  }
}

std::vector<Tick> log_ticks(Interval range, int at_most) {
  std::vector<Tick> ticks = mantissa_ticks(range, {1.0, 2.0, 5.0}, 1);
  if (ticks.size() < 3) return linear_ticks(range, at_most);
  if (ticks.size() <= static_cast<std::size_t>(at_most)) return ticks;
  const int decades = exponent_of(range.hi) - exponent_of(range.lo) + 1;
  return mantissa_ticks(range, {1.0}, (decades + at_most - 1) / at_most);
}

double shade(double value, Interval range) {
  // Halves, as in position(), are equal also where the ends differ by the smallest number there is.
  if (range.lo / 2 < range.hi / 2) return std::clamp(range.position(value), 0.0, 1.0);
  return value == 0.0 ? 0.0 : 1.0;
}

}  // namespace pursuit::report
