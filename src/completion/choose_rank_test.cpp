#include "pursuit/completion/choose_rank.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

/// Non-negative factors, most of whose entries are small, and some noise.
Matrix planted_parts(Index rows, Index cols, Index rank, std::uint64_t seed, double noise) {
  Random random(seed);
  const auto positive = [&](Index size) {
    return Matrix(random.gaussian_matrix(size, rank).array().square());
  };
  const Matrix left = positive(rows), right = positive(cols);
  Matrix Y = left * right.transpose();
  Y += noise * Y.mean() * random.gaussian_matrix(rows, cols);
  return Y.cwiseMax(0);
}

Matrix planted_sparse(Index rows, Index cols, Index rank, Index support, std::uint64_t seed, double noise) {
  Random random(seed);
  Matrix right = Matrix::Zero(cols, rank);
  for (Index k = 0; k < rank; ++k)
    for (Index e = 0; e < support; ++e) right(random.below(cols), k) = random.gaussian();
  const Matrix left = random.gaussian_matrix(rows, rank);
  return left * right.transpose() + noise * random.gaussian_matrix(rows, cols);
}

ChooseOptions nmf_options(std::vector<Index> ranks) {
  ChooseOptions options;
  options.ranks = std::move(ranks);
  options.factor = {.left = nonneg(),
                    .right = nonneg(),
                    .weights = WeightRule::nonneg,
                    .polish = 100,
                    .polish_tolerance = 1e-4,
                    .restarts = 4,
                    .threads = 1};
  return options;
}

