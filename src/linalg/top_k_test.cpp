#include "linalg/top_k.hpp"

#include <rapidcheck/gtest.h>

#include <numeric>

#include "test_support.hpp"

namespace pursuit {
namespace {

std::vector<Index> top_k(const Vector& keys, Index k) {
  std::vector<Index> taken;
  for_top_k(keys, k, [&](Index i) { taken.push_back(i); });
  return taken;
}

/// By a stable sort, which keeps the lowest index first among ties.
std::vector<Index> sorted_top_k(const Vector& keys, Index k) {
  std::vector<Index> order(std::size_t(keys.size()));
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return keys[a] > keys[b]; });
  order.resize(std::size_t(k));
  std::sort(order.begin(), order.end());
  return order;
}

RC_GTEST_PROP(TopK, IsWhatAStableSortTakes, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 40), k = *rc::gen::inRange<Index>(1, n + 1);
  Vector keys(n);
  for (double& key : keys) key = *rc::gen::inRange(-3, 4);  // few values: many ties
  RC_ASSERT(top_k(keys, k) == sorted_top_k(keys, k));
}

TEST(TopK, AgreesWithASortOnDistinctKeys) {
  const Vector keys = gaussian(1000, 1, 1);
  for (const Index k : {1, 2, 499, 999, 1000}) EXPECT_EQ(top_k(keys, k), sorted_top_k(keys, k)) << k;
}

TEST(TopK, AgreesWithASortOnManyKeysOfEveryKind) {
  for (const Index n : {17, 33, 1000, 5000, 70000}) {
    const Vector normal = gaussian(n, 1, std::uint64_t(n));
    const Vector rounded = (2 * normal.array()).round(), ordered = Vector::LinSpaced(n, -1, 1);
    const Vector spread = (200 * normal.array()).exp(), mostly_zero = normal.cwiseMax(2.5).array() - 2.5;
    Vector outliers = normal;
    outliers[n / 2] = 1e308;
    outliers[n / 3] = -1e308;
    for (const Vector& keys : {normal, rounded, ordered, Vector(-ordered), spread, mostly_zero, outliers})
      for (const Index k : {Index(1), Index(2), n / 100 + 1, n / 10, n / 2, n - 1, n})
        ASSERT_EQ(top_k(keys, k), sorted_top_k(keys, k)) << "n = " << n << ", k = " << k;
  }
}

TEST(TopK, CountsBothZerosAsOneKey) {
  const Vector keys = (Vector(4) << -0.0, 0.0, -0.0, -1).finished();
  EXPECT_EQ(top_k(keys, 2), (std::vector<Index>{0, 1}));
}

TEST(TopK, IsNotMisledByASample) {
  // The largest keys sit where a sample of evenly spaced blocks does not look, or all where it does.
  const Index n = 70000;
  for (const bool hidden : {false, true}) {
    Vector keys = uniform(n, 1, 7);
    const Index stride = n / 512;
    for (Index i = 0; i < n; ++i)
      if ((i % stride < 8) != hidden) keys[i] += 1;
    for (const Index k : {Index(10), n / 20, n / 2}) EXPECT_EQ(top_k(keys, k), sorted_top_k(keys, k)) << k;
  }
}

TEST(TopK, TakesTheLowestIndicesOfALevelVector) {
  EXPECT_EQ(top_k(Vector::Zero(5), 2), (std::vector<Index>{0, 1}));
  EXPECT_EQ(top_k((Vector(5) << 1, 2, 1, 2, 1).finished(), 3), (std::vector<Index>{0, 1, 3}));
}

}  // namespace
}  // namespace pursuit
