// Factorizations under any loss: f never rises, atoms stay in their sets, weights are what they say, and
// planted structure is found.

#include <fmt/format.h>

#include "algorithms/expansion_space.hpp"
#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/objective/make_objective.hpp"
#include "pursuit/objective/means.hpp"
#include "pursuit/objective/row_coordinates.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

const char* const kAllLosses[] = {"squares",
                                  "huber:0.5",
                                  "absolute",
                                  "quantile:0.8",
                                  "bernoulli",
                                  "poisson-log",
                                  "gamma",
                                  "negative-binomial:2",
                                  "negative-binomial:auto",
                                  "ordinal",
                                  "poisson",
                                  "itakura-saito"};

Matrix numbers_for(const Loss& loss, Index rows, Index cols, std::uint64_t seed) {
  const Matrix z =
      gaussian(rows, 2, seed) * gaussian(2, cols, seed + 1) + 0.5 * gaussian(rows, cols, seed + 2);
  switch (loss.kind) {
    case Loss::bernoulli: return z.unaryExpr([](double x) { return x > 0.4 ? 1.0 : 0.0; });
    case Loss::poisson:
    case Loss::poisson_log:
    case Loss::negative_binomial:
      return z.unaryExpr([](double x) { return std::floor(std::exp(std::min(0.7 * x, 4.0))); });
    case Loss::gamma:
    case Loss::itakura_saito: return (0.5 * z).array().exp();
    case Loss::ordinal: return z.unaryExpr([](double x) { return std::clamp(std::round(x), -1.0, 2.0); });
    default: return z;
  }
}

struct SetsOfCase {
  Atoms left, right;
  WeightRule weights;
};
std::vector<SetsOfCase> set_cases(const Loss& loss) {
  std::vector<SetsOfCase> cases{{nonneg(), nonneg(), WeightRule::nonneg},
                                {nonneg(), nonneg() + sparse(5), WeightRule(WeightRule::convex, 30.0)}};
  if (loss.has_positive_means()) return cases;
  cases.insert(cases.end(), {{sphere(), sphere(), WeightRule::free},
                             {sparse(6), sparse(5), WeightRule::free},
                             {sphere(), nonneg() + sparse(5), WeightRule::newest},
                             {nonneg(), sphere(), WeightRule::economic},
                             {sphere(), sphere(), WeightRule(WeightRule::convex, 10.0)}});
  return cases;
}

ObservedEntries some_of(const Matrix& Y, double share, std::uint64_t seed) {
  const Matrix mask = uniform(Y.rows(), Y.cols(), seed);
  ObservedEntries entries{Y.rows(), Y.cols(), {}, {}, {}};
  for (int i = 0; i < Y.rows(); ++i)
    for (int j = 0; j < Y.cols(); ++j)
      if (mask(i, j) < share) {
        entries.row.push_back(i);
        entries.col.push_back(j);
        entries.value.push_back(float(Y(i, j)));
      }
  return entries;
}

/// Everything that a run promises, at every step: an observer sees f after every sweep.
void expect_descent(Objective& f, const SetsOfCase& sets, Index rank) {
  const double scale = f.null_value();
  double before = f.value();
  ExpansionSpace space(f, AtomSets(sets.left, sets.right), sets.weights, {.restarts = 3}, {});
  double reached = std::numeric_limits<double>::infinity();
  pursuit::Run run({}, [&](const Moment&) {
    EXPECT_LE(f.value(), reached + 1e-12 * scale) << "at every sweep";
    reached = f.value();
    return true;
  });
  const PursuitOutcome outcome = pursue(space, {.rank = rank, .corrections = 2, .polish = 15}, run);
  for (const Step& step : outcome.trace) {
    EXPECT_LE(step.objective, before + 1e-12 * scale) << "rank " << step.rank;
    before = step.objective;
  }
  EXPECT_LT(f.value(), std::numeric_limits<double>::infinity());
  const Expansion& x = f.iterate();
  EXPECT_GE(x.rank(), 1);
  for (Index k = 0; k < x.rank(); ++k) {
    EXPECT_TRUE(sets.left.of(k).contains(x.left().col(k), 1e-9));
    EXPECT_TRUE(sets.right.of(k).contains(x.right().col(k), 1e-9));
    EXPECT_TRUE(sets.weights.allows_negative() || x.weights[k] >= 0);
  }
  EXPECT_TRUE(sets.weights.kind != WeightRule::convex || x.weights.sum() <= sets.weights.radius * (1 + 1e-9));
}

