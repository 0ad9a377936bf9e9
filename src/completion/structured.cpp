#include "pursuit/completion/structured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/observed_space.hpp"

namespace pursuit {
namespace {

constexpr int kPatience = 5;  // atoms without a better validation error before a path ends

void check(const StructuredOptions& o, const ObservedEntries& entries) {
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw InvalidArgument(what);
  };
  require(o.left && o.right, "left, right: an atom set is missing");
  require(o.max_rank >= 1, fmt::format("rank {}: at least one atom is needed", o.max_rank));
  require(!o.corrections.empty(), "corrections: at least one number of sweeps is needed");
  for (const int sweeps : o.corrections)
    require(sweeps >= 0, fmt::format("corrections {}: must be 0 or more", sweeps));
  require(o.validation >= 0 && o.validation < 1,
          fmt::format("validation {}: must be at least 0 and below 1", o.validation));
  require(o.restarts >= 1, fmt::format("restarts {}: must be 1 or more", o.restarts));
  require(o.threads >= 0, fmt::format("threads {}: must be 0 (all cores) or more", o.threads));
  require(o.time_limit > 0, fmt::format("time_limit {}: must be above 0 seconds", o.time_limit));
  require(!o.range || o.range->lowest <= o.range->highest,
          fmt::format("range {} to {}: the lowest value must not be above the highest",
                      o.range ? o.range->lowest : 0.0, o.range ? o.range->highest : 0.0));
  require(!o.symmetric || entries.rows == entries.cols,
          fmt::format("symmetric completion needs as many columns as rows; the matrix is {} x {}",
                      entries.rows, entries.cols));
  require(!o.symmetric || o.regularization.kind == Regularization::none ||
              o.regularization.kind == Regularization::ridge,
          fmt::format("regularization {}: atoms u u^T are regularised by a number, or not at all (none)",
                      o.regularization.spec()));
  require(o.regularization.kind == Regularization::none || o.weights.kind != WeightRule::convex,
          fmt::format("weights {}: go without regularization only; regularised weights are free or nonneg",
                      o.weights.spec()));
  o.left->require_dimension(entries.rows);
  o.right->require_dimension(entries.cols);
  if (const ObservedEntries* validation = o.validation_entries) {
    require_valid(*validation);
    if (validation->rows > entries.rows || validation->cols > entries.cols)
      throw InvalidInput(fmt::format("validation entries: of a {} x {} matrix, but the matrix is {} x {}",
                                     validation->rows, validation->cols, entries.rows, entries.cols));
  }
}

/// The upper triangle of a symmetric matrix, whichever one was observed.
ObservedEntries upper_triangle(const ObservedEntries& entries) {
  ObservedEntries both = entries;
  for (std::size_t e = 0; e < both.row.size(); ++e)
    if (both.row[e] > both.col[e]) std::swap(both.row[e], both.col[e]);
  std::vector<std::size_t> order(both.row.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  const auto key = [&](std::size_t e) { return std::pair(both.row[e], both.col[e]); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
  ObservedEntries result{entries.rows, entries.cols, {}, {}, {}};
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t e = order[k];
    if (k > 0 && key(order[k - 1]) == key(e)) {
      const std::size_t other = order[k - 1];
      if (both.value[other] != both.value[e])
        throw InvalidInput(
            fmt::format("not symmetric: the entry at row {}, column {} is {}, at row {}, column {} it is {}",
                        entries.row[other], entries.col[other], entries.value[other], entries.row[e],
                        entries.col[e], entries.value[e]));
      continue;
    }
    result.row.push_back(both.row[e]);
    result.col.push_back(both.col[e]);
    result.value.push_back(both.value[e]);
  }
  return result;
}

/// With the lower triangle too.
ObservedEntries mirrored(ObservedEntries upper) {
  for (std::size_t e = 0, count = upper.row.size(); e < count; ++e)
    if (upper.row[e] != upper.col[e]) {
      const int i = upper.row[e], j = upper.col[e];
      const float value = upper.value[e];
      upper.row.push_back(j);
      upper.col.push_back(i);
      upper.value.push_back(value);
    }
  return upper;
}

double value_at(const Model& atoms, int i, int j) {
  double sum = 0;
  for (Index k = 0; k < atoms.rank(); ++k) sum += atoms.weights[k] * atoms.left(i, k) * atoms.right(j, k);
  return sum;
}

class StructuredRun {
 public:
  StructuredRun(const StructuredOptions& options, CompletionModel base)
      : o_(options), base_(std::move(base)) {}

  /// RMSE of the atoms, added to the base, on entries from which the base has been subtracted.
  double error(const Model& atoms, const ObservedEntries& remainders) const {
    double sum = 0;
    for (std::size_t e = 0; e < remainders.value.size(); ++e) {
      const int i = remainders.row[e], j = remainders.col[e];
      const double base = offset(i, j);
      const double guess = std::clamp(base + value_at(atoms, i, j), base_.lowest, base_.highest);
      sum += std::pow(base + remainders.value[e] - guess, 2);
    }
    return std::sqrt(sum / double(remainders.size()));
  }

  /// Mean and offsets, where there are any.
  double offset(int i, int j) const {
    return base_.rows.size() == 0
               ? 0.0
               : base_.mean + base_.scale * (double(base_.rows.mean(i, 0)) + base_.cols.mean(j, 0));
  }

  /// One run of Algorithm 2; keeps the atoms of the best rank so far.
  void path(const ObservedMatrix& data, const ObservedEntries& validation, int corrections, Index rank) {
    OracleOptions oracle{.restarts = o_.restarts, .seed = o_.seed};
    const int threads = resolve_threads(o_.threads);
    ObservedSpace space(data, {o_.left, o_.symmetric ? o_.left : o_.right, o_.symmetric}, o_.weights,
                        o_.regularization, oracle, !o_.exact_corrections, threads);
    Index since = 0;
    double judged = -1;  // squared error of the last model that was judged
    const auto judge = [&] {
      judged = space.squared_error();
      const double rmse =
          validation.size() > 0 ? error(space.model(), validation) : std::numeric_limits<double>::quiet_NaN();
      stages_.push_back({space.model().rank(), corrections, std::sqrt(judged / double(data.size())), rmse,
                         timer_.seconds()});
      ++since;
      if (validation.size() == 0 || rmse < best_error_) {
        best_error_ = rmse;
        best_ = space.model();
        best_corrections_ = corrections;
        best_noise_ = judged / double(data.size());
        since = 0;
      }
      return rmse;
    };
    pursue(space, {.rank = rank, .corrections = corrections}, [&](const Moment& moment) {
      const bool new_atom = moment.phase == Moment::Phase::atom;
      const double rmse = new_atom ? judge() : std::numeric_limits<double>::quiet_NaN();
      return !stopped(moment, rmse) && since < kPatience;
    });
    // A run that was stopped inside a correction, or that has nothing left to explain, ends without a last
    // word.
    if (space.model().rank() > 0 && space.squared_error() != judged) judge();
  }

  CompletionResult result() && {
    CompletionModel model = std::move(base_);
    model.noise_variance = best_noise_ / (model.scale * model.scale);
    model.atoms = std::move(best_);
    CompletionResult result;
    result.model = std::move(model);
    result.path = std::move(stages_);
    result.interrupted = interrupted_;
    result.seconds = timer_.seconds();
    result.predictions = predict(result.model, o_.predict, o_.threads);
    return result;
  }

  void forget_best() { best_error_ = std::numeric_limits<double>::infinity(); }
  bool interrupted() const { return interrupted_; }
  Index best_rank() const { return best_.rank(); }
  int best_corrections() const { return best_corrections_; }

 private:
  bool stopped(const Moment& moment, double rmse) {
    if (timer_.seconds() >= o_.time_limit ||
        (o_.observer &&
         !o_.observer({CompletionMoment::Phase::growing, int(moment.rank), int(moment.target_rank),
                       moment.rank, std::numeric_limits<double>::quiet_NaN(), rmse, timer_.seconds()})))
      interrupted_ = true;
    return interrupted_;
  }

  const StructuredOptions& o_;
  CompletionModel base_;
  Timer timer_;
  std::vector<CompletionStage> stages_;
  Model best_;
  double best_error_ = std::numeric_limits<double>::infinity();
  double best_noise_ = 1;
  int best_corrections_ = 0;
  bool interrupted_ = false;
};

}  // namespace

StructuredOptions completion_preset(const std::string& name) {
  StructuredOptions options;
  options.max_rank = 30;
  options.corrections = {1, 3};
  options.exact_corrections = false;
  if (name == "or1mp")
    options.corrections = {0};
  else if (name == "gmpr-sparse")
    options.right = sparse_fraction(0.6);
  else if (name != "gmpr")
    throw InvalidArgument(fmt::format("preset '{}': must be or1mp, gmpr or gmpr-sparse", name));
  return options;
}

CompletionResult complete_structured(ObservedEntries entries, const StructuredOptions& options) {
  check(options, entries);
  const ObservedMatrix original(entries);
  if (options.symmetric) entries = upper_triangle(entries);
  CompletionModel base;
  const auto [low, high] = std::minmax_element(entries.value.begin(), entries.value.end());
  base.lowest = options.range ? options.range->lowest : *low;
  base.highest = options.range ? options.range->highest : *high;
  if (options.offsets) {
    CompletionOptions offsets;
    offsets.max_rank = 0;
    offsets.use_pattern = false;
    offsets.validation = 0;
    offsets.range = {base.lowest, base.highest};
    offsets.seed = options.seed;
    offsets.threads = options.threads;
    base = complete(options.symmetric ? mirrored(entries) : entries, offsets).model;
  }

  StructuredRun run(options, base);
  const auto subtract_base = [&](ObservedEntries& part) {
    for (std::size_t e = 0; e < part.value.size(); ++e)
      part.value[e] -= float(run.offset(part.row[e], part.col[e]));
  };
  subtract_base(entries);
  ObservedEntries validation;
  if (options.validation_entries) {
    validation = *options.validation_entries;
    subtract_base(validation);
  } else {
    validation = hold_back(entries, options.validation, options.seed);
  }

  const auto matrix = [&](ObservedEntries part) {
    return ObservedMatrix(options.symmetric ? mirrored(std::move(part)) : std::move(part));
  };
  const bool once_more = !options.validation_entries && validation.size() > 0;
  {
    const ObservedMatrix data = matrix(entries);
    for (const int corrections : options.corrections)
      if (!run.interrupted()) run.path(data, validation, corrections, options.max_rank);
  }
  if (once_more && !run.interrupted()) {  // with all entries
    put_back(entries, validation);
    run.forget_best();
    run.path(matrix(std::move(entries)), {}, run.best_corrections(), run.best_rank());
  }
  CompletionResult result = std::move(run).result();
  result.seen = original.by_row();
  return result;
}

}  // namespace pursuit
