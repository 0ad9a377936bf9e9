#pragma once
// Values in a unit that is a power of two, so that squares of huge and of tiny ones are numbers still. Taking
// values to the unit and results back is exact.

#include <algorithm>
#include <cmath>
#include <vector>

namespace pursuit {

/// The power of two just below the largest size of a value; 1 for zeros, and for sizes within 2^-tolerated ..
/// 2^tolerated.
inline double unit_of(const std::vector<float>& values, int tolerated = 0) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  return std::abs(exponent) <= tolerated ? 1.0 : std::ldexp(1.0, exponent);
}

inline void divide(std::vector<float>& values, double unit) {
  for (float& value : values) value = float(value / unit);
}

}  // namespace pursuit
