// Completion by structured atoms under losses beyond squares.

#include "completion/test_support.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/new_rows.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

struct LossCase {
  const char* spec;
  bool nonnegative;  // sets and weights
};
constexpr LossCase kStructuredLosses[] = {
    {"bernoulli", false}, {"poisson", true},       {"poisson-log", false}, {"negative-binomial:auto", false},
    {"gamma", false},     {"itakura-saito", true}, {"huber:0.5", false},   {"absolute", false},
    {"ordinal", false}};

/// Two planted atoms, and numbers of them that a loss takes.
Matrix planted_numbers(const Loss& loss, Index rows, Index cols) {
  const bool positive = loss.has_positive_means();
  const Matrix U = gaussian(rows, 2, 31), V = gaussian(2, cols, 32), noise = uniform(rows, cols, 33);
  const Matrix x =
      positive ? Matrix(2 * U.cwiseAbs() * V.cwiseAbs() + Matrix::Constant(rows, cols, 0.2)) : U * V;
  Matrix y = x;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const double e = noise(i, j);
      switch (loss.kind) {
        case Loss::bernoulli: y(i, j) = e < 1 / (1 + std::exp(-2 * x(i, j))) ? 1 : 0; break;
        case Loss::poisson: y(i, j) = std::floor(x(i, j) + e); break;
        case Loss::poisson_log:
        case Loss::negative_binomial: y(i, j) = std::floor(std::exp(0.7 * x(i, j)) + e); break;
        case Loss::gamma: y(i, j) = std::exp(x(i, j)) * (0.8 + 0.4 * e); break;
        case Loss::itakura_saito: y(i, j) = x(i, j) * (0.8 + 0.4 * e); break;
        case Loss::ordinal: y(i, j) = std::clamp(std::round(x(i, j) + 3), 1.0, 5.0); break;
        default: y(i, j) = e < 0.05 ? x(i, j) + 6 : x(i, j) + 0.1 * e;
      }
    }
  return y;
}

StructuredOptions options_of(const LossCase& test) {
  StructuredOptions options;
  options.loss = parse_loss(test.spec);
  options.max_rank = 4;
  options.polish = 200;
  if (test.nonnegative) {
    options.left = options.right = nonneg();
    options.weights = WeightRule::nonneg;
  }
  return options;
}

TEST(CompleteByLoss, PredictsEntriesThatItHasNotSeen) {
  for (const LossCase& test : kStructuredLosses) {
    SCOPED_TRACE(test.spec);
    StructuredOptions options = options_of(test);
    options.regularization = {Regularization::self_tuned, 0};
    options.offsets = !test.nonnegative;
    ObservedEntries entries = observed(planted_numbers(options.loss, 60, 45), 0.7, 5);
    const Index held = entries.size() / 5;
    const auto parts = split(std::move(entries), {entries.size() - held, held}, 1);
    options.predict = positions_of(parts[1]);
    const CompletionResult result = complete_structured(parts[0], options);
    EXPECT_EQ(result.model.loss.spec(), test.spec);
    const double error = mean_error(result.model, positions_of(parts[1]), parts[1].value);

    options.max_rank = 1;
    options.regularization = {Regularization::ridge, 1e6};  // next to nothing is left of the atom
    const double without =
        mean_error(complete_structured(parts[0], options).model, positions_of(parts[1]), parts[1].value);
    EXPECT_LT(error, 0.75 * without);
    for (std::size_t e = 0; e < parts[1].row.size(); ++e) {
      EXPECT_GE(result.predictions[e].value, result.model.lowest);
      EXPECT_LE(result.predictions[e].value, result.model.highest);
      EXPECT_TRUE(std::isfinite(result.predictions[e].deviation));
    }
    if (options.loss.kind == Loss::bernoulli || test.nonnegative) continue;
    // Rows anew from all that is known of them are predicted about as well.
    const ObservedMatrix again(parts[0]);
    const Matrix factors = new_row_factors(result.model, again.by_row());
    EXPECT_LT(error_of_rows(result.model, factors, parts[1]), 1.3 * error + 1e-3);
  }
}

