#include "completion/bayesian_factors.hpp"

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

}  // namespace
}  // namespace pursuit
