// Connected pieces of graphs against all supports: exact on forests, a share on graphs with cycles.

#include "atoms/graph_supports.hpp"

#include "atoms/exhaustive_test_support.hpp"
#include "atoms/forest_program.hpp"

namespace pursuit {
namespace {

using exhaustive::Family;
using exhaustive::in_support;
using testing::AllOf;
using testing::HasSubstr;

/// Counted by spreading marks along edges until nothing changes.
Index components(const Graph& graph, unsigned mask) {
  Index count = 0;
  for (unsigned left = mask; left != 0; ++count) {
    unsigned piece = left & (0U - left);
    for (bool grows = true; grows;) {
      grows = false;
      for (const auto& [i, j] : graph.edges) {
        const bool joins = in_support(mask, i) && in_support(mask, j);
        if (joins && in_support(piece, i) != in_support(piece, j)) {
          piece |= (1U << unsigned(i)) | (1U << unsigned(j));
          grows = true;
        }
      }
    }
    left &= ~piece;
  }
  return count;
}

Family connected(const Graph& graph, Index k, Index c) {
  return {graph.vertices,
          [&](unsigned mask) { return std::popcount(mask) <= int(k) && components(graph, mask) <= c; }};
}

Graph any_forest(Index n) {
  Graph graph{n, {}};
  for (Index i = 1; i < n; ++i)
    if (const Index j = *rc::gen::inRange<Index>(-1, i); j >= 0) {
      if (*rc::gen::arbitrary<bool>())
        graph.edges.emplace_back(i, j);
      else
        graph.edges.emplace_back(j, i);
    }
  return graph;
}

Graph any_graph(Index n) {
  Graph graph{n, {}};
  for (Index i = 1; i < n; ++i)
    for (Index j = 0; j < i; ++j)
      if (*rc::gen::inRange(0, 3) == 0) graph.edges.emplace_back(i, j);
  return graph;
}

Graph grid(Index rows, Index cols) {
  Graph graph{rows * cols, {}};
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      if (c + 1 < cols) graph.edges.emplace_back(r * cols + c, r * cols + c + 1);
      if (r + 1 < rows) graph.edges.emplace_back(r * cols + c, (r + 1) * cols + c);
    }
  return graph;
}

RC_GTEST_PROP(GraphSupports, AreTheBestOfAllSupportsOnForests, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), k = *rc::gen::inRange<Index>(1, n + 1),
              c = *rc::gen::inRange<Index>(1, 4);
  const Graph forest = any_forest(n);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Atoms set = nonnegative ? nonneg() + graph(forest, k, c) : graph(forest, k, c);
  RC_ASSERT(set->traits().oracle_factor == 1);
  exhaustive::check_oracles(*set, n, over_supports(connected(forest, k, c), nonnegative));
}

RC_GTEST_PROP(GraphSupports, KnowTheirMembersOnForests, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), k = *rc::gen::inRange<Index>(1, n + 1),
              c = *rc::gen::inRange<Index>(1, 4);
  const Graph forest = any_forest(n);
  exhaustive::check_members(*graph(forest, k, c), connected(forest, k, c));
}

RC_GTEST_PROP(GraphSupports, ReachTheStatedShareOnGraphsWithCycles, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), k = *rc::gen::inRange<Index>(1, n + 1),
              c = *rc::gen::inRange<Index>(1, 4);
  const Graph any = any_graph(n);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Atoms set = nonnegative ? nonneg() + graph(any, k, c) : graph(any, k, c);
  RC_ASSERT(set->traits().oracle_factor == 1 ||
            set->traits().oracle_factor == std::sqrt(double(c) / double(k)));
  exhaustive::check_oracles(*set, n, over_supports(connected(any, k, c), nonnegative),
                            {.share = set->traits().oracle_factor});
}

RC_GTEST_PROP(GraphSupports, NeverAcceptWhatIsNotConnectable, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), k = *rc::gen::inRange<Index>(1, n + 1),
              c = *rc::gen::inRange<Index>(1, 4);
  const Graph any = any_graph(n);
  const Family family = connected(any, k, c);
  const Atoms set = graph(any, k, c);
  for (unsigned mask = 1; mask < (1U << unsigned(n)); ++mask) {
    Vector u(n);
    for (Index i = 0; i < n; ++i) u[i] = in_support(mask, i) ? 1 : 0;
    const bool says = set->contains(u.normalized(), 1e-9);
    RC_ASSERT(!says || family.allows(mask));
    // Certain where nothing needs to be added.
    const bool itself = std::popcount(mask) <= int(k) && components(any, mask) <= c;
    RC_ASSERT(says || !itself);
  }
}

