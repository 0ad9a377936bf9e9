// Algorithm 1 on small dictionaries, where everything can be computed twice.

#include "pursuit/algorithms/pursue.hpp"

#include "linalg/decompositions.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using Phase = Moment::Phase;

/// R^d with the columns of a matrix as atoms, of any length, and an oracle that looks at every one of them.
class VectorSpace {
 public:
  using Atom = Index;

  VectorSpace(Matrix dictionary, Vector y, WeightRule rule = WeightRule::free)
      : dictionary_(std::move(dictionary)), y_(std::move(y)), rule_(rule) {}

  double target_norm_squared() const { return y_.squaredNorm(); }
  double objective() const { return 0.5 * residual().squaredNorm(); }
  double null_objective() const { return 0.5 * target_norm_squared(); }
  Found<Index> find_atom() const {
    const Vector products = dictionary_.transpose() * residual();
    Vector gains = products;  // on a simplex lengths count, elsewhere a weight makes up for them
    if (rule_.kind != WeightRule::convex) gains.array() /= dictionary_.colwise().norm().transpose().array();
    if (rule_.allows_negative()) gains = gains.cwiseAbs();
    Index best = 0;
    gains.maxCoeff(&best);
    return {best, products[best], dictionary_.col(best).squaredNorm(), 0, 1};
  }
  Vector inner_products(const Index& atom) const { return expansion().transpose() * dictionary_.col(atom); }
  void append(const Found<Index>& found) {
    atoms.push_back(found.atom);
    weights.conservativeResize(Index(atoms.size()));
    weights[weights.size() - 1] = 0;
  }
  void set_weights(const Vector& alpha) { weights = alpha; }
  WeightSystem weight_system() const {
    WeightSystem system(rule_);
    if (!atoms.empty())
      system.reset(expansion().transpose() * expansion(), expansion().transpose() * y_, weights);
    return system;
  }

  Matrix expansion() const { return dictionary_(Eigen::all, atoms); }
  Vector residual() const {
    return atoms.empty() ? y_ : Vector(y_ - expansion().leftCols(weights.size()) * weights);
  }
  const Vector& target() const { return y_; }
  double best_product() const { return (dictionary_.transpose() * residual()).maxCoeff(); }
  double atom_norm(Index atom) const { return dictionary_.col(atom).norm(); }
  /// What no combination of the atoms reaches.
  Vector unreachable() const { return y_ - dictionary_ * least_squares(dictionary_, y_); }

  std::vector<Index> atoms;
  Vector weights;

 protected:
  Matrix dictionary_;
  Vector y_;
  WeightRule rule_;
};
static_assert(PursuitSpace<VectorSpace> && !CorrectableSpace<VectorSpace>);

/// Atoms of many lengths, fewer dimensions than the space: y has a part that no combination reaches.
VectorSpace thin_space(WeightRule rule = WeightRule::free, std::uint64_t seed = 1) {
  const Matrix span = gaussian(20, 8, seed), dictionary = span * gaussian(8, 25, seed + 1);
  return {dictionary, Vector(gaussian(20, 1, seed + 2)), rule};
}

TEST(Pursue, FollowsTheOrthogonalMatchingPursuitOfTheTextbook) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    VectorSpace space = thin_space(WeightRule::free, seed);
    const double norm_squared = space.target_norm_squared();
    VectorSpace textbook = space;
    const auto outcome = pursue(space, {.rank = 5});
    ASSERT_EQ(outcome.trace.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto found = textbook.find_atom();
      const double before = 0.5 * textbook.residual().squaredNorm();
      textbook.append(found);
      textbook.weights = least_squares(textbook.expansion(), textbook.target());
      const Step& step = outcome.trace[i];
      EXPECT_EQ(space.atoms[i], found.atom);
      EXPECT_EQ(step.rank, Index(i) + 1);
      EXPECT_NEAR(step.lmo_value, std::abs(found.value), 1e-10 * norm_squared);
      EXPECT_NEAR(step.objective, 0.5 * textbook.residual().squaredNorm(), 1e-10 * norm_squared);
      EXPECT_NEAR(step.gain, before - step.objective, 1e-10 * norm_squared);
      EXPECT_NEAR(step.relative_error, std::sqrt(2 * step.objective / norm_squared), 1e-12);
      // Proposition "lower bound on ||q_i||^2", which is twice the fall of f.
      EXPECT_GE(2 * step.gain, found.value * found.value / found.norm_squared - 1e-10 * norm_squared);
    }
    EXPECT_LT(max_difference(space.weights, textbook.weights), 1e-9);
    // <r_i, z_j> = 0 for all j < i.
    EXPECT_LT((space.expansion().transpose() * space.residual()).cwiseAbs().maxCoeff(), 1e-9 * norm_squared);
  }
}

