// Atoms u u^T under losses: networks of zeros and ones, counts between members of one group.

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/structures.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

Matrix symmetric_numbers(const Loss& loss, Index size, std::uint64_t seed) {
  const Matrix U = gaussian(size, 2, seed), V = U.cwiseAbs(), noise = uniform(size, size, seed + 1);
  Matrix Y(size, size);
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j <= i; ++j) {
      const double x = U.row(i).dot(U.row(j)), positive = V.row(i).dot(V.row(j)), e = noise(i, j);
      switch (loss.kind) {
        case Loss::bernoulli: Y(i, j) = e < 1 / (1 + std::exp(-2 * x)) ? 1 : 0; break;
        case Loss::poisson: Y(i, j) = std::floor(2 * positive + e); break;
        case Loss::poisson_log: Y(i, j) = std::floor(std::exp(std::min(x, 3.0)) + e); break;
        default: Y(i, j) = e < 0.05 ? x + 10 : x + 0.1 * e;
      }
      Y(j, i) = Y(i, j);
    }
  return Y;
}

FactorOptions symmetric_options(const char* loss, Index rank) {
  FactorOptions options;
  options.rank = rank;
  options.loss = parse_loss(loss);
  if (options.loss.has_positive_means()) {
    options.left = nonneg();
    options.weights = WeightRule::nonneg;
  }
  return options;
}

TEST(FactorSymmetricByLoss, FindsPlantedAtomsAndNeverRises) {
  for (const char* spec : {"bernoulli", "poisson", "poisson-log", "huber:0.5"}) {
    SCOPED_TRACE(spec);
    const FactorOptions options = symmetric_options(spec, 2);
    const Matrix Y = symmetric_numbers(options.loss, 40, 3);
    const FactorResult found = factor_symmetric(Y, options);
    EXPECT_EQ(found.model.rank(), 2);
    EXPECT_TRUE(same_bits(found.model.left(), found.model.right()));
    double before = std::numeric_limits<double>::infinity();
    for (const Step& step : found.trace) {
      EXPECT_LE(step.objective, before);
      before = step.objective;
    }
    // Atoms with two factors reach no less, and hardly more where both are the same in truth.
    FactorOptions apart = options;
    apart.right = apart.left;
    const FactorResult free = factor(Y, apart);
    EXPECT_GE(found.objective, free.objective * (1 - 1e-3));
    EXPECT_GT(found.deviance_explained(), 0.7 * free.deviance_explained());
  }
}

TEST(FactorSymmetricByLoss, EveryAtomIsInItsSetAndWeightsAreAllowed) {
  const Matrix Y = symmetric_numbers(Loss::bernoulli, 30, 5);
  FactorOptions options = symmetric_options("bernoulli", 3);
  options.left = nonneg() + sparse(12);
  options.weights = WeightRule::nonneg;
  const FactorResult found = factor_symmetric(Y, options);
  EXPECT_GE(found.model.rank(), 1);
  for (Index k = 0; k < found.model.rank(); ++k)
    EXPECT_TRUE(options.left.of(k).contains(found.model.left().col(k), 1e-9));
  EXPECT_GE(found.model.weights.minCoeff(), 0);
  EXPECT_LT(found.trace.back().objective, found.trace.front().objective);
}

TEST(FactorSymmetricByLoss, MembersInAnotherOrderGiveTheSameDeviance) {
  const Matrix Y = symmetric_numbers(Loss::bernoulli, 31, 7);
  Eigen::PermutationMatrix<Eigen::Dynamic> turned(31);
  for (int i = 0; i < 31; ++i) turned.indices()[i] = (i * 11 + 4) % 31;
  const FactorOptions options = symmetric_options("bernoulli", 1);
  const double one = factor_symmetric(Y, options).objective,
               other = factor_symmetric(Matrix(turned * Y * turned.transpose()), options).objective;
  EXPECT_NEAR(one, other, 1e-3 * one);
}

TEST(FactorSymmetricByLoss, RefusesWhatDoesNotGoTogether) {
  using testing::HasSubstr;
  const Matrix Y = symmetric_numbers(Loss::bernoulli, 6, 1);
  FactorOptions options = symmetric_options("bernoulli", 1);
  options.offsets = true;
  EXPECT_THAT(message_of<InvalidArgument>([&] { factor_symmetric(Y, options); }),
              HasSubstr("without weights"));
  options.offsets = false;
  options.initial = {gaussian(6, 1, 1), gaussian(6, 1, 1), Vector::Ones(1)};
  options.fixed = 1;
  EXPECT_THAT(message_of<InvalidArgument>([&] { factor_symmetric(Y, options); }), HasSubstr("fixed 1"));
  Matrix wrong = Y;
  wrong(0, 1) = 1 - wrong(1, 0);
  EXPECT_THAT(message_of<InvalidInput>([&] { factor_symmetric(wrong, symmetric_options("bernoulli", 1)); }),
              HasSubstr("not symmetric"));
  wrong.setConstant(0.5);
  wrong(2, 2) = 7;
  EXPECT_THAT(message_of<InvalidInput>([&] { factor_symmetric(wrong, symmetric_options("bernoulli", 1)); }),
              HasSubstr("7"));
}

}  // namespace
}  // namespace pursuit
