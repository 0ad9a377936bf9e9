// Whole factorizations: the cells of the paper's Table 1 and the promises to users.

#include "pursuit/algorithms/factor.hpp"

#include "linalg/decompositions.hpp"
#include "pursuit/atoms/structures.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

const std::vector<Atoms> kSets{sphere(), sparse(4), nonneg(), nonneg() + sparse_fraction(0.5)};
const std::vector<WeightRule> kRules{WeightRule::free, WeightRule::newest, WeightRule::nonneg,
                                     WeightRule(WeightRule::convex, 4.0), WeightRule::economic};

Matrix symmetric_matrix(Index n, std::uint64_t seed) {
  const Matrix A = gaussian(n, n, seed);
  return A + A.transpose();
}

/// Options of a run through the loop, on spheres too.
FactorOptions through_the_loop(Index rank, const Atoms& left, const Atoms& right, WeightRule rule,
                               int corrections, int polish) {
  FactorOptions options{.rank = rank, .left = left, .right = right, .weights = rule};
  options.corrections = corrections;
  options.polish = polish;
  options.use_exact_path = false;
  return options;
}

/// What every result promises, whatever was asked: members, allowed weights, no rise, true figures.
void expect_sound(const Matrix& Y, const FactorResult& result, const Atoms& left, const Atoms& right,
                  WeightRule rule, double rounding = 1e-12) {
  const Expansion& model = result.model;
  ASSERT_TRUE(model.left().allFinite() && model.right().allFinite() && model.weights.allFinite());
  ASSERT_EQ(model.left().cols(), model.rank());
  ASSERT_EQ(model.right().cols(), model.rank());
  for (Index i = 0; i < model.rank(); ++i) {
    EXPECT_TRUE(left.of(i).contains(model.left().col(i), 1e-12)) << "left atom " << i;
    EXPECT_TRUE(right.of(i).contains(model.right().col(i), 1e-12)) << "right atom " << i;
    EXPECT_TRUE(rule.allows_negative() || model.weights[i] >= 0) << "weight " << i;
  }
  if (rule.kind == WeightRule::convex && model.rank() > 0) {
    EXPECT_LE(model.weights.sum(), rule.radius * (1 + 1e-10));
  }
  const double norm_squared = Y.squaredNorm();
  const double error = norm_squared > 0 ? (Y - model.dense()).norm() / Y.norm() : 0.0;
  EXPECT_NEAR(result.relative_error * result.relative_error, error * error, rounding);
  for (std::size_t i = 0; i < result.trace.size(); ++i) {
    const Step& step = result.trace[i];
    const double before = i > 0 ? result.trace[i - 1].objective : 0.5 * norm_squared;
    EXPECT_LE(step.objective, before + rounding * norm_squared)
        << "step " << i << ": " << before << " -> " << step.objective;
    EXPECT_NEAR(step.gain, before - step.objective, rounding * norm_squared);
    EXPECT_NEAR(step.relative_error, std::sqrt(2 * step.objective / norm_squared), 1e-12);
  }
  if (!result.trace.empty()) {
    EXPECT_EQ(result.trace.back().rank, model.rank());
    EXPECT_NEAR(2 * result.trace.back().objective / norm_squared, error * error, rounding);
  }
}

TEST(Factor, KeepsItsPromisesForEveryPairOfSetsAndEveryRule) {
  for (const Matrix& Y : {Matrix(gaussian(12, 10, 1)), Matrix(uniform(10, 12, 2))})
    for (const Atoms& left : kSets)
      for (const Atoms& right : kSets)
        for (const WeightRule rule : kRules)
          for (const int corrections : {0, 2}) {
            SCOPED_TRACE(left->spec() + " x " + right->spec() + ", " + rule.spec() + ", " +
                         std::to_string(corrections));
            const FactorResult result =
                factor(Y, through_the_loop(4, left, right, rule, corrections, corrections * 5));
            expect_sound(Y, result, left, right, rule);
            if (rule.allows_negative()) {  // constraints may be met best with fewer atoms
              EXPECT_EQ(result.model.rank(), 4);
              EXPECT_EQ(result.stop, Stop::rank_reached);
            }
            EXPECT_TRUE(rule.kind == WeightRule::convex || result.relative_error < 0.95);
          }
}