TEST(FactorByLoss, TheObjectiveNeverRisesWhateverTheLossTheSetsAndTheData) {
  for (const char* spec : kAllLosses) {
    const Loss loss = parse_loss(spec);
    const Matrix Y = numbers_for(loss, 17, 13, 1);
    for (const SetsOfCase& sets : set_cases(loss))
      for (const bool offsets : {false, true}) {
        if (offsets && loss.has_positive_means()) continue;
        SCOPED_TRACE(std::string(spec) + " " + sets.left->spec() + " x " + sets.right->spec() +
                     (offsets ? " with offsets" : ""));
        LossOptions options{.loss = loss, .offsets = offsets};
        options.weights.cols = uniform(13, 1, 4).array() + 0.2;
        expect_descent(*make_objective(data_matrix(Y), options), sets, 3);
        expect_descent(*make_objective(some_of(Y, 0.6, 5), options), sets, 2);
      }
  }
}

FactorOptions options_for(const char* loss, Index rank) {
  FactorOptions options;
  options.rank = rank;
  options.loss = parse_loss(loss);
  options.polish_tolerance = 1e-9;
  options.threads = 1;
  return options;
}

TEST(FactorByLoss, AWeightOfTwoIsARowTwice) {
  for (const char* spec : kAllLosses) {
    SCOPED_TRACE(spec);
    const Matrix Y = numbers_for(parse_loss(spec), 12, 9, 3);
    const bool nonnegative = parse_loss(spec).has_positive_means();
    Matrix twice(15, 9);
    twice << Y, Y.topRows(3);
    LossOptions weighted{.loss = parse_loss(spec)}, doubled = weighted;
    weighted.weights.rows = Vector::Ones(12);
    weighted.weights.rows.head(3).setConstant(2);
    doubled.weights.rows = Vector::Ones(15);
    const auto f = make_objective(data_matrix(Y), weighted), g = make_objective(data_matrix(twice), doubled);
    EXPECT_NEAR(f->null_value(), g->null_value(), 1e-10 * g->null_value());
    Matrix left = gaussian(12, 2, 5), left_twice(15, 2), right = gaussian(9, 2, 6);
    if (nonnegative) {
      left = left.cwiseAbs();
      right = right.cwiseAbs();
    }
    left_twice << left, left.topRows(3);
    f->move_to({left, right, Vector::Ones(2)});
    g->move_to({left_twice, right, Vector::Ones(2)});
    // Losses that bend within a thousandth of their scale make rounding larger by as much with every sweep.
    const bool has_kinks = parse_loss(spec).kind == Loss::absolute || parse_loss(spec).kind == Loss::quantile;
    for (int sweep = 0; sweep < (has_kinks ? 3 : 10); ++sweep)
      for (const Index mode : {0, 1}) {
        f->along(mode)->sweep({.nonnegative = nonnegative});
        g->along(mode)->sweep({.nonnegative = nonnegative});
        EXPECT_NEAR(f->value(), g->value(), 1e-10 * g->null_value());
      }
    EXPECT_LT(max_difference(f->iterate().dense(), Matrix(g->iterate().dense().topRows(12))),
              1e-8 * (1 + f->iterate().dense().norm()));
  }
}

TEST(FactorByLoss, AWeightOfZeroIsAMissingEntry) {
  for (const char* spec :
       {"squares", "bernoulli", "poisson-log", "absolute", "negative-binomial:2", "poisson"}) {
    SCOPED_TRACE(spec);
    const Loss loss = parse_loss(spec);
    const Matrix Y = numbers_for(loss, 12, 9, 3).cast<float>().cast<double>();
    const ObservedEntries seen = some_of(Y, 0.7, 8);
    Matrix weights = Matrix::Zero(12, 9), spoilt = Matrix::Constant(12, 9, 77.0);
    for (Index e = 0; e < seen.size(); ++e) {
      weights(seen.row[std::size_t(e)], seen.col[std::size_t(e)]) = 1;
      spoilt(seen.row[std::size_t(e)], seen.col[std::size_t(e)]) = seen.value[std::size_t(e)];
    }
    LossOptions weighted{.loss = loss}, plain{.loss = loss};
    weighted.weights.entries = data_matrix(weights);
    plain.weights.cols = Vector::Ones(9);
    const auto f = make_objective(data_matrix(spoilt), weighted), g = make_objective(seen, plain);
    EXPECT_NEAR(f->null_value(), g->null_value(), 1e-10 * g->null_value());
    const AtomSets sets(nonneg(), nonneg());
    std::vector<Expansion> found;
    for (Objective* each : {f.get(), g.get()}) {
      ExpansionSpace space(*each, sets, WeightRule::nonneg, {.restarts = 3}, {});
      pursue(space, {.rank = 2, .corrections = 2, .polish = 20});
      found.push_back(space.expansion());
    }
    EXPECT_LT(max_difference(found[0].dense(), found[1].dense()), 1e-10 * (1 + found[0].dense().norm()));
    EXPECT_NEAR(f->value(), g->value(), 1e-10 * g->null_value());
  }
}

