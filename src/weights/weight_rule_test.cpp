#include "pursuit/weights/weight_rule.hpp"

#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(WeightRule, KeepsEverySpec) {
  for (const char* spec : {"free", "newest", "nonneg", "convex", "convex:2.5", "convex:1e-07", "economic"})
    EXPECT_EQ(parse_weight_rule(spec).spec(), spec);
  EXPECT_EQ(parse_weight_rule("convex").radius, 1);
  EXPECT_EQ(parse_weight_rule("convex:1").spec(), "convex");
  EXPECT_EQ(parse_weight_rule("convex:12").radius, 12);
  EXPECT_EQ(WeightRule{}.spec(), "free");
}

TEST(WeightRule, SaysWhatIsAllowed) {
  for (const char* spec : {"", "Free", "freely", "newest:2", "convex:", "convex:0", "convex:-1", "convex:nan",
                           "convex:inf", "convex:two", "convex:2x", "free:1"})
    EXPECT_THAT(message_of<InvalidArgument>([&] { parse_weight_rule(spec); }),
                AllOf(HasSubstr("weights '" + std::string(spec) + "'"), HasSubstr("allowed are free, newest"),
                      HasSubstr("a number above 0")));
}

TEST(WeightRule, KnowsWhetherWeightsMayBeNegative) {
  EXPECT_TRUE(WeightRule(WeightRule::free).allows_negative());
  EXPECT_TRUE(WeightRule(WeightRule::newest).allows_negative());
  EXPECT_TRUE(WeightRule(WeightRule::economic).allows_negative());
  EXPECT_FALSE(WeightRule(WeightRule::nonneg).allows_negative());
  EXPECT_FALSE(WeightRule(WeightRule::convex).allows_negative());
}

}  // namespace
}  // namespace pursuit
