#pragma once
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

/// 1, unless fourth powers of numbers of this size could overflow or vanish: then their unit_scale.
inline double comfortable_scale(double magnitude) {
  constexpr double kFar = 0x1p100;  // fourth powers of what is nearer stay far inside the range of a double
  const double scale = unit_scale(magnitude);
  return scale <= kFar && scale >= 1 / kFar ? 1 : scale;
}

}  // namespace pursuit
