// Completion of zeros and ones, and entries that count more or less often than once.

#include <cmath>

#include "completion/logistic_weight.hpp"
#include "completion/row_posteriors.hpp"
#include "completion/test_support.hpp"
#include "pursuit/completion/new_rows.hpp"
#include "pursuit/completion/recommend.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

/// Zeros and ones with log-odds of low rank, some seen and others kept to test with.
struct Answers {
  Matrix probability;
  ObservedEntries train, test;

  explicit Answers(Index rows = 200, Index cols = 60, std::uint64_t seed = 1) {
    Matrix odds = 1.5 * gaussian(rows, 2, seed) * gaussian(cols, 2, seed + 1).transpose();
    odds.rowwise() += 0.7 * gaussian(1, cols, seed + 2).row(0);
    probability = odds.unaryExpr([](double x) { return logistic(x); });
    Random random(seed + 3);
    train = test = {rows, cols, {}, {}, {}};
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) {
        const bool one = random.uniform() < probability(i, j);
        append(random.uniform() < 0.7 ? train : test, i, j, one ? 1.0F : 0.0F);
      }
  }
};

const Answers& answers() {
  static const Answers result;
  return result;
}

const CompletionResult& completed_answers() {
  static const CompletionResult result = complete(answers().train, {.loss = Loss::bernoulli});
  return result;
}

double test_likelihood(const CompletionModel& model, const ObservedEntries& test) {
  return likelihood_score(predict(model, positions_of(test)), test.value).log_likelihood;
}

TEST(LogisticWeight, MakesAQuadraticThatIsNowhereBelowTheLoss) {
  const auto loss = [](double psi, double y) { return std::log1p(std::exp(psi)) - y * psi; };
  for (const double y : {0.0, 0.3, 1.0})
    for (double at = -12; at <= 12; at += 0.37)
      for (double psi = -12; psi <= 12; psi += 0.41) {
        const double step = psi - at, quadratic = loss(at, y) + (logistic(at) - y) * step +
                                                  0.5 * logistic_weight(at) * step * step;
        EXPECT_LE(loss(psi, y), quadratic + 1e-12) << at << " to " << psi;
      }
  EXPECT_NEAR(logistic_weight(0), 0.25, 1e-15);
  EXPECT_NEAR(logistic_weight(1e-3), std::tanh(5e-4) / 2e-3, 1e-12);
  EXPECT_NEAR(logistic_weight(-800), 1.0 / 1600, 1e-15);
}

TEST(CompleteBernoulli, PredictsProbabilities) {
  const CompletionModel& model = completed_answers().model;
  EXPECT_EQ(model.loss.kind, Loss::bernoulli);
  double truth = 0, ones = 0;
  for (const float y : answers().train.value) ones += y / double(answers().train.size());
  double constant = 0;
  for (Index e = 0; e < answers().test.size(); ++e) {
    const float y = answers().test.value[e];
    truth += log_likelihood(answers().probability(answers().test.row[e], answers().test.col[e]), y);
    constant += log_likelihood(ones, y);
  }
  truth /= double(answers().test.size());
  constant /= double(answers().test.size());
  const double got = test_likelihood(model, answers().test);
  const double offsets = test_likelihood(
      complete(answers().train, {.loss = Loss::bernoulli, .max_rank = 0}).model, answers().test);
  EXPECT_GT(offsets, constant);
  EXPECT_GT(got, offsets + 0.05);
  EXPECT_GT(got, truth - 0.08) << "the probabilities that made the answers: " << truth;
  for (const Prediction& each : predict(model, positions_of(answers().test))) {
    EXPECT_GE(each.value, 0);
    EXPECT_LE(each.value, 1);
    EXPECT_NEAR(each.deviation, std::sqrt(each.value * (1 - each.value)), 1e-12);
  }
  EXPECT_TRUE(std::isnan(model.noise()));
}

