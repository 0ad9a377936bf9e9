// Windows against all ways to place them.

#include "atoms/windows.hpp"

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

using exhaustive::Family;

/// Every union of at most `count` stretches of at most `length` entries.
Family windows(Index n, Index length, Index count) {
  std::vector<unsigned> unions{0};
  for (Index c = 0; c < count; ++c) {
    std::vector<unsigned> more = unions;
    for (const unsigned mask : unions)
      for (Index first = 0; first < n; ++first) {
        unsigned window = 0;
        for (Index i = first; i < std::min(first + length, n); ++i) window |= 1U << unsigned(i);
        more.push_back(mask | window);
      }
    std::sort(more.begin(), more.end());
    more.erase(std::unique(more.begin(), more.end()), more.end());
    unions = std::move(more);
  }
  return {n, [&](unsigned mask) { return std::binary_search(unions.begin(), unions.end(), mask); }};
}

RC_GTEST_PROP(Windows, AreTheBestOfAllPlacesForThem, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), length = *rc::gen::inRange<Index>(1, n + 1),
              count = *rc::gen::inRange<Index>(1, std::min<Index>(n, 4) + 1);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Atoms set = nonnegative ? nonneg() + blocks(length, count) : blocks(length, count);
  exhaustive::check_oracles(*set, n, over_supports(windows(n, length, count), nonnegative));
}

RC_GTEST_PROP(Windows, KnowWhatTheyCover, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), length = *rc::gen::inRange<Index>(1, n + 1),
              count = *rc::gen::inRange<Index>(1, std::min<Index>(n, 4) + 1);
  const Family family = windows(n, length, count);
  exhaustive::check_members(*blocks(length, count), family);
}

TEST(Windows, TakeTheFirstOfEqualPlaces) {
  Vector u(6);
  block(2)->maximize((Vector(6) << 0, 1, 1, 0, 1, 1).finished(), u);
  EXPECT_LT(max_difference(u, (Vector(6) << 0, 1, 1, 0, 0, 0).finished().normalized()), 1e-15);
  block(1)->maximize(Vector::Constant(6, -2), u);
  EXPECT_EQ(u, -Vector::Unit(6, 0));
  blocks(2, 2)->maximize((Vector(6) << 3, 3, 3, 3, 3, 3).finished(), u);
  EXPECT_LT(max_difference(u, (Vector(6) << 1, 1, 1, 1, 0, 0).finished() / 2), 1e-15);
}

TEST(Windows, RefuseSizesThatDoNotFit) {
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(message_of<InvalidArgument>([] { block(0); }), HasSubstr("block:0: a window has at least 1"));
  EXPECT_THAT(message_of<InvalidArgument>([] { blocks(2, 0); }), HasSubstr("at least 1 window"));
  EXPECT_THAT(message_of<InvalidArgument>([] { block(5)->require_dimension(4); }),
              AllOf(HasSubstr("block:5"), HasSubstr("a vector of 4"), HasSubstr("allowed are 1..4")));
  EXPECT_THAT(message_of<InvalidArgument>([] { blocks(1, 5)->require_dimension(4); }),
              AllOf(HasSubstr("blocks:1:5"), HasSubstr("5 windows"), HasSubstr("allowed are 1..4")));
  EXPECT_NO_THROW(blocks(4, 4)->require_dimension(4));
}

}  // namespace
}  // namespace pursuit
