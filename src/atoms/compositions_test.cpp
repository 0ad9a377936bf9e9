// What combines with what, and what is said where it does not.

#include <fmt/format.h>

#include "pursuit/atoms/structures.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Groups kGroups{{0, 0, 1, 1, 2, 2}, "groups"};
const Tree kTree{{-1, 0, 0, 1, 1, 2}, "tree"};
const Graph kGraph{6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, "graph"};
const std::vector<unsigned char> kMask{0, 1, 1, 1, 1, 0};

/// Both orders give one set, written so.
void expect_combined(const Atoms& a, const Atoms& b, const std::string& spec) {
  EXPECT_EQ((a + b)->spec(), spec);
  EXPECT_EQ((b + a)->spec(), spec);
}

void expect_refused(const Atoms& a, const Atoms& b) {
  const auto names = [](const Atoms& x, const Atoms& y) {
    return HasSubstr(fmt::format(
        "atom sets '{}' and '{}' cannot be combined exactly; what combines: ", x->spec(), y->spec()));
  };
  const auto allowed = HasSubstr("nonneg with sparse, group, tree, graph, block, blocks, support, monotone");
  EXPECT_THAT(message_of<InvalidArgument>([&] { a + b; }), AllOf(names(a, b), allowed));
  EXPECT_THAT(message_of<InvalidArgument>([&] { b + a; }), AllOf(names(b, a), allowed));
}

TEST(Compositions, SphereChangesNothing) {
  for (const Atoms& set : {sphere(), nonneg(), sparse(3), monotone(), smooth(1), box(0, 1), binary()}) {
    EXPECT_EQ((sphere() + set)->spec(), set->spec());
    EXPECT_EQ((set + sphere())->spec(), set->spec());
  }
}

TEST(Compositions, NonnegGoesWithSupportsOrderAndNorms) {
  for (const Atoms& set :
       {sparse(3), sparse_fraction(0.5), group(kGroups, 2), group(kGroups, 2, 1), tree(kTree, 3),
        graph(kGraph, 3), block(3), blocks(2, 2), support(kMask, "mask"), monotone(), monotone(Direction::up),
        unimodal(), smooth(1), fused(2), l1ball(1.5), lp(3)}) {
    expect_combined(nonneg(), set, "nonneg+" + set->spec());
    EXPECT_FALSE((nonneg() + set)->traits().symmetric);
  }
  expect_combined(nonneg() + sparse(3), nonneg(), "nonneg+sparse:3");
}

TEST(Compositions, SparseGoesWithGroupsAndWithBoundsOfItsKind) {
  expect_combined(sparse(3), group(kGroups, 2), "group:groups:2+sparse:3");
  expect_combined(sparse(3), sparse(4), "sparse:3");
  expect_combined(sparse_fraction(0.5), sparse_fraction(0.25), "sparse:0.25");
  EXPECT_EQ((group(kGroups, 2) + sparse(3) + sparse(2))->spec(), "group:groups:2+sparse:2");
  EXPECT_EQ((nonneg() + group(kGroups, 2) + sparse(3))->spec(), "nonneg+group:groups:2+sparse:3");
}

TEST(Compositions, MasksGoWithWhatDoesNotNoticeZeros) {
  const Atoms mask = support(kMask, "mask");
  for (const Atoms& set :
       {sparse(3), group(kGroups, 2), tree(kTree, 3), graph(kGraph, 3), block(3), blocks(2, 2), l1ball(1.5),
        lp(3), simplex(), binary(), box(0, 1), nonneg() + unimodal()})
    expect_combined(mask, set, "support:mask+" + set->spec());
  EXPECT_EQ((mask + sparse(3) + nonneg())->spec(), "nonneg+support:mask+sparse:3");
}

TEST(Compositions, OthersAreRefusedWithWhatWouldCombine) {
  expect_refused(sparse(3), sparse_fraction(0.5));
  expect_refused(sparse(3), tree(kTree, 3));
  expect_refused(sparse(3), graph(kGraph, 3));
  expect_refused(sparse(3), block(2));
  expect_refused(sparse(3), monotone());
  expect_refused(group(kGroups, 1), tree(kTree, 2));
  expect_refused(group(kGroups, 1), sparse_fraction(0.5));
  expect_refused(nonneg(), shape(Curve::convex));
  expect_refused(nonneg(), signs());
  expect_refused(nonneg(), dictionary({.kind = Dictionary::Kind::dct}));
  expect_refused(monotone(), unimodal());
  expect_refused(fused(2), monotone());
  expect_refused(support(kMask, "mask"), signs());
  expect_refused(support(kMask, "mask"), smooth(1));
  expect_refused(support(kMask, "mask"), unimodal());
  expect_refused(support({1, 0, 1, 1, 1, 1}, "holes"), nonneg() + unimodal());
  expect_refused(l1ball(1.5), sparse(2));
  expect_refused(box(0, 1), nonneg());
}

}  // namespace
}  // namespace pursuit
