// Codes from inner products: optimal where optimality can be checked, and the same as from the dictionary.

#include "pursuit/algorithms/sparse_codes.hpp"

#include <cmath>

#include "linalg/decompositions.hpp"
#include "pursuit/algorithms/omp.hpp"
#include "pursuit/base/error.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

struct Coding {
  Matrix D, Y;
  Matrix gram = D.transpose() * D, products = D.transpose() * Y;
  Vector squared_norms = Y.colwise().squaredNorm().transpose();
};

Coding coding(Index dimension, Index atoms, Index signals, std::uint64_t seed) {
  return {gaussian(dimension, atoms, seed), gaussian(dimension, signals, seed + 1)};
}

/// How far x is from the optimality conditions of the lasso, as a share of alpha.
double distance_from_optimal(const Coding& c, Index s, double alpha, const Vector& x, bool nonnegative) {
  const Vector q = c.products.col(s) - c.gram * x;
  double worst = 0;
  for (Index j = 0; j < x.size(); ++j) {
    if (x[j] != 0)
      worst = std::max(worst, std::abs(q[j] - (x[j] > 0 ? alpha : -alpha)));
    else
      worst = std::max(worst, (nonnegative ? q[j] : std::abs(q[j])) - alpha);
  }
  return worst / alpha;
}

TEST(Lasso, MeetsTheOptimalityConditions) {
  for (const auto& [dimension, atoms] : {std::pair<Index, Index>{20, 12}, {15, 60}, {40, 40}}) {
    const Coding c = coding(dimension, atoms, 7, std::uint64_t(atoms));
    for (const double alpha : {0.01, 0.5, 3.0})
      for (const bool nonnegative : {false, true}) {
        const auto result = lasso(c.gram, c.products, c.squared_norms, {alpha, nonnegative});
        for (Index s = 0; s < 7; ++s) {
          EXPECT_TRUE(result.converged[std::size_t(s)]);
          EXPECT_LT(distance_from_optimal(c, s, alpha, result.codes.col(s), nonnegative), 1e-3);
          EXPECT_TRUE(!nonnegative || result.codes.col(s).minCoeff() >= 0);
        }
      }
  }
}

TEST(Lasso, SettlesOnAtomsThatAreNearlyDependent) {
  Matrix D = gaussian(30, 20, 3);
  D.rightCols(10) = D.leftCols(10) + 1e-4 * gaussian(30, 10, 4);
  const Coding c{D, gaussian(30, 5, 5)};
  const auto result = lasso(c.gram, c.products, c.squared_norms, {.alpha = 0.1});
  for (Index s = 0; s < 5; ++s) {
    EXPECT_TRUE(result.converged[std::size_t(s)]);
    EXPECT_LE(result.gaps[s], 1e-10);
  }
}

TEST(Lasso, GapBoundsWhatIsLeftToGain) {
  const Coding c = coding(20, 50, 4, 11);
  const auto value = [&](Index s, const Vector& x) {
    return 0.5 * (c.Y.col(s) - c.D * x).squaredNorm() + 0.3 * x.lpNorm<1>();
  };
  const auto best = lasso(c.gram, c.products, c.squared_norms, {.alpha = 0.3, .tolerance = 1e-14});
  const auto early = lasso(c.gram, c.products, c.squared_norms, {.alpha = 0.3, .max_sweeps = 2});
  for (Index s = 0; s < 4; ++s) {
    EXPECT_FALSE(early.converged[std::size_t(s)]);
    EXPECT_GE(early.gaps[s] * c.squared_norms[s] * (1 + 1e-9),
              value(s, early.codes.col(s)) - value(s, best.codes.col(s)));
  }
}

TEST(Lasso, AbovePointOfNoReturnThereIsNothing) {
  const Coding c = coding(20, 30, 3, 12);
  const auto result =
      lasso(c.gram, c.products, c.squared_norms, {.alpha = 1.01 * c.products.cwiseAbs().maxCoeff()});
  EXPECT_EQ(result.codes.norm(), 0);
}

TEST(OmpPaths, AreThoseOfThePursuitOverTheDictionary) {
  const Coding c = coding(25, 40, 6, 21);
  const auto result = omp(c.D, c.Y, {.atoms = 8});
  for (const GramColumns& gram : {gram_columns(c.gram), gram_columns_of(c.D)}) {
    const auto paths = omp_paths(gram, c.products, c.squared_norms, 8, Vector::Zero(6));
    for (Index s = 0; s < 6; ++s) {
      const OmpPath& path = paths[std::size_t(s)];
      ASSERT_EQ(path.atoms.size(), 8u);
      Vector code = Vector::Zero(40);
      for (std::size_t i = 0; i < 8; ++i) code[path.atoms[i]] = path.weights.back()[Index(i)];
      EXPECT_LT(max_difference(code, Vector(result.codes.col(s))), 1e-10);
      EXPECT_NEAR(path.squared_error, (c.Y.col(s) - c.D * code).squaredNorm(), 1e-10 * c.squared_norms[s]);
    }
  }
}

