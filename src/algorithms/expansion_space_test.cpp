// Pursuit on observed entries: it keeps the promises of the loop under any mask.

#include "algorithms/expansion_space.hpp"

#include "pursuit/atoms/structures.hpp"
#include "pursuit/objective/full_squares.hpp"
#include "pursuit/objective/observed.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

const std::vector<Atoms> kMaskedSets{sphere(), nonneg(), sparse(4)};
const std::vector<WeightRule> kMaskedRules{WeightRule::free, WeightRule::nonneg, WeightRule::newest,
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

  Matrix residual(const Expansion& model) const { return (Y - model.dense()).cwiseProduct(mask); }
};

/// A problem with the space that it is solved in.
struct ObservedSpace {
  ObservedSpace(const Problem& p, const AtomSets& sets, WeightRule rule, Regularization regularization = {},
                bool by_oracle = false)
      : f(p.data(), !sets.all_single(), 1),
        space(f, sets, rule, {.restarts = 2}, {.by_oracle = by_oracle}, regularization) {}

  PursuitOutcome pursue(const PursuitOptions& options) { return pursuit::pursue(space, options); }
  const Expansion& model() const { return space.expansion(); }
  double squared_error() const { return 2 * f.value(); }

  ObservedSquares f;
  ExpansionSpace space;
};