TEST(FactorByLoss, PlainWeightsOfSquaresGiveTheSingularValues) {
  const Matrix Y = gaussian(20, 14, 1);
  FactorOptions options = options_for("squares", 4);
  const FactorResult svd = factor(Y, options);
  options.entry_weights.rows = Vector::Ones(20);
  options.polish_tolerance = 1e-13;
  options.polish = 5000;
  const FactorResult weighted = factor(Y, options);
  EXPECT_NEAR(weighted.objective, svd.objective, 1e-6 * svd.objective);
  EXPECT_NEAR(weighted.relative_error, svd.relative_error, 1e-6);
  EXPECT_NEAR(weighted.deviance_explained(), 1 - svd.relative_error * svd.relative_error, 1e-6);
}

TEST(FactorByLoss, WeightsOfRowsAndColumnsUnderSquaresAreTheSingularVectorsOfScaledData) {
  const Matrix Y = gaussian(20, 14, 1);
  FactorOptions options = options_for("squares", 4);
  options.entry_weights.rows = uniform(20, 1, 2).array() + 0.1;
  options.entry_weights.cols = uniform(14, 1, 3).array() + 0.1;
  options.entry_weights.rows[7] = 0;
  const Vector d = options.entry_weights.rows.cwiseSqrt(), e = options.entry_weights.cols.cwiseSqrt();
  const Matrix scaled = d.asDiagonal() * Y * e.asDiagonal();
  FactorOptions plain = options_for("squares", 4);
  const FactorResult svd = factor(scaled, plain), weighted = factor(Y, options);
  EXPECT_NEAR(weighted.objective, svd.objective, 1e-12 * svd.objective);
  EXPECT_NEAR(weighted.null_objective, svd.null_objective, 1e-12 * svd.null_objective);
  EXPECT_LT(
      max_difference(Matrix(d.asDiagonal() * weighted.model.dense() * e.asDiagonal()), svd.model.dense()),
      1e-12);
  for (Index k = 0; k < 4; ++k) {
    EXPECT_NEAR(weighted.model.left().col(k).norm(), 1, 1e-12);
    EXPECT_NEAR(weighted.model.right().col(k).norm(), 1, 1e-12);
    EXPECT_EQ(weighted.model.left()(7, k), 0) << "a row without weight has nothing to say";
  }
  EXPECT_EQ(weighted.trace.size(), 4U) << "every rank at once";

  options.left = nonneg();
  options.right = nonneg() + sparse(5);
  options.weights = WeightRule::nonneg;
  const FactorResult parts = factor(Eigen::MatrixXd(Y.cwiseAbs()), options);
  const auto f =
      make_objective(data_matrix(Eigen::MatrixXd(Y.cwiseAbs())), {.weights = options.entry_weights});
  f->move_to(parts.model);
  EXPECT_NEAR(f->value(), parts.objective, 1e-10 * f->null_value());
  for (Index k = 0; k < parts.model.rank(); ++k) {
    EXPECT_TRUE(options.left->contains(parts.model.left().col(k)));
    EXPECT_TRUE(options.right->contains(parts.model.right().col(k)));
  }
}

TEST(FactorByLoss, ARowTwiceUnderSquaresOfSparseDataIsAWeightOfTwoAtTheEnd) {
  Matrix Y = gaussian(12, 9, 4).unaryExpr([](double x) { return x > 0.3 ? x : 0.0; });
  Matrix twice(15, 9);
  twice << Y, Y.topRows(3);
  FactorOptions options = options_for("squares", 3);
  const FactorResult doubled = factor(SparseMatrixOf<double>(twice.sparseView()), options);
  options.entry_weights.rows = Vector::Ones(12);
  options.entry_weights.rows.head(3).setConstant(2);
  const FactorResult weighted = factor(SparseMatrixOf<double>(Y.sparseView()), options);
  EXPECT_NEAR(weighted.objective, doubled.objective, 1e-10 * doubled.null_objective);
  EXPECT_LT(max_difference(weighted.model.dense(), Matrix(doubled.model.dense().topRows(12))), 1e-10);
}

