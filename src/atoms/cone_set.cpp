#include "atoms/cone_set.hpp"

#include <cmath>
#include <limits>

namespace pursuit {

bool has_unit_norm(ConstVectorRef u, double tolerance) {
  return std::abs(u.norm() - 1) <= tolerance;
}

void ConeSet::maximize_impl(ConstVectorRef g, VectorRef u) const {
  thread_local Vector ones, scaled;
  const double largest = g.cwiseAbs().maxCoeff();
  if (largest > 0) {
    ones.setOnes(g.size());
    scaled = g / largest;
    if (project(ones, scaled, u) > 0) {
      u /= u.norm();
      return;
    }
  }
  least_bad(g, u);
}

double ConeSet::fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const {
  thread_local Vector scaled, other;
  const double largest = (a.array() > 0).select(b.array() / a.array(), 0.0).abs().maxCoeff();
  double direction = 1, gain = 0;
  if (largest > std::numeric_limits<double>::min()) {
    scaled = b / largest;
    gain = project(a, scaled, u);
    if (sign == Sign::free && !traits().symmetric) {
      scaled = -scaled;
      other.resize(b.size());
      if (const double along_minus = project(a, scaled, other); along_minus > gain) {
        u = other;
        gain = along_minus;
        direction = -1;
      }
    }
  }
  const double scale = gain > 0 ? u.norm() : 0.0;
  if (!(scale > 0)) {
    maximize_impl(b, u);
    return 0;
  }
  u /= scale;
  return direction * scale * largest;
}

}  // namespace pursuit
