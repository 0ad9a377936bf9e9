// Corrections of both kinds: the objective falls, the atoms stay members, and what is reported is true.

#include "pursuit/correction/correction.hpp"

#include "correction/progress.hpp"
#include "pursuit/objective/full_squares.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

const std::vector<Atoms> kSets{sphere(), sparse(4), nonneg(), nonneg() + sparse_fraction(0.5)};
const std::vector<Sign> kSigns{Sign::free, Sign::nonnegative};

/// Where corrections start and end: the atoms, <z_i, Y> and f.
struct Iterate {
  Expansion model;
  Vector target_products;
  double objective = 0;
};

CorrectionOutcome correct(const TargetPtr& target, const AtomSets& sets, const CorrectionOptions& options,
                          Iterate& iterate) {
  FullSquares f(target, !sets.all_single());
  f.move_to(iterate.model);
  const CorrectionOutcome outcome = Corrections(f, sets, {}).run(options);
  iterate = {f.iterate(), f.weight_quadratic().linear, f.value()};
  return outcome;
}

CorrectionOutcome correct_by_fits(const TargetPtr& target, const Atoms& left, const Atoms& right,
                                  const CorrectionOptions& options, Iterate& iterate) {
  return correct(target, AtomSets(left, right), options, iterate);
}

CorrectionOutcome correct_by_oracle(const TargetPtr& target, const Atoms& set,
                                    const CorrectionOptions& options, Iterate& iterate) {
  return correct(target, AtomSets(set, set, /*symmetric=*/true), options, iterate);
}

TargetPtr target_of(const Matrix& Y) {
  return matrix_target(data_matrix(Y));
}

double objective(const Matrix& Y, const Expansion& model) {
  return 0.5 * (Y - model.dense()).squaredNorm();
}

Vector target_products(const Matrix& Y, const Expansion& model) {
  return model.left().cwiseProduct(Y * model.right()).colwise().sum().transpose();
}

Iterate iterate_of(const Matrix& Y, Expansion model) {
  Iterate iterate{std::move(model), {}, 0};
  iterate.target_products = target_products(Y, iterate.model);
  iterate.objective = objective(Y, iterate.model);
  return iterate;
}

/// Random members with weights of the allowed sign.
Iterate random_iterate(const Matrix& Y, const AtomSet& left, const AtomSet& right, Sign sign, Index r,
                       bool symmetric = false) {
  Expansion model{Matrix(Y.rows(), r), Matrix(Y.cols(), r), Vector(gaussian(r, 1, 5)), symmetric};
  for (Index i = 0; i < r; ++i) {
    left.maximize(gaussian(Y.rows(), 1, 10 + std::uint64_t(i)), model.left().col(i));
    if (!symmetric) right.maximize(gaussian(Y.cols(), 1, 20 + std::uint64_t(i)), model.right().col(i));
  }
  if (sign == Sign::nonnegative) model.weights = model.weights.cwiseAbs();
  return iterate_of(Y, model);
}

/// Everything that a correction promises about the iterate that it leaves behind.
void expect_sound(const Matrix& Y, const AtomSet& left, const AtomSet& right, Sign sign,
                  const Iterate& before, const Iterate& after) {
  const double scale = 0.5 * Y.squaredNorm();
  EXPECT_LE(after.objective, before.objective + 1e-13 * scale);
  EXPECT_NEAR(after.objective, objective(Y, after.model), 1e-12 * scale);
  EXPECT_LT(max_difference(after.target_products, target_products(Y, after.model)), 1e-11 * (1 + Y.norm()));
  ASSERT_EQ(after.model.rank(), before.model.rank());
  for (Index i = 0; i < after.model.rank(); ++i) {
    EXPECT_TRUE(left.contains(after.model.left().col(i), 1e-12)) << "left atom " << i;
    EXPECT_TRUE(right.contains(after.model.right().col(i), 1e-12)) << "right atom " << i;
    EXPECT_TRUE(sign == Sign::free || after.model.weights[i] >= 0) << "weight " << i;
  }
}

