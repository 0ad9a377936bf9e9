// Pursuit on observed entries: it keeps the promises of the loop under any mask.

#include "algorithms/observed_space.hpp"

#include "pursuit/atoms/structures.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

const std::vector<Atoms> kObservedSets{sphere(), nonneg(), sparse(4)};
const std::vector<WeightRule> kObservedRules{WeightRule::free, WeightRule::nonneg, WeightRule::newest,
                                             WeightRule::economic, WeightRule(WeightRule::convex, 4.0)};

struct Problem {
  Matrix Y, mask;

  static Problem random(Matrix Y, double share, std::uint64_t seed) {
    Matrix mask =
        uniform(Y.rows(), Y.cols(), seed).unaryExpr([&](double x) { return x < share ? 1.0 : 0.0; });
    return {Y.cast<float>().cast<double>(), mask};
  }

  ObservedMatrix data() const {
    ObservedEntries entries{Y.rows(), Y.cols(), {}, {}, {}};
    for (int i = 0; i < Y.rows(); ++i)
      for (int j = 0; j < Y.cols(); ++j)
        if (mask(i, j) > 0) {
          entries.row.push_back(i);
          entries.col.push_back(j);
          entries.value.push_back(float(Y(i, j)));
        }
    return ObservedMatrix(entries);
  }

  Matrix residual(const Model& model) const { return (Y - model.dense()).cwiseProduct(mask); }
};

ObservedSpace space_of(const Problem& p, const AtomSets& sets, WeightRule rule,
                       Regularization regularization = {}, bool by_oracle = false) {
  return {p.data(), sets, rule, regularization, {.restarts = 2}, by_oracle, 1};
}

void expect_members(const Model& model, const AtomSets& sets, WeightRule rule) {
  ASSERT_TRUE(model.left.allFinite() && model.right.allFinite() && model.weights.allFinite());
  for (Index k = 0; k < model.rank(); ++k) {
    EXPECT_TRUE(sets.left->of_atom(k).contains(model.left.col(k), 1e-12)) << "left atom " << k;
    EXPECT_TRUE(sets.right->of_atom(k).contains(model.right.col(k), 1e-12)) << "right atom " << k;
    EXPECT_TRUE(rule.allows_negative() || model.weights[k] >= 0) << "weight " << k;
  }
  EXPECT_TRUE(rule.kind != WeightRule::convex || model.weights.sum() <= rule.radius * (1 + 1e-10));
}

/// The trace falls, ends where the model is, and every atom is in its set.
void expect_sound(const Problem& p, const AtomSets& sets, WeightRule rule, const ObservedSpace& space,
                  const Trace& trace) {
  const double scale = p.Y.cwiseProduct(p.mask).squaredNorm();
  double before = 0.5 * scale;
  for (const Step& step : trace) {
    EXPECT_LE(step.objective, before + 1e-12 * scale) << "rank " << step.rank;
    before = step.objective;
  }
  const double error = p.residual(space.model()).squaredNorm();
  EXPECT_NEAR(space.squared_error(), error, 1e-10 * scale);
  EXPECT_NEAR(2 * before, error, 1e-10 * scale);
  expect_members(space.model(), sets, rule);
}

TEST(ObservedSpace, KeepsItsPromisesForEverySetRuleAndCorrection) {
  struct Corrections {
    int sweeps;
    bool by_oracle;
  };
  const Problem p = Problem::random(gaussian(14, 11, 1) + Matrix::Constant(14, 11, 0.4), 0.5, 2);
  for (const Atoms& left : kObservedSets)
    for (const Atoms& right : kObservedSets)
      for (const WeightRule rule : kObservedRules)
        for (const auto [sweeps, by_oracle] : {Corrections{0, false}, {2, false}, {2, true}}) {
          SCOPED_TRACE(left->spec() + " x " + right->spec() + ", " + rule.spec() +
                       (by_oracle ? ", oracle, " : ", exact, ") + std::to_string(sweeps));
          const AtomSets sets{left, right};
          ObservedSpace space = space_of(p, sets, rule, {}, by_oracle);
          const auto outcome = pursue(space, {.rank = 4, .corrections = sweeps});
          expect_sound(p, sets, rule, space, outcome.trace);
          EXPECT_GE(space.model().rank(), 1);
        }
}

