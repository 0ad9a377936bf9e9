#include "algorithms/nonnegative_sets.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {

void require_nonnegative_parts(const Loss& loss, const WeightRule& weights, const AtomSets& sets, Index rank,
                               Index rows, Index cols) {
  const char* signed_loss = loss.kind == Loss::poisson ? "poisson-log" : "gamma";
  require(!weights.allows_negative(),
          fmt::format("loss {}: means are not negative, so weights must be nonneg or convex, not {}; "
                      "{} takes the same numbers with factors of any sign",
                      loss.spec(), weights.spec(), signed_loss));
  Random random(0);
  const auto probe = [&](const AtomSet& set, Index size, const char* side) {
    Vector member(size), slope = -Vector::Ones(size);
    for (int trial = 0; trial < 3; ++trial) {
      set.maximize(slope, member);
      require(member.minCoeff() >= 0,
              fmt::format("{} set {}: has members with negative entries; loss {} needs sets without any, "
                          "as nonneg or nonneg+...; {} takes all sets",
                          side, set.spec(), loss.spec(), signed_loss));
      slope = random.gaussian_matrix(size, 1).col(0);
    }
  };
  const bool varies = sets.mode(0).varies() || sets.mode(1).varies();
  for (Index i = 0; i < (varies ? rank : 1); ++i) {
    probe(sets.of(sets.panel_of(0), i), rows, "left");
    probe(sets.of(sets.panel_of(1), i), cols, "right");
  }
}

}  // namespace pursuit