/// Theorem 1, with y outside the span: ||r_i - r*||^2 falls by the factor 1 - <z, r>^2 / (||z||^2 ||r -
/// r*||^2) or faster in every step, and the end is x*, after as many steps as the span has dimensions.
TEST(Pursue, ConvergesLinearlyToTheBestApproximation) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    VectorSpace space = thin_space(WeightRule::free, seed);
    const Vector r_star = space.unreachable();
    ASSERT_GT(r_star.norm(), 0.1);
    const double norm_squared = space.target_norm_squared();
    double distance = norm_squared - r_star.squaredNorm();  // ||r - r*||^2, by Pythagoras
    const auto outcome = pursue(space, {.rank = 25});
    for (std::size_t i = 0; i < outcome.trace.size(); ++i) {
      const Step& step = outcome.trace[i];
      const double next = 2 * step.objective - r_star.squaredNorm();
      const double rate = 1 - std::pow(step.lmo_value / space.atom_norm(space.atoms[i]), 2) / distance;
      EXPECT_LT(rate, 1);
      EXPECT_LE(next, rate * distance + 1e-10 * norm_squared) << "step " << i;
      distance = next;
    }
    EXPECT_EQ(outcome.stop, Stop::no_ascent);
    EXPECT_EQ(outcome.trace.size(), 8U);
    EXPECT_LT(max_difference(space.residual(), r_star), 1e-9);
  }
}

TEST(Pursue, MatchingPursuitConvergesToItToo) {
  // With only the newest weight re-fitted atoms come back, and the distance falls geometrically.
  VectorSpace space = thin_space(WeightRule::newest);
  const double floor = space.unreachable().squaredNorm();
  const auto outcome = pursue(space, {.rank = 2000, .ascent_tolerance = 1e-6});
  EXPECT_EQ(outcome.stop, Stop::no_ascent);
  EXPECT_NEAR(2 * outcome.trace.back().objective, floor, 1e-9);
  EXPECT_GT(outcome.trace.size(), 20U);
}

TEST(Pursue, ObjectiveNeverRisesUnderAnyRule) {
  for (const WeightRule rule :
       {WeightRule(WeightRule::free), WeightRule(WeightRule::newest), WeightRule(WeightRule::nonneg),
        WeightRule(WeightRule::convex, 3.0), WeightRule(WeightRule::economic)})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      VectorSpace space = thin_space(rule, seed);
      double before = 0.5 * space.target_norm_squared();
      for (const Step& step : pursue(space, {.rank = 12}).trace) {
        EXPECT_LE(step.objective, before + 1e-13) << rule.spec() << ", rank " << step.rank;
        before = step.objective;
      }
      EXPECT_NEAR(before, 0.5 * space.residual().squaredNorm(), 1e-10) << rule.spec();
      if (rule.allows_negative()) continue;
      EXPECT_GE(space.weights.minCoeff(), 0) << rule.spec();
      EXPECT_TRUE(rule.kind == WeightRule::nonneg || space.weights.sum() < 3 + 1e-10);
    }
}

TEST(Pursue, ConvexWeightsEndWhereNoAtomLeadsFurther) {
  for (const double radius : {0.05, 1.0}) {
    VectorSpace space = thin_space({WeightRule::convex, radius});
    const auto outcome = pursue(space, {.rank = 200});
    EXPECT_EQ(outcome.stop, Stop::no_ascent) << radius;
    // Frank-Wolfe gap: no vertex of the scaled hull is better along r than x is.
    const Vector r = space.residual(), x = space.expansion() * space.weights;
    EXPECT_LT(radius * space.best_product() - x.dot(r), 1e-6) << radius;
  }
}

