// Overlapping sets of entries against all supports.

#include "atoms/covering_supports.hpp"

#include "atoms/exhaustive_test_support.hpp"

namespace pursuit {
namespace {

using exhaustive::Family;
using testing::AllOf;
using testing::HasSubstr;

EntrySets any_sets(Index n) {
  EntrySets sets{n, {}};
  const Index count = *rc::gen::inRange<Index>(1, 6);
  for (Index s = 0; s < count; ++s) {
    std::vector<Index> members{*rc::gen::inRange<Index>(0, n)};
    for (Index i = 0; i < n; ++i)
      if (*rc::gen::inRange(0, 3) == 0) members.push_back(i);
    sets.members.push_back(members);
  }
  return sets;
}

/// By trying all choices of sets.
Family covered(const EntrySets& sets, Index active) {
  std::vector<unsigned> marks;
  for (const auto& members : sets.members) {
    unsigned mask = 0;
    for (const Index i : members) mask |= 1U << unsigned(i);
    marks.push_back(mask);
  }
  return {sets.entries, [=](unsigned mask) {
            for (unsigned chosen = 0; chosen < (1U << marks.size()); ++chosen) {
              if (std::popcount(chosen) > int(active)) continue;
              unsigned all = 0;
              for (std::size_t s = 0; s < marks.size(); ++s)
                if (((chosen >> s) & 1U) != 0) all |= marks[s];
              if ((mask & ~all) == 0) return true;
            }
            return false;
          }};
}

RC_GTEST_PROP(CoveringSupports, ReachTheStatedShareOfAllSupports, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const EntrySets sets = any_sets(n);
  const Index active = *rc::gen::inRange<Index>(1, Index(sets.members.size()) + 1);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Atoms set = nonnegative ? nonneg() + entry_sets(sets, active) : entry_sets(sets, active);
  exhaustive::check_oracles(*set, n, over_supports(covered(sets, active), nonnegative),
                            {.share = set->traits().oracle_factor});
}

RC_GTEST_PROP(CoveringSupports, KnowTheirMembers, ()) {
  const EntrySets sets = any_sets(*rc::gen::inRange<Index>(1, 9));
  const Index active = *rc::gen::inRange<Index>(1, Index(sets.members.size()) + 1);
  exhaustive::check_members(*entry_sets(sets, active), covered(sets, active));
}

TEST(CoveringSupports, AreExactForOneSetForAllAndWithoutOverlap) {
  EXPECT_EQ(entry_sets({4, {{0, 1}, {1, 2}}}, 1)->traits().oracle_factor, 1);
  EXPECT_EQ(entry_sets({4, {{0, 1}, {1, 2}}}, 2)->traits().oracle_factor, 1);
  EXPECT_EQ(entry_sets({4, {{0, 1}, {2}, {3}}}, 2)->traits().oracle_factor, 1);
  EXPECT_NEAR(entry_sets({4, {{0, 1}, {1, 2}, {2, 3}}}, 2)->traits().oracle_factor, std::sqrt(0.75), 1e-12);
}

TEST(CoveringSupports, RefuseSetsThatMakeNoSense) {
  const auto refused = [](const EntrySets& sets, Index active) {
    return message_of<InvalidArgument>([&] { entry_sets(sets, active); });
  };
  EXPECT_THAT(refused({3, {}}, 1), HasSubstr("no sets"));
  EXPECT_THAT(refused({3, {{0}, {}}}, 1), HasSubstr("set 2 of 2 is empty"));
  EXPECT_THAT(refused({3, {{0}}}, 2), AllOf(HasSubstr("2 sets"), HasSubstr("1..1")));
  EXPECT_THAT(refused({3, {{0}}}, 0), HasSubstr("1..1"));
  EXPECT_THAT(refused({3, {{3}}}, 1), HasSubstr("entry 3 lies beyond the 3"));
  EXPECT_THAT(refused({3, {{-1}}}, 1), HasSubstr("below 0"));
  EXPECT_THROW(entry_sets({3, {{0}}}, 1).require_dimension(4), InvalidArgument);
  EXPECT_THROW(entry_sets({0, {{5}}}, 1).require_dimension(4), InvalidArgument);
  EXPECT_NO_THROW(entry_sets({0, {{5}}}, 1).require_dimension(9));
}

}  // namespace
}  // namespace pursuit