TEST(CorrectByFits, NeverRaisesTheObjectiveAndStaysInTheSets) {
  for (const Matrix& Y : {Matrix(gaussian(14, 11, 1)), Matrix(uniform(11, 14, 2))})
    for (const Atoms& left : kSets)
      for (const Atoms& right : kSets)
        for (const Sign sign : kSigns) {
          SCOPED_TRACE(left->spec() + " x " + right->spec() + (sign == Sign::free ? ", free" : ", nonneg"));
          const TargetPtr f = target_of(Y);
          const Iterate start = random_iterate(Y, *left, *right, sign, 3);
          double reached = start.objective;
          for (const int sweeps : {1, 2, 12}) {  // above two sweeps convex sets extrapolate
            Iterate iterate = start;
            const auto outcome = correct_by_fits(f, left, right, {.sweeps = sweeps, .sign = sign}, iterate);
            expect_sound(Y, *left, *right, sign, start, iterate);
            EXPECT_LE(outcome.sweeps, sweeps);
            EXPECT_GE(outcome.sweeps, 1);
            // Extrapolation goes another way, where two plain sweeps may for once be ahead of it.
            EXPECT_LE(iterate.objective, sweeps < 12 ? reached : start.objective);
            reached = iterate.objective;
          }
          EXPECT_LT(reached, start.objective) << "random atoms can be improved";
        }
}

TEST(CorrectByFits, SoundAtEveryLengthOfExtrapolation) {
  const Matrix Y = uniform(30, 25, 3);
  const TargetPtr f = target_of(Y);
  for (const auto& [left, right] :
       {std::pair{nonneg(), nonneg()}, {sphere(), nonneg()}, {sphere(), sphere()}}) {
    const Iterate start = random_iterate(Y, *left, *right, Sign::nonnegative, 4);
    double before = start.objective;
    for (int sweeps = 3; sweeps < 40; sweeps += 6) {
      Iterate iterate = start;
      correct_by_fits(f, left, right, {.sweeps = sweeps, .sign = Sign::nonnegative}, iterate);
      expect_sound(Y, *left, *right, Sign::nonnegative, start, iterate);
      EXPECT_LE(iterate.objective, before + 1e-12 * before) << "a longer run contains the shorter one";
      before = iterate.objective;
    }
  }
}

/// HALS (Cichocki and Phan 2009) with explicit residuals, both sides in turn; the engine makes four passes
/// over the columns per product with a matrix as small as this.
TEST(CorrectByFits, OnNonnegativeSetsIsHals) {
  constexpr int kPasses = 4;
  const Matrix Y = uniform(12, 10, 1);
  const Iterate start = random_iterate(Y, *nonneg(), *nonneg(), Sign::nonnegative, 3);
  Matrix W = start.model.scaled_left(), H = start.model.right();
  const auto half_sweep = [](const Matrix& data, Matrix& moving, const Matrix& fixed) {
    for (int pass = 0; pass < kPasses; ++pass)
      for (Index i = 0; i < moving.cols(); ++i) {
        const Matrix without = data - moving * fixed.transpose() + moving.col(i) * fixed.col(i).transpose();
        moving.col(i) = (without * fixed.col(i) / fixed.col(i).squaredNorm()).cwiseMax(0.0);
      }
  };
  half_sweep(Y, W, H);
  half_sweep(Y.transpose(), H, W);
  Iterate iterate = start;
  correct_by_fits(target_of(Y), nonneg(), nonneg(), {.sweeps = 1, .sign = Sign::nonnegative}, iterate);
  EXPECT_LT(max_difference(iterate.model.dense(), W * H.transpose()), 1e-12);
  for (Index i = 0; i < 3; ++i)
    EXPECT_LT(max_difference(iterate.model.weights[i] * iterate.model.left().col(i) *
                                 iterate.model.right().col(i).transpose(),
                             W.col(i) * H.col(i).transpose()),
              1e-12);
}

