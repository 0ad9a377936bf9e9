#include "pursuit/completion/complete_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "completion/predictor.hpp"
#include "completion/timeline.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"

namespace pursuit {
namespace {

constexpr Index kMostLatest = 30000;  // of either kind: more would not make a choice any surer
constexpr Index kFewestLatest = 50;
constexpr int kReaches = 9;  // 1/4, 1/16, ... of the time between the first entry and the last
constexpr double kDriftRidges[] = {1, 3, 10, 30, 100, 300};
constexpr double kStandardErrors = 3;  // by which a gain must be more than chance

void require_times(const ObservedEntries& entries, std::span<const double> times,
                   const CompletionOptions& options, std::span<const double> predict_times) {
  if (Index(times.size()) != entries.size())
    throw InvalidArgument(
        fmt::format("times: {} for {} entries; there must be as many", times.size(), entries.size()));
  if (!predict_times.empty() && predict_times.size() != options.predict.size())
    throw InvalidArgument(fmt::format("times: {} for {} entries to predict; there must be as many",
                                      predict_times.size(), options.predict.size()));
  if (options.loss.kind != Loss::squares)
    throw InvalidArgument(
        fmt::format("times: offsets drift under squares; of {} they do not", options.loss.spec()));
  if (options.start)
    throw InvalidArgument("times: a model that goes on keeps the drift it has; times are for a new one");
  for (const auto& numbers : {times, predict_times})
    for (std::size_t e = 0; e < numbers.size(); ++e)
      if (!std::isfinite(numbers[e]))
        throw InvalidInput(
            fmt::format("times: entry {} has the time {}, which is not finite", e, numbers[e]));
}

/// Which entries are held back: the last of all, and of those before them the last of every row (of many
/// rows, of every second, third, ...).
std::vector<char> latest_entries(const ObservedEntries& entries, std::span<const double> times, double share,
                                 int threads) {
  std::vector<char> held(std::size_t(entries.size()), 0);
  const Index count = std::min(Index(share / 2 * double(entries.size())), kMostLatest);
  std::vector<Index> order(held.size());
  std::iota(order.begin(), order.end(), Index(0));
  const auto later = [&](Index a, Index b) {
    return std::pair(times[std::size_t(a)], a) > std::pair(times[std::size_t(b)], b);
  };
  std::nth_element(order.begin(), order.begin() + count, order.end(), later);
  for (Index k = 0; k < count; ++k) held[std::size_t(order[std::size_t(k)])] = 1;
  const auto stride = Index(std::ceil(share * double(entries.size()) / double(kMostLatest)));
  const Timeline rows(entries.row, entries.rows, times, threads);
  for (Index i = 0; i < entries.rows; i += std::max<Index>(stride, 1)) {
    std::span<const Index> own = rows.entries_of(i);
    while (!own.empty() && held[std::size_t(own.back())]) own = own.first(own.size() - 1);
    for (const Index e : own.last(std::size_t(share * double(own.size())))) held[std::size_t(e)] = 1;
  }
  return held;
}

/// Entries with their times, and what a model leaves of them.
struct TimedEntries {
  ObservedEntries entries;
  std::vector<double> times, left = {};
  std::vector<float> weights = {};  // none: all count once

  void add(const ObservedEntries& all, std::span<const double> all_times, std::span<const float> all_weights,
           std::size_t e) {
    entries.row.push_back(all.row[e]);
    entries.col.push_back(all.col[e]);
    entries.value.push_back(all.value[e]);
    times.push_back(all_times[e]);
    if (!all_weights.empty()) weights.push_back(all_weights[e]);
  }

  void find_left(const CompletionModel& model, int threads) {
    const Predictor predictor(model);
    left.resize(times.size());
    for_entries(left.size(), threads, [&](std::size_t e) {
      left[e] = entries.value[e] - predictor.unclipped({entries.row[e], entries.col[e]}).value;
    });
  }
};

/// One kind of drift: whose it is, where it is kept.
struct DriftKind {
  DriftOf Drift::*part;
  std::vector<int> ObservedEntries::*member;  // none: of all

