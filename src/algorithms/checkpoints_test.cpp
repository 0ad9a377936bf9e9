// A factorization that was killed between any two steps, and goes on with another number of threads, ends
// where it would have ended, bit for bit.

#include "checkpoints_support.hpp"
#include "linalg/decompositions.hpp"
#include "pursuit/algorithms/factor.hpp"
#include "pursuit/algorithms/factor_observed_tensor.hpp"
#include "pursuit/algorithms/factor_tensor.hpp"
#include "pursuit/algorithms/pca.hpp"
#include "pursuit/atoms/structures.hpp"
#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

void expect_same_factors(const FactorResult& a, const FactorResult& b) {
  ASSERT_EQ(a.model.rank(), b.model.rank());
  for (Index p = 0; p < a.model.factors.panels(); ++p)
    EXPECT_TRUE(same_bits(a.model.factors.panel(p), b.model.factors.panel(p))) << "panel " << p;
  EXPECT_TRUE(same_bits(a.model.weights, b.model.weights));
  EXPECT_EQ(a.relative_error, b.relative_error);
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.stop, b.stop);
  EXPECT_TRUE(same_bits(a.own_terms.row_offsets, b.own_terms.row_offsets));
  EXPECT_TRUE(same_bits(a.own_terms.col_offsets, b.own_terms.col_offsets));
  EXPECT_TRUE(same_bits(a.own_terms.thresholds, b.own_terms.thresholds));
  EXPECT_EQ(a.own_terms.size, b.own_terms.size);
  ASSERT_EQ(a.trace.size(), b.trace.size());
  for (std::size_t i = 0; i < a.trace.size(); ++i) {
    EXPECT_EQ(a.trace[i].rank, b.trace[i].rank);
    EXPECT_EQ(a.trace[i].objective, b.trace[i].objective);
    EXPECT_EQ(a.trace[i].gain, b.trace[i].gain);
    EXPECT_EQ(a.trace[i].lmo_value, b.trace[i].lmo_value);
    EXPECT_EQ(a.trace[i].sweeps, b.trace[i].sweeps);
    EXPECT_EQ(a.trace[i].iterations, b.trace[i].iterations);
  }
}

void expect_factor_resumes(const Matrix& Y, FactorOptions options, bool symmetric = false,
                           std::size_t kills = 1000) {
  expect_resumes_anywhere(
      [&](const CheckpointsPtr& checkpoints, int threads) {
        options.checkpoints = checkpoints;
        options.threads = threads;
        return symmetric ? factor_symmetric(data_matrix(Y, threads), options)
                         : factor(data_matrix(Y, threads), options);
      },
      expect_same_factors, kills);
}

TEST(FactorCheckpoints, OfNonNegativePartsThatRunAheadWhicheverWayTheyStart) {
  const Matrix Y = uniform(23, 17, 1);
  for (const Start start : {Start::greedy, Start::leading})
    for (const int corrections : {0, 2, 4})
      expect_factor_resumes(Y, {.rank = 4,
                                .left = nonneg(),
                                .right = nonneg(),
                                .weights = WeightRule::nonneg,
                                .start = start,
                                .corrections = corrections,
                                .polish = 9,
                                .polish_tolerance = 1e-9});
}

TEST(FactorCheckpoints, OfSetsAndWeightsOfEveryKind) {
  const Matrix Y = gaussian(19, 14, 2);
  for (const WeightRule& weights :
       {WeightRule(WeightRule::free), WeightRule(WeightRule::newest), WeightRule(WeightRule::economic),
        WeightRule(WeightRule::nonneg), WeightRule(WeightRule::convex, 20.0)})
    expect_factor_resumes(
        Y, {.rank = 5, .left = sparse(7), .right = nonneg() + sparse(5), .weights = weights, .polish = 4});
}

