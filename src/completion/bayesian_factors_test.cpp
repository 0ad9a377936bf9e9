#include "completion/bayesian_factors.hpp"

#include "completion/factors_of_model.hpp"
#include "completion/test_support.hpp"

namespace pursuit {
namespace {

TEST(BayesianFactors, AreTheSameBitsForAnyNumberOfThreads) {
  // A row that everybody shares, whose system is a sum over segments, and enough entries for threads.
  const Matrix truth = gaussian(90, 3, 1) * gaussian(3, 6000, 2);
  ObservedEntries entries{90, 6000, {}, {}, {}};
  for (int i = 0; i < 90; ++i)
    for (int j = 0; j < 6000; ++j)
      if (i == 7 || (i * 31 + j * 17) % 23 == 0) append(entries, i, j, float(truth(i, j)));
  const ObservedMatrix data(entries);
  ASSERT_GT(data.size(), 25000);
  const auto run = [&](int threads) {
    BayesianFactors factors(data, 0, 1, true, 3, threads);
    factors.widen(20);
    for (int k = 0; k < 8; ++k) factors.sweep();
    const auto means = factors.rows().mean;
    for (int k = 0; k < 3; ++k) factors.draw();
    return std::tuple(means, factors.rows().mean, factors.cols().mean, factors.rows().prior_mean,
                      factors.cols().noise_weight, factors.noise_variance());
  };
  const auto one = run(1);
  for (const int threads : {2, 3, 16}) EXPECT_EQ(run(threads), one) << threads;
}

TEST(BayesianFactors, GoOnWithoutTheAtomsThatAreNothing) {
  Random random(5);
  const Matrix truth = gaussian(80, 3, 1) * gaussian(3, 60, 2);
  ObservedEntries entries{80, 60, {}, {}, {}};
  for (int i = 0; i < 80; ++i)
    for (int j = 0; j < 60; ++j)
      if ((i * 31 + j * 17) % 5 < 2) append(entries, i, j, float(truth(i, j) + 0.3 * random.gaussian()));
  const ObservedMatrix data(entries);
  BayesianFactors all(data, 0, 1, true, 3, 1);
  all.widen(23);
  for (int k = 0; k < 30; ++k) all.sweep();
  std::vector<int> used = used_coordinates(all);
  std::sort(used.begin(), used.end());
  ASSERT_EQ(used.size(), 4U);
  BayesianFactors few = all;
  few.keep(used);
  EXPECT_EQ(few.atoms(), 3);
  EXPECT_EQ(few.width(), kFactorLanes);
  const auto predictions = [](const BayesianFactors& f) {
    const auto side = [&](const FactorSide& s) {
      return Eigen::Map<const Eigen::Matrix<float, -1, -1, Eigen::RowMajor>>(s.mean.data(), s.size(),
                                                                             f.width())
          .cast<double>()
          .eval();
    };
    Matrix u = side(f.rows()), v = side(f.cols());
    const Vector a = u.col(0), b = v.col(0);
    u.col(0).setZero();
    return Matrix(((u * v.transpose()).colwise() + a).rowwise() + b.transpose());
  };
  EXPECT_LT((predictions(few) - predictions(all)).cwiseAbs().maxCoeff(), 0.02);
  for (int k = 0; k < 5; ++k) all.sweep(), few.sweep();
  EXPECT_LT((predictions(few) - predictions(all)).cwiseAbs().maxCoeff(), 0.02);
  const float before = few.rows().mean[3];
  few.widen(9);
  EXPECT_EQ(few.width(), 2 * kFactorLanes);
  EXPECT_EQ(few.rows().mean[3], before);
}

}  // namespace
}  // namespace pursuit
