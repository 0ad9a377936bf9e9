// Completion whose sweeps ranks share: the same bits as one process has.

#include "completion/member_shares.hpp"
#include "completion/test_support.hpp"
#include "pursuit/completion/complete.hpp"
#include "pursuit/io/ranked_matrix_file.hpp"
#include "rank_threads.hpp"

namespace pursuit {
namespace {

CompletionResult on_team(int size, const ObservedEntries& entries, CompletionOptions options) {
  CompletionResult result;
  on_ranks(size, [&](Ranks& ranks) {
    if (!ranks.leads()) {
      EXPECT_EQ(follow(ranks), 0);
      return;
    }
    RankTeam team(ranks);
    options.team = &team;
    result = complete(entries, options);
    team.dismiss(0);
  });
  return result;
}

void expect_same(const CompletionResult& result, const CompletionResult& expected, const std::string& what) {
  EXPECT_TRUE(same_predictions(result.predictions, expected.predictions)) << what;
  for (const auto& [side, other] : {std::pair(&result.model.rows, &expected.model.rows),
                                    std::pair(&result.model.cols, &expected.model.cols)}) {
    EXPECT_TRUE(side->mean == other->mean && side->variance == other->variance) << what;
    EXPECT_TRUE(side->pattern == other->pattern && side->features == other->features) << what;
    EXPECT_EQ(side->noise_weight, other->noise_weight) << what;
  }
  ASSERT_EQ(result.path.size(), expected.path.size()) << what;
  for (std::size_t s = 0; s < result.path.size(); ++s) {
    EXPECT_EQ(result.path[s].sweeps, expected.path[s].sweeps) << what;
    EXPECT_EQ(result.path[s].rank, expected.path[s].rank) << what;
  }
  EXPECT_EQ(result.seen.index, expected.seen.index) << what;
}

TEST(RankedCompletion, IsTheSameBitsForAnyNumberOfRanksAndThreads) {
  const Planted& data = planted_rank_three();
  CompletionOptions options;
  options.predict = positions_of(data.test);
  options.max_rank = 15;
  const CompletionResult alone = complete(data.train, options);
  for (const int size : {1, 2, 3, 4, 7}) {
    options.threads = size % 3 + 1;
    expect_same(on_team(size, data.train, options), alone, fmt::format("{} ranks", size));
  }
}

TEST(RankedCompletion, KnowsFeaturesWeightsAndModelsThatGoOn) {
  const Planted data = planted(150, 90, 2, 0.3, 0.3, 3);
  FeatureTable features{150, 4, {}, {}, {}};
  for (int i = 0; i < 150; ++i) append(features, i, i % 4, 1.0F + float(i % 3));
  std::vector<float> weights(std::size_t(data.train.size()), 1.0F);
  for (std::size_t e = 0; e < weights.size(); e += 3) weights[e] = 2.5F;
  CompletionOptions options;
  options.max_rank = 7;
  options.predict = positions_of(data.test);
  options.row_features = &features;
  options.entry_weights = weights;
  const CompletionResult alone = complete(data.train, options);
  expect_same(on_team(3, data.train, options), alone, "weights and features");

  options.start = &alone.model;
  const CompletionResult further = complete(data.train, options);
  expect_same(on_team(2, data.train, options), further, "from a model");
}

TEST(RankedCompletion, DrawsTheSame) {
  const Planted data = planted(120, 100, 2, 0.3, 0.3, 5);
  CompletionOptions options;
  options.max_rank = 7;
  options.samples = 6;
  options.stored_samples = 3;
  options.predict = positions_of(data.test);
  const CompletionResult alone = complete(data.train, options);
  for (const int size : {2, 4}) expect_same(on_team(size, data.train, options), alone, "draws");
}

TEST(RankedCompletion, KnowsZerosAndOnes) {
  ObservedEntries entries = planted(100, 80, 1, 0.1, 0.4, 7).train;
  for (float& value : entries.value) value = value > 2 ? 1 : 0;
  CompletionOptions options;
  options.loss = Loss::bernoulli;
  options.max_rank = 7;
  options.predict = positions_of(entries);
  expect_same(on_team(3, entries, options), complete(entries, options), "bernoulli");
}

TEST(RankedCompletion, AnObserverEndsItAfterAWholeSweep) {
  const Planted data = planted(120, 100, 2, 0.3, 0.3, 5);
  const auto stopped_after = [](int sweeps) {
    CompletionOptions options;
    options.observer = [left = sweeps](const Moment&) mutable { return --left > 0; };
    return options;
  };
  CompletionOptions options = stopped_after(9);
  options.interrupted = [] { return false; };
  const CompletionResult alone = complete(data.train, options);
  EXPECT_EQ(alone.stop, Stop::interrupted);
  expect_same(on_team(3, data.train, stopped_after(9)), alone, "interrupted");
}

TEST(MemberShares, AreBalancedByEntriesAndSumTheSame) {
  GroupedEntries entries;
  entries.start.push_back(0);
  for (int i = 0; i < 1000; ++i) entries.start.push_back(entries.start.back() + (i < 50 ? 400 : 10));
  const auto add = [](Index first, Index last, double* sums) {
    for (Index i = first; i < last; ++i) sums[0] += 1 / (1.0 + double(i)), sums[1] += 1;
  };
  const Vector alone = sum_over(MemberShares(entries, nullptr), 2, 1, add);
  EXPECT_EQ(alone[1], 1000);
  for (const int size : {1, 2, 3, 4, 7, 16})
    on_ranks(size, [&](Ranks& ranks) {
      const MemberShares shares(entries, &ranks);
      EXPECT_TRUE(same_bits(sum_over(shares, 2, 1, add), alone)) << size;
      const double own = double(entries.start[shares.last()] - entries.start[shares.first()]) +
                         double(kWorkOfAMember * (shares.last() - shares.first()));
      const double all = double(entries.start.back() + kWorkOfAMember * 1000);
      EXPECT_LT(own, (size <= 4 ? 1.4 : 3.0) * all / size) << "rank " << ranks.rank() << " of " << size;
      std::vector<float> table(2000, -1.0F);
      for (Index i = shares.first(); i < shares.last(); ++i) table[2 * i] = table[2 * i + 1] = float(i);
      Vector sum;
      SharingRound round;
      round.share(shares, {{table.data(), 2}});
      round.sum(shares, 2, 1, sum, add);
      round.run();
      EXPECT_TRUE(same_bits(sum, alone));
      for (Index i = 0; i < 1000; ++i) ASSERT_EQ(table[2 * i + 1], float(i));
    });
}

}  // namespace
}  // namespace pursuit
