// Monotone vectors against all partitions into stretches.

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

bool rises(const Vector& x) {
  for (Index i = 1; i < x.size(); ++i)
    if (x[i] < x[i - 1]) return false;
  return true;
}

exhaustive::Reference reference(Direction direction, bool nonnegative) {
  return exhaustive::over_partitions(
      [=](const Vector& x) {
        return (direction != Direction::down && rises(x)) || (direction != Direction::up && rises(-x));
      },
      nonnegative);
}

RC_GTEST_PROP(Monotone, IsTheBestOfAllPartitions, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const auto direction = *rc::gen::element(Direction::either, Direction::up, Direction::down);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Atoms set = nonnegative ? nonneg() + monotone(direction) : monotone(direction);
  exhaustive::check_oracles(*set, n, reference(direction, nonnegative));
}

TEST(Monotone, KnowsItsMembers) {
  const Vector up = (Vector(4) << -1, 0, 0, 2).finished().normalized(), down = -up;
  EXPECT_TRUE(monotone(Direction::up)->contains(up));
  EXPECT_FALSE(monotone(Direction::up)->contains(down));
  EXPECT_TRUE(monotone(Direction::down)->contains(down));
  EXPECT_FALSE(monotone(Direction::down)->contains(up));
  EXPECT_TRUE(monotone()->contains(up) && monotone()->contains(down));
  EXPECT_FALSE(monotone()->contains((Vector(3) << 0, 1, 0).finished()));
  EXPECT_FALSE((nonneg() + monotone())->contains(up));
  EXPECT_TRUE((nonneg() + monotone())->contains(Vector::Unit(4, 3)));
  EXPECT_FALSE(monotone()->contains(2 * up));
  EXPECT_TRUE(monotone()->contains(-Vector::Unit(1, 0)));
}

TEST(Monotone, RisesWhereRisingAndFallingAreAsGood) {
  Vector u(3);
  monotone()->maximize((Vector(3) << 1, -2, 1).finished(), u);
  EXPECT_TRUE(rises(u));
}

TEST(Monotone, NarrowsToOneDirection) {
  EXPECT_EQ((monotone() + monotone(Direction::down))->spec(), "monotone:down");
  EXPECT_EQ((monotone(Direction::up) + nonneg() + monotone())->spec(), "nonneg+monotone:up");
  EXPECT_THAT(message_of<InvalidArgument>([] { monotone(Direction::up) + monotone(Direction::down); }),
              testing::HasSubstr("atom sets 'monotone:up' and 'monotone:down' cannot be combined exactly"));
}

}  // namespace
}  // namespace pursuit