TEST(CorrectByFits, FitsEachAtomExactlyToWhatTheOthersLeave) {
  const Matrix Y = gaussian(12, 10, 1);
  const Iterate start = random_iterate(Y, *sparse(4), *sparse(3), Sign::free, 3);
  Expansion expected = start.model;
  const auto residual_without = [&](Index i) -> Matrix {
    Expansion others = expected;
    others.weights[i] = 0;
    return Y - others.dense();
  };
  for (Index i = 0; i < 3; ++i) {
    Vector u(12);
    expected.weights[i] = sparse(4)->fit(expected.right().col(i).squaredNorm(),
                                         residual_without(i) * expected.right().col(i), Sign::free, u);
    expected.left().col(i) = u;
  }
  for (Index i = 0; i < 3; ++i) {
    Vector v(10);
    expected.weights[i] =
        sparse(3)->fit(1.0, residual_without(i).transpose() * expected.left().col(i), Sign::free, v);
    expected.right().col(i) = v;
  }
  Iterate iterate = start;
  correct_by_fits(target_of(Y), sparse(4), sparse(3), {.sweeps = 1}, iterate);
  EXPECT_LT(max_difference(iterate.model.dense(), expected.dense()), 1e-12);
}

TEST(CorrectByFits, CanLeaveTheWeightsAsTheyAre) {
  const Matrix Y = gaussian(12, 10, 1);
  const TargetPtr f = target_of(Y);
  for (const Atoms& set : kSets) {
    const Iterate start = random_iterate(Y, *set, *set, Sign::nonnegative, 3);
    for (const int sweeps : {1, 5}) {
      Iterate iterate = start;
      correct_by_fits(f, set, set, {.sweeps = sweeps, .sign = Sign::nonnegative, .bounded_weights = true},
                      iterate);
      expect_sound(Y, *set, *set, Sign::nonnegative, start, iterate);
      EXPECT_EQ(iterate.model.weights, start.model.weights) << set->spec();
      EXPECT_LT(iterate.objective, start.objective) << set->spec();
    }
  }
}

TEST(CorrectByFits, CanTouchTheNewestAtomsOnly) {
  const Matrix Y = uniform(12, 10, 1);
  const TargetPtr f = target_of(Y);
  for (const Atoms& set : kSets)
    for (const int sweeps : {1, 5}) {
      const Iterate start = random_iterate(Y, *set, *set, Sign::nonnegative, 4);
      Iterate iterate = start;
      correct_by_fits(f, set, set, {.sweeps = sweeps, .last = 1, .sign = Sign::nonnegative}, iterate);
      expect_sound(Y, *set, *set, Sign::nonnegative, start, iterate);
      EXPECT_LT(iterate.objective, start.objective) << set->spec();
      // A sweep over coordinates splits off the scale again, which may round.
      EXPECT_LT(max_difference(iterate.model.left().leftCols(3), start.model.left().leftCols(3)), 1e-15);
      EXPECT_LT(max_difference(iterate.model.right().leftCols(3), start.model.right().leftCols(3)), 1e-15);
      EXPECT_LT(max_difference(iterate.model.weights.head(3), start.model.weights.head(3)), 1e-15);
    }
}

