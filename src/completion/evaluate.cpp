#include "pursuit/completion/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pursuit/base/error.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

constexpr const char* kMethods[] = {"or1mp",   "or1mp-economic", "gmpr",   "gmpr-sparse",
                                    "default", "high",           "factors"};
constexpr int kSweepsOfFactors = 500;

bool takes_loss(const std::string& method, const Loss& loss) {
  if (loss.kind == Loss::squares || method == "factors") return true;
  return method == "default" && loss.kind == Loss::bernoulli;
}

struct Parts {
  ObservedEntries train, validation, test;
};

Parts parts_of(const ObservedEntries& entries, const std::vector<double>& shares, std::uint64_t seed,
               int threads) {
  std::vector<Index> sizes;
  double sum = 0;
  Index before = 0;
  for (const double share : shares) {
    sum += share;
    sizes.push_back(Index(std::llround(sum * double(entries.size()))) - before);
    before += sizes.back();
  }
  auto parts = split(entries, sizes, seed, threads);
  if (parts.size() == 2) return {std::move(parts[0]), {}, std::move(parts[1])};
  return {std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

Parts fold_of(const ObservedEntries& entries, int fold, int folds, std::uint64_t seed, int threads) {
  auto parts = split(entries, fold_sizes(entries.size(), folds), seed, threads);
  Parts result;
  result.test = std::move(parts[std::size_t(fold)]);
  result.train = {entries.rows, entries.cols, {}, {}, {}};
  for (int k = 0; k < folds; ++k)
    if (k != fold) put_back(result.train, parts[std::size_t(k)]);
  return result;
}

void check(const ObservedEntries& entries, const Protocol& p) {
  if (p.folds == 0) {
    if (p.split.size() < 2 || p.split.size() > 3)
      throw InvalidArgument(fmt::format(
          "split: {} parts; must be two (train/test) or three (train/validation/test)", p.split.size()));
    const double sum = std::accumulate(p.split.begin(), p.split.end(), 0.0);
    if (std::abs(sum - 1) > 1e-9)
      throw InvalidArgument(fmt::format("split: parts sum to {:g}, must be 1 (or 100 %)", sum));
    for (const double share : p.split)
      if (!(share > 0) || Index(share * double(entries.size())) < 1)
        throw InvalidArgument(
            fmt::format("split: a part of {:g} of {} entries is empty", share, entries.size()));
  } else if (p.folds < 2 || p.folds > entries.size()) {
    throw InvalidArgument(
        fmt::format("folds {}: must be 2 to {}, the number of entries", p.folds, entries.size()));
  }
  if (p.repeat < 1) throw InvalidArgument(fmt::format("repeat {}: must be 1 or more", p.repeat));
}

CompletionResult run(const std::string& method, const Parts& parts, const Protocol& protocol,
                     std::uint64_t seed, const Observer& observer) {
  std::vector<Position> positions = positions_of(parts.test);
  if (method == "default" || method == "high") {
    CompletionOptions options;
    options.loss = protocol.loss;
    options.samples = method == "high" ? draws_for_high_effort(parts.train.size()) : 0;
    options.predict = std::move(positions);
    options.seed = seed;
    options.threads = protocol.threads;
    options.observer = observer;
    return complete(parts.train, options);
  }
  const bool economic = method == "or1mp-economic";
  StructuredOptions options;
  if (method == "factors") {
    options.loss = protocol.loss;
    options.regularization = {Regularization::self_tuned, 0};
    options.offsets = !protocol.loss.has_positive_means();
    if (protocol.loss.has_positive_means()) {
      options.left = options.right = nonneg();
      options.weights = WeightRule::nonneg;
    }
    if (protocol.loss.kind != Loss::squares) options.polish = kSweepsOfFactors;
  } else {
    options = completion_preset(economic ? "or1mp" : method);
  }
  if (economic) options.weights = WeightRule::economic;
  if (parts.validation.size() > 0) options.validation_entries = &parts.validation;
  options.predict = std::move(positions);
  options.seed = seed;
  options.threads = protocol.threads;
  options.observer = observer;
  return complete_structured(parts.train, options);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

double variance(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (const double value : values) sum += std::pow(value - mean(values), 2);
  return sum / double(values.size() - 1);
}

/// The error of the constant that the training entries suggest: their mean, median, quantile or, of grades,
/// their shares.
double null_error_of(const Parts& parts, const Loss& loss) {
  std::vector<double> values(parts.train.value.begin(), parts.train.value.end());
  std::sort(values.begin(), values.end());
  const double count = double(values.size()), average = mean(values);
  const auto quantile = [&](double share) { return values[std::size_t(share * (count - 1))]; };
  OwnTerms own;
  double x = average;
  if (loss.kind == Loss::quantile) x = quantile(loss.parameter);
  if (loss.kind == Loss::absolute || loss.kind == Loss::huber) x = quantile(0.5);
  if (loss.kind == Loss::bernoulli) {
    const double p = std::clamp(average, 1e-12, 1 - 1e-12);
    x = std::log(p / (1 - p));
  }
  if (loss.has_log_link()) x = std::log(std::max(average, 1e-12));
  if (loss.kind == Loss::negative_binomial) {
    const double excess = std::max(variance(values) - average, 1e-6 * average + 1e-300);
    own.size = loss.parameter > 0 ? loss.parameter : std::clamp(average * average / excess, 1e-3, 1e6);
  }
  if (loss.kind == Loss::ordinal) {
    x = 0;
    std::vector<double> grades, thresholds;
    for (std::size_t e = 0; e < values.size(); ++e)
      if (e == 0 || values[e] != values[e - 1]) {
        if (e > 0) thresholds.push_back(std::log(double(e) / (count - double(e))));
        grades.push_back(values[e]);
      }
    own.grades = Eigen::Map<const Vector>(grades.data(), Index(grades.size()));
    own.thresholds = Eigen::Map<const Vector>(thresholds.data(), Index(thresholds.size()));
  }
  if (loss.has_positive_means()) x = std::max(x, 1e-12);
  double costs = 0;
  for (const float y : parts.test.value) costs += cost_of(loss, own, y, x);
  return mean_error(loss, costs, double(parts.test.size()));
}

}  // namespace

double MethodScore::mean_rmse() const {
  return mean(rmse);
}
double MethodScore::mean_error() const {
  return mean(error);
}
double MethodScore::variance_of_error() const {
  return variance(error);
}
double MethodScore::explained(const Loss& loss) const {
  double sum = 0, null_sum = 0;
  for (std::size_t run = 0; run < error.size(); ++run) {
    sum += loss.kind == Loss::squares ? error[run] * error[run] : error[run];
    null_sum += loss.kind == Loss::squares ? null_error[run] * null_error[run] : null_error[run];
  }
  return null_sum > 0 ? 1 - sum / null_sum : 0.0;
}
double MethodScore::mean_seconds() const {
  return mean(seconds);
}

double MethodScore::variance_of_rmse() const {
  return variance(rmse);
}

std::vector<MethodScore> evaluate(const ObservedEntries& entries, const std::vector<std::string>& methods,
                                  const Protocol& protocol,
                                  const std::function<bool(double share, const std::string& what)>& watch) {
  check(entries, protocol);
  for (const std::string& method : methods) {
    if (std::find(std::begin(kMethods), std::end(kMethods), method) == std::end(kMethods))
      throw InvalidArgument(fmt::format("method '{}': must be one of {}", method, fmt::join(kMethods, ", ")));
    if (!takes_loss(method, protocol.loss))
      throw InvalidArgument(fmt::format("method '{}': is of squares; loss {} has factors{}", method,
                                        protocol.loss.spec(),
                                        protocol.loss.kind == Loss::bernoulli ? " and default" : ""));
  }
  for (std::size_t e = 0; e < entries.value.size(); ++e)
    if (!protocol.loss.accepts(entries.value[e]))
      throw InvalidInput(
          fmt::format("the entry at row {}, column {} is {}; loss {} takes {}; {} would take it",
                      entries.row[e], entries.col[e], entries.value[e], protocol.loss.spec(),
                      protocol.loss.domain(), losses_for(entries.value[e])));
  std::vector<MethodScore> scores;
  scores.reserve(methods.size());
  for (const std::string& method : methods) scores.push_back({.method = method});
  const int folds = std::max(protocol.folds, 1), runs = protocol.repeat * folds * int(methods.size());
  int finished = 0;
  for (int repeat = 0; repeat < protocol.repeat; ++repeat)
    for (int fold = 0; fold < folds; ++fold) {
      const std::uint64_t seed = protocol.seed + std::uint64_t(repeat);
      const Parts parts = protocol.folds > 0 ? fold_of(entries, fold, folds, seed, protocol.threads)
                                             : parts_of(entries, protocol.split, seed, protocol.threads);
      for (MethodScore& score : scores) {
        const double share = double(finished) / runs;
        const CompletionResult result = run(score.method, parts, protocol, seed, [&](const Moment& moment) {
          return !watch || watch(share, fmt::format("{}, {} atoms", score.method, moment.rank));
        });
        if (result.interrupted()) return scores;
        const Accuracy figures = accuracy(result.predictions, parts.test.value);
        score.rmse.push_back(figures.rmse);
        score.mae.push_back(figures.mae);
        score.seconds.push_back(result.seconds);
        score.error.push_back(
            mean_error(result.model, positions_of(parts.test), parts.test.value, {}, protocol.threads));
        score.null_error.push_back(null_error_of(parts, protocol.loss));
        if (protocol.loss.kind == Loss::bernoulli) {
          const LikelihoodScore likelihood = likelihood_score(result.predictions, parts.test.value);
          score.auc.push_back(likelihood.auc);
          score.calibration.push_back(likelihood.calibration);
        }
        ++finished;
        if (watch &&
            !watch(double(finished) / runs,
                   fmt::format("{} {} {:.4f}", score.method, error_name(protocol.loss), score.error.back())))
          return scores;
      }
    }
  return scores;
}

}  // namespace pursuit