  std::vector<int> members(const ObservedEntries& entries) const {
    return member ? entries.*member : std::vector<int>(entries.row.size(), 0);
  }
  Index size(const ObservedEntries& entries) const {
    return !member ? 1 : member == &ObservedEntries::row ? entries.rows : entries.cols;
  }
};

constexpr DriftKind kDriftKinds[] = {
    {&Drift::rows, &ObservedEntries::row}, {&Drift::all, nullptr}, {&Drift::cols, &ObservedEntries::col}};

/// Reach and ridge of each kind of drift, learnt from `train` and judged by `held`.
Drift chosen_drift(TimedEntries train, TimedEntries held, const CompletionOptions& options, int threads) {
  Drift result;
  const auto [first, last] = std::minmax_element(train.times.begin(), train.times.end());
  const double span = *last - *first;
  if (!(span > 0)) return result;
  std::vector<double> moved(held.left.size());
  for (const DriftKind& kind : kDriftKinds) {
    const std::vector<int> members = kind.members(train.entries), judges = kind.members(held.entries);
    const Timeline timeline(members, kind.size(train.entries), train.times, threads);
    DriftOf& best = result.*kind.part;
    double most = 0;
    double reach = span;
    for (int k = 0; k < kReaches; ++k) {
      if (options.interrupted && options.interrupted()) return {};
      DriftOf drift = timeline.drift(reach /= 4, 1, train.left, train.weights);
      for (const double ridge : kDriftRidges) {
        drift.ridge = ridge;
        for_entries(moved.size(), threads,
                    [&](std::size_t e) { moved[e] = held.left[e] - drift.at(judges[e], held.times[e]); });
        double gain = 0, squares = 0;
        for (std::size_t e = 0; e < held.left.size(); ++e) {
          const double left = held.left[e];
          const double weight = held.weights.empty() ? 1.0 : double(held.weights[e]);
          const double saved = weight * (left * left - moved[e] * moved[e]);
          gain += saved;
          squares += saved * saved;
        }
        if (gain > kStandardErrors * std::sqrt(squares) && gain > most) {
          most = gain;
          best.reach = reach;
          best.ridge = ridge;
        }
      }
    }
    if (!best.is_on()) continue;
    const DriftOf drift = timeline.drift(best.reach, best.ridge, train.left, train.weights);
    for (std::size_t e = 0; e < held.left.size(); ++e) held.left[e] -= drift.at(judges[e], held.times[e]);
    timeline.subtract(drift, train.left);
  }
  return result;
}

/// The drift of a model, with what was chosen for it.
void find_drift(TimedEntries all, const Drift& chosen, CompletionModel& model, int threads) {
  all.find_left(model, threads);
  model.drift.newest = *std::max_element(all.times.begin(), all.times.end());
  for (const DriftKind& kind : kDriftKinds) {
    const DriftOf& wanted = chosen.*kind.part;
    if (!wanted.is_on()) continue;
    const std::vector<int> members = kind.members(all.entries);
    const Timeline timeline(members, kind.size(all.entries), all.times, threads);
    DriftOf& found = model.drift.*kind.part;
    found = timeline.drift(wanted.reach, wanted.ridge, all.left, all.weights);
    timeline.subtract(found, all.left);
  }
}

/// By what is held back; nothing where that is too little, or where the run was ended.
Drift choose_drift(const TimedEntries& all, const CompletionOptions& options, int threads) {
  const std::vector<char> is_held = latest_entries(all.entries, all.times, options.validation, threads);
  TimedEntries train, held;
  for (TimedEntries* part : {&train, &held}) {
    part->entries.rows = all.entries.rows;
    part->entries.cols = all.entries.cols;
  }
  for (std::size_t e = 0; e < is_held.size(); ++e)
    (is_held[e] ? held : train).add(all.entries, all.times, all.weights, e);
  if (held.entries.size() < kFewestLatest || train.entries.size() == 0) return {};
  CompletionOptions earlier = options;
  earlier.samples = 0;
  earlier.predict.clear();
  earlier.entry_weights = train.weights;
  const CompletionResult result = complete(train.entries, earlier);
  if (result.interrupted()) return {};
  train.find_left(result.model, threads);
  held.find_left(result.model, threads);
  return chosen_drift(std::move(train), std::move(held), options, threads);
}

void move_offsets(CompletionModel& model, const DriftOf& drift, double time, CompletionSide& side,
                  FactorMatrix& average, FactorMatrix CompletionSample::*drawn) {
  for (Index i = 0; i < side.size(); ++i) {
    const auto moved = float(drift.at(int(i), time) / model.scale);
    side.mean(i, 0) += moved;
    if (average.size() > 0) average(i, 0) += moved;
    for (CompletionSample& sample : model.samples) (sample.*drawn)(i, 0) += moved;
  }
}

}  // namespace

CompletionResult complete_in_time(ObservedEntries entries, std::span<const double> times,
                                  const CompletionOptions& options, std::span<const double> predict_times) {
  require_valid(entries, resolve_threads(options.threads));
  require_times(entries, times, options, predict_times);
  const Timer timer;
  const int threads = resolve_threads(options.threads);
  TimedEntries all{std::move(entries),
                   {times.begin(), times.end()},
                   {},
                   {options.entry_weights.begin(), options.entry_weights.end()}};
  const Drift chosen = choose_drift(all, options, threads);
  CompletionOptions rest = options;
  rest.time_limit = std::max(options.time_limit - timer.seconds(), 1e-3);
  CompletionResult result = complete(all.entries, rest);
  if (chosen.is_on()) {
    find_drift(std::move(all), chosen, result.model, threads);
    const std::vector<double> newest(predict_times.empty() ? options.predict.size() : 0,
                                     result.model.drift.newest);
    result.predictions =
        predict(result.model, options.predict, predict_times.empty() ? newest : predict_times, threads);
    require_sound(result.model);
  }
  result.seconds = timer.seconds();
  return result;
}

CompletionModel at_time(CompletionModel model, double time) {
  if (!model.drift.is_on()) return model;
  const Drift drift = std::exchange(model.drift, {});
  model.mean += drift.all.at(0, time);
  move_offsets(model, drift.rows, time, model.rows, model.average_rows, &CompletionSample::rows);
  move_offsets(model, drift.cols, time, model.cols, model.average_cols, &CompletionSample::cols);
  return model;
}

std::vector<Prediction> predict(const CompletionModel& model, std::span<const Position> positions,
                                std::span<const double> times, int threads) {
  if (times.size() != positions.size())
    throw InvalidArgument(
        fmt::format("times: {} for {} positions; there must be as many", times.size(), positions.size()));
  const Predictor predictor(model);
  for (const Position& position : positions) predictor.require_inside(position);
  std::vector<Prediction> result(positions.size());
  for_entries(result.size(), resolve_threads(threads), [&](std::size_t e) {
    const Position at = positions[e];
    Prediction prediction = predictor.unclipped(at);
    prediction.value += model.drift.at(at.row, at.col, times[e]);
    result[e] = predictor.clipped(prediction);
  });
  return result;
}

TimesOfEntries::TimesOfEntries(const ObservedEntries& entries, std::span<const double> times) {
  times_.reserve(times.size());
  for (std::size_t e = 0; e < times.size(); ++e) times_[key(entries, e)] = times[e];
}

std::vector<double> TimesOfEntries::of(const ObservedEntries& part) const {
  std::vector<double> result;
  if (times_.empty()) return result;
  result.reserve(part.row.size());
  for (std::size_t e = 0; e < part.row.size(); ++e) result.push_back(times_.at(key(part, e)));
  return result;
}

}  // namespace pursuit
