#pragma once
// Values in a unit that is a power of two, so that squares of huge and of tiny ones are numbers still. Taking
// values to the unit and results back is exact.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/chunks.hpp"

namespace pursuit {

/// The smallest and the largest of some values.
struct ValueRange {
  float low = std::numeric_limits<float>::infinity(), high = -low;

  ValueRange& operator+=(const ValueRange& more) {
    low = std::min(low, more.low);
    high = std::max(high, more.high);
    return *this;
  }
};

inline ValueRange range_of(const std::vector<float>& values, int threads) {
  return chunked_sum<ValueRange>(Chunks(Index(values.size())), threads, [&](Index first, Index count) {
    const auto begin = values.begin() + first;
    const auto [low, high] = std::minmax_element(begin, begin + count);
    return ValueRange{*low, *high};
  });
}

/// The power of two just below the largest size of a value; 1 for zeros, and for sizes within 2^-tolerated ..
/// 2^tolerated.
inline double unit_of(const ValueRange& range, int tolerated = 0) {
  const float largest = std::max(std::abs(range.low), std::abs(range.high));
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  return std::abs(exponent) <= tolerated ? 1.0 : std::ldexp(1.0, exponent);
}

inline void divide(std::vector<float>& values, double unit) {
  for (float& value : values) value = float(value / unit);
}

}  // namespace pursuit