TEST(ObservedSpace, EveryAtomOfAListIsInItsOwnSet) {
  const Atoms list = per_atom({sparse(6), sparse(3), sparse(1)});
  for (const WeightRule rule : kObservedRules)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(rule.spec() + ", seed " + std::to_string(seed));
      const Problem p = Problem::random(gaussian(10, 8, seed), 0.6, seed + 100);
      const AtomSets sets{list, list};
      ObservedSpace space = space_of(p, sets, rule);
      const auto outcome = pursue(space, {.rank = 5, .corrections = 2});
      expect_sound(p, sets, rule, space, outcome.trace);
    }
}

TEST(AtomSets, AnAtomKeepsItsPlaceWhereOthersWithOtherSetsFollow) {
  const auto staying = [](const Atoms& left, std::vector<bool> weights) {
    return AtomSets{left, sphere()}.staying(Index(weights.size()),
                                            [&](Index i) { return weights[std::size_t(i)]; });
  };
  using Places = std::vector<Index>;
  const Atoms list = per_atom({sparse(3), sparse(2), sparse(1)});  // the third serves all further atoms
  EXPECT_EQ(staying(sphere(), {false, true, false, true}), (Places{1, 3}));
  EXPECT_EQ(staying(list, {false, true, false, true}), (Places{0, 1, 3}))
      << "the third and fourth share a set";
  EXPECT_EQ(staying(list, {true, false, false, true, false}), (Places{0, 1, 3}));
  EXPECT_EQ(staying(list, {true, false, false}), (Places{0}));
  EXPECT_EQ(staying(list, {false, false, false}), Places{});
}

TEST(ObservedSpace, KeepsItsPromisesForSymmetricAtoms) {
  const Matrix A = gaussian(12, 12, 5);
  Problem p = Problem::random(A + A.transpose(), 0.5, 6);
  p.mask = p.mask.cwiseMax(p.mask.transpose()).eval();
  for (const Atoms& set : kObservedSets)
    for (const WeightRule rule : kObservedRules)
      for (const int corrections : {0, 2}) {
        SCOPED_TRACE(set->spec() + ", " + rule.spec() + ", " + std::to_string(corrections));
        const AtomSets sets{set, set, true};
        ObservedSpace space = space_of(p, sets, rule);
        const auto outcome = pursue(space, {.rank = 4, .corrections = corrections});
        expect_sound(p, sets, rule, space, outcome.trace);
        EXPECT_EQ(space.model().left, space.model().right);
        EXPECT_TRUE(space.model().symmetric);
      }
}

TEST(ObservedSpace, LooksAtObservedEntriesOnly) {
  const Problem p = Problem::random(gaussian(14, 11, 7), 0.5, 8);
  Problem other = p;
  other.Y += 1000 * (Matrix::Ones(14, 11) - p.mask);
  Model models[2];
  for (const bool changed : {false, true}) {
    ObservedSpace space = space_of(changed ? other : p, {sphere(), sphere()}, WeightRule::free);
    pursue(space, {.rank = 3, .corrections = 2});
    models[int(changed)] = space.model();
  }
  EXPECT_EQ(models[0].left, models[1].left);
  EXPECT_EQ(models[0].weights, models[1].weights);
}

/// The lowest objective over all right factors of at most two entries, one parabola per entry.
double best_of_all_pairs(const ObservedObjective& f, const Vector& u) {
  const auto [a, b] = f.right_parabolas(u, u.cwiseAbs2());
  const Vector gains = (a.array() > 0).select(0.5 * b.cwiseAbs2().array() / a.array(), 0.0);
  double best = 0;
  for (Index i = 0; i < gains.size(); ++i)
    for (Index j = 0; j < i; ++j) best = std::max(best, gains[i] + gains[j]);
  return f.value() - best;
}

