// Completion whose sweeps ranks share: the same bits as one process has.

#include <cmath>

#include "checkpoints_support.hpp"
#include "completion/test_support.hpp"
#include "data/member_shares.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/completion/complete.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/io/ranked_matrix_file.hpp"
#include "rank_teams.hpp"

namespace pursuit {
namespace {

/// solve(team) on rank 0, whom the others follow.
template <class Solve>
CompletionResult led(int size, const Solve& solve, int per_machine = 1) {
  CompletionResult result;
  on_team_of(
      size, [&](RankTeam& team) { result = solve(&team); }, per_machine);
  return result;
}

CompletionResult on_team(int size, const ObservedEntries& entries, CompletionOptions options,
                         int per_machine = 1) {
  const auto solve = [&](RankTeam* team) {
    options.team = team;
    return complete(entries, options);
  };
  return led(size, solve, per_machine);
}

void expect_same(const CompletionResult& result, const CompletionResult& expected, const std::string& what) {
  EXPECT_TRUE(same_predictions(result.predictions, expected.predictions)) << what;
  for (const auto& [side, other] : {std::pair(&result.model.rows, &expected.model.rows),
                                    std::pair(&result.model.cols, &expected.model.cols)}) {
    EXPECT_TRUE(side->mean == other->mean && side->variance == other->variance) << what;
    EXPECT_TRUE(side->pattern == other->pattern && side->features == other->features) << what;
    EXPECT_EQ(side->noise_weight, other->noise_weight) << what;
  }
  EXPECT_TRUE(same_bits(result.model.atoms.weights, expected.model.atoms.weights)) << what;
  for (const Index mode : {0, 1})
    EXPECT_TRUE(same_bits(result.model.atoms.factors[mode], expected.model.atoms.factors[mode])) << what;
  ASSERT_EQ(result.path.size(), expected.path.size()) << what;
  for (std::size_t s = 0; s < result.path.size(); ++s) {
    EXPECT_EQ(result.path[s].sweeps, expected.path[s].sweeps) << what;
    EXPECT_EQ(result.path[s].rank, expected.path[s].rank) << what;
    EXPECT_TRUE(result.path[s].validation == expected.path[s].validation ||
                std::isnan(expected.path[s].validation))
        << what;
  }
  EXPECT_EQ(result.seen.index, expected.seen.index) << what;
}

TEST(RankedCompletion, IsTheSameBitsForAnyNumberOfRanksAndThreads) {
  const Planted& data = planted_rank_three();
  CompletionOptions options;
  options.predict = positions_of(data.test);
  options.max_rank = 15;
  const CompletionResult alone = complete(data.train, options);
  for (const int size : {1, 2, 3, 4, 7, 16}) {
    options.threads = size % 3 + 1;
    expect_same(on_team(size, data.train, options), alone, fmt::format("{} ranks", size));
  }
  for (const auto& [size, per_machine] : {std::pair(4, 4), {4, 2}, {7, 3}})
    expect_same(on_team(size, data.train, options, per_machine), alone,
                fmt::format("{} ranks, {} on a machine", size, per_machine));
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
  expect_same(on_team(3, data.train, options, 2), alone, "weights and features, two machines");

  options.start = &alone.model;
  const CompletionResult further = complete(data.train, options);
  expect_same(on_team(2, data.train, options, 2), further, "from a model");
}

TEST(RankedCompletion, AMemberHasOneOwnerHoweverManyFeaturesItHas) {
  const Planted data = planted(150, 90, 2, 0.3, 0.3, 3);
  FeatureTable of_rows{150, 30, {}, {}, {}}, of_cols{90, 5, {}, {}, {}};
  for (int i = 0; i < 150; ++i)
    for (int f = 0; f < (i < 20 ? 30 : 1); ++f) append(of_rows, i, f, 1.0F + float((i + f) % 3));
  for (int j = 40; j < 90; ++j) append(of_cols, j, j % 5, float(j % 4));
  CompletionOptions options;
  options.max_rank = 7;
  options.predict = positions_of(data.test);
  options.row_features = &of_rows;
  options.col_features = &of_cols;
  for (const bool pattern : {true, false}) {
    options.use_pattern = pattern;
    const CompletionResult alone = complete(data.train, options);
    for (const int size : {2, 4, 7})
      expect_same(on_team(size, data.train, options), alone, fmt::format("{} ranks", size));
  }
}

TEST(RankedCompletion, DrawsTheSame) {
  const Planted data = planted(120, 100, 2, 0.3, 0.3, 5);
  CompletionOptions options;
  options.max_rank = 7;
  options.samples = 6;
  options.stored_samples = 3;
  options.predict = positions_of(data.test);
  const CompletionResult alone = complete(data.train, options);
  for (const int size : {2, 4}) expect_same(on_team(size, data.train, options, size - 1), alone, "draws");
}

TEST(RankedCompletion, KnowsZerosAndOnes) {
  ObservedEntries entries = planted(100, 80, 1, 0.1, 0.4, 7).train;
  for (float& value : entries.value) value = value > 2 ? 1 : 0;
  CompletionOptions options;
  options.loss = Loss::bernoulli;
  options.max_rank = 7;
  options.predict = positions_of(entries);
  expect_same(on_team(3, entries, options, 3), complete(entries, options), "bernoulli");
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

/// Enough entries for several pieces.
const ObservedEntries& many_entries() {
  static const ObservedEntries entries = [] {
    ObservedEntries all = planted(260, 170, 2, 0.1, 0.8, 3).train;
    for (float& value : all.value) value = std::abs(value);
    return all;
  }();
  return entries;
}

void expect_same_by_atoms(StructuredOptions options, const std::string& what) {
  options.max_rank = 3;
  for (int i = 0; i < 20; ++i) options.predict.push_back({i, 3 * i});
  const CompletionResult alone = complete_structured(many_entries(), options);
  EXPECT_GT(alone.model.atoms.rank(), 0) << what;
  for (const int size : {2, 3, 5}) {
    options.threads = size % 2 + 1;
    const CompletionResult many = led(size, [&](RankTeam* team) {
      options.team = team;
      return complete_structured(many_entries(), options);
    });
    options.team = nullptr;
    expect_same(many, alone, fmt::format("{}, {} ranks", what, size));
  }
}

TEST(RankedStructured, AllAtomsOfARowAtOnce) {
  StructuredOptions options;
  options.left = options.right = nonneg();
  options.weights = WeightRule::nonneg;
  options.polish = 20;
  expect_same_by_atoms(options, "NMF with gaps");
}

TEST(RankedStructured, OffsetsAndWaysToChooseFrom) {
  StructuredOptions options;
  options.left = nonneg();
  options.right = sparse_fraction(0.5);
  options.choose = true;
  expect_same_by_atoms(options, "chosen");
}

TEST(RankedStructured, AtomsByTheOracleAndWeightsRefitted) {
  expect_same_by_atoms(completion_preset("gmpr-sparse"), "preset");
}

ObservedEntries symmetric_entries(int size) {
  ObservedEntries entries{size, size, {}, {}, {}};
  for (int i = 0; i < size; ++i)
    for (int j = 0; j <= i; ++j) {
      if ((i * 7 + j * 3) % 5 == 0) continue;
      const float value = std::sin(float(i)) * std::sin(float(j)) + 0.3F * float(i % 3) * float(j % 3);
      append(entries, i, j, value);
      if (i != j) append(entries, j, i, value);
    }
  return entries;
}

TEST(RankedStructured, OfASymmetricMatrix) {
  const ObservedEntries entries = symmetric_entries(90);
  StructuredOptions options;
  options.symmetric = true;
  options.max_rank = 2;
  options.predict = positions_of(entries);
  const CompletionResult alone = complete_structured(entries, options);
  const CompletionResult many = led(3, [&](RankTeam* team) {
    options.team = team;
    return complete_structured(entries, options);
  });
  expect_same(many, alone, "symmetric");
}

/// Rows of three tastes and what they click on.
ObservedEntries clicks_to_share(int rows, int cols) {
  ObservedEntries entries{rows, cols, {}, {}, {}};
  Random random(5);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      if (random.uniform() < (i % 3 == j % 3 ? 0.4 : 0.02)) append(entries, i, j, float(1 + random.below(5)));
  return entries;
}

void expect_same_clicks(ImplicitOptions options, const std::string& what) {
  const ObservedEntries entries = clicks_to_share(150, 70);
  options.max_rank = 7;
  options.predict = positions_of(entries);
  const CompletionResult alone = complete_implicit(entries, options);
  for (const int size : {2, 3, 4}) {
    options.threads = size % 2 + 1;
    const CompletionResult many = led(size, [&](RankTeam* team) {
      options.team = team;
      return complete_implicit(entries, options);
    });
    options.team = nullptr;
    EXPECT_EQ(many.model.implicit.zeros, alone.model.implicit.zeros);
    EXPECT_EQ(many.model.implicit.ridge, alone.model.implicit.ridge);
    expect_same(many, alone, fmt::format("{}, {} ranks", what, size));
  }
}

TEST(RankedImplicit, IsTheSameBitsForAnyNumberOfRanks) {
  expect_same_clicks({}, "clicks");
  expect_same_clicks({.confidence = {Confidence::logarithmic, 2, 3}}, "plays");
}

TEST(RankedImplicit, KnowsAtomSets) {
  expect_same_clicks({.sets = ImplicitSets{nonneg(), nonneg(), WeightRule(WeightRule::nonneg)}}, "parts");
}

/// Without ranks, and with them killed after some of its steps and gone on with by another number of them.
template <class Options, class Solve>
void expect_ranks_resume(const ObservedEntries& entries, Options options, const Solve& solve) {
  for (int i = 0; i < 9; ++i) options.predict.push_back({i, 2 * i});
  expect_resumes_anywhere(
      [&](const CheckpointsPtr& checkpoints, int number) {
        options.checkpoints = checkpoints;
        if (!checkpoints) return solve(entries, options);
        const CompletionResult result = led(1 + number, [&](RankTeam* team) {
          options.team = team;
          return solve(entries, options);
        });
        options.team = nullptr;
        return result;
      },
      [](const CompletionResult& a, const CompletionResult& b) { expect_same(a, b, "resumed"); }, 9);
}

TEST(RankedCheckpoints, OfSweepsAndDraws) {
  const ObservedEntries entries = planted(60, 45, 2, 0.3, 0.5, 3).train;
  CompletionOptions options;
  options.interrupted = [] { return false; };
  expect_ranks_resume(entries, options, complete);
  options.max_rank = 3;
  options.samples = 6;
  expect_ranks_resume(entries, options, complete);
}

TEST(RankedCheckpoints, OfOneRankThatLeavesASweepHalfDone) {
  const ObservedEntries entries = planted(60, 45, 2, 0.3, 0.5, 3).train;
  CompletionOptions options;
  options.max_rank = 3;
  for (int i = 0; i < 9; ++i) options.predict.push_back({i, 2 * i});
  const CompletionResult whole = complete(entries, options);
  const auto by_one = [&] {
    return led(1, [&](RankTeam* team) {
      options.team = team;
      return complete(entries, options);
    });
  };
  int asked = 0;  // some times within every sweep
  const auto over = [&] { return asked > 40; };
  Snapshot left;
  options.interrupted = [&] { return ++asked, over(); };
  options.observer = [&](const Moment&) { return !over(); };
  options.checkpoints = std::make_shared<Checkpoints>(Checkpoints::Rhythm{},
                                                      [&](const Snapshot& snapshot) { left = snapshot; });
  EXPECT_EQ(by_one().stop, Stop::interrupted);
  ASSERT_FALSE(left.empty());
  options.interrupted = {};
  options.observer = {};
  options.checkpoints = going_on_from(left);
  expect_same(by_one(), whole, "left half done");
}

TEST(RankedCheckpoints, OfFeatures) {
  const ObservedEntries entries = planted(60, 45, 2, 0.3, 0.5, 3).train;
  FeatureTable features{60, 4, {}, {}, {}};
  for (int i = 0; i < 60; ++i) append(features, i, i % 4, 1.0F + float(i % 3));
  CompletionOptions options;
  options.max_rank = 7;
  options.row_features = &features;
  expect_ranks_resume(entries, options, complete);
}

TEST(RankedCheckpoints, OfAtoms) {
  StructuredOptions options;
  options.left = options.right = nonneg();
  options.weights = WeightRule::nonneg;
  options.max_rank = 2;
  options.choose = true;
  expect_ranks_resume(many_entries(), options, complete_structured);
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
