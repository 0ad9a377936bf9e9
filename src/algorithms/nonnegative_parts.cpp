#include "algorithms/nonnegative_parts.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {

void require_nonnegative_parts(const WeightRule& weights, const AtomSets& sets, const Form& Y, Index rank,
                               const std::vector<std::string>& names) {
  require(!weights.allows_negative(),
          fmt::format("loss poisson: means are not negative, so weights must be nonneg or convex, not {}; "
                      "poisson-log takes counts with factors of any sign",
                      weights.spec()));
  Random random(0);
  for (Index mode = 0; mode < sets.modes(); ++mode)
    for (Index i = 0; i < rank && (i == 0 || sets.panel(sets.panel_of(mode)).varies()); ++i) {
      const AtomSet& set = sets.of(sets.panel_of(mode), i);
      const Index size = Y.axis(mode).size();
      Vector member(size), slope = -Vector::Ones(size);
      for (int trial = 0; trial < 3; ++trial) {
        set.maximize(slope, member);
        require(member.minCoeff() >= 0,
                fmt::format("{} {}: has members with negative entries; loss poisson needs sets without any, "
                            "as nonneg or nonneg+...; poisson-log takes all sets",
                            names[std::size_t(mode)], set.spec()));
        slope = random.gaussian_matrix(size, 1).col(0);
      }
    }
}

}  // namespace pursuit
