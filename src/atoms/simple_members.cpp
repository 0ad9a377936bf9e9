#include "atoms/simple_members.hpp"

#include <cmath>
#include <limits>

namespace pursuit {

void constant_along(ConstVectorRef g, VectorRef u) {
  u.setConstant((g.sum() < 0 ? -1.0 : 1.0) / std::sqrt(double(g.size())));
}

void best_coordinate(ConstVectorRef g, VectorRef u) {
  Index best = 0;
  g.maxCoeff(&best);
  u.setZero();
  u[best] = 1;
}

void best_end_stretch(ConstVectorRef g, bool heads, bool tails, VectorRef u) {
  const Index n = g.size();
  Index best_length = n;
  bool at_the_end = tails;
  double best = -std::numeric_limits<double>::infinity();
  for (const bool backwards : {false, true}) {
    if (!(backwards ? tails : heads)) continue;
    double sum = 0;
    for (Index length = 1; length <= n; ++length) {
      sum += g[backwards ? n - length : length - 1];
      if (const double value = sum / std::sqrt(double(length)); value > best) {
        best = value;
        best_length = length;
        at_the_end = backwards;
      }
    }
  }
  u.setZero();
  const double level = 1 / std::sqrt(double(best_length));
  if (at_the_end)
    u.tail(best_length).setConstant(level);
  else
    u.head(best_length).setConstant(level);
}

}  // namespace pursuit