TEST(OmpPaths, EveryStepIsTheLeastSquaresFitOfItsAtoms) {
  const Coding c = coding(25, 40, 2, 22);
  const auto paths = omp_paths(gram_columns(c.gram), c.products, c.squared_norms, 6, Vector::Zero(2));
  for (Index s = 0; s < 2; ++s)
    for (std::size_t step = 1; step <= 6; ++step) {
      const std::vector<Index> chosen(paths[std::size_t(s)].atoms.begin(),
                                      paths[std::size_t(s)].atoms.begin() + std::ptrdiff_t(step));
      const Vector expected = least_squares(Matrix(c.D(Eigen::all, chosen)), c.Y.col(s));
      EXPECT_LT(max_difference(paths[std::size_t(s)].weights[step - 1], expected), 1e-9);
    }
}

TEST(OmpPaths, EndAtTheSquaredErrorOfTheirSignal) {
  const Coding c = coding(25, 40, 3, 23);
  const Vector targets = c.squared_norms.cwiseProduct(Vector{{0.5, 0.1, 2.0}});
  const auto paths = omp_paths(gram_columns(c.gram), c.products, c.squared_norms, 40, targets);
  for (Index s = 0; s < 3; ++s) EXPECT_LE(paths[std::size_t(s)].squared_error, targets[s]);
  EXPECT_LT(paths[0].atoms.size(), paths[1].atoms.size());
  EXPECT_TRUE(paths[2].atoms.empty());
}

TEST(LeastAngles, CorrelationsOfTheAtomsStayEqualAndAboveTheOthers) {
  const Coding c = coding(30, 20, 4, 31);
  for (const Index atoms : {1, 3, 7}) {
    const Matrix codes = least_angle_codes(c.gram, c.products, atoms);
    for (Index s = 0; s < 4; ++s) {
      const Vector x = codes.col(s), q = (c.products.col(s) - c.gram * x).cwiseAbs();
      EXPECT_EQ((x.array() != 0).count(), atoms);
      double lowest = q.maxCoeff(), highest = 0;
      for (Index j = 0; j < 20; ++j)
        if (x[j] != 0) {
          lowest = std::min(lowest, q[j]);
          highest = std::max(highest, q[j]);
        }
      EXPECT_NEAR(lowest, highest, 1e-9 * q.maxCoeff());
      EXPECT_NEAR(q.maxCoeff(), highest, 1e-9 * q.maxCoeff());
    }
  }
}

TEST(LeastAngles, AllAtomsAreLeastSquares) {
  const Coding c = coding(30, 10, 2, 32);
  const Matrix expected = least_squares(c.D, c.Y);
  EXPECT_LT(max_difference(least_angle_codes(c.gram, c.products, 10), expected), 1e-9);
}

TEST(SparseCodes, RefuseWhatDoesNotFit) {
  const Coding c = coding(10, 5, 2, 41);
  EXPECT_THROW(lasso(c.gram, c.products, c.squared_norms, {.alpha = -1}), InvalidArgument);
  EXPECT_THROW(lasso(c.gram, c.products.topRows(4), c.squared_norms, {}), InvalidArgument);
  EXPECT_THROW(omp_paths(gram_columns(c.gram), c.products, c.squared_norms, 6, Vector::Zero(2)),
               InvalidArgument);
  EXPECT_THROW(omp_paths(gram_columns(c.gram), c.products, c.squared_norms, 2, Vector::Zero(1)),
               InvalidArgument);
  EXPECT_THROW(least_angle_codes(c.gram, c.products.topRows(4), 2), InvalidArgument);
}

TEST(SparseCodes, DoNotDependOnThreads) {
  const Coding c = coding(25, 40, 9, 51);
  EXPECT_EQ(lasso(c.gram, c.products, c.squared_norms, {.alpha = 0.2, .threads = 1}).codes,
            lasso(c.gram, c.products, c.squared_norms, {.alpha = 0.2, .threads = 2}).codes);
  EXPECT_EQ(least_angle_codes(c.gram, c.products, 5, 1), least_angle_codes(c.gram, c.products, 5, 2));
}

}  // namespace
}  // namespace pursuit