/// Data near either end of the range of a double, or of other units alone, are factored as well.
TEST(FactorByLoss, TheUnitOfTheDataDoesNotMatter) {
  for (const char* spec : {"poisson", "itakura-saito", "absolute", "quantile:0.7", "huber:0.5"}) {
    const Loss loss = parse_loss(spec);
    const Matrix Y = numbers_for(loss, 14, 9, 3);
    FactorOptions options = options_for(spec, 2);
    if (loss.has_positive_means()) {
      options.left = options.right = nonneg();
      options.weights = WeightRule::nonneg;
    }
    const FactorResult plain = factor(Y, options);
    for (const int power : {-900, -400, -70, 70, 400, 900}) {
      if (loss.kind == Loss::huber && std::abs(power) == 900) continue;  // squares of which there are not
      SCOPED_TRACE(fmt::format("{} times 2^{}", spec, power));
      const double scale = std::ldexp(1.0, power);
      if (loss.kind == Loss::huber) options.loss.parameter = loss.parameter * scale;
      const FactorResult scaled = factor(Eigen::MatrixXd(scale * Y), options);
      EXPECT_NEAR(scaled.deviance_explained(), plain.deviance_explained(), 1e-4);
      EXPECT_LT(max_difference(Matrix(scaled.model.dense() / scale), plain.model.dense()),
                1e-2 * plain.model.dense().norm());
    }
  }
}

TEST(FactorByLoss, MeansUnderALogLinkMayBeFarFromOne) {
  for (const char* spec : {"poisson-log", "gamma"})
    for (const double scale : {1e-30, 1e-9, 1e-6, 1e6, 1e9}) {
      if (scale == 1e-30 && parse_loss(spec).kind == Loss::poisson_log) continue;  // no counts
      SCOPED_TRACE(fmt::format("{} times {}", spec, scale));
      const Matrix Y = scale * (numbers_for(parse_loss(spec), 14, 9, 3).array() + 0.5).matrix();
      EXPECT_GT(factor(Y, options_for(spec, 3)).deviance_explained(), 0.3);
    }
}

/// Newton's steps from means that are far too large come nearer by one each: a second atom was found before
/// the first had arrived, and refused as the same.
TEST(FactorByLoss, MeansUnderALogLinkComeDownToDataOfAnyUnit) {
  const Matrix counts = numbers_for(Loss::poisson_log, 40, 30, 3),
               sizes = numbers_for(Loss::gamma, 40, 30, 5);
  const double of_counts = factor(counts, options_for("poisson-log", 3)).deviance_explained();
  for (const double scale : {1e-30, 1e-15, 1e15, 1e30}) {
    const FactorResult found = factor(Matrix(scale * counts), options_for("poisson-log", 3));
    EXPECT_EQ(found.model.rank(), 3) << scale;
    EXPECT_NEAR(found.deviance_explained(), of_counts, 0.02) << scale;
    EXPECT_GT(factor(Matrix(scale * sizes), options_for("gamma", 3)).deviance_explained(), 0.5) << scale;
  }
}

TEST(FactorByLoss, DataWhoseDevianceIsNoNumberAreRefused) {
  const Matrix far = Matrix::Constant(4, 3, 1e120);
  EXPECT_THAT(message_of<InvalidInput>([&] { factor(far, options_for("gamma", 1)); }),
              testing::HasSubstr("multiply the data by 1e-120"));
  for (const double size : {1e-290, 1e290}) {
    FactorOptions options = options_for("huber:0.5", 1);
    options.loss.parameter *= size;
    EXPECT_THAT(message_of<InvalidInput>([&] { factor(Eigen::MatrixXd(size * gaussian(4, 3, 1)), options); }),
                testing::HasSubstr("multiply the data by"));
  }
}

TEST(FactorByLoss, EntriesThatAreRefusedAreNamedAsTheyAreWhateverTheUnit) {
  Matrix Y = Matrix::Constant(4, 3, 1e60);
  Y(2, 1) = -1e60;
  FactorOptions options = options_for("poisson", 1);
  options.left = options.right = nonneg();
  options.weights = WeightRule::nonneg;
  EXPECT_THAT(message_of<InvalidInput>([&] { factor(Y, options); }), testing::HasSubstr("-1e+60"));
}