TEST(FactorCheckpoints, OfSymmetricAtoms) {
  const Matrix half = gaussian(15, 6, 3);
  expect_factor_resumes(half * half.transpose(), {.rank = 4, .left = sparse(6), .polish = 4}, true);
}

TEST(FactorCheckpoints, OfKnownAtoms) {
  const Matrix Y = gaussian(16, 12, 4);
  expect_factor_resumes(Y, {.rank = 4,
                            .left = sparse(8),
                            .right = sparse(6),
                            .initial = Expansion(gaussian(16, 2, 5), gaussian(12, 2, 6), Vector::Ones(2)),
                            .fixed = 1,
                            .polish = 3});
}

TEST(FactorCheckpoints, OfEveryLossWithOffsets) {
  const Matrix z = gaussian(21, 2, 7) * gaussian(2, 16, 8) + 0.3 * gaussian(21, 16, 9);
  const Matrix counts = z.unaryExpr([](double x) { return std::floor(std::exp(std::min(x, 3.0))); });
  const std::vector<std::pair<const char*, Matrix>> cases = {
      {"huber:0.5", z},
      {"bernoulli", z.unaryExpr([](double x) { return x > 0.2 ? 1.0 : 0.0; })},
      {"ordinal", z.unaryExpr([](double x) { return std::clamp(std::round(x), -1.0, 2.0); })},
      {"negative-binomial:auto", counts},
      {"poisson", counts}};
  for (const auto& [loss, Y] : cases) {
    SCOPED_TRACE(loss);
    const bool parts = std::string(loss) == "poisson";
    for (const bool free : {true, false})
      expect_factor_resumes(Y, {.rank = 3,
                                .left = parts  ? nonneg()
                                        : free ? sphere()
                                               : sparse(9),
                                .right = parts && !free ? nonneg() + sparse(8)
                                         : parts        ? nonneg()
                                                        : sphere(),
                                .weights = parts ? WeightRule::nonneg : WeightRule::free,
                                .loss = parse_loss(loss),
                                .offsets = !parts,
                                .polish = 7,
                                .polish_tolerance = 1e-9});
  }
}

/// Values over eight orders of magnitude are found in stages, a flat spectrum by restarts.
TEST(FactorCheckpoints, OfTheTruncatedSvdAfterEveryProductOfItsIterations) {
  const Index n = 420, m = 370;
  const Matrix left = orthonormal_basis(gaussian(n, 40, 16)), right = orthonormal_basis(gaussian(m, 40, 17));
  const Vector steep = Vector::LinSpaced(40, 0, -8).unaryExpr([](double e) { return std::pow(10, e); });
  const Matrix staged = left * steep.asDiagonal() * right.transpose();
  expect_factor_resumes(staged, {.rank = 20}, false, 12);
  expect_factor_resumes(gaussian(n, m, 18), {.rank = 3}, false, 12);
  const Matrix half = gaussian(370, 370, 19);
  expect_factor_resumes(0.5 * (half + half.transpose()), {.rank = 3}, true, 12);
}

void expect_same_components(const PcaResult& a, const PcaResult& b) {
  EXPECT_TRUE(same_bits(a.loadings, b.loadings));
  EXPECT_TRUE(same_bits(a.scores, b.scores));
  EXPECT_EQ(a.explained_span, b.explained_span);
  EXPECT_EQ(a.sweeps, b.sweeps);
  EXPECT_EQ(a.stop, b.stop);
}

