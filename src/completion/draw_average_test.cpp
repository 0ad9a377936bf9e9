#include "completion/draw_average.hpp"

#include "completion/test_support.hpp"

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