TEST(CompleteBernoulli, IsCalibrated) {
  double predicted[5] = {}, seen[5] = {}, count[5] = {};
  const auto predictions = predict(completed_answers().model, positions_of(answers().test));
  for (std::size_t e = 0; e < predictions.size(); ++e) {
    const int bin = std::min(4, int(5 * predictions[e].value));
    predicted[bin] += predictions[e].value;
    seen[bin] += answers().test.value[e];
    ++count[bin];
  }
  for (int bin = 0; bin < 5; ++bin)
    if (count[bin] > 100) {
      EXPECT_NEAR(predicted[bin] / count[bin], seen[bin] / count[bin], 0.1) << bin;
    }
}

TEST(CompleteBernoulli, GivesTheSameBitsForAnyNumberOfThreads) {
  const Answers many(500, 80, 5);
  ASSERT_GT(many.train.size(), 20000) << "enough for threads";
  CompletionOptions options{.loss = Loss::bernoulli, .max_rank = 3};
  options.predict = positions_of(many.test);
  const auto one = complete(many.train, options).predictions;
  for (const int threads : {2, 3, 16}) {
    options.threads = threads;
    EXPECT_TRUE(same_predictions(complete(many.train, options).predictions, one)) << threads;
  }
}

TEST(CompleteBernoulli, SurvivesAnswersThatAreAllTheSame) {
  for (const float value : {0.0F, 1.0F}) {
    ObservedEntries same = answers().train;
    std::fill(same.value.begin(), same.value.end(), value);
    const double p = predict(complete(same, {.loss = Loss::bernoulli}).model, {0, 0}).value;
    EXPECT_NEAR(p, value, 0.01);
    EXPECT_TRUE(p > 0 && p < 1);
  }
}

TEST(CompleteBernoulli, TakesSharesBetweenZeroAndOne) {
  ObservedEntries shares = answers().train;
  for (Index e = 0; e < shares.size(); ++e)
    shares.value[e] = float(answers().probability(shares.row[e], shares.col[e]));
  const CompletionModel model = complete(shares, {.loss = Loss::bernoulli}).model;
  double error = 0;
  for (const Position at : positions_of(answers().test))
    error += std::abs(predict(model, at).value - answers().probability(at.row, at.col));
  EXPECT_LT(error / double(answers().test.size()), 0.05);
}

TEST(CompleteBernoulli, NewRowsGetWhatRowsOfTheModelHave) {
  const CompletionModel& model = completed_answers().model;
  const GroupedEntries& seen = completed_answers().seen;
  const Matrix rows = predict_rows(model, new_row_factors(model, seen));
  double difference = 0;
  for (const Position at : positions_of(answers().test))
    difference += std::abs(rows(at.row, at.col) - predict(model, at).value);
  EXPECT_LT(difference / double(answers().test.size()), 0.06);
  GroupedEntries strange = seen;
  strange.value[3] = 2;
  EXPECT_THAT(message_of<InvalidInput>([&] { new_row_factors(model, strange); }),
              AllOf(HasSubstr("entry 2"), HasSubstr("bernoulli")));
}

TEST(CompleteBernoulli, RecommendsByProbabilityToAllRowsAsToEach) {
  const CompletionModel& model = completed_answers().model;
  const auto lists = Recommender(model).of_rows(3, 9, 5, nullptr, 2);
  for (int row = 3; row < 9; ++row) {
    const auto& list = lists[std::size_t(row - 3)];
    const auto alone = recommend(model, row, 5);
    ASSERT_EQ(list.size(), 5U);
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_EQ(list[k].col, alone[k].col);
      EXPECT_LE(list[k].prediction.value, list[k > 0 ? k - 1 : 0].prediction.value);
    }
  }
}