TEST(FactorSymmetric, KeepsItsPromisesForEverySetAndEveryRule) {
  const Matrix A = gaussian(20, 11, 3);
  for (const Matrix& C : {symmetric_matrix(11, 1), Matrix(A.transpose() * A / 20)})
    for (const Atoms& set : kSets)
      for (const WeightRule rule : kRules)
        for (const int corrections : {0, 2}) {
          SCOPED_TRACE(set->spec() + ", " + rule.spec() + ", " + std::to_string(corrections));
          const FactorResult result =
              factor_symmetric(C, through_the_loop(4, set, set, rule, corrections, corrections * 5));
          expect_sound(C, result, set, set, rule);
          EXPECT_EQ(result.model.left(), result.model.right());
          EXPECT_TRUE(result.model.symmetric());
          EXPECT_GE(result.model.rank(), 1);
        }
}

/// Propositions behind Theorem 1, for free weights and no corrections: each step gains at least <z, r>^2 / 2
/// (atoms have unit norm), and the residual is orthogonal to every atom.
TEST(Factor, GainsWhatTheoryGuaranteesInEveryStep) {
  const Matrix Y = gaussian(15, 12, 1);
  for (const Atoms& left : kSets)
    for (const Atoms& right : kSets) {
      const FactorResult result = factor(Y, through_the_loop(6, left, right, WeightRule::free, 0, 0));
      for (const Step& step : result.trace)
        EXPECT_GE(step.gain, 0.5 * step.lmo_value * step.lmo_value - 1e-11 * Y.squaredNorm()) << left->spec();
      const Matrix R = Y - result.model.dense();
      for (Index j = 0; j < result.model.rank(); ++j)
        EXPECT_NEAR(result.model.left().col(j).dot(R * result.model.right().col(j)), 0, 1e-9 * Y.norm());
    }
}

/// Singular values and right singular vectors, descending, from the eigenpairs of Y^T Y.
struct Svd {
  explicit Svd(const Matrix& Y) : eigen(symmetric_eigen(Y.transpose() * Y)) {}
  Vector values() const { return eigen.values.reverse().cwiseMax(0.0).cwiseSqrt(); }
  Vector right(Index i) const { return eigen.vectors.col(eigen.vectors.cols() - 1 - i); }
  SymmetricEigen eigen;
};

TEST(Factor, OnSpheresIsTheSvd) {
  for (const auto& [n, m] : {std::pair<Index, Index>{40, 30}, {150, 90}}) {
    const Matrix Y = gaussian(n, m, 1);
    const SparseMatrix S = to_sparse(Y);
    const Svd svd(Y);
    for (const FactorResult& result : {factor(Y, {.rank = 5}), factor(S, {.rank = 5})}) {
      expect_sound(Y, result, sphere(), sphere(), WeightRule::free);
      EXPECT_LT(max_difference(result.model.weights, svd.values().head(5)), 1e-9);
      EXPECT_NEAR(result.relative_error, svd.values().tail(m - 5).norm() / Y.norm(), 1e-9);
      for (Index i = 0; i < 5; ++i) {
        const Vector u = result.model.left().col(i), v = result.model.right().col(i);
        EXPECT_EQ(v.maxCoeff(), v.cwiseAbs().maxCoeff()) << "signs are settled";
        EXPECT_NEAR(std::abs(v.dot(svd.right(i))), 1, 1e-7);
        EXPECT_LT(max_difference(Y * v, result.model.weights[i] * u), 1e-7);
      }
      EXPECT_EQ(result.stop, Stop::rank_reached);
      EXPECT_EQ(result.trace.size(), 5U);
    }
  }
}

