// Lists of sets: one for every atom, and as a set of its own their union.

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

TEST(PerAtom, HasASetForEveryAtomAndTheLastForAllFurtherOnes) {
  const Atoms set = per_atom({sparse(3), sparse(2), sparse(1)});
  EXPECT_TRUE(set->varies_by_atom());
  EXPECT_FALSE(sparse(3)->varies_by_atom());
  EXPECT_EQ(set->of_atom(0).spec(), "sparse:3");
  EXPECT_EQ(set->of_atom(1).spec(), "sparse:2");
  EXPECT_EQ(set->of_atom(2).spec(), "sparse:1");
  EXPECT_EQ(set->of_atom(1000).spec(), "sparse:1");
  EXPECT_EQ(sparse(3)->of_atom(7).spec(), "sparse:3");
}

TEST(PerAtom, IsWrittenAsAListWhereOnlyTheLastNumberDiffers) {
  EXPECT_EQ(per_atom({sparse(3), sparse(2)})->spec(), "sparse:3,2");
  EXPECT_EQ(per_atom({nonneg() + sparse(3), nonneg() + sparse(2)})->spec(), "nonneg+sparse:3,2");
  EXPECT_EQ(per_atom({blocks(2, 3), blocks(2, 4)})->spec(), "blocks:2:3,4");
  EXPECT_EQ(per_atom({sparse(3), fused(2)})->spec(), "custom:per-atom");
  EXPECT_EQ(per_atom({sphere(), nonneg()})->spec(), "custom:per-atom");
  EXPECT_EQ(per_atom({monotone(Direction::up), monotone(Direction::down)})->spec(), "custom:per-atom");
  EXPECT_EQ(per_atom({support({1, 0}, "a.csv"), support({0, 1}, "b.csv")})->spec(), "custom:per-atom");
  EXPECT_EQ(per_atom({tree({{-1, 0}, "a:b"}, 1), tree({{-1, 0}, "a:b"}, 2)})->spec(), "tree:\"a:b\":1,2");
  EXPECT_EQ(per_atom({sparse(3)})->spec(), "sparse:3") << "a list of one is that one";
}

TEST(PerAtom, CombinesEveryOneOfItsSets) {
  EXPECT_EQ((per_atom({sparse(3), sparse(2)}) + nonneg())->spec(), "nonneg+sparse:3,2");
  EXPECT_EQ((nonneg() + per_atom({sparse(3), sparse(2)}))->spec(), "nonneg+sparse:3,2");
  EXPECT_THAT(message_of<InvalidArgument>([] {
                per_atom({sparse(3), sparse(2)}) + fused(2);
              }),
              HasSubstr("cannot be combined exactly"));
}

RC_GTEST_PROP(PerAtom, AsASetIsTheUnion, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), k = *rc::gen::inRange<Index>(1, n + 1);
  const Atoms parts[] = {nonneg(), sparse(k), monotone(Direction::down)};
  const Atoms set = per_atom({parts[0], parts[1], parts[2]});
  const exhaustive::Reference reference{[&](const Vector& g) {
                                          double best = -std::numeric_limits<double>::infinity();
                                          Vector u(n);
                                          for (const Atoms& part : parts) {
                                            part->maximize(g, u);
                                            best = std::max(best, g.dot(u));
                                          }
                                          return best;
                                        },
                                        [&](const Vector& a, const Vector& b) {
                                          double best = 0;
                                          Vector u(n);
                                          for (const Atoms& part : parts) {
                                            const double t = part->fit(a, b, Sign::nonnegative, u);
                                            best = std::max(best, -exhaustive::parabolas(a, b, t, u));
                                          }
                                          return best;
                                        },
                                        [&](const Vector& u) {
                                          return parts[0]->contains(u) || parts[1]->contains(u) ||
                                                 parts[2]->contains(u);
                                        }};
  exhaustive::check_oracles(*set, n, reference);
}

TEST(PerAtom, RefusesEmptyAndNestedLists) {
  EXPECT_THAT(message_of<InvalidArgument>([] { per_atom({}); }), HasSubstr("at least one set"));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                per_atom({per_atom({sparse(1), sparse(2)}), sparse(3)});
              }),
              HasSubstr("lists do not nest"));
}

TEST(PerAtom, ChecksTheDimensionOfEverySet) {
  EXPECT_THAT(message_of<InvalidArgument>([] {
                per_atom({sparse(2), sparse(9)})->require_dimension(5);
              }),
              HasSubstr("sparse:9"));
}

}  // namespace
}  // namespace pursuit