TEST(Pursue, ConvexWeightsMaySumToLessThanTheRadius) {
  VectorSpace space((Matrix(2, 2) << 1, -1, 0, 0).finished(), (Vector(2) << 0.1, 0).finished(),
                    WeightRule::convex);
  const auto outcome = pursue(space, {.rank = 2});
  EXPECT_NEAR(outcome.trace.back().objective, 0, 1e-15);
  EXPECT_EQ(space.atoms.size(), 1U) << "zero is a point of the hull and needs no opposite atom";
}

TEST(Pursue, SaysWhyItStopped) {
  {
    VectorSpace space = thin_space();
    EXPECT_EQ(pursue(space, {.rank = 3}).stop, Stop::rank_reached);
    EXPECT_EQ(space.atoms.size(), 3U);
  }
  {
    VectorSpace space(Matrix::Identity(4, 4), (Vector(4) << 8, 4, 2, 1).finished());
    const auto outcome =
        pursue(space, {.rank = 4}, pursuit::Run({.target_error = 0.3}));  // 2.24 of 9.22 is left after two
    EXPECT_EQ(outcome.stop, Stop::target_error);
    EXPECT_EQ(space.atoms.size(), 2U);
  }
  {
    VectorSpace space(Matrix::Identity(4, 2), (Vector(4) << 8, 4, 2, 1).finished());
    const auto outcome = pursue(space, {.rank = 4});
    EXPECT_EQ(outcome.stop, Stop::no_ascent);
    EXPECT_EQ(outcome.trace.size(), 2U);
  }
  {
    VectorSpace space(Matrix::Identity(4, 4), Vector::Zero(4));
    const auto outcome = pursue(space, {.rank = 4});
    EXPECT_EQ(outcome.stop, Stop::no_ascent);
    EXPECT_TRUE(outcome.trace.empty());
  }
  {
    VectorSpace space = thin_space();
    const auto outcome = pursue(space, {.rank = 3}, pursuit::Run({.time_limit = 1e-12}));
    EXPECT_EQ(outcome.stop, Stop::time_limit);
    EXPECT_EQ(outcome.trace.size(), 1U) << "a run keeps its first atom whatever the limit";
  }
  {
    VectorSpace space = thin_space();
    const auto outcome =
        pursue(space, {.rank = 5}, pursuit::Run({}, [](const Moment& moment) { return moment.rank < 2; }));
    EXPECT_EQ(outcome.stop, Stop::interrupted);
    EXPECT_EQ(space.atoms.size(), 2U);
    EXPECT_EQ(outcome.trace.size(), 2U);
  }
}

TEST(Pursue, NonnegativeWeightsFindNoAscentAlongTheNegative) {
  VectorSpace space(Matrix::Identity(3, 3), -Vector::Ones(3), WeightRule::nonneg);
  const auto outcome = pursue(space, {.rank = 3});
  EXPECT_EQ(outcome.stop, Stop::no_ascent);
  EXPECT_TRUE(space.atoms.empty());
}

/// An oracle whose answers are too good to be true: an atom that is already there.
struct LyingSpace : VectorSpace {
  using VectorSpace::VectorSpace;
  Found<Index> find_atom() const { return {0, 1.0, dictionary_.col(0).squaredNorm(), 0, 1}; }
};

TEST(Pursue, StopsAtADependentAtom) {
  LyingSpace space(Matrix::Identity(3, 3), Vector::Ones(3));
  const auto outcome = pursue(space, {.rank = 3});
  EXPECT_EQ(outcome.stop, Stop::dependent_atom);
  EXPECT_EQ(space.atoms.size(), 1U);
  EXPECT_EQ(outcome.trace.size(), 1U);
}

TEST(Pursue, StartsFromTheAtomsThatAreThere) {
  VectorSpace space = thin_space();
  space.atoms = {3, 7};
  space.weights = Vector::Zero(2);
  const auto outcome = pursue(space, {.rank = 2});
  EXPECT_EQ(outcome.stop, Stop::rank_reached);
  ASSERT_EQ(outcome.trace.size(), 1U) << "x_0 is a step too";
  EXPECT_EQ(outcome.trace[0].rank, 2);
  EXPECT_NEAR(outcome.trace[0].objective, 0.5 * space.residual().squaredNorm(), 1e-12);
  EXPECT_LT((space.expansion().transpose() * space.residual()).cwiseAbs().maxCoeff(), 1e-9)
      << "weights are fitted";
  EXPECT_NEAR(outcome.trace[0].gain, 0.5 * space.target_norm_squared() - outcome.trace[0].objective, 1e-12);
}