TEST(Factor, ThroughTheLoopApproachesTheSvd) {
  const Matrix Y = gaussian(30, 20, 1);
  const Vector values = Svd(Y).values();
  for (const int corrections : {0, 2}) {
    FactorOptions options =
        through_the_loop(3, sphere(), sphere(), WeightRule::free, corrections, 250 * corrections);
    options.polish_tolerance = 1e-9;
    const FactorResult result = factor(Y, options);
    EXPECT_NEAR(result.relative_error, values.tail(17).norm() / Y.norm(), 1e-5) << corrections;
  }
}

TEST(FactorSymmetric, OnTheSphereIsTheEigendecomposition) {
  for (const Index n : {20, 120}) {
    const Matrix C = symmetric_matrix(n, 2);
    Vector values = symmetric_eigen(C).values;
    std::sort(values.begin(), values.end(), [](double a, double b) { return std::abs(a) > std::abs(b); });
    const FactorResult free = factor_symmetric(C, {.rank = 4});
    expect_sound(C, free, sphere(), sphere(), WeightRule::free);
    EXPECT_LT(max_difference(free.model.weights, values.head(4)), 1e-8);
    EXPECT_LT(free.model.weights.minCoeff(), 0) << "both signs are among the leading ones";
    const FactorResult psd = factor_symmetric(C, {.rank = 4, .weights = WeightRule::nonneg});
    expect_sound(C, psd, sphere(), sphere(), WeightRule::nonneg);
    std::sort(values.begin(), values.end(), std::greater<>());
    EXPECT_LT(max_difference(psd.model.weights, values.head(4)), 1e-8);
  }
}

/// Disjoint supports, so that the planted atoms are the only best ones.
struct Planted {
  Matrix left, right;
  Vector weights = (Vector(3) << 9, 6, 4).finished();
  Matrix matrix() const { return left * weights.asDiagonal() * right.transpose(); }
};

Planted planted(Index n, Index m, Index k, bool nonnegative) {
  Planted result{Matrix::Zero(n, 3), Matrix::Zero(m, 3)};
  for (Index i = 0; i < 3; ++i) {
    result.left.col(i).segment(i * k, k) = gaussian(k, 1, 1 + std::uint64_t(i)).normalized();
    result.right.col(i).segment(m - (i + 1) * k, k) = gaussian(k, 1, 5 + std::uint64_t(i)).normalized();
  }
  if (nonnegative) {
    result.left = result.left.cwiseAbs();
    result.right = result.right.cwiseAbs();
  }
  return result;
}

void expect_recovered(const Expansion& model, const Matrix& left, const Matrix& right, double tolerance) {
  ASSERT_EQ(model.rank(), 3);
  const Matrix overlap =
      (model.left().transpose() * left).cwiseProduct(model.right().transpose() * right).cwiseAbs();
  for (Index i = 0; i < 3; ++i) EXPECT_GT(overlap.col(i).maxCoeff(), 1 - tolerance) << "planted atom " << i;
}

TEST(Factor, RecoversPlantedAtoms) {
  const Matrix noise = 1e-3 * gaussian(20, 18, 9);
  const Planted mixed = planted(20, 18, 5, false), positive = planted(20, 18, 5, true);
  struct Cell {
    const char* name;
    const Planted& truth;
    Atoms left, right;
    WeightRule weights;
  };
  for (const auto& [name, truth, left, right, weights] :
       {Cell{"SVD", mixed, sphere(), sphere(), WeightRule::free},
        Cell{"sparse SVD", mixed, sparse(5), sparse(5), WeightRule::free},
        Cell{"NMF", positive, nonneg(), nonneg(), WeightRule::nonneg},
        Cell{"sparse NMF", positive, nonneg() + sparse(5), nonneg() + sparse(5), WeightRule::nonneg}})
    for (const Start start : {Start::greedy, Start::leading}) {
      SCOPED_TRACE(name);
      const Matrix Y = truth.matrix() + noise;
      const FactorResult result =
          factor(Y, {.rank = 3, .left = left, .right = right, .weights = weights, .start = start});
      expect_sound(Y, result, left, right, weights);
      expect_recovered(result.model, truth.left, truth.right, 1e-4);
      EXPECT_LT(result.relative_error, 3e-3);
    }
}

