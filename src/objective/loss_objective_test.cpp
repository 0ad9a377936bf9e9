// The objective of any loss against sums over dense matrices, on full, sparse and observed data.

#include "objective/loss_objective.hpp"

#include "pursuit/objective/make_objective.hpp"
#include "pursuit/objective/means.hpp"
#include "pursuit/objective/observed.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

const char* const kLossSpecs[] = {"squares",      "huber:0.7",           "absolute",
                                  "quantile:0.8", "bernoulli",           "poisson-log",
                                  "gamma",        "negative-binomial:2", "negative-binomial:auto",
                                  "ordinal"};

/// Numbers that a loss takes.
Matrix data_for(const Loss& loss, Index rows, Index cols, std::uint64_t seed) {
  const Matrix z = gaussian(rows, cols, seed);
  switch (loss.kind) {
    case Loss::bernoulli: return z.unaryExpr([](double x) { return x > 0.3 ? 1.0 : 0.0; });
    case Loss::poisson_log:
    case Loss::negative_binomial: return z.unaryExpr([](double x) { return std::floor(std::exp(x)); });
    case Loss::gamma: return z.array().exp();
    case Loss::ordinal: return z.unaryExpr([](double x) { return std::clamp(std::round(x), -1.0, 2.0); });
    default: return z;
  }
}

Expansion some_atoms(Index n, Index m, Index r, std::uint64_t seed) {
  return {gaussian(n, r, seed), gaussian(m, r, seed + 1), 0.3 * Vector(gaussian(r, 1, seed + 2))};
}

ObservedEntries observed(const Matrix& Y, const Matrix& mask) {
  ObservedEntries entries{Y.rows(), Y.cols(), {}, {}, {}};
  for (int i = 0; i < Y.rows(); ++i)
    for (int j = 0; j < Y.cols(); ++j)
      if (mask(i, j) != 0) {
        entries.row.push_back(i);
        entries.col.push_back(j);
        entries.value.push_back(float(Y(i, j)));
      }
  return entries;
}

/// r and H of an objective as matrices: contractions with unit vectors, and inner products of unit atoms.
Matrix slopes_of(const Objective& f) {
  const Index n = f.axis(0).size(), m = f.axis(1).size();
  Panel rows, cols;
  f.contract(0, Factors(Panel(n, m), Matrix::Identity(m, m)), rows);
  f.contract(1, Factors(Matrix::Identity(n, n), Panel(m, n)), cols);
  EXPECT_LT(max_difference(rows, Matrix(cols.transpose())), 1e-12 * (1 + rows.norm()));
  return rows;
}

TEST(LossObjective, ContractionsAreTheGradientOfTheValue) {
  for (const char* spec : kLossSpecs)
    for (const bool offsets : {false, true}) {
      SCOPED_TRACE(spec);
      const Matrix Y = data_for(parse_loss(spec), 7, 5, 1);
      LossOptions options{.loss = parse_loss(spec), .offsets = offsets};
      options.weights.rows = uniform(7, 1, 3).array() + 0.1;
      const auto f = make_objective(data_matrix(Y), options);
      const Expansion x = some_atoms(7, 5, 2, 4);
      f->move_to(x);
      const Matrix r = slopes_of(*f);
      const double h = 1e-5;
      for (const auto& [i, j] : {std::pair<Index, Index>{0, 0}, {6, 4}, {3, 2}}) {
        const auto moved = [&](double step) {
          Expansion to = x;
          to.append(Factors(Panel(Vector::Unit(7, i)), Panel(Vector::Unit(5, j))), step);
          f->move_to(to);
          return f->value();
        };
        EXPECT_NEAR(r(i, j), -(moved(h) - moved(-h)) / (2 * h), 1e-4 * (1 + f->value()));
      }
    }
}