TEST(CompleteBernoulli, GoesOnFromAnEarlierModelOfTheSameLossOnly) {
  CompletionOptions options{.loss = Loss::bernoulli};
  options.start = &completed_answers().model;
  const CompletionModel again = complete(answers().train, options).model;
  EXPECT_NEAR(test_likelihood(again, answers().test),
              test_likelihood(completed_answers().model, answers().test), 0.02);
  options.loss = Loss::squares;
  EXPECT_THAT(message_of<InvalidArgument>([&] { complete(answers().train, options); }),
              HasSubstr("a model of bernoulli cannot start one of squares"));
}

TEST(CompleteBernoulli, RefusesWhatItDoesNotTake) {
  ObservedEntries entries = answers().train;
  entries.value[7] = 3;
  EXPECT_THAT(message_of<InvalidInput>([&] { complete(entries, {.loss = Loss::bernoulli}); }),
              AllOf(HasSubstr(fmt::format("row {}, column {} is 3", entries.row[7], entries.col[7])),
                    HasSubstr("poisson")));
  EXPECT_THAT(message_of<InvalidArgument>([&] { complete(answers().train, {.loss = Loss::poisson}); }),
              HasSubstr("loss poisson"));
  EXPECT_THAT(message_of<InvalidArgument>(
                  [&] { complete(answers().train, {.loss = Loss::bernoulli, .samples = 5}); }),
              HasSubstr("samples 5"));
}

TEST(LikelihoodScore, IsWhatItsNamesSay) {
  const std::vector<Prediction> predictions{{0.9, 0}, {0.2, 0}, {0.2, 0}, {0.6, 0}};
  const std::vector<float> values{1, 0, 1, 0};
  const LikelihoodScore score = likelihood_score(predictions, values);
  EXPECT_NEAR(score.log_likelihood, (std::log(0.9) + std::log(0.8) + std::log(0.2) + std::log(0.4)) / 4,
              1e-12);
  EXPECT_NEAR(score.accuracy, 0.5, 1e-12);
  EXPECT_NEAR(score.auc, (2 + 0.5) / 4, 1e-12) << "of two ones and two zeros, one pair being a tie";
  EXPECT_EQ(likelihood_score(std::span(predictions).first(1), std::span(values).first(1)).auc, 0.5);
}

TEST(EntryWeights, OfTheStepAreNoiseVariancesDividedByThem) {
  const Index rows = 21, cols = 90;
  const int width = 16;
  const ObservedMatrix data(observed(gaussian(rows, cols, 1), 0.5, 2));
  const std::vector<float> twice(std::size_t(data.size()), 2.0F), ones(std::size_t(data.size()), 1.0F);
  AlignedVector<float> z(std::size_t(cols * width)), spread(z.size()), prior(std::size_t(rows * width));
  Random random(3);
  for (auto& x : z) x = float(random.gaussian());
  for (auto& x : spread) x = float(random.uniform());
  for (auto& x : prior) x = float(random.gaussian());
  const std::vector<float> col_weight(std::size_t(cols), 0.8F), row_weight(std::size_t(rows), 1.3F);
  const std::vector<double> tau(std::size_t(width), 0.4);
  Regressors held;
  set_regressors(held, z, spread, col_weight, width, 0.1, 1.2, 1);
  const auto step = [&](const std::vector<float>* weights, double noise, AlignedVector<float>& variance) {
    AlignedVector<float> mean(prior.size());
    variance.resize(prior.size());
    std::vector<double> error(static_cast<std::size_t>(rows));
    update_rows(EntryTasks(data.by_row(), weights), held, {prior, tau, row_weight, noise}, 0, 1,
                {mean, variance, error});
    return std::pair(mean, error);
  };
  AlignedVector<float> v1, v2, v3, v4;
  const auto [half_noise, half_error] = step(nullptr, 0.35, v1);
  const auto [doubled, doubled_error] = step(&twice, 0.7, v2);
  const auto [plain, plain_error] = step(nullptr, 0.7, v3);
  const auto [once, once_error] = step(&ones, 0.7, v4);
  for (std::size_t t = 0; t < prior.size(); ++t) {
    EXPECT_NEAR(doubled[t], half_noise[t], 2e-5);
    EXPECT_NEAR(v2[t], v1[t], 2e-6);
    EXPECT_NEAR(once[t], plain[t], 1e-6);
  }
  for (std::size_t i = 0; i < plain_error.size(); ++i) {
    EXPECT_NEAR(doubled_error[i], 2 * half_error[i], 1e-3 * half_error[i] + 1e-6) << i;
    EXPECT_NEAR(once_error[i], plain_error[i], 1e-5 * plain_error[i] + 1e-6) << i;
  }
}