TEST(FactorSymmetric, RecoversPlantedAtoms) {
  const Matrix U = planted(20, 20, 5, false).left;
  const Matrix E = symmetric_matrix(20, 4);
  const Matrix C = U * (Vector(3) << 9, -6, 4).finished().asDiagonal() * U.transpose() + 1e-3 * E;
  for (const Atoms& set : {sphere(), sparse(5)}) {  // PCA and sparse PCA
    const FactorResult result = factor_symmetric(C, {.rank = 3, .left = set});
    expect_sound(C, result, set, set, WeightRule::free);
    expect_recovered(result.model, U, U, 1e-4);
    EXPECT_NEAR(result.model.weights.minCoeff(), -6, 0.02) << set->spec();
  }
}

TEST(Factor, TellsFloatAndSparseDataApartByRoundingOnly) {
  const Planted truth = planted(20, 18, 5, true);
  const Matrix Y = truth.matrix() + 1e-2 * thinned(uniform(20, 18, 3), 0.3, 4);
  const Eigen::MatrixXf narrow = Y.cast<float>();
  const SparseMatrixOf<double> sparse_data = to_sparse(Y);
  const SparseMatrixOf<float> narrow_sparse = to_sparse<float>(Y);
  const AnyMatrix any = sparse_data;
  for (const Atoms& set : {sphere(), sparse(5), nonneg()}) {
    const FactorOptions options{.rank = 3, .left = set, .right = set};
    const FactorResult expected = factor(Y, options);
    const auto expect_close = [&](const FactorResult& result, double tolerance) {
      EXPECT_NEAR(result.relative_error, expected.relative_error, tolerance) << set->spec();
      EXPECT_LT(max_difference(result.model.dense(), expected.model.dense()), tolerance * Y.norm())
          << set->spec();
    };
    expect_close(factor(sparse_data, options), 1e-6);
    expect_close(factor(any, options), 1e-6);
    expect_close(factor(narrow, options), 1e-3);
    expect_close(factor(narrow_sparse, options), 1e-3);
    expect_sound(narrow.cast<double>(), factor(narrow, options), set, set, WeightRule::free, 3e-7);
  }
}

TEST(Factor, GivesTheSameBitsForAnyNumberOfThreads) {
  const Matrix dense = uniform(300, 270, 1);
  const SparseMatrix thin = to_sparse(thinned(uniform(300, 1100, 2), 0.05, 3));
  const Matrix covariance = dense.transpose() * dense;
  const auto expect_same = [](const std::function<FactorResult(int)>& run) {
    const FactorResult one = run(1);
    EXPECT_EQ(one.model.rank(), 3);
    for (const int threads : {2, 4}) {
      const FactorResult many = run(threads);
      EXPECT_TRUE(same_bits(one.model.left(), many.model.left())) << threads;
      EXPECT_TRUE(same_bits(one.model.right(), many.model.right())) << threads;
      EXPECT_TRUE(same_bits(one.model.weights, many.model.weights)) << threads;
      EXPECT_EQ(one.trace.back().objective, many.trace.back().objective);
    }
  };
  for (const Atoms& set : {sphere(), nonneg(), sparse(20)}) {
    SCOPED_TRACE(set->spec());
    FactorOptions options{.rank = 3, .left = set, .right = set, .polish = 6};
    if (!set->traits().symmetric) options.weights = WeightRule::nonneg;
    const auto with_threads = [&](int threads) {
      FactorOptions changed = options;
      changed.threads = threads;
      return changed;
    };
    expect_same([&](int threads) { return factor(dense, with_threads(threads)); });
    expect_same([&](int threads) { return factor(thin, with_threads(threads)); });
    expect_same([&](int threads) { return factor_symmetric(covariance, with_threads(threads)); });
    options.start = Start::leading;
    expect_same([&](int threads) { return factor(thin, with_threads(threads)); });
  }
}

