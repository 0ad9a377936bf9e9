#include "pursuit/completion/drift.hpp"

#include <algorithm>
#include <cmath>

namespace pursuit {

double DriftOf::at(int member, double when) const {
  constexpr double kFar = 10;  // reaches, beyond which entries count for nothing
  if (!is_on() || member < 0 || std::size_t(member) + 1 >= start.size()) return 0;
  const auto begin = time.begin() + start[std::size_t(member)],
             end = time.begin() + start[std::size_t(member) + 1];
  double sums = 0, counts = ridge;
  for (auto knot = std::lower_bound(begin, end, when - kFar * reach);
       knot != end && *knot <= when + kFar * reach; ++knot) {
    const double near = std::exp(-std::abs(when - *knot) / reach);
    sums += near * sum[std::size_t(knot - time.begin())];
    counts += near * count[std::size_t(knot - time.begin())];
  }
  return sums / counts;
}

double Drift::at(int row, int col, double when) const {
  return all.at(0, when) + rows.at(row, when) + cols.at(col, when);
}

}  // namespace pursuit