TEST(LossObjective, DenseSparseAndObservedDataSayTheSame) {
  for (const char* spec : kLossSpecs) {
    const Loss loss = parse_loss(spec);
    SCOPED_TRACE(spec);
    const Matrix Y = data_for(loss, 9, 6, 1).cast<float>().cast<double>();
    const SparseMatrixOf<double> sparse = to_sparse(Y);
    const LossOptions options{.loss = loss};
    const auto dense_f = make_objective(data_matrix(Y), options);
    const auto observed_f = make_objective(observed(Y, Matrix::Ones(9, 6)), options);
    std::vector<const Objective*> same{observed_f.get()};
    std::unique_ptr<Objective> sparse_f;
    if (loss.kind != Loss::gamma) {
      sparse_f = make_objective(data_matrix(sparse), options);
      same.push_back(sparse_f.get());
      sparse_f->move_to(some_atoms(9, 6, 2, 3));
    }
    dense_f->move_to(some_atoms(9, 6, 2, 3));
    observed_f->move_to(some_atoms(9, 6, 2, 3));
    for (const Objective* f : same) {
      EXPECT_NEAR(f->value(), dense_f->value(), 1e-10 * (1 + dense_f->value()));
      EXPECT_NEAR(f->null_value(), dense_f->null_value(), 1e-9 * (1 + dense_f->null_value()));
      EXPECT_LT(max_difference(slopes_of(*f), slopes_of(*dense_f)), 1e-10 * (1 + slopes_of(*dense_f).norm()));
      const Factors z = f->iterate().factors;
      EXPECT_LT(max_difference(f->gram(z, z), dense_f->gram(z, z)), 1e-10 * (1 + f->gram(z, z).norm()));
    }
  }
}

TEST(LossObjective, SquaresAgreeWithTheObjectiveOfSquaresUnderAMask) {
  const Matrix Y = gaussian(11, 8, 1).cast<float>().cast<double>();
  Matrix mask = uniform(11, 8, 2).unaryExpr([](double x) { return x < 0.5 ? 1.0 : 0.0; });
  mask.row(3).setZero();
  ObservedSquares squares(ObservedMatrix(observed(Y, mask)), false, 1);
  LossOptions options;
  options.weights.cols = Vector::Ones(8);
  const auto f = make_objective(observed(Y, mask), options);
  EXPECT_NEAR(f->null_value(), squares.null_value(), 1e-10) << "errors of squares are relative to zero";
  squares.move_to(some_atoms(11, 8, 3, 4));
  f->move_to(some_atoms(11, 8, 3, 4));
  EXPECT_NEAR(f->value(), squares.value(), 1e-10);
  const auto own = f->weight_quadratic(), expected = squares.weight_quadratic();
  EXPECT_LT(max_difference(own.gram, expected.gram), 1e-10);
  EXPECT_LT(max_difference(own.linear, expected.linear), 1e-10);
  const auto system = f->along(1), expected_system = squares.along(1);
  for (const Index k : {0, 2, 1}) {  // kept true while atoms move
    Parabolas p, q;
    system->parabolas(k, nullptr, p);
    expected_system->parabolas(k, nullptr, q);
    EXPECT_LT(max_difference(p.a, q.a), 1e-10);
    EXPECT_LT(max_difference(p.b, q.b), 1e-10);
    const Vector moved = gaussian(8, 1, 20 + std::uint64_t(k)).normalized();
    system->move(k, moved, 0.7);
    expected_system->move(k, moved, 0.7);
  }
  EXPECT_NEAR(f->value(), squares.value(), 1e-10);
}

TEST(LossObjective, SweepsOverCoordinatesLowerTheValueAndKeepTheirSign) {
  for (const char* spec : kLossSpecs)
    for (const bool nonnegative : {false, true}) {
      SCOPED_TRACE(spec);
      const auto f =
          make_objective(data_matrix(data_for(parse_loss(spec), 12, 9, 5)), {.loss = parse_loss(spec)});
      Expansion x = some_atoms(12, 9, 3, 6);
      if (nonnegative) x = {x.left().cwiseAbs(), x.right().cwiseAbs(), x.weights.cwiseAbs()};
      f->move_to(x);
      double before = f->value();
      for (int sweep = 0; sweep < 6; ++sweep)
        for (const Index mode : {0, 1}) {
          EXPECT_TRUE(f->along(mode)->sweep({.nonnegative = nonnegative, .first = sweep == 3 ? 1 : 0}));
          EXPECT_LE(f->value(), before * (1 + 1e-13));
          before = f->value();
          EXPECT_TRUE(!nonnegative || f->iterate().factors[mode].minCoeff() >= 0);
        }
    }
}

