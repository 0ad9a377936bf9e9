// Groups against all supports.

#include "atoms/group_supports.hpp"

#include "atoms/exhaustive_test_support.hpp"

namespace pursuit {
namespace {

using exhaustive::Family;
using testing::AllOf;
using testing::HasSubstr;

/// Every entry in one of a few groups, none of them empty.
Groups any_groups(Index n) {
  Groups groups;
  std::vector<Index> names;
  for (Index i = 0; i < n; ++i) {
    const Index label = *rc::gen::inRange<Index>(0, 4);
    auto known = std::find(names.begin(), names.end(), label);
    if (known == names.end()) known = names.insert(names.end(), label);
    groups.group_of.push_back(known - names.begin());
  }
  return groups;
}

Index count_of(const Groups& groups) {
  return *std::max_element(groups.group_of.begin(), groups.group_of.end()) + 1;
}

Family few_groups(const Groups& groups, Index active, Index within, Index total) {
  return {Index(groups.group_of.size()), [&](unsigned mask) {
            std::vector<Index> used(std::size_t(count_of(groups)), 0);
            for (std::size_t i = 0; i < groups.group_of.size(); ++i)
              used[std::size_t(groups.group_of[i])] += exhaustive::in_support(mask, Index(i));
            Index groups_used = 0;
            for (const Index here : used) {
              if (here > within) return false;
              groups_used += here > 0;
            }
            return groups_used <= active && std::popcount(mask) <= int(total);
          }};
}

struct Bounds {
  Index active, within, total;
  bool has_within, has_total, nonnegative;
};

Bounds any_bounds(const Groups& groups) {
  const auto n = Index(groups.group_of.size());
  Bounds bounds{*rc::gen::inRange<Index>(1, count_of(groups) + 1),
                n,
                n,
                *rc::gen::arbitrary<bool>(),
                *rc::gen::arbitrary<bool>(),
                *rc::gen::arbitrary<bool>()};
  if (bounds.has_within) bounds.within = *rc::gen::inRange<Index>(1, n + 1);
  if (bounds.has_total) bounds.total = *rc::gen::inRange<Index>(1, n + 1);
  return bounds;
}

Atoms set_of(const Groups& groups, const Bounds& bounds) {
  Atoms set = bounds.has_within ? group(groups, bounds.active, bounds.within) : group(groups, bounds.active);
  if (bounds.has_total) set = set + sparse(bounds.total);
  return bounds.nonnegative ? nonneg() + set : set;
}

RC_GTEST_PROP(GroupSupports, AreTheBestOfAllSupports, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const Groups groups = any_groups(n);
  const Bounds bounds = any_bounds(groups);
  const Family family = few_groups(groups, bounds.active, bounds.within, bounds.total);
  exhaustive::check_oracles(*set_of(groups, bounds), n, over_supports(family, bounds.nonnegative));
}

RC_GTEST_PROP(GroupSupports, KnowTheirMembers, ()) {
  const Groups groups = any_groups(*rc::gen::inRange<Index>(1, 9));
  const Bounds bounds = any_bounds(groups);
  const Family family = few_groups(groups, bounds.active, bounds.within, bounds.total);
  exhaustive::check_members(*set_of(groups, bounds), family);
}

TEST(GroupSupports, TakeTheFirstOfEqualGroupsAndTheLowestOfEqualEntries) {
  const Groups pairs{{0, 1, 0, 1, 2, 2}};
  Vector u(6);
  group(pairs, 1)->maximize(Vector::Ones(6), u);
  EXPECT_LT(max_difference(u, (Vector(6) << 1, 0, 1, 0, 0, 0).finished().normalized()), 1e-15);
  group(pairs, 2, 1)->maximize(Vector::Ones(6), u);
  EXPECT_LT(max_difference(u, (Vector(6) << 1, 1, 0, 0, 0, 0).finished().normalized()), 1e-15);
  (group(pairs, 1) + sparse(1))->maximize(Vector::Ones(6), u);
  EXPECT_EQ(u, Vector::Unit(6, 0));
}

TEST(GroupSupports, RefuseWhatIsNoGrouping) {
  EXPECT_THAT(message_of<InvalidArgument>([] {
                group({{}, "none"}, 1);
              }),
              AllOf(HasSubstr("group:none:1"), HasSubstr("there are no groups")));
  EXPECT_THAT(message_of<InvalidArgument>([] { group({{0, -1}}, 1); }), HasSubstr("group -1 is below 0"));
  EXPECT_THAT(message_of<InvalidArgument>([] { group({{0, 2}}, 1); }), HasSubstr("group 2 of 3 is empty"));
  EXPECT_THAT(message_of<InvalidArgument>([] { group({{0, 1}}, 0); }), HasSubstr("at least 1 group"));
  EXPECT_THAT(message_of<InvalidArgument>([] { group({{0, 1}}, 1, 0); }), HasSubstr("at least 1 entry"));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                group({{0, 1}}, 3);
              }),
              AllOf(HasSubstr("3 groups may be active, but there are 2"), HasSubstr("allowed are 1..2")));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                group({{0, 1}}, 1)->require_dimension(3);
              }),
              AllOf(HasSubstr("vectors of 2 entries"), HasSubstr("these have 3")));
}

}  // namespace
}  // namespace pursuit