TEST(CorrectByFits, StopsWhenToldWhenDoneAndWhenLittleIsLeft) {
  const Matrix Y = uniform(20, 15, 1);
  const TargetPtr f = target_of(Y);
  for (const Atoms& set : {nonneg(), sparse(5)}) {
    const Iterate start = random_iterate(Y, *set, *set, Sign::nonnegative, 3);
    std::vector<double> seen;
    Iterate iterate = start;
    auto outcome = correct_by_fits(f, set, set,
                                   {.sweeps = 10,
                                    .sign = Sign::nonnegative,
                                    .keep_going =
                                        [&](int sweep, double objective) {
                                          seen.push_back(objective);
                                          return sweep < 3;
                                        }},
                                   iterate);
    EXPECT_EQ(outcome.sweeps, 3);
    EXPECT_FALSE(outcome.converged);
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_NEAR(seen.back(), iterate.objective, 1e-12 * seen.back());

    iterate = start;
    outcome =
        correct_by_fits(f, set, set, {.sweeps = 1000, .tolerance = 1e-3, .sign = Sign::nonnegative}, iterate);
    EXPECT_TRUE(outcome.converged) << set->spec();
    EXPECT_LT(outcome.sweeps, 1000);

    iterate = start;
    outcome = correct_by_fits(f, set, set, {.sweeps = 0}, iterate);
    EXPECT_EQ(outcome.sweeps, 0);
    EXPECT_EQ(iterate.model.left(), start.model.left());
  }
  Iterate nothing{Expansion(Matrix(20, 0), Matrix(15, 0), Vector(0)), Vector(0), 1};
  EXPECT_EQ(correct_by_fits(f, sphere(), sphere(), {.sweeps = 3}, nothing).sweeps, 0);
}

TEST(SweepCounter, WithMomentumOneSweepOfLittleGainIsNotConvergence) {
  const CorrectionOptions options{.sweeps = 100, .tolerance = 1e-9};
  // A step too far, the pair before it taken up again, and momentum that builds up anew.
  const std::vector<double> gains = {5e-8, 4e-8, 0, 8e-10, 9e-10, 3e-9, 2e-8, 7e-10, 0, 2e-9, 8e-10};
  SweepCounter counter(options, /*momentum=*/true);
  for (const double gain : gains) EXPECT_TRUE(counter.another(1, 1 - gain, /*tentative=*/gain == 0)) << gain;
  EXPECT_FALSE(counter.another(1, 1 - 7e-10));  // little, twice, and no more than before
  EXPECT_TRUE(counter.outcome().converged);

  SweepCounter plain(options);
  EXPECT_TRUE(plain.another(1, 1 - 2e-9));
  EXPECT_FALSE(plain.another(1, 1 - 8e-10));
  SweepCounter at_rest(options, /*momentum=*/true);
  EXPECT_TRUE(at_rest.another(1, 1 - 1e-3));
  EXPECT_FALSE(at_rest.another(1, 1));
  EXPECT_TRUE(at_rest.outcome().converged);
}

TEST(CorrectByFits, LeavesWeightlessAtomsInTheirSets) {
  // Nothing non-negative fits a negative matrix: the weights go to zero, the atoms stay members.
  const Matrix Y = -uniform(9, 8, 1);
  const TargetPtr f = target_of(Y);
  for (const int sweeps : {1, 6}) {
    const Iterate start = random_iterate(Y, *nonneg(), *nonneg(), Sign::nonnegative, 2);
    Iterate iterate = start;
    correct_by_fits(f, nonneg(), nonneg(), {.sweeps = sweeps, .sign = Sign::nonnegative}, iterate);
    expect_sound(Y, *nonneg(), *nonneg(), Sign::nonnegative, start, iterate);
    EXPECT_EQ(iterate.model.weights, Vector::Zero(2)) << sweeps;
  }
}

TEST(CorrectByOracle, NeverRaisesTheObjectiveAndStaysInTheSet) {
  const Matrix A = gaussian(11, 11, 1);
  for (const Matrix& C : {Matrix(A + A.transpose()), Matrix(A.transpose() * A)})
    for (const Atoms& set : kSets)
      for (const Sign sign : kSigns) {
        SCOPED_TRACE(set->spec() + (sign == Sign::free ? ", free" : ", nonneg"));
        const TargetPtr f = target_of(C);
        const Iterate start = random_iterate(C, *set, *set, sign, 3, true);
        double reached = start.objective;
        for (const int sweeps : {1, 2, 6}) {
          Iterate iterate = start;
          const auto outcome = correct_by_oracle(f, set, {.sweeps = sweeps, .sign = sign}, iterate);
          expect_sound(C, *set, *set, sign, start, iterate);
          EXPECT_EQ(iterate.model.left(), iterate.model.right());
          EXPECT_LE(outcome.sweeps, sweeps);
          EXPECT_LE(iterate.objective, reached);
          reached = iterate.objective;
        }
        EXPECT_LT(reached, start.objective);
      }
}

