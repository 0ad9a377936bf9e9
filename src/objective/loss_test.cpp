// Losses one by one: slopes against differences, parabolas above them, the best constant, domains and names.

#include "pursuit/objective/loss.hpp"

#include <fmt/format.h>

#include "objective/entry_loss.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

struct LossCase {
  LossShape shape;
  std::vector<double> y;
};

std::vector<LossCase> loss_cases() {
  const auto shape = [](const char* spec) {
    LossShape s{.loss = parse_loss(spec), .lower = {}, .upper = {}};
    s.width = 0.01;
    s.size = 2.5;
    return s;
  };
  LossShape grades = shape("ordinal");
  const double infinite = std::numeric_limits<double>::infinity();
  grades.first_grade = 1;
  grades.lower = {-infinite, -1.2, 0.4, 1.5};
  grades.upper = {-1.2, 0.4, 1.5, infinite};
  const std::vector<double> any{-3, -0.2, 0, 1.7}, counts{0, 1, 2, 9, 40};
  return {{shape("squares"), any},
          {shape("huber:0.7"), any},
          {shape("absolute"), any},
          {shape("quantile:0.9"), any},
          {shape("bernoulli"), {0, 1, 0.3}},
          {shape("poisson-log"), counts},
          {shape("negative-binomial:2.5"), counts},
          {shape("negative-binomial:auto"), counts},
          {shape("gamma"), {0.01, 1, 7.5}},
          {grades, {1, 2, 3, 4}}};
}

double value_at(const EntryLoss& loss, double y, double x) {
  const EntryRun run{1, &y, &x, nullptr};
  return loss.varying(run) + loss.constant(run);
}

TEST(Loss, SlopesAndLocalCurvaturesAreDifferencesOfValues) {
  for (const auto& [shape, ys] : loss_cases()) {
    const auto loss = entry_loss(shape);
    for (const double y : ys)
      for (double x = -4; x <= 4; x += 0.37) {
        SCOPED_TRACE(fmt::format("{} y {} x {}", shape.loss.spec(), y, x));
        double slope = 0, curvature = 0;
        loss->derivatives({1, &y, &x, nullptr}, Curvature::local, &slope, &curvature);
        const double h = 1e-5, size = 1 + std::abs(value_at(*loss, y, x));
        EXPECT_NEAR(slope, -(value_at(*loss, y, x + h) - value_at(*loss, y, x - h)) / (2 * h), 1e-5 * size);
        EXPECT_GE(value_at(*loss, y, x), -1e-12 * size) << "half a deviance";
        EXPECT_GE(curvature, 0);
        double alone = 0;
        loss->slopes({1, &y, &x, nullptr}, &alone);
        EXPECT_EQ(alone, slope);
        if (shape.loss.kind == Loss::huber || shape.loss.kind == Loss::absolute ||
            shape.loss.kind == Loss::quantile)
          continue;  // straight lines have none
        double before = 0, after = 0;
        const double left = x - h, right = x + h;
        loss->slopes({1, &y, &left, nullptr}, &before);
        loss->slopes({1, &y, &right, nullptr}, &after);
        EXPECT_NEAR(curvature, (before - after) / (2 * h), 1e-5 * (size + curvature));
      }
  }
}

TEST(Loss, SlopesOfCountsAreDifferencesOfValuesWhereMeansArePositive) {
  LossShape shape{.loss = parse_loss("poisson"), .lower = {}, .upper = {}};
  shape.floor = 1e-3;
  const auto loss = entry_loss(shape);
  for (const double y : {0.0, 1.0, 9.0})
    for (const double x : {0.1, 0.9, 4.0, 30.0}) {
      double slope = 0;
      loss->slopes({1, &y, &x, nullptr}, &slope);
      const double h = 1e-6 * x;
      EXPECT_NEAR(slope, -(value_at(*loss, y, x + h) - value_at(*loss, y, x - h)) / (2 * h),
                  1e-6 * (1 + y / x))
          << y << " at " << x;
    }
}

TEST(Loss, ParabolasOfMajorisingLossesLieAboveThemEverywhere) {
  for (const auto& [shape, ys] : loss_cases()) {
    const auto loss = entry_loss(shape);
    if (!loss->has_above()) continue;
    for (const double y : ys)
      for (double x = -6; x <= 6; x += 0.61) {
        double slope = 0, curvature = 0;
        loss->derivatives({1, &y, &x, nullptr}, Curvature::above, &slope, &curvature);
        for (double to = -9; to <= 9; to += 0.37) {
          const double d = to - x, above = value_at(*loss, y, x) - slope * d + 0.5 * curvature * d * d;
          EXPECT_GE(above - value_at(*loss, y, to), -1e-11 * (1 + std::abs(above)))
              << shape.loss.spec() << " y " << y << " from " << x << " to " << to;
        }
      }
  }
}

TEST(Loss, WeightsMultiplyValuesSlopesAndCurvatures) {
  const Vector y = (uniform(11, 1, 1).array() < 0.5).cast<double>(), x = gaussian(11, 1, 2),
               w = uniform(11, 1, 3);
  const auto loss = entry_loss({.loss = Loss::bernoulli, .lower = {}, .upper = {}});
  Vector slope(11), curvature(11), plain_slope(11), plain_curvature(11);
  loss->derivatives({11, y.data(), x.data(), w.data()}, Curvature::above, slope.data(), curvature.data());
  loss->derivatives({11, y.data(), x.data(), nullptr}, Curvature::above, plain_slope.data(),
                    plain_curvature.data());
  EXPECT_EQ(slope, w.cwiseProduct(plain_slope));
  EXPECT_EQ(curvature, w.cwiseProduct(plain_curvature));
  double sum = 0;
  for (Index e = 0; e < 11; ++e) sum += w[e] * value_at(*loss, y[e], x[e]);
  const EntryRun run{11, y.data(), x.data(), w.data()};
  EXPECT_NEAR(loss->varying(run) + loss->constant(run), sum, 1e-12);
}

TEST(Loss, SpecsAreReadAndWritten) {
  for (const char* spec :
       {"squares", "huber:1.5", "absolute", "quantile:0.25", "bernoulli", "poisson", "poisson-log",
        "negative-binomial:3", "negative-binomial:auto", "gamma", "ordinal"})
    EXPECT_EQ(parse_loss(spec).spec(), spec);
  EXPECT_EQ(parse_loss("negative-binomial").spec(), "negative-binomial:auto");
  for (const char* bad :
       {"", "cauchy", "huber", "huber:0", "huber:-1", "huber:x", "quantile:1", "quantile:0", "squares:2",
        "negative-binomial:0", "negative-binomial:nan", "huber:inf", "gamma:1"})
    EXPECT_THROW(parse_loss(bad), InvalidArgument) << bad;
  EXPECT_THAT(message_of<InvalidArgument>([] { parse_loss("kl"); }), testing::HasSubstr("poisson-log"));
}

TEST(Loss, DomainsAreWhatTheLossesSay) {
  EXPECT_TRUE(Loss(Loss::bernoulli).accepts(0.5));
  EXPECT_FALSE(Loss(Loss::bernoulli).accepts(1.01));
  EXPECT_FALSE(Loss(Loss::gamma).accepts(0));
  EXPECT_FALSE(Loss(Loss::poisson_log).accepts(-1));
  EXPECT_FALSE(Loss(Loss::negative_binomial).accepts(1.5));
  EXPECT_FALSE(Loss(Loss::ordinal).accepts(2.5));
  EXPECT_EQ(losses_for(-1.5), "squares, huber:DELTA, absolute, quantile:TAU");
}

}  // namespace
}  // namespace pursuit