/// At a minimum of a smooth loss the gradient along both factors vanishes.
TEST(FactorByLoss, EndsWhereTheGradientVanishes) {
  for (const char* spec : {"bernoulli", "poisson-log", "gamma", "negative-binomial:3"})
    for (Index rank = 1; rank <= 2; ++rank) {
      SCOPED_TRACE(spec);
      const Loss loss = parse_loss(spec);
      const Matrix Y = numbers_for(loss, 60, 50, 11);
      FactorOptions options = options_for(spec, rank);
      options.offsets = true;
      options.polish = 3000;
      options.polish_tolerance = 1e-12;
      const FactorResult result = factor(Y, options);
      const Matrix mean = means_of(result.model, loss, result.own_terms, {});
      Matrix slope = Y - mean;
      if (loss.kind == Loss::gamma) slope = slope.cwiseQuotient(mean);
      if (loss.kind == Loss::negative_binomial) slope = slope.cwiseQuotient((1 + mean.array() / 3).matrix());
      const double size = slope.norm();
      EXPECT_LT((slope * result.model.right()).norm(), 2e-3 * size);
      EXPECT_LT((slope.transpose() * result.model.left()).norm(), 2e-3 * size);
      EXPECT_LT(slope.rowwise().sum().norm(), 1e-2 * size) << "offsets of rows";
    }
}

TEST(FactorByLoss, HuberFindsPlantedFactorsAmongGrossErrorsWhereSquaresFail) {
  const Matrix L = gaussian(80, 2, 1), R = gaussian(60, 2, 2), X = L * R.transpose();
  const Matrix where = uniform(80, 60, 3), gross = 20 * gaussian(80, 60, 4);
  Matrix Y = X + 0.05 * gaussian(80, 60, 5);
  for (Index e = 0; e < Y.size(); ++e)
    if (where.reshaped()[e] < 0.1) Y.reshaped()[e] += gross.reshaped()[e];
  const auto distance = [&](const char* spec) {
    return (factor(Y, options_for(spec, 2)).model.dense() - X).norm() / X.norm();
  };
  EXPECT_LT(distance("huber:0.2"), 0.02);
  EXPECT_LT(distance("absolute"), 0.02);
  EXPECT_GT(distance("squares"), 0.2);
}

TEST(FactorByLoss, QuantilesAreCalibrated) {
  const Matrix X = (gaussian(90, 1, 1).array() + 3).matrix() * (gaussian(1, 70, 2).array() + 3).matrix();
  const Matrix Y = X + gaussian(90, 70, 3);
  for (const double tau : {0.1, 0.5, 0.9}) {
    FactorOptions options = options_for("squares", 1);
    options.loss = Loss(Loss::quantile, tau);
    options.offsets = true;
    const FactorResult result = factor(Y, options);
    const Matrix quantile = means_of(result.model, options.loss, result.own_terms, {});
    EXPECT_NEAR(double((Y.array() < quantile.array()).count()) / double(Y.size()), tau, 0.02);
  }
}

TEST(FactorByLoss, TheSizeOfANegativeBinomialIsFound) {
  Random random(5);
  const Matrix X = gaussian(120, 1, 6) * gaussian(1, 80, 7).cwiseAbs() + Matrix::Constant(120, 80, 1.5);
  const double size = 3;
  Matrix Y(120, 80);
  for (Index e = 0; e < Y.size(); ++e) {  // a Poisson of a gamma, this a sum of three exponentials
    double rate = 0;
    for (int k = 0; k < int(size); ++k) rate -= std::log(random.uniform()) / size;
    const double mean = rate * std::exp(std::min(X.reshaped()[e], 4.0));
    double product = 1;
    int count = -1;
    for (const double end = std::exp(-mean); product > end; ++count) product *= random.uniform();
    Y.reshaped()[e] = std::max(count, 0);
  }
  FactorOptions options = options_for("negative-binomial:auto", 1);
  options.offsets = true;
  EXPECT_NEAR(factor(Y, options).own_terms.size, size, 0.7);
}

TEST(FactorByLoss, GradesAreOrderedAndTheirThresholdsToo) {
  const Matrix X = 2 * gaussian(60, 1, 1) * gaussian(1, 50, 2);
  Random random(3);
  const Matrix Y = X.unaryExpr([&](double x) {
    const double u = random.uniform(), latent = x + std::log(u / (1 - u));
    return latent < -1 ? 1.0 : latent < 0.5 ? 2.0 : latent < 2 ? 4.0 : 5.0;  // no 3 was ever given
  });
  const FactorResult result = factor(Y, options_for("ordinal", 1));
  ASSERT_EQ(result.own_terms.thresholds.size(), 3);
  const Vector expected = (Vector(3) << -1, 0.5, 2).finished();
  EXPECT_LT(max_difference(result.own_terms.thresholds, expected), 0.25);
  EXPECT_LT((result.model.dense() - X).norm(), 0.4 * X.norm());
}