TEST(CorrectByOracle, RepairsTheEigenvectorsOfASphere) {
  // Two orthogonal atoms disturbed: corrections on the sphere must bring the eigenvectors back.
  const Vector first = Vector::Unit(6, 0), second = Vector::Unit(6, 1);
  const Matrix C = 5 * first * first.transpose() - 3 * second * second.transpose();
  Expansion model{Matrix(6, 2), Matrix(6, 2), (Vector(2) << 4, -2).finished(), true};
  model.left().col(0) = (first + 0.2 * Vector(gaussian(6, 1, 1))).normalized();
  model.left().col(1) = (second + 0.2 * Vector(gaussian(6, 1, 2))).normalized();
  Iterate iterate = iterate_of(C, model);
  correct_by_oracle(target_of(C), sphere(), {.sweeps = 60}, iterate);
  EXPECT_LT(iterate.objective, 1e-8 * C.squaredNorm());
  EXPECT_NEAR(iterate.model.weights[0], 5, 1e-3);
  EXPECT_NEAR(iterate.model.weights[1], -3, 1e-3);
}

TEST(CorrectByOracle, KeepsWeightsAndOlderAtomsWhereAsked) {
  const Matrix A = gaussian(11, 11, 1), C = A.transpose() * A;
  const TargetPtr f = target_of(C);
  for (const Atoms& set : kSets) {
    const Iterate start = random_iterate(C, *set, *set, Sign::nonnegative, 3, true);
    Iterate iterate = start;
    correct_by_oracle(f, set, {.sweeps = 2, .sign = Sign::nonnegative, .bounded_weights = true}, iterate);
    expect_sound(C, *set, *set, Sign::nonnegative, start, iterate);
    EXPECT_EQ(iterate.model.weights, start.model.weights);
    EXPECT_LT(iterate.objective, start.objective);

    iterate = start;
    correct_by_oracle(f, set, {.sweeps = 2, .last = 1, .sign = Sign::nonnegative}, iterate);
    expect_sound(C, *set, *set, Sign::nonnegative, start, iterate);
    EXPECT_EQ(iterate.model.left().leftCols(2), start.model.left().leftCols(2));
    EXPECT_EQ(iterate.model.weights.head(2), start.model.weights.head(2));
    EXPECT_LT(iterate.objective, start.objective);
  }
}

TEST(CorrectByFits, BringsAtomsWithoutWeightBackToLife) {  // once they stayed dead on both sides
  Random random(3);
  const Matrix Y = random.gaussian_matrix(12, 3).cwiseAbs() * random.gaussian_matrix(3, 9).cwiseAbs();
  const TargetPtr f = target_of(Y);
  Iterate iterate;
  iterate.model = {random.gaussian_matrix(12, 3).cwiseAbs().colwise().normalized(),
                   random.gaussian_matrix(9, 3).cwiseAbs().colwise().normalized(), Vector::Zero(3), false};
  iterate.target_products = (iterate.model.left().transpose() * Y * iterate.model.right()).diagonal();
  iterate.objective = 0.5 * Y.squaredNorm();
  CorrectionOptions options;
  options.sweeps = 200;
  options.sign = Sign::nonnegative;
  correct_by_fits(f, nonneg(), nonneg(), options, iterate);
  EXPECT_GT(iterate.model.weights.minCoeff(), 0);
  EXPECT_LT(iterate.objective, 1e-2 * Y.squaredNorm());
}

}  // namespace
}  // namespace pursuit