TEST(LossObjective, FreeSweepsLowerWhatTheySayAndCountTheRidgeIn) {
  for (const char* spec : kLossSpecs) {
    SCOPED_TRACE(spec);
    const Loss loss = parse_loss(spec);
    const Matrix Y = data_for(loss, 17, 12, 5);
    const auto f = make_objective(data_matrix(Y), {.loss = loss, .weights = {.rows = uniform(17, 1, 9)}});
    for (const double ridge : {0.0, 0.7}) {
      const ElasticNet net{.l2 = ridge};
      const auto sweeps = f->free_sweeps({.nonnegative = false, .prices = {{net, net}}});
      ASSERT_TRUE(sweeps);
      Factors at(0.3 * gaussian(17, 3, 1), 0.3 * gaussian(12, 3, 2));
      double last = std::numeric_limits<double>::infinity();
      for (int sweep = 0; sweep < 6; ++sweep)
        for (const Index mode : {0, 1}) {
          Panel X = at[mode];
          const double value = sweeps->sweep(mode, at, false, true, X);
          at[mode] = X;
          f->move_to({at, Vector::Ones(3)});
          const double paid = 0.5 * ridge * (at[0].squaredNorm() + at[1].squaredNorm());
          EXPECT_NEAR(value, f->value() + paid, 1e-9 * (1 + value));
          EXPECT_LE(value, last * (1 + 1e-12));
          last = value;
        }
    }
  }
}

TEST(LossObjective, OwnTermsNeverRaiseTheValueAndAreTheBest) {
  for (const char* spec : kLossSpecs) {
    SCOPED_TRACE(spec);
    const Matrix Y = data_for(parse_loss(spec), 14, 10, 7);
    const auto f = make_objective(data_matrix(Y), {.loss = parse_loss(spec), .offsets = true});
    EXPECT_NEAR(f->value(), f->null_value(), 1e-12 * f->null_value()) << "offsets are the null model";
    f->move_to(some_atoms(14, 10, 2, 8));
    double before = f->value();
    for (int round = 0; round < 5; ++round) {
      f->fit_own_terms();
      EXPECT_LE(f->value(), before * (1 + 1e-13));
      before = f->value();
    }
    EXPECT_EQ(f->own_terms().row_offsets.size(), 14);
    EXPECT_EQ(f->own_terms().col_offsets.size(), 10);
  }
}

TEST(LossObjective, NullModelsAreTheBestConstants) {
  const Matrix Y = data_for(Loss::bernoulli, 20, 15, 1);
  const double p = Y.mean(), entropy = -(p * std::log(p) + (1 - p) * std::log(1 - p));
  EXPECT_NEAR(make_objective(data_matrix(Y), {.loss = Loss::bernoulli})->null_value(), 300 * entropy, 1e-8);
  const Matrix N = data_for(Loss::poisson_log, 20, 15, 2);
  double deviance = 0;
  for (const double y : N.reshaped()) deviance += (y > 0 ? y * std::log(y / N.mean()) : 0) - y + N.mean();
  EXPECT_NEAR(make_objective(data_matrix(N), {.loss = Loss::poisson_log})->null_value(), deviance, 1e-8);
  const Vector scale = uniform(20, 1, 3).array() + 0.5;
  const double rate = N.sum() / (15 * scale.sum());
  deviance = 0;
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 15; ++j) {
      const double y = N(i, j), mean = rate * scale[i];
      deviance += (y > 0 ? y * std::log(y / mean) : 0) - y + mean;
    }
  EXPECT_NEAR(make_objective(data_matrix(N), {.loss = Loss::poisson_log, .row_scale = scale})->null_value(),
              deviance, 1e-8);
}

TEST(LossObjective, SameBitsForAnyNumberOfThreads) {
  const Matrix Y = data_for(Loss::poisson_log, 400, 300, 1);
  const SparseMatrixOf<double> stored = to_sparse(Y);
  for (const bool sparse : {false, true}) {
    std::vector<Matrix> results;
    for (const int threads : {1, 2, 3, 16}) {
      const auto f = make_objective(sparse ? data_matrix(stored) : data_matrix(Y),
                                    {.loss = Loss::poisson_log, .offsets = true}, threads);
      f->move_to(some_atoms(400, 300, 3, 2));
      for (const Index mode : {0, 1}) f->along(mode)->sweep({.nonnegative = false});
      f->fit_own_terms();
      const auto [gram, linear] = f->weight_quadratic();
      Matrix all(3, 5);
      all << gram, linear, Vector::Constant(3, f->value());
      results.push_back(all);
      EXPECT_TRUE(same_bits(all, results.front())) << threads << " threads";
    }
  }
}

