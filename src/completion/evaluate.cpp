#include "pursuit/completion/evaluate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "completion/weighted_entries.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/completion/complete_in_time.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

constexpr const char* kMethods[] = {"popularity", "offsets",     "or1mp",   "or1mp-economic",
                                    "gmpr",       "gmpr-sparse", "default", "high",
                                    "drift",      "implicit",    "factors"};
constexpr int kSweepsOfFactors = 500;

bool takes_loss(const std::string& method, const Loss& loss) {
  if (loss.kind == Loss::squares || method == "factors") return true;
  return method == "default" && loss.kind == Loss::bernoulli;
}

/// Entries that say yes, with ones for values.
ObservedEntries relevant_entries(const ObservedEntries& entries, double relevant) {
  ObservedEntries result{entries.rows, entries.cols, {}, {}, {}};
  for (std::size_t e = 0; e < entries.row.size(); ++e)
    if (entries.value[e] >= relevant) {
      result.row.push_back(entries.row[e]);
      result.col.push_back(entries.col[e]);
      result.value.push_back(1);
    }
  if (result.size() == 0)
    throw InvalidInput(fmt::format("relevant {:g}: no training entry is as large", relevant));
  return result;
}

/// Every column by how many rows say yes to it; of values it says nothing.
CompletionResult popularity(const ObservedEntries& train, double relevant) {
  const Timer timer;
  CompletionResult result;
  CompletionModel& model = result.model;
  model.rows = plain_side(train.rows);
  model.cols = plain_side(train.cols);
  const ObservedEntries yes = relevant_entries(train, relevant);
  for (const int j : yes.col) model.cols.mean(j, 0) += 1.0F / float(train.rows);
  model.lowest = 0;
  model.highest = 1;
  result.seconds = timer.seconds();
  return result;
}

bool is_of_lists_only(const std::string& method) {
  return method == "popularity" || method == "implicit";
}

CompletionResult run_method(const std::string& method, const Parts& parts, const Protocol& protocol,
                            double relevant, std::uint64_t seed, const Observer& observer) {
  if (method == "popularity") return popularity(parts.train, relevant);
  if (method == "implicit") {
    ImplicitOptions options;
    options.seed = seed;
    options.threads = protocol.threads;
    options.observer = observer;
    return complete_implicit(relevant_entries(parts.train, relevant), options);
  }
  std::vector<Position> positions = positions_of(parts.test);
  if (method == "default" || method == "high" || method == "offsets" || method == "drift") {
    CompletionOptions options;
    options.loss = protocol.loss;
    options.samples = method == "high" ? draws_for_high_effort(parts.train.size()) : 0;
    if (method == "offsets") {
      options.max_rank = 0;
      options.use_pattern = false;
    }
    options.predict = std::move(positions);
    options.seed = seed;
    options.threads = protocol.threads;
    options.team = protocol.team;
    options.observer = observer;
    if (method == "drift") return complete_in_time(parts.train, parts.train_times, options, parts.test_times);
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
bool MethodScore::has_values() const {
  return !is_of_lists_only(method);
}

double MethodScore::variance_of_rmse() const {
  return variance(rmse);
}

Estimate estimate_of(std::span<const double> figures) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (figures.empty()) return {kNone, kNone};
  const auto count = double(figures.size());
  const double average = std::accumulate(figures.begin(), figures.end(), 0.0) / count;
  if (figures.size() < 2) return {average, kNone};
  double sum = 0;
  for (const double figure : figures) sum += std::pow(figure - average, 2);
  return {average, std::sqrt(sum / (count - 1) / count)};
}

std::vector<MethodScore> evaluate(const ObservedEntries& entries, const std::vector<std::string>& methods,
                                  const Protocol& protocol,
                                  const std::function<bool(double share, const std::string& what)>& watch) {
  for (const std::string& method : methods) {
    if (std::find(std::begin(kMethods), std::end(kMethods), method) == std::end(kMethods))
      throw InvalidArgument(fmt::format("method '{}': must be one of {}", method, fmt::join(kMethods, ", ")));
    if (method == "drift" && Index(protocol.times.size()) != entries.size())
      throw InvalidArgument(fmt::format("method 'drift': {} times for {} entries; it needs as many",
                                        protocol.times.size(), entries.size()));
    if (!takes_loss(method, protocol.loss))
      throw InvalidArgument(fmt::format("method '{}': is of squares; loss {} has factors{}", method,
                                        protocol.loss.spec(),
                                        protocol.loss.kind == Loss::bernoulli ? " and default" : ""));
  }
  require_domain(protocol.loss, entries);
  std::vector<MethodScore> scores;
  scores.reserve(methods.size());
  for (const std::string& method : methods) scores.push_back({.method = method});
  const double relevant = protocol.relevant.value_or(entries.size() > 0 ? relevant_from(entries) : 0);
  const int folds = std::max(protocol.folds, 1), runs = protocol.repeat * folds * int(methods.size());
  int finished = 0;
  for (int repeat = 0; repeat < std::max(protocol.repeat, 1); ++repeat)
    for (int fold = 0; fold < folds; ++fold) {
      const std::uint64_t seed = protocol.seed + std::uint64_t(repeat);
      const Parts parts = parts_by(protocol, entries, seed, fold);
      ObservedEntries known = parts.train;
      put_back(known, parts.validation);
      const GroupedEntries seen = ObservedMatrix(std::move(known), protocol.threads).take_by_row();
      for (MethodScore& score : scores) {
        const double share = double(finished) / runs;
        const CompletionResult result =
            run_method(score.method, parts, protocol, relevant, seed, [&](const Moment& moment) {
              return !watch || watch(share, fmt::format("{}, {} atoms", score.method, moment.rank));
            });
        if (result.interrupted()) return scores;
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        const Accuracy figures = score.has_values()
                                     ? accuracy(result.predictions, parts.test.value)
                                     : Accuracy{parts.test.size(), kNone, kNone, kNone, kNone, kNone, kNone};
        score.rmse.push_back(figures.rmse);
        score.mae.push_back(figures.mae);
        score.values.push_back(figures);
        if (protocol.loss.kind == Loss::squares)
          score.lists.push_back(ranking_score(at_time(result.model, result.model.drift.newest), seen,
                                              parts.test, relevant, protocol.places, protocol.threads));
        score.seconds.push_back(result.seconds);
        score.error.push_back(
            !score.has_values() ? kNone
            : protocol.loss.kind == Loss::squares
                ? figures.rmse
                : mean_error(result.model, positions_of(parts.test), parts.test.value, {}, protocol.threads));
        score.null_error.push_back(null_error_of(parts, protocol.loss));
        if (protocol.loss.kind == Loss::bernoulli) {
          const LikelihoodScore likelihood = likelihood_score(result.predictions, parts.test.value);
          score.auc.push_back(likelihood.auc);
          score.calibration.push_back(likelihood.calibration);
        }
        ++finished;
        if (watch &&
            !watch(double(finished) / runs,
                   score.has_values() ? fmt::format("{} {} {:.4f}", score.method, error_name(protocol.loss),
                                                    score.error.back())
                                      : fmt::format("{} NDCG {:.4f}", score.method, score.lists.back().ndcg)))
          return scores;
      }
    }
  return scores;
}

}  // namespace pursuit
