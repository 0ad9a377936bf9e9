#pragma once
// Members that many sets share, for when nothing better can be said: the extreme rays of their cones.

#include "pursuit/base/types.hpp"

namespace pursuit {

/// u = the unit constant vector on whose side g lies.
void constant_along(ConstVectorRef g, VectorRef u);

/// u = the coordinate of the largest g_i.
void best_coordinate(ConstVectorRef g, VectorRef u);

/// u = the unit vector, constant on a stretch at the start (heads) or the end (tails) and zero elsewhere,
/// with the largest <u, g>.
void best_end_stretch(ConstVectorRef g, bool heads, bool tails, VectorRef u);

}  // namespace pursuit
