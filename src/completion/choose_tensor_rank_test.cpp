#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/completion/choose_rank.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

/// Sums of `rank` products of absolute normal numbers, and noise.
ObservedTensor planted_array(const std::vector<Index>& shape, Index rank, double noise, std::uint64_t seed) {
  Random random(seed);
  std::vector<Matrix> factors;
  for (const Index size : shape) factors.push_back(random.gaussian_matrix(size, rank).cwiseAbs());
  ObservedTensor array{{shape, std::vector<std::vector<int>>(shape.size()), {}}, {}, false};
  for (int i = 0; i < shape[0]; ++i)
    for (int j = 0; j < shape[1]; ++j)
      for (int k = 0; k < shape[2]; ++k) {
        array.entries.index[0].push_back(i);
        array.entries.index[1].push_back(j);
        array.entries.index[2].push_back(k);
        const double exact =
            (factors[0].row(i).array() * factors[1].row(j).array() * factors[2].row(k).array()).sum();
        array.entries.value.push_back(exact + noise * double(rank) * random.gaussian());
      }
  return array;
}

AtomSets three(const Atoms& set) {
  return AtomSets({set, set, set}, {0, 1, 2});
}

ChooseOptions parts(std::vector<Index> ranks) {
  ChooseOptions options;
  options.ranks = std::move(ranks);
  options.factor = {
      .weights = WeightRule::nonneg, .polish = 100, .polish_tolerance = 1e-4, .restarts = 4, .threads = 1};
  return options;
}

TEST(ChooseRankOfArrays, FindsThePlantedOne) {
  for (const Index rank : {2, 4}) {
    const ObservedTensor Y = planted_array({14, 12, 10}, rank, 0.1, 3 + std::uint64_t(rank));
    const RankChoice choice = choose_rank(Y, three(nonneg()), parts({1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(choice.rank, rank) << choice.reason;
    EXPECT_EQ(choice.error_name, "relative error");
    ASSERT_EQ(choice.ranks.size(), 6U);
    EXPECT_GT(choice.ranks[std::size_t(rank) - 1].stability, 0.95);
    for (std::size_t i = 1; i < choice.ranks.size(); ++i)
      EXPECT_LE(choice.ranks[i].training, 1.01 * choice.ranks[i - 1].training) << "ranks nest";
  }
}

TEST(ChooseRankOfArrays, DoesNotNeedAllEntriesNorAnyOrderOfThem) {
  ObservedTensor Y = planted_array({14, 12, 10}, 3, 0.05, 11);
  const auto keep = [&](const auto& which) {
    ObservedTensor some{{Y.entries.shape, std::vector<std::vector<int>>(3), {}}, {}, false};
    for (const std::size_t e : which) {
      for (std::size_t mode = 0; mode < 3; ++mode)
        some.entries.index[mode].push_back(Y.entries.index[mode][e]);
      some.entries.value.push_back(Y.entries.value[e]);
    }
    return some;
  };
  std::vector<std::size_t> two_thirds;
  for (std::size_t e = 0; e < Y.entries.value.size(); ++e)
    if (e % 3 != 1) two_thirds.push_back(e);
  const RankChoice choice = choose_rank(keep(two_thirds), three(nonneg()), parts({1, 2, 3, 4, 5}));
  EXPECT_EQ(choice.rank, 3) << choice.reason;
  std::reverse(two_thirds.begin(), two_thirds.end());
  EXPECT_NEAR(choose_rank(keep(two_thirds), three(nonneg()), parts({3})).ranks[0].error,
              choice.ranks[2].error, 0.01)
      << "the same folds";
}

TEST(ChooseRankOfArrays, TakesZerosThatAreNotListedAndCounts) {
  ObservedTensor dense = planted_array({9, 8, 7}, 2, 0, 5), listed = dense;
  for (auto* places : {&listed.entries.index[0], &listed.entries.index[1], &listed.entries.index[2]})
    places->clear();
  listed.entries.value.clear();
  listed.others_are_zero = true;
  for (std::size_t e = 0; e < dense.entries.value.size(); ++e) {
    double& value = dense.entries.value[e];
    value = std::floor(value);
    if (value == 0) continue;
    for (std::size_t mode = 0; mode < 3; ++mode)
      listed.entries.index[mode].push_back(dense.entries.index[mode][e]);
    listed.entries.value.push_back(value);
  }
  ChooseOptions options = parts({1, 2, 3});
  options.factor.loss = parse_loss("poisson");
  const RankChoice all = choose_rank(dense, three(nonneg()), options),
                   sparse = choose_rank(listed, three(nonneg()), options);
  ASSERT_EQ(all.ranks.size(), sparse.ranks.size());
  for (std::size_t k = 0; k < all.ranks.size(); ++k) EXPECT_EQ(all.ranks[k].error, sparse.ranks[k].error);
  EXPECT_THAT(all.error_name, HasSubstr("poisson"));
}

TEST(ChooseRankOfArrays, RefusesWhatMakesNoSense) {
  const ObservedTensor Y = planted_array({6, 5, 4}, 1, 0.1, 1);
  const auto problem = [](const auto& ask) {
    try {
      ask();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(problem([&] {
                choose_rank(Y, three(nonneg()), parts({1, 20}));
              }),
              HasSubstr("too few to hold some out"));
  EXPECT_THAT(problem([&] { choose_rank(Y, three(nonneg()), parts({})); }), HasSubstr("at least one"));
  EXPECT_THAT(problem([&] {
                choose_rank(Y, AtomSets({nonneg(), nonneg()}, {0, 1}), parts({1}));
              }),
              HasSubstr("mode"));
  ObservedTensor huge{{{100000, 100000, 100000}, {{0}, {0}, {0}}, {1.0}}, {}, true};
  EXPECT_THAT(problem([&] { choose_rank(huge, three(nonneg()), parts({1})); }),
              HasSubstr("more entries than can be"));
}

}  // namespace
}  // namespace pursuit