TEST(PcaCheckpoints, OfOneComponentOfSeveralOfSharedNonZerosAndOfADenseOne) {
  const Matrix wide = gaussian(30, 6, 20) * gaussian(6, 90, 21) + 0.5 * gaussian(30, 90, 22);
  const Matrix tall = gaussian(70, 4, 23) * gaussian(4, 24, 24) + 0.5 * gaussian(70, 24, 25);
  PcaOptions shared{.components = 3, .total_nonzeros = 20, .orthogonality = 0.1};
  for (PcaOptions options :
       {PcaOptions{.components = 1, .atoms = sparse(9)},
        PcaOptions{.components = 3, .atoms = nonneg() + sparse(12)},
        PcaOptions{.components = 2, .atoms = sparse(5), .effort = PcaOptions::Effort::low}, shared})
    for (const Matrix* A : {&wide, &tall})
      expect_resumes_anywhere(
          [&](const CheckpointsPtr& checkpoints, int threads) {
            options.checkpoints = checkpoints;
            options.threads = threads;
            return pca(data_matrix(*A, threads), options);
          },
          expect_same_components, 12);
  const Matrix large = gaussian(300, 260, 26);
  expect_resumes_anywhere(
      [&](const CheckpointsPtr& checkpoints, int threads) {
        return pca(data_matrix(large, threads), {.components = 3, .checkpoints = checkpoints});
      },
      expect_same_components);
}

