// Counts by the Poisson loss, with any sets without negative entries.

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/structures.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

Matrix small_counts(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  const Matrix mean =
      random.gaussian_matrix(rows, 3).cwiseAbs() * random.gaussian_matrix(cols, 3).cwiseAbs().transpose();
  return mean.unaryExpr([&](double m) { return std::floor(-1.5 * m * std::log(1 - random.uniform())); });
}

double deviance_of(const Matrix& y, const Matrix& x) {
  double sum = 0;
  for (Index i = 0; i < y.size(); ++i)
    sum += 2 * ((y.data()[i] > 0 ? y.data()[i] * std::log(y.data()[i] / x.data()[i]) : 0.0) - y.data()[i] +
                x.data()[i]);
  return sum;
}

FactorOptions counting(Index rank, Atoms left, Atoms right) {
  FactorOptions o{.rank = rank, .left = std::move(left), .right = std::move(right)};
  o.weights = WeightRule::nonneg;
  o.loss = Loss::poisson;
  return o;
}

TEST(FactorCounts, OneAtomIsTheProductOfTheSums) {
  const Matrix y = small_counts(20, 12, 1);
  for (const Start start : {Start::greedy, Start::leading}) {
    FactorOptions o = counting(1, nonneg(), nonneg());
    o.start = start;
    const FactorResult result = factor(y, o);
    const Matrix best = y.rowwise().sum() * y.colwise().sum() / y.sum();
    EXPECT_LT((result.model.dense() - best).norm(), 1e-4 * best.norm());
    EXPECT_NEAR(result.deviance(), deviance_of(y, best), 1e-5 * result.deviance());
  }
}

TEST(FactorCounts, EveryStepLowersTheDeviance) {
  const Matrix y = small_counts(30, 25, 2);
  for (const auto& [left, right] : std::vector<std::pair<Atoms, Atoms>>{{nonneg(), nonneg()},
                                                                        {nonneg(), nonneg() + sparse(8)},
                                                                        {nonneg() + sparse(10), nonneg()},
                                                                        {simplex(), nonneg()},
                                                                        {nonneg(), nonneg() + unimodal()},
                                                                        {nonneg() + monotone(), nonneg()},
                                                                        {binary(), nonneg()}}) {
    SCOPED_TRACE(left.spec() + " x " + right.spec());
    const FactorResult result = factor(y, counting(4, left, right));
    double before = std::numeric_limits<double>::infinity();
    ASSERT_FALSE(result.trace.empty());
    for (const Step& step : result.trace) {
      EXPECT_LE(step.objective, before * (1 + 1e-12));
      before = step.objective;
    }
    ASSERT_TRUE(result.model.left().allFinite() && result.model.right().allFinite());
    EXPECT_GE(result.model.dense().minCoeff(), 0);
    EXPECT_NEAR(result.objective, before, 1e-6 * before);
    for (Index k = 0; k < result.model.rank(); ++k) {
      EXPECT_TRUE(left.of(k).contains(result.model.left().col(k), 1e-6));
      EXPECT_TRUE(right.of(k).contains(result.model.right().col(k), 1e-6));
    }
  }
}

TEST(FactorCounts, SparseAndDenseAgree) {
  const Matrix y = small_counts(40, 30, 3);
  const FactorOptions o = counting(3, nonneg(), nonneg());
  const FactorResult dense = factor(y, o), sparse = factor(SparseMatrix(y.sparseView()), o);
  EXPECT_NEAR(dense.objective, sparse.objective, 1e-9 * dense.objective);
}

TEST(FactorCounts, RefusesWhatMakesMeansNegative) {
  const Matrix y = small_counts(8, 7, 4);
  const auto said = [&](const FactorOptions& o) -> std::string {
    try {
      factor(y, o);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(said(counting(2, sphere(), nonneg())), HasSubstr("left set sphere"));
  EXPECT_THAT(said(counting(2, nonneg(), sparse(2))), HasSubstr("right set sparse:2"));
  FactorOptions free = counting(2, nonneg(), nonneg());
  free.weights = WeightRule::free;
  EXPECT_THAT(said(free), HasSubstr("weights must be"));
  FactorOptions negative = counting(2, nonneg(), nonneg());
  negative.initial = {-Matrix::Ones(8, 1), Matrix::Ones(7, 1), Vector::Ones(1)};
  EXPECT_THAT(said(negative), HasSubstr("initial: an entry is negative"));
  FactorOptions offsets = counting(2, nonneg(), nonneg());
  offsets.offsets = true;
  EXPECT_THAT(said(offsets), HasSubstr("poisson-log"));
}

}  // namespace
}  // namespace pursuit