void expect_members(const Expansion& model, const AtomSets& sets, WeightRule rule) {
  ASSERT_TRUE(model.left().allFinite() && model.right().allFinite() && model.weights.allFinite());
  for (Index k = 0; k < model.rank(); ++k) {
    EXPECT_TRUE(sets.of(0, k).contains(model.left().col(k), 1e-12)) << "left atom " << k;
    EXPECT_TRUE(sets.of(sets.panels() - 1, k).contains(model.right().col(k), 1e-12)) << "right atom " << k;
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

TEST(ExpansionSpaceUnderAMask, KeepsItsPromisesForEverySetRuleAndCorrection) {
  struct Corrections {
    int sweeps;
    bool by_oracle;
  };
  const Problem p = Problem::random(gaussian(14, 11, 1) + Matrix::Constant(14, 11, 0.4), 0.5, 2);
  for (const Atoms& left : kMaskedSets)
    for (const Atoms& right : kMaskedSets)
      for (const WeightRule rule : kMaskedRules)
        for (const auto [sweeps, by_oracle] : {Corrections{0, false}, {2, false}, {2, true}}) {
          SCOPED_TRACE(left->spec() + " x " + right->spec() + ", " + rule.spec() +
                       (by_oracle ? ", oracle, " : ", exact, ") + std::to_string(sweeps));
          const AtomSets sets(left, right);
          ObservedSpace space(p, sets, rule, {}, by_oracle);
          const auto outcome = space.pursue({.rank = 4, .corrections = sweeps});
          expect_sound(p, sets, rule, space, outcome.trace);
          EXPECT_GE(space.model().rank(), 1);
        }
}

TEST(ExpansionSpaceUnderAMask, EveryAtomOfAListIsInItsOwnSet) {
  const Atoms list = per_atom({sparse(6), sparse(3), sparse(1)});
  for (const WeightRule rule : kMaskedRules)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(rule.spec() + ", seed " + std::to_string(seed));
      const Problem p = Problem::random(gaussian(10, 8, seed), 0.6, seed + 100);
      const AtomSets sets(list, list);
      ObservedSpace space(p, sets, rule);
      const auto outcome = space.pursue({.rank = 5, .corrections = 2});
      expect_sound(p, sets, rule, space, outcome.trace);
    }
}

TEST(AtomSets, AnAtomKeepsItsPlaceWhereOthersWithOtherSetsFollow) {
  const auto staying = [](const Atoms& left, std::vector<bool> weights) {
    return AtomSets(left, sphere()).staying(Index(weights.size()), [&](Index i) {
      return weights[std::size_t(i)];
    });
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

TEST(ExpansionSpaceUnderAMask, KeepsItsPromisesForSymmetricAtoms) {
  const Matrix A = gaussian(12, 12, 5);
  Problem p = Problem::random(A + A.transpose(), 0.5, 6);
  p.mask = p.mask.cwiseMax(p.mask.transpose()).eval();
  for (const Atoms& set : kMaskedSets)
    for (const WeightRule rule : kMaskedRules)
      for (const int corrections : {0, 2}) {
        SCOPED_TRACE(set->spec() + ", " + rule.spec() + ", " + std::to_string(corrections));
        const AtomSets sets(set, set, true);
        ObservedSpace space(p, sets, rule);
        const auto outcome = space.pursue({.rank = 4, .corrections = corrections});
        expect_sound(p, sets, rule, space, outcome.trace);
        EXPECT_EQ(space.model().left(), space.model().right());
        EXPECT_TRUE(space.model().symmetric());
      }
}

TEST(ExpansionSpaceUnderAMask, LooksAtObservedEntriesOnly) {
  const Problem p = Problem::random(gaussian(14, 11, 7), 0.5, 8);
  Problem other = p;
  other.Y += 1000 * (Matrix::Ones(14, 11) - p.mask);
  Expansion models[2];
  for (const bool changed : {false, true}) {
    ObservedSpace space(changed ? other : p, AtomSets(sphere(), sphere()), WeightRule::free);
    space.pursue({.rank = 3, .corrections = 2});
    models[int(changed)] = space.model();
  }
  EXPECT_EQ(models[0].left(), models[1].left());
  EXPECT_EQ(models[0].weights, models[1].weights);
}

/// The lowest objective over all right factors of at most two entries, one parabola per entry.
double best_of_all_pairs(const Problem& p, const Vector& u) {
  const Vector a = p.mask.transpose() * u.cwiseAbs2(), b = p.Y.cwiseProduct(p.mask).transpose() * u;
  const Vector gains = (a.array() > 0).select(0.5 * b.cwiseAbs2().array() / a.array(), 0.0);
  double best = 0;
  for (Index i = 0; i < gains.size(); ++i)
    for (Index j = 0; j < i; ++j) best = std::max(best, gains[i] + gains[j]);
  return 0.5 * p.Y.cwiseProduct(p.mask).squaredNorm() - best;
}

TEST(ExpansionSpaceUnderAMask, ExactCorrectionsAreTheBestOfAllSupports) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Problem p = Problem::random(gaussian(6, 7, 20 + seed), 0.6, 60 + seed);
    ObservedSpace space(p, AtomSets(sphere(), sparse(2)), WeightRule::free);
    space.pursue({.rank = 1, .corrections = 1});
    ASSERT_EQ(space.model().rank(), 1);
    // A sweep ends with the right factor, fitted to the left one that is there.
    const double best = best_of_all_pairs(p, space.model().left().col(0));
    EXPECT_NEAR(0.5 * space.squared_error(), best, 1e-10) << "seed " << seed;
  }
}

TEST(ExpansionSpaceUnderAMask, ExactCorrectionsReachAFitThatOracleCorrectionsMiss) {
  // Rank one under a mask: the power method sees zeros where nothing was observed, the exact fit does not.
  const Problem p = Problem::random(gaussian(30, 1, 9) * gaussian(20, 1, 10).transpose(), 0.4, 11);
  double errors[2];
  for (const bool by_oracle : {false, true}) {
    ObservedSpace space(p, AtomSets(sphere(), sphere()), WeightRule::free, {}, by_oracle);
    space.pursue({.rank = 1, .corrections = 200});
    errors[int(by_oracle)] = space.squared_error() / (2 * space.f.null_value());
  }
  EXPECT_LT(errors[0], 1e-10);
  EXPECT_GT(errors[1], 1e-3);
}

TEST(ExpansionSpaceUnderAMask, ShrinksMoreTheLargerTheRidge) {
  const Problem p = Problem::random(gaussian(20, 15, 12), 0.6, 13);
  for (const auto kind : {Regularization::ridge, Regularization::count_weighted_ridge}) {
    double last = std::numeric_limits<double>::infinity();
    for (const double lambda : {0.0, 0.1, 0.5, 2.0}) {
      ObservedSpace space(p, AtomSets(sphere(), sphere()), WeightRule::newest, {kind, lambda});
      space.pursue({.rank = 3, .corrections = 20});
      expect_members(space.model(), AtomSets(sphere(), sphere()), WeightRule::newest);
      const double norm = space.model().dense().norm();
      EXPECT_LT(norm, last) << Regularization{kind, lambda}.spec();
      last = norm;
    }
  }
}

TEST(ExpansionSpaceUnderAMask, SelfTunedStaysFiniteWhereAtomsAreShrunkToNothing) {
  for (const Atoms& set : kMaskedSets)
    for (const WeightRule rule : {WeightRule::newest, WeightRule::nonneg})
      for (const double mean : {0.0, -1.0}) {
        SCOPED_TRACE(set->spec() + ", " + WeightRule(rule).spec() + ", " + std::to_string(mean));
        const Problem p = Problem::random(gaussian(25, 20, 14) + Matrix::Constant(25, 20, mean), 0.4, 15);
        ObservedSpace space(p, AtomSets(set, set), rule, {Regularization::self_tuned, 0});
        ASSERT_NO_THROW(space.pursue({.rank = 5, .corrections = 15}));
        expect_members(space.model(), AtomSets(set, set), rule);
      }
}

TEST(ExpansionSpaceUnderAMask, SelfTunedKeepsTheAtomThatPaysAndShrinksNoise) {
  const Matrix signal = 12 * gaussian(60, 1, 16).normalized() * gaussian(50, 1, 17).normalized().transpose();
  const Regularization tuned{Regularization::self_tuned, 0};
  const auto fitted = [&](const Matrix& Y) {
    ObservedSpace space(Problem::random(Y, 0.3, 18), AtomSets(sphere(), sphere()), WeightRule::newest, tuned);
    space.pursue({.rank = 3, .corrections = 60});
    return space.model();
  };
  const Matrix noise = 0.1 * gaussian(60, 50, 19);
  EXPECT_LT((fitted(signal + noise).dense() - signal).norm(), 0.25 * signal.norm());
  EXPECT_LT(fitted(noise).dense().norm(), 0.05 * noise.norm());
}

/// A dense tensor, its first mode fastest: the engine has no other than matrices, and needs no other to be
/// shown that it does not count modes.
class DenseTensor final : public Target {
 public:
  DenseTensor(Vector values, const std::vector<Index>& sizes) : values_(std::move(values)) {
    for (const Index size : sizes) axes_.emplace_back(size);
  }
  /// The sum of atoms.
  DenseTensor(const Expansion& x, const std::vector<Index>& sizes) : DenseTensor(Vector(), sizes) {
    Index total = 1;
    for (const Index size : sizes) total *= size;
    values_ = Vector::Zero(total);
    for_each_entry([&](Index e, const std::vector<Index>& at) {
      for (Index k = 0; k < x.rank(); ++k) values_[e] += x.weights[k] * entry(x.factors, k, at, -1);
    });
  }
  Vector& values() { return values_; }

  Index modes() const override { return Index(axes_.size()); }
  const Axis& axis(Index mode) const override { return axes_[std::size_t(mode)]; }
  void contract(Index mode, const Factors& z, Panel& out) const override {
    out = Panel::Zero(axis(mode).size(), z[mode == 0 ? 1 : 0].cols());
    for_each_entry([&](Index e, const std::vector<Index>& at) {
      for (Index k = 0; k < out.cols(); ++k)
        out(at[std::size_t(mode)], k) += values_[e] * entry(z, k, at, mode);
    });
  }
  double squared_norm() const override { return values_.squaredNorm(); }
  std::optional<double> squared_distance(const Expansion&) const override { return {}; }
  double contraction_work() const override { return double(values_.size()); }

 private:
  template <class Visit>
  void for_each_entry(const Visit& visit) const {
    std::vector<Index> at(axes_.size(), 0);
    for (Index e = 0; e < values_.size(); ++e) {
      visit(e, at);
      for (std::size_t m = 0; m < at.size() && ++at[m] == axes_[m].size(); ++m) at[m] = 0;
    }
  }
  static double entry(const Factors& z, Index k, const std::vector<Index>& at, Index left_out) {
    double product = 1;
    for (Index m = 0; m < z.modes(); ++m)
      if (m != left_out) product *= z[m](at[std::size_t(m)], k);
    return product;
  }

  Vector values_;
  std::vector<Axis> axes_;
};

void expect_falling(const Trace& trace) {
  for (std::size_t s = 1; s < trace.size(); ++s)
    EXPECT_LE(trace[s].objective, trace[s - 1].objective * (1 + 1e-12) + 1e-12) << "step " << s;
}

TEST(ExpansionSpace, DoesNotCountModes) {
  const std::vector<Index> sizes{11, 9, 7};
  std::vector<Panel> planted;
  for (const Index size : sizes)
    planted.push_back(uniform(size, 3, std::uint64_t(size)).array().cube().matrix().colwise().normalized());
  const Expansion truth(Factors(planted, {0, 1, 2}), (Vector(3) << 5, 4, 3).finished());
  for (const auto& [set, rule] : {std::pair{sphere(), WeightRule(WeightRule::free)},
                                  {nonneg(), WeightRule(WeightRule::nonneg)},
                                  {nonneg() + sparse(7), WeightRule(WeightRule::nonneg)}}) {
    SCOPED_TRACE(set->spec());
    FullSquares f(std::make_shared<DenseTensor>(truth, sizes));
    const AtomSets sets({set, set, set}, {0, 1, 2});
    ExpansionSpace space(f, sets, rule, {}, {});
    const auto outcome =
        pursue(space, {.rank = 3, .corrections = 3, .polish = 2000, .polish_tolerance = 1e-12});
    expect_falling(outcome.trace);
    for (Index mode = 0; mode < 3; ++mode)
      for (Index k = 0; k < space.expansion().rank(); ++k)
        EXPECT_TRUE(set->contains(space.expansion().factors[mode].col(k), 1e-12));
    const bool exact = set->spec() != "nonneg+sparse:7";
    EXPECT_LT(outcome.trace.back().relative_error, exact ? 2e-3 : 0.5);
  }
}

TEST(ExpansionSpace, ModesOfATensorMayShareTheirFactor) {
  const std::vector<Index> sizes{8, 8, 5};
  const Panel u = gaussian(8, 2, 1).colwise().normalized(), w = gaussian(5, 2, 2).colwise().normalized();
  const Expansion truth(Factors(std::vector<Panel>{u, w}, {0, 0, 1}), (Vector(2) << 4, 3).finished());
  FullSquares f(std::make_shared<DenseTensor>(truth, sizes));
  f.move_to({Factors(std::vector<Panel>{Panel(8, 0), Panel(5, 0)}, {0, 0, 1}), Vector(0)});
  const AtomSets sets({sphere(), sphere()}, {0, 0, 1});
  ExpansionSpace space(f, sets, WeightRule::free, {}, {});
  const auto outcome = pursue(space, {.rank = 2, .corrections = 20});
  expect_falling(outcome.trace);
  EXPECT_EQ(space.expansion().factors.panels(), 2);
  EXPECT_LT(outcome.trace.back().relative_error, 0.05);
}

TEST(ExpansionSpace, ATensorOfTwoModesIsAMatrix) {
  const Matrix Y = uniform(13, 9, 4);
  for (const Atoms& set : {nonneg(), sparse(4)}) {
    FullSquares matrix(data_matrix(Y));
    FullSquares tensor(std::make_shared<DenseTensor>(Y.reshaped(), std::vector<Index>{13, 9}));
    std::vector<double> errors;
    for (FullSquares* f : {&matrix, &tensor}) {
      ExpansionSpace space(*f, AtomSets(set, set), WeightRule::free, {}, {});
      errors.push_back(pursue(space, {.rank = 4, .corrections = 2}).trace.back().relative_error);
    }
    EXPECT_NEAR(errors[0], errors[1], 1e-10) << set->spec();
  }
}

}  // namespace
}  // namespace pursuit