/// Arrays of its state that are missing, of other sizes or no numbers.
TEST(PcaCheckpoints, ThatSomebodyChangedAreRefusedOrHarmless) {
  const Matrix A = gaussian(20, 30, 27);
  PcaOptions options{.components = 2, .atoms = sparse(4), .effort = PcaOptions::Effort::low};
  const Snapshot last = all_snapshots([&](const CheckpointsPtr& checkpoints) {
                          options.checkpoints = checkpoints;
                          pca(data_matrix(A), options);
                        }).back();
  const auto resumed = [&](const Snapshot& snapshot) {
    options.checkpoints = going_on_from(snapshot);
    try {
      return pca(data_matrix(A), options).loadings.allFinite() ? std::string("harmless") : "not finite";
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
  };
  for (const auto& [name, array] : last) {
    SCOPED_TRACE(name);
    Snapshot changed = last;
    changed.erase(name);
    if (!name.ends_with(".kept")) {
      EXPECT_THAT(resumed(changed), testing::HasSubstr("is missing"));
    }
    for (const StoredArray& other : {StoredArray{{}, std::vector<std::int64_t>{-1}},
                                     StoredArray{{}, std::vector<std::int64_t>{1'000'000'000}},
                                     StoredArray{{}, std::vector<double>{std::nan("")}},
                                     StoredArray{{2, 2}, std::vector<double>(4, 1e300)}}) {
      changed[name] = other;
      EXPECT_NE(resumed(changed), "not finite");
    }
  }
}

AtomSets sets_of_three(const Atoms& set) {
  return {{set, set, set}, {0, 1, 2}};
}

PlainTensor noisy_array() {
  PlainTensor t = dense(Expansion(random_factors({9, 8, 7}, 3, 10, true), Vector::Ones(3)));
  const Matrix noise = 0.1 * gaussian(t.count(), 1, 11);
  for (std::size_t e = 0; e < t.values.size(); ++e) t.values[e] += std::abs(noise(Index(e), 0));
  return t;
}

TEST(FactorCheckpoints, OfArraysTheirStartsAndPrices) {
  const PlainTensor t = noisy_array();
  for (const Start start : {Start::greedy, Start::leading})
    for (const double ridge : {0.0, 0.1})
      for (const int starts : {0, 3})
        expect_resumes_anywhere(
            [&](const CheckpointsPtr& checkpoints, int threads) {
              return factor_tensor(as_dense_target(t), sets_of_three(nonneg()),
                                   {.rank = 3,
                                    .weights = WeightRule::nonneg,
                                    .start = start,
                                    .polish = 8,
                                    .polish_tolerance = 1e-9,
                                    .threads = threads,
                                    .checkpoints = checkpoints},
                                   {.starts = starts, .ridge = ridge});
            },
            expect_same_factors, 12);
}

/// Which is run again: what is left there is the state before it.
TEST(FactorCheckpoints, AnArrayThatIsStoppedInTheRaceOfItsStartsGoesOnToTheSameEnd) {
  const PlainTensor t = noisy_array();
  for (const Start start : {Start::greedy, Start::leading}) {
    FactorOptions options{.rank = 3, .weights = WeightRule::nonneg, .start = start, .polish = 8};
    const auto factored = [&] {
      return factor_tensor(as_dense_target(t), sets_of_three(nonneg()), options, {.starts = 3});
    };
    const FactorResult whole = factored();
    std::vector<Snapshot> left;
    options.checkpoints = std::make_shared<Checkpoints>(
        Checkpoints::Rhythm{}, [&](const Snapshot& snapshot) { left.push_back(snapshot); });
    options.observer = [](const Moment& moment) {  // corrections of greedy atoms are no polish
      return moment.phase != Moment::Phase::polish || moment.sweep < 5;
    };
    EXPECT_EQ(factored().stop, Stop::interrupted);
    ASSERT_EQ(left.size(), 1U);
    options.observer = {};
    options.checkpoints = going_on_from(left.front());
    expect_same_factors(whole, factored());
  }
}

TEST(FactorCheckpoints, OfArraysWithGaps) {
  const PlainTensor t = noisy_array();
  Random random(12);
  ObservedTensor data{{t.shape, std::vector<std::vector<int>>(3), {}}, {}, false};
  for (Index e = 0; e < t.count(); ++e) {
    if (random.uniform() >= 0.6) continue;
    const auto at = t.position(e);
    for (std::size_t m = 0; m < at.size(); ++m) data.entries.index[m].push_back(int(at[m]));
    data.entries.value.push_back(t.values[std::size_t(e)]);
  }
  for (const Atoms& set : {nonneg(), sparse(5)})
    expect_resumes_anywhere(
        [&](const CheckpointsPtr& checkpoints, int threads) {
          return factor_tensor(data, sets_of_three(set),
                               {.rank = 3,
                                .weights = set.spec() == "nonneg" ? WeightRule::nonneg : WeightRule::free,
                                .offsets = true,
                                .polish = 6,
                                .threads = threads,
                                .checkpoints = checkpoints});
        },
        expect_same_factors);
}

/// The state that is left where a run is stopped is one to go on from.
void expect_goes_on_from_any_moment(const Matrix& Y, FactorOptions options) {
  int moments = 0;
  options.observer = [&](const Moment&) { return ++moments > 0; };
  const FactorResult whole = factor(Y, options);
  const int all = moments;
  ASSERT_GE(all, 6);
  for (int stop_at = 1; stop_at <= all; ++stop_at) {
    std::vector<Snapshot> left;
    moments = 0;
    options.observer = [&](const Moment&) { return ++moments < stop_at; };
    options.checkpoints = std::make_shared<Checkpoints>(
        Checkpoints::Rhythm{}, [&](const Snapshot& snapshot) { left.push_back(snapshot); });
    EXPECT_EQ(factor(Y, options).stop, Stop::interrupted);
    ASSERT_EQ(left.size(), 1U) << "written where it is stopped, and never after";
    options.observer = {};
    options.checkpoints = going_on_from(left.front());
    expect_same_factors(whole, factor(Y, options));
  }
}

TEST(FactorCheckpoints, ARunThatIsStoppedAtAnyMomentGoesOnFromThere) {
  expect_goes_on_from_any_moment(uniform(18, 13, 13), {.rank = 3,
                                                       .left = nonneg(),
                                                       .right = nonneg() + sparse(6),
                                                       .weights = WeightRule::nonneg,
                                                       .polish = 5,
                                                       .polish_tolerance = 1e-9});
}

/// Its last moments tell of atoms that are all there, when no part of the work has a state any more.
TEST(FactorCheckpoints, ATruncatedSvdThatIsStoppedAtAnyMomentGoesOnFromThere) {
  expect_goes_on_from_any_moment(gaussian(420, 370, 18), {.rank = 3});
}

TEST(FactorCheckpoints, AreRefusedByAnotherRunWhichSaysWhatDiffers) {
  const Matrix Y = uniform(12, 10, 14);
  const FactorOptions options{.rank = 3, .left = nonneg(), .right = sparse(4)};
  const Snapshot snapshot = all_snapshots([&](const CheckpointsPtr& checkpoints) {
                              FactorOptions kept = options;
                              kept.checkpoints = checkpoints;
                              factor(Y, kept);
                            }).at(1);
  const auto refusal = [&](const Matrix& data, FactorOptions other) {
    other.checkpoints = going_on_from(snapshot);
    return message_of<InvalidInput>([&] { factor(data, other); });
  };
  using testing::HasSubstr;
  FactorOptions other = options;
  other.rank = 4;
  EXPECT_THAT(refusal(Y, other),
              HasSubstr("state.npz: a checkpoint of another run: rank is 3 there and 4 here"));
  other = options;
  other.seed = 7;
  EXPECT_THAT(refusal(Y, other), HasSubstr("seed is 0 there and 7 here"));
  other = options;
  other.right = sparse(5);
  EXPECT_THAT(refusal(Y, other), HasSubstr("set 2 is sparse:4 there and sparse:5 here"));
  Matrix changed = Y;
  changed(11, 9) += 1e-9;
  EXPECT_THAT(refusal(changed, options), HasSubstr("data is "));
  EXPECT_THAT(refusal(Y.leftCols(9), options), HasSubstr("shape is 12 x 10 there and 12 x 9 here"));
  PcaOptions components;
  components.components = 2;
  components.checkpoints = going_on_from(snapshot);
  EXPECT_THAT(message_of<InvalidInput>([&] { pca(data_matrix(Y), components); }),
              HasSubstr("command is factor there and pca here"));
}

/// Arrays that are missing, of other types, sizes or numbers: a clear error or a run, never anything else.
TEST(FactorCheckpoints, ThatSomebodyChangedAreRefusedOrHarmless) {
  const Matrix Y = uniform(12, 10, 15);
  FactorOptions options{
      .rank = 3, .left = nonneg(), .right = nonneg(), .weights = WeightRule::nonneg, .polish = 6};
  const std::vector<Snapshot> all = all_snapshots([&](const CheckpointsPtr& checkpoints) {
    options.checkpoints = checkpoints;
    factor(Y, options);
  });
  const auto resumed = [&](const Snapshot& snapshot) {
    options.checkpoints = going_on_from(snapshot);
    try {
      const FactorResult result = factor(Y, options);
      return result.model.left().allFinite() ? std::string("harmless") : "not finite";
    } catch (const InvalidInput& error) {
      return std::string(error.what());
    }
  };
  using testing::HasSubstr;
  for (const Snapshot& snapshot : {all.front(), all.back()})
    for (const auto& [name, array] : snapshot) {
      SCOPED_TRACE(name);
      Snapshot changed = snapshot;
      changed.erase(name);
      if (!name.ends_with(".kept")) {
        EXPECT_THAT(resumed(changed), HasSubstr("is missing"));
      }
      changed = snapshot;
      changed[name] = {{}, std::vector<std::string>{"text"}};
      resumed(changed);
      changed[name] = {{}, std::vector<std::int64_t>{-1}};
      resumed(changed);
      changed[name] = {{1, 1}, std::vector<double>{std::nan("")}};
      resumed(changed);
      changed = snapshot;
      if (auto* list = std::get_if<std::vector<double>>(&changed[name].values);
          list && !changed[name].shape.empty()) {
        if (list->empty()) continue;
        list->front() = std::nan("");
        EXPECT_THAT(resumed(changed), HasSubstr("is not finite"));
        list->push_back(1);
        list->front() = 1;
        ++changed[name].shape.back();
        resumed(changed);
      }
    }
}

}  // namespace
}  // namespace pursuit