TEST(ObservedSpace, ExactCorrectionsAreTheBestOfAllSupports) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Problem p = Problem::random(gaussian(6, 7, 20 + seed), 0.6, 60 + seed);
    ObservedSpace space = space_of(p, {sphere(), sparse(2)}, WeightRule::free);
    pursue(space, {.rank = 1, .corrections = 1});
    ASSERT_EQ(space.model().rank(), 1);
    // A sweep ends with the right factor, fitted to the left one that is there.
    const double best = best_of_all_pairs(ObservedObjective(p.data()), space.model().left.col(0));
    EXPECT_NEAR(0.5 * space.squared_error(), best, 1e-10) << "seed " << seed;
  }
}

TEST(ObservedSpace, ExactCorrectionsReachAFitThatOracleCorrectionsMiss) {
  // Rank one under a mask: the power method sees zeros where nothing was observed, the exact fit does not.
  const Problem p = Problem::random(gaussian(30, 1, 9) * gaussian(20, 1, 10).transpose(), 0.4, 11);
  double errors[2];
  for (const bool by_oracle : {false, true}) {
    ObservedSpace space = space_of(p, {sphere(), sphere()}, WeightRule::free, {}, by_oracle);
    pursue(space, {.rank = 1, .corrections = 200});
    errors[int(by_oracle)] = space.squared_error() / space.target_norm_squared();
  }
  EXPECT_LT(errors[0], 1e-10);
  EXPECT_GT(errors[1], 1e-3);
}

TEST(ObservedSpace, ShrinksMoreTheLargerTheRidge) {
  const Problem p = Problem::random(gaussian(20, 15, 12), 0.6, 13);
  for (const auto kind : {Regularization::ridge, Regularization::count_weighted_ridge}) {
    double last = std::numeric_limits<double>::infinity();
    for (const double lambda : {0.0, 0.1, 0.5, 2.0}) {
      ObservedSpace space = space_of(p, {sphere(), sphere()}, WeightRule::newest, {kind, lambda});
      pursue(space, {.rank = 3, .corrections = 20});
      expect_members(space.model(), {sphere(), sphere()}, WeightRule::newest);
      const double norm = space.model().dense().norm();
      EXPECT_LT(norm, last) << Regularization{kind, lambda}.spec();
      last = norm;
    }
  }
}

TEST(ObservedSpace, SelfTunedStaysFiniteWhereAtomsAreShrunkToNothing) {
  for (const Atoms& set : kObservedSets)
    for (const WeightRule rule : {WeightRule::newest, WeightRule::nonneg})
      for (const double mean : {0.0, -1.0}) {
        SCOPED_TRACE(set->spec() + ", " + WeightRule(rule).spec() + ", " + std::to_string(mean));
        const Problem p = Problem::random(gaussian(25, 20, 14) + Matrix::Constant(25, 20, mean), 0.4, 15);
        ObservedSpace space = space_of(p, {set, set}, rule, {Regularization::self_tuned, 0});
        ASSERT_NO_THROW(pursue(space, {.rank = 5, .corrections = 15}));
        expect_members(space.model(), {set, set}, rule);
      }
}

TEST(ObservedSpace, SelfTunedKeepsTheAtomThatPaysAndShrinksNoise) {
  const Matrix signal = 12 * gaussian(60, 1, 16).normalized() * gaussian(50, 1, 17).normalized().transpose();
  const Regularization tuned{Regularization::self_tuned, 0};
  const auto fitted = [&](const Matrix& Y) {
    ObservedSpace space =
        space_of(Problem::random(Y, 0.3, 18), {sphere(), sphere()}, WeightRule::newest, tuned);
    pursue(space, {.rank = 3, .corrections = 60});
    return space.model();
  };
  const Matrix noise = 0.1 * gaussian(60, 50, 19);
  EXPECT_LT((fitted(signal + noise).dense() - signal).norm(), 0.25 * signal.norm());
  EXPECT_LT(fitted(noise).dense().norm(), 0.05 * noise.norm());
}

}  // namespace
}  // namespace pursuit