TEST(Factor, RepeatsItselfAndListensToTheSeed) {
  const Matrix Y = gaussian(25, 20, 1);
  const FactorOptions options{.rank = 4, .left = sparse(3), .right = sparse(2), .restarts = 16, .seed = 5};
  const FactorResult first = factor(Y, options), again = factor(Y, options);
  EXPECT_TRUE(same_bits(first.model.left(), again.model.left()));
  EXPECT_TRUE(same_bits(first.model.weights, again.model.weights));
  bool differs = false;
  for (std::uint64_t seed = 6; seed < 12 && !differs; ++seed) {
    FactorOptions other = options;
    other.seed = seed;
    differs = !same_bits(first.model.left(), factor(Y, other).model.left());
  }
  EXPECT_TRUE(differs) << "six other seeds find the very same local optima";
}

TEST(FactorSymmetric, TakesACovarianceThatIsNeverFormed) {
  const Matrix X = gaussian(50, 12, 1);
  const Matrix middle = X.rowwise() - X.colwise().mean(), C = middle.transpose() * middle / 49.0;
  const SparseMatrix S = to_sparse(X);
  for (const Atoms& set : {sphere(), sparse(4)})
    for (const DataMatrixPtr& data : {data_matrix(X), data_matrix(S)}) {
      const FactorOptions options{.rank = 3, .left = set};
      const FactorResult implicit = factor_symmetric(gram_matrix(centered(data), 1.0 / 49), options);
      const FactorResult expected = factor_symmetric(C, options);
      EXPECT_LT(max_difference(implicit.model.dense(), expected.model.dense()), 1e-7) << set->spec();
      EXPECT_NEAR(implicit.relative_error, expected.relative_error, 1e-7);
    }
}

TEST(Factor, StartsFromTheLeadingPairs) {
  const Matrix positive = uniform(30, 25, 1), C = positive * positive.transpose();
  for (const Matrix& Y : {positive, Matrix(-positive), Matrix(gaussian(25, 30, 2))})
    for (const Atoms& set : kSets)
      for (const WeightRule rule : kRules)
        for (const int polish : {0, 20}) {
          SCOPED_TRACE(set->spec() + ", " + rule.spec() + ", polish " + std::to_string(polish));
          FactorOptions options = through_the_loop(4, set, set, rule, 0, polish);
          options.start = Start::leading;
          const FactorResult result = factor(Y, options);
          expect_sound(Y, result, set, set, rule);
          EXPECT_TRUE(!rule.allows_negative() || (result.model.rank() == 4 && result.relative_error < 0.98));
        }
  for (const Atoms& set : kSets) {
    FactorOptions options = through_the_loop(4, set, set, WeightRule::free, 2, 50);
    options.start = Start::leading;
    const FactorResult result = factor_symmetric(C, options);
    expect_sound(C, result, set, set, WeightRule::free);
    EXPECT_LT(result.relative_error, 0.96)
        << set->spec();  // four atoms of sparse:4 reach few of the 900 entries
  }
}

