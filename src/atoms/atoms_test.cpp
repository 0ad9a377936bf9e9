// One set as a value, and lists with one for every atom.

#include "pursuit/atoms/structures.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Atoms, AreValuesWhoseCopiesShareTheSet) {
  Atoms set = sparse(3);
  const Atoms copy = set;
  EXPECT_EQ(&copy.of(0), &set.of(0));
  EXPECT_EQ(&copy.of(0), &copy.of(7)) << "one set serves all atoms";
  EXPECT_EQ(&*copy, &copy.of(0));
  EXPECT_FALSE(copy.varies());
  set = nonneg();
  EXPECT_EQ(copy.spec(), "sparse:3");
  EXPECT_EQ(copy->spec(), "sparse:3");
  EXPECT_TRUE(copy.traits().symmetric);
  EXPECT_FALSE(set.traits().symmetric);
}

TEST(Atoms, AreNeverWithoutASet) {
  EXPECT_THAT(message_of<InvalidArgument>([] { Atoms{AtomSetPtr()}; }), HasSubstr("a set is missing"));
}

TEST(PerAtom, HasASetForEveryAtomAndTheLastForAllFurtherOnes) {
  const Atoms sets = per_atom({sparse(3), sparse(2), sparse(1)});
  EXPECT_TRUE(sets.varies());
  EXPECT_EQ(sets.of(0).spec(), "sparse:3");
  EXPECT_EQ(sets.of(1).spec(), "sparse:2");
  EXPECT_EQ(sets.of(2).spec(), "sparse:1");
  EXPECT_EQ(sets.of(1000).spec(), "sparse:1");
  EXPECT_EQ(&sets.of(2), &sets.of(1000)) << "the same set, not one like it";
  EXPECT_NE(&sets.of(1), &sets.of(2));
}

TEST(PerAtom, IsNotAskedWhereOneSetIsNeeded) {
  const Atoms sets = per_atom({sparse(3), sparse(2)});
  Vector u(4);
  EXPECT_THAT(message_of<InvalidArgument>([&] { sets->maximize(Vector::Ones(4), u); }),
              AllOf(HasSubstr("'sparse:3,2'"), HasSubstr("one set is needed here")));
}

TEST(PerAtom, HasTheTraitsThatAllItsSetsHave) {
  const auto traits = [](const std::vector<Atoms>& sets) { return per_atom(sets).traits(); };
  EXPECT_TRUE(traits({sparse(3), sphere()}).symmetric);
  EXPECT_FALSE(traits({sparse(3), nonneg()}).symmetric);
  EXPECT_TRUE(traits({sparse(3), nonneg()}).exact_fit);
  EXPECT_FALSE(traits({l1ball(2), nonneg()}).exact_fit);
  EXPECT_TRUE(traits({l1ball(2), nonneg()}).unit_norm);
  EXPECT_FALSE(traits({sphere(), lp(1)}).unit_norm);
  const Atoms rough = graph({4, {{0, 1}, {1, 2}, {2, 0}}}, 4);
  EXPECT_EQ(traits({sphere(), rough}).oracle_factor, 0.5);
  EXPECT_FALSE(traits({sphere(), sphere()}).simple) << "no one formula is asked for all atoms";
}

TEST(PerAtom, HasTheMembersOfItsSets) {
  const Atoms sets = per_atom({sparse(1), nonneg()});
  EXPECT_TRUE(sets.contains(-Vector::Unit(2, 0)));
  EXPECT_TRUE(sets.contains(Vector::Ones(2).normalized()));
  EXPECT_FALSE(sets.contains(-Vector::Ones(2).normalized()));
}

TEST(PerAtom, IsWrittenAsAListWhereOnlyTheLastNumberDiffers) {
  EXPECT_EQ(per_atom({sparse(3), sparse(2)}).spec(), "sparse:3,2");
  EXPECT_EQ(per_atom({nonneg() + sparse(3), nonneg() + sparse(2)}).spec(), "nonneg+sparse:3,2");
  EXPECT_EQ(per_atom({blocks(2, 3), blocks(2, 4)}).spec(), "blocks:2:3,4");
  EXPECT_EQ(per_atom({sparse(3), fused(2)}).spec(), "custom:per-atom");
  EXPECT_EQ(per_atom({sphere(), nonneg()}).spec(), "custom:per-atom");
  EXPECT_EQ(per_atom({monotone(Direction::up), monotone(Direction::down)}).spec(), "custom:per-atom");
  EXPECT_EQ(per_atom({support({1, 0}, "a.csv"), support({0, 1}, "b.csv")}).spec(), "custom:per-atom");
  EXPECT_EQ(per_atom({tree({{-1, 0}, "a:b"}, 1), tree({{-1, 0}, "a:b"}, 2)}).spec(), "tree:\"a:b\":1,2");
  EXPECT_EQ(per_atom({sparse(3)}).spec(), "sparse:3") << "a list of one is that one";
}

TEST(PerAtom, CombinesEveryOneOfItsSets) {
  EXPECT_EQ((per_atom({sparse(3), sparse(2)}) + nonneg()).spec(), "nonneg+sparse:3,2");
  EXPECT_EQ((nonneg() + per_atom({sparse(3), sparse(2)})).spec(), "nonneg+sparse:3,2");
  EXPECT_THAT(message_of<InvalidArgument>([] {
                per_atom({sparse(3), sparse(2)}) + fused(2);
              }),
              HasSubstr("cannot be combined exactly"));
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
                per_atom({sparse(2), sparse(9)}).require_dimension(5);
              }),
              HasSubstr("sparse:9"));
}

}  // namespace
}  // namespace pursuit