TEST(GraphSupports, ReachNearlyAllOfTheBestOnRandomGrids) {
  const Graph field = grid(3, 4);
  double shares = 0, lowest = 1;
  int count = 0;
  for (const Index k : {3, 4, 5, 6})
    for (const Index c : {1, 2}) {
      const auto reference = over_supports(connected(field, k, c), false);
      const Atoms set = graph(field, k, c);
      for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Vector g = gaussian(12, 1, 1000 * std::uint64_t(k) + 100 * std::uint64_t(c) + seed);
        Vector u(12);
        set->maximize(g, u);
        const double share = g.dot(u) / reference.product(g);
        ASSERT_LE(share, 1 + 1e-12);
        shares += share;
        lowest = std::min(lowest, share);
        ++count;
      }
    }
  RecordProperty("mean_share", std::to_string(shares / count));
  RecordProperty("lowest_share", std::to_string(lowest));
  EXPECT_GE(shares / count, 0.97);
  EXPECT_GE(lowest, 0.7);
}

RC_GTEST_PROP(ForestProgram, IsTheBestOfAllChoices, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), k = *rc::gen::inRange<Index>(1, n + 1),
              c = *rc::gen::inRange<Index>(1, 5);
  const Graph forest = any_forest(n);
  std::vector<std::vector<Index>> neighbours(static_cast<std::size_t>(n));
  for (const auto& [i, j] : forest.edges) {
    neighbours[std::size_t(i)].push_back(j);
    neighbours[std::size_t(j)].push_back(i);
  }
  const Vector gains = exhaustive::any_vector(n).cwiseAbs();
  Marks kept;
  best_in_forest(neighbours, gains, k, c, kept);
  unsigned chosen = 0;
  double value = 0, best = 0;
  for (Index i = 0; i < n; ++i)
    if (kept[std::size_t(i)]) {
      chosen |= 1U << unsigned(i);
      value += gains[i];
    }
  const Family family = connected(forest, k, c);
  RC_ASSERT(std::popcount(chosen) <= int(k) && components(forest, chosen) <= c);
  for (const unsigned mask : family.widest()) {
    double sum = 0;
    for (Index i = 0; i < n; ++i)
      if (in_support(mask, i)) sum += gains[i];
    best = std::max(best, sum);
  }
  RC_ASSERT(value == best);  // sums of these are exact
}

TEST(GraphSupports, CountAnEdgeOnceWhicheverWayItIsWritten) {
  EXPECT_EQ(graph({3, {{0, 1}, {1, 0}, {0, 1}, {1, 2}}}, 2)->traits().oracle_factor, 1)
      << "a path, not a cycle";
  EXPECT_LT(graph({3, {{0, 1}, {1, 2}, {2, 0}}}, 2)->traits().oracle_factor, 1);
}

TEST(GraphSupports, RefuseWhatIsNoGraph) {
  const auto where = [](Index i, Index j) {
    return message_of<InvalidArgument>([=] { graph({3, {{i, j}}}, 1); });
  };
  EXPECT_THAT(where(0, 0), HasSubstr("edge 0 0 does not join two of the vertices 0..2"));
  EXPECT_THAT(where(0, 3), HasSubstr("edge 0 3"));
  EXPECT_THAT(where(-1, 2), HasSubstr("edge -1 2"));
  EXPECT_THAT(message_of<InvalidArgument>([] { graph({3, {}}, 0); }), HasSubstr("at least 1 vertex"));
  EXPECT_THAT(message_of<InvalidArgument>([] { graph({3, {}}, 1, 0); }), HasSubstr("at least 1 component"));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                graph({3, {}}, 4);
              }),
              AllOf(HasSubstr("4 vertices"), HasSubstr("allowed are 1..3")));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                graph({3, {}}, 1)->require_dimension(4);
              }),
              HasSubstr("these have 4"));
}

}  // namespace
}  // namespace pursuit
