// Rooted subtrees against all supports.

#include "atoms/tree_supports.hpp"

#include "atoms/exhaustive_test_support.hpp"

namespace pursuit {
namespace {

using exhaustive::Family;
using exhaustive::in_support;
using testing::AllOf;
using testing::HasSubstr;

/// A random forest whose nodes are numbered in any order.
Tree any_tree(Index n) {
  std::vector<Index> names(std::size_t(n), 0);
  for (Index i = 0; i < n; ++i) {
    const Index j = *rc::gen::inRange<Index>(0, i + 1);
    names[std::size_t(i)] = names[std::size_t(j)];
    names[std::size_t(j)] = i;
  }
  Tree tree{std::vector<Index>(std::size_t(n), -1)};
  for (Index i = 0; i < n; ++i) {
    const Index parent = *rc::gen::inRange<Index>(-1, i);
    if (parent >= 0) tree.parent[std::size_t(names[std::size_t(i)])] = names[std::size_t(parent)];
  }
  return tree;
}

Family rooted(const Tree& tree, Index k) {
  return {Index(tree.parent.size()), [&](unsigned mask) {
            for (std::size_t i = 0; i < tree.parent.size(); ++i)
              if (in_support(mask, Index(i)) && tree.parent[i] >= 0 && !in_support(mask, tree.parent[i]))
                return false;
            return std::popcount(mask) <= int(k);
          }};
}

RC_GTEST_PROP(TreeSupports, AreTheBestOfAllRootedSubtrees, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), k = *rc::gen::inRange<Index>(1, n + 1);
  const Tree forest = any_tree(n);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Atoms set = nonnegative ? nonneg() + tree(forest, k) : tree(forest, k);
  exhaustive::check_oracles(*set, n, over_supports(rooted(forest, k), nonnegative));
}

RC_GTEST_PROP(TreeSupports, KnowWhatLiesInASubtree, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), k = *rc::gen::inRange<Index>(1, n + 1);
  const Tree forest = any_tree(n);
  exhaustive::check_members(*tree(forest, k), rooted(forest, k));
}

TEST(TreeSupports, PassThroughNodesThatGainNothing) {
  Vector u(4);
  tree({{-1, 0, 1, 0}}, 3)->maximize((Vector(4) << 0, 0, 5, 3).finished(), u);
  EXPECT_EQ(u, Vector::Unit(4, 2)) << "the leaf of a chain needs all above it";
  tree({{-1, 0, 1, 0}}, 2)->maximize((Vector(4) << 0, 0, 5, 3).finished(), u);
  EXPECT_EQ(u, Vector::Unit(4, 3));
}

TEST(TreeSupports, HandleChainsAndStarsOfManyNodes) {
  const Index n = 20000;
  Tree chain, star;
  for (Index i = 0; i < n; ++i) {
    chain.parent.push_back(i - 1);
    star.parent.push_back(i == 0 ? -1 : 0);
  }
  Vector u(n);
  tree(chain, 10)->maximize(Vector::LinSpaced(n, 1, 2), u);
  EXPECT_EQ((u.array() != 0).count(), 10);
  EXPECT_GT(u.head(10).minCoeff(), 0);
  tree(star, 10)->maximize(Vector::LinSpaced(n, 1, 2), u);
  EXPECT_GT(u.tail(9).minCoeff(), 0);
  EXPECT_GT(u[0], 0);
}

TEST(TreeSupports, RefuseWhatIsNoTree) {
  EXPECT_THAT(message_of<InvalidArgument>([] {
                tree({{}, "none"}, 1);
              }),
              AllOf(HasSubstr("tree:none:1"), HasSubstr("there are no nodes")));
  EXPECT_THAT(message_of<InvalidArgument>([] { tree({{-1, 0}}, 0); }), HasSubstr("at least 1 node"));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                tree({{-1, 1}}, 1);
              }),
              AllOf(HasSubstr("node 1 has parent 1"), HasSubstr("allowed are 0..1 except itself")));
  EXPECT_THAT(message_of<InvalidArgument>([] { tree({{-1, 2}}, 1); }), HasSubstr("node 1 has parent 2"));
  EXPECT_THAT(message_of<InvalidArgument>([] { tree({{-2, 0}}, 1); }), HasSubstr("node 0 has parent -2"));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                tree({{-1, 2, 3, 1}}, 1);
              }),
              AllOf(HasSubstr("parents of node 1"), HasSubstr("cycle")));
  EXPECT_THAT(message_of<InvalidArgument>([] { tree({{1, 0}}, 1); }), HasSubstr("cycle"));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                tree({{-1, 0}}, 3);
              }),
              AllOf(HasSubstr("3 nodes"), HasSubstr("allowed are 1..2")));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                tree({{-1, 0}}, 1)->require_dimension(3);
              }),
              HasSubstr("these have 3"));
}

}  // namespace
}  // namespace pursuit
