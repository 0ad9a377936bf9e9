#include "algorithms/nonnegative_parts.hpp"

#include <fmt/format.h>

#include "base/require.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {

bool has_negative_members(const AtomSet& set, Index size) {
  Random random(0);
  Vector member(size), slope = -Vector::Ones(size);
  for (int trial = 0; trial < 3; ++trial) {
    set.maximize(slope, member);
    if (!(member.minCoeff() >= 0)) return true;
    slope = random.gaussian_matrix(size, 1).col(0);
  }
  return false;
}

bool has_negative_members(const Atoms& sets, Index size, Index rank) {
  for (Index i = 0; i < rank && (i == 0 || sets.varies()); ++i)
    if (has_negative_members(sets.of(i), size)) return true;
  return false;
}

void require_nonnegative_parts(const Loss& loss, const WeightRule& weights, const AtomSets& sets,
                               const std::vector<Index>& sizes, Index rank,
                               const std::vector<std::string>& names) {
  const char* signed_loss = loss.kind == Loss::poisson ? "poisson-log" : "gamma";
  require(!weights.allows_negative(),
          fmt::format("loss {}: means are not negative, so weights must be nonneg or convex, not {}; "
                      "{} takes the same numbers with factors of any sign",
                      loss.spec(), weights.spec(), signed_loss));
  for (Index mode = 0; mode < sets.modes(); ++mode)
    for (Index i = 0; i < rank && (i == 0 || sets.mode(mode).varies()); ++i) {
      const AtomSet& set = sets.mode(mode).of(i);
      require(!has_negative_members(set, sizes[std::size_t(mode)]),
              fmt::format("{} {}: has members with negative entries; loss {} needs sets without any, "
                          "as nonneg or nonneg+...; {} takes all sets",
                          names[std::size_t(mode)], set.spec(), loss.spec(), signed_loss));
    }
}

}  // namespace pursuit