/// Entries of 1e-30 were left without an atom, and under a log link predicted a thousand times too large.
TEST(CompleteByLoss, TheUnitOfTheEntriesDoesNotMatter) {
  for (const LossCase& test : kStructuredLosses) {
    const Loss loss = parse_loss(test.spec);
    if (loss.kind == Loss::bernoulli || loss.kind == Loss::ordinal || loss.kind == Loss::negative_binomial)
      continue;
    SCOPED_TRACE(test.spec);
    const ObservedEntries plain = observed(planted_numbers(loss, 40, 30), 0.7, 5);
    std::vector<std::vector<Prediction>> found;
    for (const int power : {0, -100, -60, 60, 100}) {
      SCOPED_TRACE(power);
      const double scale = std::ldexp(1.0, power);
      StructuredOptions options = options_of(test);
      options.regularization = {Regularization::self_tuned, 0};
      if (loss.kind == Loss::huber) options.loss.parameter *= scale;
      ObservedEntries entries = plain;
      for (float& value : entries.value) value = float(value * scale);
      options.predict = positions_of(entries);
      CompletionResult result = complete_structured(entries, options);
      EXPECT_GE(result.model.atoms.rank(), 1);
      double left = 0, all = 0;
      for (std::size_t e = 0; e < plain.value.size(); ++e) {
        Prediction& each = result.predictions[e];
        each.value /= scale;
        each.deviation /= scale;
        left += std::abs(each.value - plain.value[e]);
        all += std::abs(plain.value[e]);
        EXPECT_TRUE(std::isfinite(each.deviation));
      }
      EXPECT_LT(left, 0.7 * all);
      found.push_back(std::move(result.predictions));
    }
    for (std::size_t e = 0; e < plain.value.size(); ++e)
      for (std::size_t far = 2; far < found.size(); ++far) {
        EXPECT_NEAR(found[far][e].value, found[1][e].value, 1e-3 * (1 + std::abs(found[1][e].value)));
        if (loss.kind == Loss::poisson_log) continue;  // no dispersion is larger than 1e9
        EXPECT_NEAR(found[far][e].deviation, found[1][e].deviation, 1e-2 * (1 + found[1][e].deviation));
      }
  }
}

TEST(CompleteByLoss, ErrorsAreMeansOfCosts) {
  const LossCase test{"poisson-log", false};
  StructuredOptions options = options_of(test);
  const ObservedEntries entries = observed(planted_numbers(options.loss, 20, 15), 0.8, 5);
  const CompletionModel model = complete_structured(entries, options).model;
  double sum = 0, weights = 0;
  std::vector<float> weight;
  for (std::size_t e = 0; e < entries.row.size(); ++e) {
    weight.push_back(float(e % 3));
    double x = double(model.rows.mean(entries.row[e], 0)) + model.cols.mean(entries.col[e], 0);
    for (Index k = 0; k < model.atoms.rank(); ++k)
      x += model.atoms.weights[k] * model.atoms.left()(entries.row[e], k) *
           model.atoms.right()(entries.col[e], k);
    const double y = entries.value[e];
    sum += weight.back() * 2 * ((y > 0 ? y * std::log(y) : 0) - y * x - y + std::exp(x));
    weights += weight.back();
  }
  EXPECT_NEAR(mean_error(model, positions_of(entries), entries.value, weight), sum / weights, 1e-9 * sum);
}

