// Masks, alone and over other families, against all supports.

#include "atoms/supports.hpp"

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

using exhaustive::Family;
using exhaustive::in_support;
using testing::AllOf;
using testing::HasSubstr;

/// At least one entry is inside.
Marks any_mask(Index n) {
  Marks mask;
  for (Index i = 0; i < n; ++i) mask.push_back(*rc::gen::inRange(0, 3) > 0);
  mask[std::size_t(*rc::gen::inRange<Index>(0, n))] = 1;
  return mask;
}

bool inside(const Marks& mask, unsigned support) {
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (in_support(support, Index(i)) && !mask[i]) return false;
  return true;
}

RC_GTEST_PROP(Masked, IsTheBestOfAllSupportsInside, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const Marks mask = any_mask(n);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Family family(n, [&](unsigned support) { return inside(mask, support); });
  const Atoms set = nonnegative ? nonneg() + support(mask) : support(mask);
  exhaustive::check_oracles(*set, n, over_supports(family, nonnegative));
  if (!nonnegative) exhaustive::check_members(*set, family);
}

RC_GTEST_PROP(Masked, LeavesTheBestOfAnotherFamilyInside, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), k = *rc::gen::inRange<Index>(1, n + 1);
  const Marks mask = any_mask(n);
  const bool nonnegative = *rc::gen::arbitrary<bool>(), window = *rc::gen::arbitrary<bool>();
  const Family family(n, [&](unsigned support) {
    const int width = support == 0 ? 0 : int(std::bit_width(support)) - std::countr_zero(support);
    return inside(mask, support) && (window ? width : std::popcount(support)) <= int(k);
  });
  Atoms set = support(mask) + (window ? block(k) : sparse(k));
  if (nonnegative) set = set + nonneg();
  exhaustive::check_oracles(*set, n, over_supports(family, nonnegative));
  if (!nonnegative) exhaustive::check_members(*set, family);
}

RC_GTEST_PROP(Masked, NestsLikeTheProductOfTheMasks, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const Marks first = any_mask(n), second = any_mask(n);
  const Family family(n, [&](unsigned s) { return inside(first, s) && inside(second, s); });
  RC_PRE(family.widest().size() > 1);
  const Atoms set = support(first) + support(second);
  exhaustive::check_oracles(*set, n, over_supports(family, false));
  exhaustive::check_members(*set, family);
}

RC_GTEST_PROP(Masked, TakesTheBestReachableNodeWhereNothingGains, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), k = *rc::gen::inRange<Index>(1, n + 1);
  const Marks mask = any_mask(n);
  Tree chain;
  for (Index i = 0; i < n; ++i) chain.parent.push_back(i - 1);
  const Family family(n, [&](unsigned s) { return inside(mask, s) && int(std::bit_width(s)) <= int(k); });
  RC_PRE(family.widest().size() > 1);
  const Atoms set = nonneg() + support(mask) + tree(chain, k);
  exhaustive::check_maximize(*set, -exhaustive::any_vector(n).cwiseAbs(), over_supports(family, true));
}

TEST(Masked, RefusesMasksThatAllowNothing) {
  EXPECT_THAT(message_of<InvalidArgument>([] {
                support({0, 0}, "m.csv");
              }),
              HasSubstr("support:m.csv: allows no entry at all"));
  EXPECT_THAT(message_of<InvalidArgument>([] { support({}); }), HasSubstr("allows no entry at all"));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                support({1, 0})->require_dimension(3);
              }),
              AllOf(HasSubstr("vectors of 2 entries"), HasSubstr("these have 3")));
}

TEST(Masked, RefusesMasksThatHaveNothingInCommon) {
  EXPECT_THAT(message_of<InvalidArgument>([] {
                support({1, 0}, "a") + support({0, 1}, "b");
              }),
              HasSubstr("support:a+support:b: allows no entry at all"));
}

TEST(Masked, RefusesFamiliesForOtherLengths) {
  EXPECT_THAT(message_of<InvalidArgument>([] {
                support({1, 0, 1}, "a") + support({1, 1}, "b");
              }),
              HasSubstr("support:b: is about vectors of 2 entries, and these have 3"));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                support({1, 0, 1}) + sparse(4);
              }),
              HasSubstr("allowed are 1..3"));
}

TEST(Masked, RefusesTreesWhoseReachableNodesAreOutside) {
  EXPECT_THAT(message_of<InvalidArgument>([] {
                support({0, 0, 1}, "a") + tree({{-1, 0, 1}, "chain"}, 2);
              }),
              HasSubstr("support:a+tree:chain:2: allows no entry at all"));
}

}  // namespace
}  // namespace pursuit