/// A space whose corrections follow a script: each sweep is reported, and the last `dropped` atoms are lost.
struct CorrectedSpace : VectorSpace {
  using VectorSpace::VectorSpace;
  std::vector<int> calls;
  std::size_t dropped = 0;

  int correct(int sweeps, double, const std::function<bool(int, double)>& watch, WeightSystem& system) {
    int done = 0;
    while (done < sweeps)
      if (!watch(++done, objective())) break;
    calls.push_back(done);
    atoms.resize(atoms.size() - std::min(dropped, atoms.size()));
    weights = Vector(weights.head(Index(atoms.size())));
    system.reset(expansion().transpose() * expansion(), expansion().transpose() * y_, weights);
    system.solve();
    weights = system.weights();
    return done;
  }
};
static_assert(CorrectableSpace<CorrectedSpace>);

TEST(Pursue, CorrectsAfterEveryAtomAndPolishesAtTheEnd) {
  CorrectedSpace space(Matrix::Identity(4, 4), (Vector(4) << 8, 4, 2, 1).finished());
  std::vector<Phase> phases;
  pursuit::Run run({}, [&](const Moment& moment) {
    phases.push_back(moment.phase);
    EXPECT_EQ(moment.target_rank, 2);
    EXPECT_EQ(moment.max_sweeps, moment.phase == Phase::atom ? 0 : moment.phase == Phase::correction ? 3 : 5);
    return true;
  });
  const auto outcome = pursue(space, {.rank = 2, .corrections = 3, .polish = 5}, run);
  EXPECT_EQ(space.calls, (std::vector<int>{3, 3, 5}));
  using enum Moment::Phase;
  EXPECT_EQ(phases,
            (std::vector<Phase>{correction, correction, correction, Phase::atom, correction, correction,
                                correction, Phase::atom, polish, polish, polish, polish, polish}));
  ASSERT_EQ(outcome.trace.size(), 3U);
  EXPECT_EQ(outcome.trace[0].sweeps, 3);
  EXPECT_EQ(outcome.trace[2].sweeps, 5);
  EXPECT_EQ(outcome.trace[2].lmo_value, 0);
  EXPECT_EQ(outcome.stop, Stop::rank_reached);
}

TEST(Pursue, PolishesInFullWhenNoFurtherAtomHelps) {
  CorrectedSpace space(Matrix::Identity(4, 2), (Vector(4) << 8, 4, 2, 1).finished());
  const auto outcome = pursue(space, {.rank = 4, .polish = 5});
  EXPECT_EQ(outcome.stop, Stop::no_ascent);
  EXPECT_EQ(space.calls, (std::vector<int>{5}));
}

TEST(Pursue, StopsInTheMiddleOfCorrections) {
  CorrectedSpace space(Matrix::Identity(4, 4), (Vector(4) << 8, 4, 2, 1).finished());
  const auto stop_at = [](Phase phase) {
    return pursuit::Run({},
                        [phase](const Moment& moment) { return moment.phase != phase || moment.sweep < 2; });
  };
  EXPECT_EQ(pursue(space, {.rank = 3, .corrections = 4, .polish = 4}, stop_at(Phase::correction)).stop,
            Stop::interrupted);
  EXPECT_EQ(space.calls, (std::vector<int>{2})) << "neither a second atom nor a polish follows";
  CorrectedSpace polished(Matrix::Identity(4, 4), (Vector(4) << 8, 4, 2, 1).finished());
  EXPECT_EQ(pursue(polished, {.rank = 1, .corrections = 4, .polish = 4}, stop_at(Phase::polish)).stop,
            Stop::interrupted);
  EXPECT_EQ(polished.calls, (std::vector<int>{4, 2}));
}

TEST(Pursue, GivesUpWhereCorrectionsDropEveryAtom) {
  CorrectedSpace space(Matrix::Identity(4, 4), (Vector(4) << 8, 4, 2, 1).finished());
  space.dropped = 1;
  const auto outcome = pursue(space, {.rank = 3, .corrections = 1});
  EXPECT_EQ(space.calls.size(), 6U) << "twice the rank";
  EXPECT_EQ(outcome.stop, Stop::no_ascent) << "three atoms were asked for and there are none";
}

}  // namespace
}  // namespace pursuit