TEST(ChooseRank, FindsThePlantedRankOfParts) {
  for (const Index rank : {2, 5}) {
    const Matrix Y = planted_parts(50, 40, rank, 7 + std::uint64_t(rank), 0.1);
    const RankChoice choice = choose_rank(data_matrix(Y), nmf_options({1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(choice.rank, rank) << choice.reason;
    EXPECT_FALSE(choice.interrupted);
    ASSERT_EQ(choice.ranks.size(), 7U);
    for (std::size_t i = 1; i < choice.ranks.size(); ++i) {
      EXPECT_LE(choice.ranks[i].training, choice.ranks[i - 1].training + 1e-9) << "ranks nest";
      EXPECT_EQ(choice.ranks[i].errors.size(), 5U);
    }
    EXPECT_GT(choice.ranks[std::size_t(rank) - 1].stability, 0.9);
  }
}

TEST(ChooseRank, FindsThePlantedRankUnderSparsity) {
  const Matrix Y = planted_sparse(60, 50, 3, 8, 11, 0.3);
  ChooseOptions options;
  options.ranks = {1, 2, 3, 4, 5};
  options.factor.right = sparse(8);
  options.factor.threads = 1;
  const RankChoice choice = choose_rank(data_matrix(Y), options);
  EXPECT_EQ(choice.rank, 3) << choice.reason;
}

TEST(ChooseRank, FindsThePlantedRankOfCounts) {
  Random random(3);
  const Matrix means = planted_parts(60, 40, 3, 5, 0);
  Matrix counts(60, 40);
  for (Index i = 0; i < counts.rows(); ++i) {
    for (Index j = 0; j < counts.cols(); ++j) {
      double sum = 0;  // arrivals before the time is up
      Index arrivals = 0;
      for (; (sum -= std::log(1 - random.uniform())) < 4 * means(i, j); ++arrivals) {
      }
      counts(i, j) = double(arrivals);
    }
  }
  ChooseOptions options = nmf_options({1, 2, 3, 4, 5});
  options.factor.loss = Loss::poisson;
  const RankChoice choice = choose_rank(data_matrix(counts), options);
  EXPECT_EQ(choice.rank, 3) << choice.reason;
  EXPECT_THAT(choice.error_name, HasSubstr("poisson"));
}

TEST(ChooseRank, ErrorsAreThoseOfEntriesHeldOut) {
  // Of pure noise no rank predicts anything: errors are about 1 and rise, while the training error falls.
  const Matrix Y = Random(9).gaussian_matrix(40, 30);
  ChooseOptions options;
  options.ranks = {1, 2, 4};
  options.factor.threads = 1;
  const RankChoice choice = choose_rank(data_matrix(Y), options);
  EXPECT_EQ(choice.rank, 1);
  for (const RankScore& each : choice.ranks) EXPECT_GT(each.error, 1);
  EXPECT_GT(choice.ranks[2].error, choice.ranks[0].error);
  EXPECT_LT(choice.ranks[2].training, choice.ranks[0].training);
  EXPECT_LT(choice.ranks[2].stability, 0.6);
}

TEST(ChooseRank, IsTheSameForAnyThreadsAndScale) {
  const Matrix Y = planted_parts(30, 25, 2, 1, 0.1);
  ChooseOptions options = nmf_options({1, 2, 3});
  const RankChoice expected = choose_rank(data_matrix(Y), options);
  for (const int threads : {2, 3, 16}) {
    options.factor.threads = threads;
    const RankChoice found = choose_rank(data_matrix(Y, threads), options);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(found.ranks[k].errors, expected.ranks[k].errors);
      EXPECT_EQ(found.ranks[k].stability, expected.ranks[k].stability);
    }
  }
  const RankChoice large = choose_rank(data_matrix(Matrix(std::ldexp(1.0, 400) * Y)), options);
  const SparseMatrix stored = Y.sparseView();
  const RankChoice from_sparse = choose_rank(data_matrix(stored), options);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(large.ranks[k].errors, expected.ranks[k].errors);
    EXPECT_EQ(from_sparse.ranks[k].errors, expected.ranks[k].errors);
  }
}

TEST(ChooseRank, KeepsTheRanksThatAreDoneWhenStopped) {
  const Matrix Y = planted_parts(30, 25, 2, 1, 0.1);
  ChooseOptions options = nmf_options({1, 2, 3, 4, 5, 6});
  options.watch = [](double share, const std::string&) { return share < 0.9; };
  const RankChoice choice = choose_rank(data_matrix(Y), options);
  EXPECT_TRUE(choice.interrupted);
  EXPECT_LT(choice.ranks.size(), 6U);
  options.watch = [](double, const std::string&) { return false; };
  EXPECT_TRUE(choose_rank(data_matrix(Y), options).ranks.empty());
}

TEST(ChooseRank, RefusesWhatMakesNoSense) {
  const auto data = data_matrix(planted_parts(12, 10, 2, 1, 0.1));
  const auto with = [&](const auto& change) {
    ChooseOptions options = nmf_options({1, 2});
    change(options);
    return choose_rank(data, options);
  };
  EXPECT_THROW(with([](auto& o) { o.ranks.clear(); }), InvalidArgument);
  EXPECT_THROW(with([](auto& o) { o.ranks = {0, 1}; }), InvalidArgument);
  EXPECT_THROW(with([](auto& o) { o.ranks = {2, 1}; }), InvalidArgument);
  EXPECT_THROW(with([](auto& o) { o.ranks = {11}; }), InvalidArgument);
  EXPECT_THROW(with([](auto& o) { o.folds = 1; }), InvalidArgument);
  EXPECT_THROW(with([](auto& o) { o.ranks = {9}; }), InvalidInput);
  EXPECT_THROW(with([](auto& o) {
                 o.factor.loss = Loss::poisson;
                 o.factor.left = sphere();
               }),
               InvalidArgument);
  EXPECT_THROW(with([](auto& o) { o.factor.loss = Loss::bernoulli; }), InvalidInput) << "not of 0 and 1";
}

TEST(MatchedCosine, IsOneForTheSameAtomsInAnyOrder) {
  Random random(2);
  const Matrix left = random.gaussian_matrix(6, 3), right = random.gaussian_matrix(5, 3);
  const Expansion a(left, right, Vector::Ones(3));
  Expansion b(-2 * left.rowwise().reverse(), right.rowwise().reverse(), Vector::Constant(3, 5));
  EXPECT_NEAR(matched_cosine(a, b), 1, 1e-12);
  b.keep({0, 1});
  EXPECT_NEAR(matched_cosine(a, b), 2.0 / 3, 1e-12) << "an atom without a partner counts nothing";
  EXPECT_EQ(matched_cosine(a, Expansion(Matrix(6, 0), Matrix(5, 0), Vector(0))), 0);
}

}  // namespace
}  // namespace pursuit