TEST(EntryWeights, OfZeroAreEntriesThatWereNotSeen) {
  const ObservedEntries& all = planted_rank_three().train;
  std::vector<float> weights(std::size_t(all.size()), 1.0F);
  ObservedEntries rest{all.rows, all.cols, {}, {}, {}};
  for (Index e = 0; e < all.size(); ++e) {
    if (e % 5 == 0) weights[e] = 0;
    if (e % 5 != 0) append(rest, all.row[e], all.col[e], all.value[e]);
  }
  const auto positions = positions_of(planted_rank_three().test);
  for (const Loss loss : {Loss(Loss::squares), Loss(Loss::bernoulli)}) {
    const auto zeros_and_ones = [&](ObservedEntries entries) {
      for (float& value : entries.value)
        if (loss.kind == Loss::bernoulli) value = value > 2 ? 1.0F : 0.0F;
      return entries;
    };
    CompletionOptions options{.loss = loss, .max_rank = 3};
    options.predict = positions;
    const CompletionResult without = complete(zeros_and_ones(rest), options);
    options.entry_weights = weights;
    const CompletionResult weighted = complete(zeros_and_ones(all), options);
    EXPECT_EQ(weighted.seen.index, without.seen.index);
    for (std::size_t k = 0; k < positions.size(); ++k)
      ASSERT_NEAR(weighted.predictions[k].value, without.predictions[k].value, 2e-3) << loss.spec();
  }
}

TEST(EntryWeights, MakeEntriesCountForMore) {
  // Two measurements of every entry, of which one is much worse: weights tell which.
  const Planted& data = planted_rank_three();
  ObservedEntries entries = data.train;
  std::vector<float> weights(std::size_t(entries.size()), 1.0F);
  Random random(4);
  for (Index e = 0; e < entries.size(); e += 2) {
    entries.value[e] += float(3 * random.gaussian());
    weights[e] = 0.01F;
  }
  CompletionOptions options;
  options.predict = positions_of(data.test);
  const double blind = accuracy(complete(entries, options).predictions, data.test.value).rmse;
  options.entry_weights = weights;
  EXPECT_LT(accuracy(complete(entries, options).predictions, data.test.value).rmse, 0.8 * blind);
}

TEST(EntryWeights, ThatMakeNoSenseAreRefused) {
  const ObservedEntries entries{2, 2, {0, 1}, {0, 1}, {1, 2}};
  const auto refusal = [&](std::vector<float> weights) {
    CompletionOptions options;
    options.entry_weights = weights;
    return message_of<InvalidInput>([&] { complete(entries, options); });
  };
  EXPECT_THAT(refusal({1, -2}), AllOf(HasSubstr("(1, 1)"), HasSubstr("-2")));
  EXPECT_THAT(refusal({NAN, 1}), HasSubstr("(0, 0)"));
  EXPECT_THAT(refusal({0, 0}), HasSubstr("every entry has weight 0"));
  CompletionOptions options;
  const std::vector<float> three(3, 1.0F);
  options.entry_weights = three;
  EXPECT_THAT(message_of<InvalidArgument>([&] { complete(entries, options); }), HasSubstr("3 for 2 entries"));
}

}  // namespace
}  // namespace pursuit
