#include "completion/draw_average.hpp"

#include "completion/test_support.hpp"
#include "linalg/decompositions.hpp"

namespace pursuit {
namespace {

Matrix products(const FactorMatrix& rows, const FactorMatrix& cols) {
  Matrix result = rows.rightCols(rows.cols() - 1).cast<double>() *
                  cols.rightCols(cols.cols() - 1).cast<double>().transpose();
  result.colwise() += rows.col(0).cast<double>();
  result.rowwise() += cols.col(0).transpose().cast<double>();
  return result;
}

Matrix products(const BayesianFactors& f) {
  const auto factors = [&](const FactorSide& side) {
    return FactorMatrix(
        Eigen::Map<const FactorMatrix>(side.mean.data(), side.size(), f.width()).leftCols(f.atoms() + 1));
  };
  return products(factors(f.rows()), factors(f.cols()));
}

TEST(DrawAverage, IsTheMeanOfProductsAndOfLittleRank) {
  const Planted& data = planted_rank_three();
  const ObservedMatrix observed(data.train);
  for (const int draws : {1, 2, 40}) {
    BayesianFactors factors(observed, 2, 2, false, 3, 1);
    factors.widen(7);
    for (int k = 0; k < 20; ++k) factors.sweep();
    DrawAverage one(1), three(3);
    Matrix mean = Matrix::Zero(200, 150);
    for (int k = 0; k < draws; ++k) {
      factors.draw();
      mean += products(factors) / draws;
      one.add(factors);
      three.add(factors);
    }
    const auto [rows, cols] = one.factors();
    EXPECT_EQ(one.count(), draws);
    EXPECT_LE(rows.cols(), 2 * 7 + 2);
    const double error = (products(rows, cols) - mean).norm() / mean.norm();
    EXPECT_LT(error, draws <= 2 ? 1e-5 : 0.02) << draws;
    EXPECT_EQ(three.factors(), std::pair(rows, cols)) << "for any number of threads";
  }
}

TEST(DrawAverage, LosesHardlyMoreThanTheBestOfItsRank) {
  const ObservedMatrix observed(planted(700, 300, 6, 1.0, 0.1, 4).train);
  BayesianFactors factors(observed, 2, 2, false, 3, 1);
  factors.widen(3);
  for (int k = 0; k < 10; ++k) factors.sweep();
  DrawAverage average(1);
  Matrix mean = Matrix::Zero(700, 300);
  constexpr int kDraws = 50;
  for (int k = 0; k < kDraws; ++k) {
    factors.draw();
    mean += products(factors) / kDraws;
    average.add(factors);
  }
  const auto [rows, cols] = average.factors();
  const Matrix atoms = mean - products(FactorMatrix(rows.leftCols(1)), FactorMatrix(cols.leftCols(1)));
  const double best = thin_svd(atoms).values.tail(300 - 7).norm();
  EXPECT_GT(best, 1e-3 * mean.norm());
  EXPECT_LT((products(rows, cols) - mean).norm(), 1.05 * best);
  EXPECT_NEAR(kDraws * rows.col(1).norm(), cols.col(1).norm(), 1e-3 * cols.col(1).norm()) << "of one size";
}

TEST(DrawAverage, OfDrawsOfMoreAtomsThanThereAreDirections) {
  const ObservedMatrix observed(planted(12, 10, 2, 0.3, 0.6, 5).train);
  BayesianFactors factors(observed, 2, 2, false, 3, 1);
  factors.widen(15);
  DrawAverage average(1);
  Matrix mean = Matrix::Zero(12, 10);
  for (int k = 0; k < 20; ++k) {
    factors.draw();
    mean += products(factors) / 20;
    average.add(factors);
  }
  const auto [rows, cols] = average.factors();
  EXPECT_LE(rows.cols(), 11);
  EXPECT_LT((products(rows, cols) - mean).norm(), 1e-4 * mean.norm());
}

TEST(DrawAverage, GivesTheSameBitsForAnyNumberOfThreads) {
  const ObservedMatrix observed(planted(1300, 610, 2, 0.3, 0.05, 6).train);
  BayesianFactors factors(observed, 2, 2, false, 3, 1);
  factors.widen(20);
  DrawAverage averages[] = {DrawAverage(1), DrawAverage(2), DrawAverage(3), DrawAverage(16)};
  for (int k = 0; k < 9; ++k) {
    factors.draw();
    for (DrawAverage& average : averages) average.add(factors);
  }
  const auto one = averages[0].factors();
  for (int k = 1; k < 4; ++k) EXPECT_EQ(averages[k].factors(), one);
}

TEST(DrawAverage, OfOffsetsAloneIsTheirMean) {
  const ObservedMatrix data(planted(20, 15, 1, 0.1, 0.5, 3).train);
  BayesianFactors factors(data, 2, 1, false, 3, 1);
  DrawAverage average(1);
  for (int k = 0; k < 3; ++k) {
    factors.draw();
    average.add(factors);
  }
  const auto [rows, cols] = average.factors();
  EXPECT_EQ(rows.cols(), 1);
  EXPECT_TRUE(rows.allFinite() && cols.allFinite());
}

}  // namespace
}  // namespace pursuit