TEST(Factor, ScalesWithTheData) {
  for (const auto& [n, m] : {std::pair<Index, Index>{20, 15}, {100, 80}})
    for (const Atoms& set : {sphere(), sparse(4), nonneg()})
      for (const Start start : {Start::greedy, Start::leading}) {
        const Matrix Y = uniform(n, m, 1);
        const FactorOptions options{.rank = 3, .left = set, .right = set, .start = start, .polish = 20};
        const FactorResult expected = factor(Y, options);
        for (const double scale : {1e-120, 1e120}) {
          const Matrix scaled = scale * Y;
          const FactorResult result = factor(scaled, options);
          EXPECT_NEAR(result.relative_error, expected.relative_error, 1e-9) << set->spec() << " at " << scale;
          EXPECT_LT(max_difference(result.model.weights / scale, expected.model.weights), 1e-6 * Y.norm());
        }
      }
}

TEST(Factor, FindsNothingNonnegativeInANegativeMatrix) {
  const Matrix Y = -Matrix(uniform(9, 8, 1)).array() - 0.1;
  for (const Start start : {Start::greedy, Start::leading})
    for (const int sweeps : {0, 4}) {
      FactorOptions options = through_the_loop(3, nonneg(), nonneg(), WeightRule::nonneg, sweeps, sweeps);
      options.start = start;
      const FactorResult result = factor(Y, options);
      expect_sound(Y, result, nonneg(), nonneg(), WeightRule::nonneg);
      EXPECT_EQ(result.stop, Stop::no_ascent);
      EXPECT_EQ(result.model.rank(), 0);
      EXPECT_EQ(result.relative_error, 1);
    }
  const FactorResult free = factor(Y, {.rank = 1, .left = nonneg(), .right = nonneg()});
  EXPECT_LT(free.model.weights[0], 0) << "free weights look along -z";
  EXPECT_LT(free.relative_error, 0.5);
}

TEST(Factor, KeepsWeightsNonnegativeWhereOneSetIsSymmetric) {  // semi-NMF
  const Matrix Y = gaussian(20, 15, 1);
  for (const bool swapped : {false, true}) {
    const Atoms left = swapped ? sphere() : nonneg(), right = swapped ? nonneg() : sphere();
    for (const WeightRule rule : kRules) {
      const FactorResult result = factor(Y, {.rank = 4, .left = left, .right = right, .weights = rule});
      expect_sound(Y, result, left, right, rule);
      EXPECT_GE(result.model.weights.minCoeff(), 0) << rule.spec() << ": the free sign goes into the sphere";
    }
  }
}

TEST(Factor, TakesEveryShape) {
  for (const auto& [n, m] : {std::pair<Index, Index>{1, 1}, {1, 7}, {7, 1}, {2, 2}, {6, 5}})
    for (const bool zero : {false, true})
      for (const Atoms& left : {sphere(), sparse(1), nonneg(), nonneg() + sparse_fraction(0.5)})
        for (const Atoms& right : {sphere(), sparse(1), nonneg()})
          for (const WeightRule rule : kRules) {
            SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(m) + ": " + left->spec() + " x " +
                         right->spec() + ", " + rule.spec());
            const Matrix Y = zero ? Matrix::Zero(n, m) : gaussian(n, m, 4);
            const FactorResult result =
                factor(Y, {.rank = 1, .left = left, .right = right, .weights = rule, .polish = 4});
            expect_sound(Y, result, left, right, rule);
            if (zero) {
              EXPECT_EQ(result.model.rank(), 0);
              EXPECT_EQ(result.stop, Stop::no_ascent);
              EXPECT_EQ(result.relative_error, 0);
            }
          }
}