TEST(LossObjective, DataOutsideTheDomainAreNamedWithLossesThatWouldTakeThem) {
  Matrix Y = Matrix::Ones(4, 3);
  Y(2, 1) = -1.5;
  const auto refused = [&](const LossOptions& options) {
    return message_of<InvalidInput>([&] { make_objective(data_matrix(Y), options); });
  };
  EXPECT_THAT(
      refused({.loss = Loss::poisson_log}),
      testing::AllOf(testing::HasSubstr("(3, 2)"), testing::HasSubstr("-1.5"),
                     testing::HasSubstr("squares, huber:DELTA, absolute, quantile:TAU would take it")));
  LossOptions ignoring{.loss = Loss::poisson_log};
  ignoring.weights.rows = Vector::Ones(4);
  ignoring.weights.rows[2] = 0;
  EXPECT_NO_THROW(make_objective(data_matrix(Y), ignoring)) << "an entry of weight 0 is unknown";
  EXPECT_THAT(message_of<InvalidInput>([] {
                make_objective(data_matrix(SparseMatrixOf<double>(to_sparse(Matrix::Identity(3, 3)))),
                               {.loss = Loss::gamma});
              }),
              testing::HasSubstr("(1, 2)"))
      << "a zero that is not stored";
}

TEST(LossObjective, WrongWeightsAndScalesAreRefused) {
  const Matrix Y = Matrix::Ones(4, 3);
  const auto with = [&](auto change) {
    LossOptions options{.loss = Loss::poisson_log};
    change(options);
    make_objective(data_matrix(Y), options);
  };
  const Matrix negative = -Y, small = Matrix::Ones(2, 3), none = Matrix::Zero(4, 3);
  EXPECT_THROW(with([](LossOptions& o) { o.weights.rows = Vector::Ones(3); }), InvalidInput);
  EXPECT_THROW(with([](LossOptions& o) { o.weights.cols = -Vector::Ones(3); }), InvalidInput);
  EXPECT_THROW(with([&](LossOptions& o) { o.weights.entries = data_matrix(negative); }), InvalidInput);
  EXPECT_THROW(with([&](LossOptions& o) { o.weights.entries = data_matrix(small); }), InvalidInput);
  EXPECT_THROW(with([&](LossOptions& o) { o.weights.entries = data_matrix(none); }), InvalidInput);
  EXPECT_THROW(with([](LossOptions& o) { o.row_scale = Vector::Ones(3); }), InvalidInput);
  EXPECT_THROW(with([](LossOptions& o) { o.row_scale = Vector::Zero(4); }), InvalidInput);
  EXPECT_THROW(with([](LossOptions& o) {
                 o.loss = Loss::bernoulli;
                 o.row_scale = Vector::Ones(4);
               }),
               InvalidArgument);
}

TEST(LossObjective, MeansGoThroughTheLink) {
  Expansion x(Matrix::Ones(2, 1), Matrix::Ones(3, 1), Vector::Constant(1, 0.5));
  OwnTerms own;
  own.row_offsets = Vector::Constant(2, 0.25);
  own.col_offsets = Vector::Constant(3, -0.75);
  EXPECT_LT(max_difference(means_of(x, Loss::bernoulli, own, {}), Matrix::Constant(2, 3, 0.5)), 1e-15);
  EXPECT_LT(max_difference(means_of(x, Loss::poisson_log, own, Vector::Constant(2, 3.0)),
                           Matrix::Constant(2, 3, 3.0)),
            1e-15);
  own.grades = Vector::LinSpaced(3, 1, 3);
  own.thresholds = Vector::Zero(2);
  own.thresholds << -1, 1;
  EXPECT_NEAR(means_of(x, Loss::ordinal, own, {})(0, 0), 2, 1e-12);
}

}  // namespace
}  // namespace pursuit