TEST(CompleteByLoss, EntriesOfWeightZeroCountAsUnknown) {
  for (const LossCase& test :
       {LossCase{"squares", false}, {"bernoulli", false}, {"poisson", true}, {"huber:0.5", false}}) {
    SCOPED_TRACE(test.spec);
    StructuredOptions options = options_of(test);
    options.validation = 0;
    options.max_rank = 2;
    options.regularization = {Regularization::ridge, 0.5};
    options.offsets = !test.nonnegative;
    const ObservedEntries all = observed(planted_numbers(options.loss, 25, 20), 0.8, 5);
    ObservedEntries known{all.rows, all.cols, {}, {}, {}};
    std::vector<float> weights;
    for (std::size_t e = 0; e < all.row.size(); ++e) {
      weights.push_back(e % 4 == 0 ? 0.0F : 1.0F);
      if (weights.back() == 0) continue;
      known.row.push_back(all.row[e]);
      known.col.push_back(all.col[e]);
      known.value.push_back(all.value[e]);
    }
    options.entry_weights = weights;
    const Expansion got = complete_structured(all, options).model.atoms;
    const std::vector<float> ones(known.row.size(), 1.0F);
    options.entry_weights = ones;
    const Expansion want = complete_structured(known, options).model.atoms;
    ASSERT_EQ(got.rank(), want.rank());
    EXPECT_LT(max_difference(got.dense(), want.dense()), 1e-10 * (1 + want.dense().norm()));
  }
}

TEST(CompleteByLoss, LargerRidgesShrinkMore) {
  for (const LossCase& test : {LossCase{"bernoulli", false}, {"poisson", true}, {"poisson-log", false}}) {
    SCOPED_TRACE(test.spec);
    for (const bool sparse_sets : {false, true}) {  // by sweeps that run ahead, and by fits
      StructuredOptions options = options_of(test);
      if (sparse_sets) options.right = test.nonnegative ? nonneg() + sparse(10) : sparse(10);
      options.validation = 0;
      options.max_rank = 2;
      const ObservedEntries entries = observed(planted_numbers(options.loss, 25, 20), 0.8, 5);
      double last = std::numeric_limits<double>::infinity();
      for (const double lambda : {0.1, 1.0, 10.0}) {
        options.regularization = {Regularization::ridge, lambda};
        const double size = complete_structured(entries, options).model.atoms.weights.cwiseAbs().sum();
        EXPECT_LT(size, last) << lambda << (sparse_sets ? ", sparse" : "");
        last = size;
      }
    }
  }
}

TEST(CompleteByLoss, SameBitsForAnyNumberOfThreads) {
  StructuredOptions options = options_of({"bernoulli", false});
  options.offsets = true;
  options.max_rank = 3;
  options.polish = 20;
  const ObservedEntries entries = observed(planted_numbers(options.loss, 400, 300), 0.6, 5);
  const Matrix want = complete_structured(entries, options).model.atoms.dense();
  for (const int threads : {2, 3, 16}) {
    options.threads = threads;
    EXPECT_EQ(complete_structured(entries, options).model.atoms.dense(), want) << threads;
  }
}

TEST(CompleteByLoss, RefusesWhatDoesNotGoTogether) {
  const ObservedEntries entries = observed(planted_numbers(Loss::bernoulli, 10, 8), 1, 5);
  const auto message = [&](const auto& change, const ObservedEntries& data) -> std::string {
    StructuredOptions options = options_of({"bernoulli", false});
    change(options);
    try {
      complete_structured(data, options);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message([](auto& o) { o.loss = Loss::poisson; }, entries), HasSubstr("weights must be nonneg"));
  EXPECT_THAT(message([](auto& o) { o.exact_corrections = false; }, entries), HasSubstr("presets"));
  EXPECT_THAT(message(
                  [](auto& o) {
                    o.regularization = {Regularization::count_weighted_ridge, 1};
                  },
                  entries),
              HasSubstr("none, a number or auto"));
  ObservedEntries negative = entries;
  negative.value[3] = -1;
  EXPECT_THAT(message([](auto&) {}, negative), HasSubstr("is -1; loss bernoulli takes 0, 1 or a share"));
  const std::vector<float> few(3, 1.0F), zeros(entries.row.size(), 0.0F);
  EXPECT_THAT(message([&](auto& o) { o.entry_weights = few; }, entries),
              HasSubstr("entry_weights: 3 for 80"));
  EXPECT_THAT(message([&](auto& o) { o.entry_weights = zeros; }, entries),
              HasSubstr("every entry has weight 0"));
}

}  // namespace
}  // namespace pursuit
