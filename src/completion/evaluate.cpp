#include "pursuit/completion/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pursuit/base/error.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/completion/structured.hpp"

namespace pursuit {
namespace {

constexpr const char* kMethods[] = {"or1mp", "or1mp-economic", "gmpr", "gmpr-sparse", "default", "high"};

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
    options.samples = method == "high" ? draws_for_high_effort(parts.train.size()) : 0;
    options.predict = std::move(positions);
    options.seed = seed;
    options.threads = protocol.threads;
    options.observer = observer;
    return complete(parts.train, options);
  }
  const bool economic = method == "or1mp-economic";
  StructuredOptions options = completion_preset(economic ? "or1mp" : method);
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

}  // namespace

double MethodScore::mean_rmse() const {
  return mean(rmse);
}
double MethodScore::mean_seconds() const {
  return mean(seconds);
}

double MethodScore::variance_of_rmse() const {
  if (rmse.size() < 2) return 0;
  double sum = 0;
  for (const double value : rmse) sum += std::pow(value - mean_rmse(), 2);
  return sum / double(rmse.size() - 1);
}

std::vector<MethodScore> evaluate(const ObservedEntries& entries, const std::vector<std::string>& methods,
                                  const Protocol& protocol,
                                  const std::function<bool(double share, const std::string& what)>& watch) {
  check(entries, protocol);
  for (const std::string& method : methods)
    if (std::find(std::begin(kMethods), std::end(kMethods), method) == std::end(kMethods))
      throw InvalidArgument(fmt::format("method '{}': must be one of {}", method, fmt::join(kMethods, ", ")));
  std::vector<MethodScore> scores;
  scores.reserve(methods.size());
  for (const std::string& method : methods) scores.push_back({method, {}, {}, {}});
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
        ++finished;
        if (watch &&
            !watch(double(finished) / runs, fmt::format("{} RMSE {:.4f}", score.method, figures.rmse)))
          return scores;
      }
    }
  return scores;
}

}  // namespace pursuit