TEST(Factor, SaysWhyItStopped) {
  const Matrix Y = gaussian(20, 15, 1), thin = gaussian(20, 2, 2) * gaussian(15, 2, 3).transpose();
  for (const bool exact : {true, false}) {
    const FactorResult exhausted = factor(thin, {.rank = 5, .use_exact_path = exact});
    EXPECT_NE(exhausted.stop, Stop::rank_reached);
    EXPECT_EQ(exhausted.model.rank(), 2);
    EXPECT_LT(exhausted.relative_error, 1e-4);
    const FactorResult enough = factor(Y, {.rank = 15, .target_error = 0.5, .use_exact_path = exact});
    EXPECT_EQ(enough.stop, Stop::target_error);
    EXPECT_LE(enough.relative_error, 0.5);
    EXPECT_LT(enough.model.rank(), 15);
  }
  const FactorOptions options{.rank = 10, .left = sparse(3), .right = sparse(3)};
  FactorOptions limited = options, interrupted = options;
  limited.time_limit = 1e-9;
  EXPECT_EQ(factor(Y, limited).stop, Stop::time_limit);
  interrupted.observer = [](const Moment& moment) { return moment.rank < 3; };
  const FactorResult stopped = factor(Y, interrupted);
  EXPECT_EQ(stopped.stop, Stop::interrupted);
  EXPECT_EQ(stopped.model.rank(), 3);
  expect_sound(Y, stopped, sparse(3), sparse(3), WeightRule::free);
}

TEST(Factor, ConvexWeightsReachTheInsideOfTheHull) {
  const Matrix Y =
      0.2 * gaussian(4, 1, 1) * gaussian(3, 1, 2).transpose();  // ||Y||_* is far below the radius
  const FactorResult result =
      factor(Y, through_the_loop(12, sparse(4), sparse(3), {WeightRule::convex, 20.0}, 0, 0));
  expect_sound(Y, result, sparse(4), sparse(3), {WeightRule::convex, 20.0}, 1e-9);
  EXPECT_LT(result.relative_error, 1e-6);
}

TEST(Factor, ConvexWeightsNeverEndWorseThanNothing) {
  // Hulls without zero, whose every point may be farther away than zero is.
  for (const Atoms& set : {box(1, 2), simplex(), signs(), onehot(), monotone(), nonneg()})
    for (const Start start : {Start::greedy, Start::leading})
      for (std::uint64_t seed = 0; seed < 4; ++seed)
        for (const double radius : {0.1, 5.0, 100.0}) {
          SCOPED_TRACE(set->spec() + ", seed " + std::to_string(seed) + ", radius " + std::to_string(radius));
          const Matrix Y = gaussian(7, 5, seed);
          FactorOptions options = through_the_loop(3, set, set, {WeightRule::convex, radius}, 2, 10);
          options.start = start;
          const FactorResult result = factor(Y, options);
          EXPECT_LE(result.relative_error, 1 + 1e-12);
          expect_sound(Y, result, set, set, options.weights);
        }
}

TEST(Factor, EveryAtomOfAListIsInItsOwnSet) {
  const Atoms list = per_atom({sparse(8), sparse(4), sparse(2), sparse(1)});
  for (const WeightRule rule : kRules)
    for (const Start start : {Start::greedy, Start::leading})
      for (const int corrections : {0, 2})
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
          SCOPED_TRACE(rule.spec() + ", corrections " + std::to_string(corrections) + ", seed " +
                       std::to_string(seed));
          const Matrix Y = gaussian(12, 10, seed);
          FactorOptions options = through_the_loop(6, list, list, rule, corrections, 5 * corrections);
          options.start = start;
          const FactorResult result = factor(Y, options);
          expect_sound(Y, result, list, list, rule);
        }
}

TEST(Factor, TraceCountsTheSupportOfTheAtoms) {
  const Matrix Y = gaussian(20, 15, 3);
  const auto sparse_atoms = factor(Y, {.rank = 3, .left = sparse(4), .right = sparse(5)});
  const auto svd = factor(Y, {.rank = 3});
  for (const auto& [result, left, right] : {std::tuple{sparse_atoms, 4, 5}, std::tuple{svd, 20, 15}})
    for (const Step& step : result.trace) {
      EXPECT_EQ(step.left_support, step.rank * left);
      EXPECT_EQ(step.right_support, step.rank * right);
    }
}

}  // namespace
}  // namespace pursuit
