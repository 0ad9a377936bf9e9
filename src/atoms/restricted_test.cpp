// Sets that live on a mask give the answers of the set itself on the entries inside.

#include "atoms/restricted.hpp"

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

struct Inside {
  std::vector<unsigned char> mask;
  std::vector<Index> places;

  Vector gathered(const Vector& x) const { return x(places); }
  Vector scattered(const Vector& x) const {
    Vector u = Vector::Zero(Index(mask.size()));
    u(places) = x;
    return u;
  }
};

Inside any_inside(Index n, bool one_stretch) {
  Inside inside;
  const Index first = *rc::gen::inRange<Index>(0, n), last = *rc::gen::inRange<Index>(first, n);
  for (Index i = 0; i < n; ++i) {
    const bool in = one_stretch ? i >= first && i <= last : i == first || *rc::gen::inRange(0, 3) > 0;
    inside.mask.push_back(in);
    if (in) inside.places.push_back(i);
  }
  return inside;
}

RC_GTEST_PROP(Restricted, AnswersLikeTheSetOnTheEntriesInside, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const auto kind = *rc::gen::inRange(0, 6);
  const Atoms inner = kind == 0   ? l1ball(1.5)
                      : kind == 1 ? lp(3)
                      : kind == 2 ? simplex()
                      : kind == 3 ? binary()
                      : kind == 4 ? box(-1, 2)
                                  : nonneg() + unimodal();
  const Inside inside = any_inside(n, kind == 5);
  const Atoms set = support(inside.mask) + inner;
  const Vector g = exhaustive::any_vector(n), a = exhaustive::any_curvatures(n),
               b = (a.array() > 0).select(exhaustive::any_vector(n), 0.0);
  const Sign sign = exhaustive::any_sign();
  Vector u(n), expected(Index(inside.places.size()));
  set->maximize(g, u);
  inner->maximize(inside.gathered(g), expected);
  RC_ASSERT(same_bits(u, inside.scattered(expected)));
  RC_ASSERT(set->contains(u, 1e-9));
  RC_ASSERT(set->fit(a, b, sign, u) == inner->fit(inside.gathered(a), inside.gathered(b), sign, expected));
  RC_ASSERT(same_bits(u, inside.scattered(expected)));
  RC_ASSERT(set->fit(0.5, b, sign, u) == inner->fit(0.5, inside.gathered(b), sign, expected));
  RC_ASSERT(same_bits(u, inside.scattered(expected)));
}

TEST(Restricted, AcceptsNothingOutsideTheMask) {
  const Atoms set = support({1, 0, 1}) + binary();
  EXPECT_TRUE(set->contains(Vector::Unit(3, 2)));
  EXPECT_FALSE(set->contains(Vector::Unit(3, 1)));
  EXPECT_FALSE(set->contains(Vector::Constant(3, 1 / std::sqrt(3.0))));
  EXPECT_FALSE(set->contains(Vector::Unit(2, 0)));
}

TEST(Restricted, IsRefusedWhereZerosWouldMakeADifference) {
  for (const Atoms& set : {signs(), box(1, 2), unimodal(), fused(2), smooth(0.1), monotone()})
    EXPECT_THAT(message_of<InvalidArgument>([&] {
                  support({1, 0, 1}) + set;
                }),
                HasSubstr("cannot be combined exactly"))
        << set->spec();
  EXPECT_THAT(message_of<InvalidArgument>([] {
                support({1, 0, 1}) + (nonneg() + unimodal());
              }),
              HasSubstr("cannot be combined exactly"))
      << "a hole in the mask";
}

TEST(Restricted, ChecksTheDimensionOfMaskAndSet) {
  EXPECT_THAT(message_of<InvalidArgument>([] {
                (support({1, 0, 1}) + binary())->require_dimension(4);
              }),
              HasSubstr("these have 4"));
}

}  // namespace
}  // namespace pursuit