TEST(FactorByLoss, ScalesOfRowsAreExposures) {
  const Matrix mean = (0.5 * gaussian(70, 1, 1) * gaussian(1, 40, 2)).array().exp();
  const Vector scale = (gaussian(70, 1, 3).array()).exp() * 5;
  const Matrix Y = (scale.asDiagonal() * mean).unaryExpr([](double x) { return std::round(x); });
  FactorOptions options = options_for("poisson-log", 1);
  options.row_scale = scale;
  const FactorResult result = factor(Y, options);
  EXPECT_LT((result.model.dense() - Matrix(mean.array().log())).norm(),
            0.25 * mean.array().log().matrix().norm());
}

TEST(FactorByLoss, RowsInKnownAtomsAreThoseOfTheFit) {
  for (const char* spec : {"bernoulli", "poisson-log", "huber:0.5", "poisson"}) {
    SCOPED_TRACE(spec);
    const Loss loss = parse_loss(spec);
    const Matrix Y = numbers_for(loss, 40, 30, 2);
    // Two atoms all but separate zeros from ones here: coordinates would grow without end.
    FactorOptions options = options_for(spec, loss.kind == Loss::bernoulli ? 1 : 2);
    const bool counts = loss.kind == Loss::poisson;
    if (counts) {
      options.left = options.right = nonneg();
      options.weights = WeightRule::nonneg;
    }
    options.polish = 2000;
    const FactorResult result = factor(Y, options);
    const RowCoordinates rows =
        coordinates_of_rows(data_matrix(Y), result.model.right(), {.loss = loss}, result.own_terms, counts);
    // Rows whose zeros and ones an atom separates have no best coordinate, and end somewhere on the way.
    EXPECT_LE(rows.objective, result.objective * (loss.kind == Loss::bernoulli ? 1.01 : 1 + 1e-6));
    EXPECT_GT(rows.objective, 0.98 * result.objective);
  }
}

TEST(FactorByLoss, RefusesWhatDoesNotGoTogether) {
  const Matrix counts = numbers_for(Loss::poisson, 6, 5, 1);
  EXPECT_THAT(message_of<InvalidArgument>([&] { factor(counts, options_for("poisson", 2)); }),
              testing::HasSubstr("poisson-log"));
  FactorOptions leading = options_for("poisson-log", 2);
  leading.start = Start::leading;
  EXPECT_THROW(factor(counts, leading), InvalidArgument);
  const Matrix symmetric = Matrix::Identity(5, 5);
  EXPECT_THROW(factor_symmetric(symmetric, options_for("bernoulli", 1)), InvalidArgument);
  FactorOptions weighted = options_for("squares", 1);
  weighted.entry_weights.rows = Vector::Ones(6);
  EXPECT_THROW(factor(centered(data_matrix(counts)), weighted), InvalidArgument);
}

TEST(FactorByLoss, GoesOnFromAtomsAndKeepsKnownOnes) {
  const Matrix Y = numbers_for(Loss::bernoulli, 30, 20, 4);
  const FactorResult two = factor(Y, options_for("bernoulli", 2));
  FactorOptions more = options_for("bernoulli", 3);
  more.initial = two.model;
  const FactorResult three = factor(Y, more);
  EXPECT_LT(three.objective, two.objective);
  more.fixed = 1;
  const FactorResult fixed = factor(Y, more);
  EXPECT_LT(max_difference(fixed.model.left().col(0), two.model.left().col(0)), 1e-12);
  EXPECT_LT(max_difference(fixed.model.right().col(0), two.model.right().col(0)), 1e-12);
}

TEST(FactorByLoss, SameBitsForAnyNumberOfThreads) {
  const Matrix Y = numbers_for(Loss::bernoulli, 300, 200, 4);
  std::vector<Matrix> models;
  for (const int threads : {1, 2, 3, 16}) {
    FactorOptions options = options_for("bernoulli", 2);
    options.threads = threads;
    options.polish = 4;
    options.right = sparse(50);
    models.push_back(factor(Y, options).model.dense());
    EXPECT_TRUE(same_bits(models.back(), models.front())) << threads;
  }
}

}  // namespace
}  // namespace pursuit
