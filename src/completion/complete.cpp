#include "pursuit/completion/complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/chunks.hpp"
#include "completion/complete_check.hpp"
#include "completion/completion_part.hpp"
#include "completion/draws.hpp"
#include "completion/factors_of_model.hpp"
#include "completion/newcomers.hpp"
#include "completion/predictor.hpp"
#include "completion/states.hpp"
#include "completion/units.hpp"
#include "completion/weighted_entries.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/split.hpp"

namespace pursuit {
namespace {

constexpr int kFirstAtoms = 7;        // with the offset, one lane of eight; then 15, 31, 63
constexpr int kFirstOfLinks = 3;      // a ridge alone does not take back what is too many
constexpr int kStageSweeps = 12;      // at most, of one rank
constexpr int kPatience = 3;          // sweeps in which the held-back error must fall by...
constexpr double kSmallGain = 1e-3;   // ...this share
constexpr double kWorthAtoms = 2e-3;  // share of the held-back error that twice the atoms must save
constexpr int kBoundSweeps = 30;      // the same where squares are a bound only, which is slower to follow
constexpr double kUncertainty[] = {0, 0.25, 0.5, 1};  // shares of the variances of log-odds to choose from
constexpr int kRefiningSweeps = 20;                   // with all entries
constexpr int kSweepsAlone = 40;                      // where nothing could be held back
constexpr int kFewestSampledAtoms =
    31;  // averages do not overfit: more atoms than the means can use still help

constexpr int kPlainExponents = 40;  // values of sizes 2^-40 to 2^40 are taken as they are
constexpr double kRounding =
    1e-6;  // deviations below this share of the mean are rounding of single precision
constexpr double kScaleOfZeros = 0x1p-60;
constexpr double kOtherSize = 1e3;  // a start whose scale is off by this factor has nothing to say

double log_odds(double share) {
  return std::log(share / (1 - share));
}

ObservedEntries places_of(const std::vector<Position>& positions) {
  ObservedEntries places;
  for (const Position& position : positions) {
    places.row.push_back(position.row);
    places.col.push_back(position.col);
  }
  return places;
}

/// One run of complete(): its data and its steps.
class Completion {
 public:
  Completion(ObservedEntries entries, const CompletionOptions& options)
      : Completion(entries_that_count(std::move(entries), options), options) {}
  /// Entries that stay with the ranks that have read them.
  Completion(RankedEntries entries, const CompletionOptions& options)
      : options_(options),
        threads_(resolve_threads(options.threads)),
        run_({.time_limit = options.time_limit}, options.observer, {}, options.checkpoints),
        pool_(std::move(entries), *options.team, threads_) {
    stays_ = true;
    if (const auto entry = has_link() ? pool_.first_refused(options_.loss.kind) : std::nullopt)
      refuse_value(options_.loss, entry->row, entry->col, entry->value);
    begin();
  }

  CompletionResult result() {
    using Phase = Moment::Phase;
    if (!options_.checkpoints || !options_.checkpoints->resumes(kPart)) run_.finish(Stop::all_sweeps);
    const int updating = start_ ? updating_sweeps() : 0;
    const Kept kept(options_.checkpoints.get(), kPart,
                    [this](StateArchive& archive) { visit_state(archive); });
    resumed_ = kept.resumed();
    if (stage_ == Stage::sampling) {
      // All of this was done before.
    } else if (start_) {
      const auto weights = [](const auto& features, const CompletionSide& side) {
        return features ? features->scaled(side.features) : FactorMatrix();
      };
      if (!resumed_)
        factors_->start_from(*start_, weights(row_features_, start_->rows),
                             weights(col_features_, start_->cols));
      sweep(Phase::refining, updating, false);
    } else if (held_back().size() == 0 && stage_ == Stage::growing) {
      if (!resumed_) factors_->widen(std::min(kFirstAtoms, most_atoms()));
      sweep(Phase::growing, kSweepsAlone, false);
    } else {
      if (stage_ == Stage::growing) grow();
      if (has_link() && stage_ != Stage::refining && !run_.stopped()) choose_variances();
      if (stage_ != Stage::refining && !run_.stopped()) use_all_entries();  // grouping them again takes long
      sweep(Phase::refining, kRefiningSweeps, false);
    }
    if (stage_ != Stage::sampling) record_stage(Moment::kUnknown);
    result_.model = settled_model();
    if (start_) result_.model.drift = start_->drift;
    if (start_ && updating == 0) {
      result_.model.samples = start_->samples;
      result_.model.average_rows = start_->average_rows;
      result_.model.average_cols = start_->average_cols;
    } else if (options_.samples > 0 && !run_.stopped())
      sample();
    if (held_back().size() > 0) pool_.put_back();
    if (run_.stopped())
      note_unseen(result_.model, pool_->by_row()->start_of_all(), pool_->by_col()->start_of_all());
    if (stays_) {
      result_.known = pool_.count_known(places_of(options_.predict));
      result_.seen_by_ranks = pool_.leave();
    } else {
      result_.seen = pool_.release_by_row();
    }
    result_.predictions = predict(result_.model, options_.predict, threads_);
    require_sound(result_.model);
    result_.stop = run_.stop();
    result_.seconds = run_.seconds();
    return std::move(result_);
  }

 private:
  Completion(WeightedEntries all, const CompletionOptions& options)
      : options_(options),
        threads_(resolve_threads(options.threads)),
        run_({.time_limit = options.time_limit}, options.observer, {}, options.checkpoints),
        pool_(std::move(all.entries), std::move(all.weights.value), options.team, threads_) {
    begin();
  }

  void begin() {
    if (options_.checkpoints) {
      run_.begin_checkpoints(identity_of(*pool_, pool_.fingerprint(), options_));
      if (may_be_left()) options_.checkpoints->hold_states();
    }
    result_.model.loss = options_.loss;
    if (const CompletionModel* start = options_.start) {
      if (start->rows.size() == 0 || start->rows.size() > pool_->rows() || start->cols.size() > pool_->cols())
        throw InvalidArgument(fmt::format(
            "start: a self-tuned model of {} x {} cannot start a {} x {} one; it must be as large or smaller",
            start->rows.size(), start->cols.size(), pool_->rows(), pool_->cols()));
      if (start->loss.kind != options_.loss.kind)
        throw InvalidArgument(fmt::format("start: a model of {} cannot start one of {}", start->loss.spec(),
                                          options_.loss.spec()));
    }
    if (options_.row_features) row_features_.emplace(*options_.row_features, pool_->rows(), "row");
    if (options_.col_features) col_features_.emplace(*options_.col_features, pool_->cols(), "column");
    const ValueRange range = pool_.range();
    result_.observed = {range.low, range.high};
    unit_ = has_link() ? 1.0 : unit_of(range, kPlainExponents);
    if (unit_ != 1) pool_.divide_by(unit_);
    const Range usual = has_link() ? Range{0, 1} : result_.observed;  // a probability needs no 1 to be seen
    result_.model.lowest = options_.range.value_or(usual).lowest;
    result_.model.highest = options_.range.value_or(usual).highest;
    find_scale();
    if (!start_) pool_.hold_back(options_.validation, options_.seed);
    factors_.emplace(pool_.data(), mean_, scale_, options_.use_pattern, options_.seed, threads_,
                     options_.loss, options_.team);
    factors_->ends_when(options_.interrupted);
    Ranks* ranks = options_.team ? &options_.team->ranks() : nullptr;
    if (row_features_) factors_->add_features(true, row_features_->features(ranks));
    if (col_features_) factors_->add_features(false, col_features_->features(ranks));
  }

  /// In the midst of a sweep; those that ranks share are always finished.
  bool may_be_left() const {
    return options_.interrupted && !(options_.team && options_.team->ranks().size() > 1);
  }
  bool has_link() const { return options_.loss.kind != Loss::squares; }

  const WeightedEntries& held_back() const { return pool_->held_back(); }

  /// Values are taken to mean zero and unit variance, as the starting values of hyper-parameters expect;
  /// log-odds are of that size anyway.
  void find_scale() {
    if (has_link()) {
      start_ = options_.start;
      if (start_) uncertainty_ = start_->noise_variance;
      const WeightedMean ones = pool_.mean(0, 1);
      result_.model.mean = mean_ = start_ ? start_->mean : log_odds((ones.sum + 0.5) / (ones.weight + 1));
      return;
    }
    const auto deviation_from = [&](double mean) { return std::sqrt(pool_.mean(mean, 2).value()); };
    mean_ = pool_.mean(0, 1).value();
    const double deviation = deviation_from(mean_);
    scale_ = std::max(deviation, kRounding * std::abs(mean_));
    if (scale_ == 0) scale_ = kScaleOfZeros;
    if (const CompletionModel* start = options_.start) {
      const double mean = start->mean / unit_, scale = start->scale / unit_;
      if (deviation_from(mean) < kOtherSize * scale && scale < kOtherSize * deviation)
        start_ = start, mean_ = mean, scale_ = scale;
    }
    result_.model.mean = mean_ * unit_;
    result_.model.scale = scale_ * unit_;
  }

  /// RMSE on the entries held back, in units of the data; of probabilities minus the mean log-likelihood.
  double validation_error() { return validation_error(uncertainty_); }
  double validation_error(double uncertainty) {
    const std::vector<float>& values = held_back().entries.value;
    const std::vector<Moments> moments = factors_->at(held_back().entries, has_link());
    const auto mean = [&](const auto& of_entry) {
      return mean_over(
                 held_back(), threads_,
                 [&](Index e) { return of_entry(moments[std::size_t(e)], double(values[std::size_t(e)])); })
          .value();
    };
    if (has_link())
      return -mean([&](const Moments& odds, double value) {
        const Prediction ones = through_link(options_.loss, mean_ + odds.mean, uncertainty * odds.variance);
        return log_likelihood(ones.value, value);
      });
    const double lowest = result_.model.lowest / unit_, highest = result_.model.highest / unit_;
    return unit_ * std::sqrt(mean([&](const Moments& guess, double value) {
             const double error = value - std::clamp(mean_ + scale_ * guess.mean, lowest, highest);
             return error * error;
           }));
  }

  /// Sweeps until the held-back error has ceased to fall (or all of them, where there is none); returns that
  /// error.
  double sweep(Moment::Phase phase, int most, bool watch_validation) {
    if (!std::exchange(resumed_, false)) sweeps_ = {};
    auto& [done, since, best, reference] = sweeps_;
    const auto settled = [&] { return sweeps_.since >= kPatience && sweeps_.done >= 2 * kPatience; };
    while (done < most && !settled() && !run_.stopped()) {
      factors_->sweep();
      ++done;
      double error = Moment::kUnknown;
      if (watch_validation) {
        best = std::min(best, error = validation_error());
        if (best < reference * (1 - kSmallGain))
          reference = best, since = 0;
        else
          ++since;
      }
      report(phase, done, most, error);
    }
    factors_->gather();
    return best;
  }

  /// Doubles the atoms for as long as that helps to predict the entries held back.
  void grow() {
    if (!resumed_) {
      atoms_ = std::min(has_link() ? kFirstOfLinks : kFirstAtoms, most_atoms());
      before_ = *factors_;
    }
    for (;; atoms_ = std::min(2 * atoms_ + 1, most_atoms())) {
      if (!resumed_) factors_->widen(atoms_);
      const double error = sweep(Moment::Phase::growing, stage_sweeps(), true);
      record_stage(error);
      if (run_.stopped()) return;
      run_.finish(Stop::no_gain);
      if (error > best_ * (1 - kWorthAtoms)) {
        if (error > best_) *factors_ = std::move(*before_);
        break;
      }
      best_ = error;
      run_.finish(Stop::rank_reached);
      if (atoms_ >= most_atoms()) break;
      before_ = *factors_;
    }
    before_.reset();
  }

  /// An error that is confined to few entries is soon repaired, and more sweeps than it takes would only lead
  /// on to where the entries that are not new were left.
  int updating_sweeps() {
    const auto same_features = [](const auto& features, const CompletionSide& side) {
      return features ? features->count() == side.features.rows() : side.features.size() == 0;
    };
    if (!options_.start_entries || !same_features(row_features_, start_->rows) ||
        !same_features(col_features_, start_->cols))
      return kRefiningSweeps;
    const double changed =
        double(pool_.count_changes(*options_.start_entries)) / double(std::max<Index>(pool_->size(), 1));
    const bool grown = start_->rows.size() < pool_->rows() || start_->cols.size() < pool_->cols();
    if (changed == 0) return grown ? 1 : 0;
    return int(std::ceil(kRefiningSweeps * std::sqrt(std::min(changed, 1.0))));
  }

  /// The variance of atoms with which entries held back are predicted best, and how much of the uncertainty
  /// of log-odds their probabilities should show: factors count as known to each other, so that their
  /// variances are no more than a guide.
  void choose_variances() {
    constexpr double kSteps[] = {2, 0.5};
    if (!resumed_) {
      stage_ = Stage::variances;
      best_ = validation_error();
      direction_ = 0;
    }
    for (; direction_ < int(std::size(kSteps)); ++direction_) {
      if (!resumed_) better_ = false;
      for (bool more = true; more && !run_.stopped();) {
        if (!resumed_) {
          before_ = *factors_;
          factors_->set_atom_variance(kSteps[direction_] * factors_->atom_variance());
        }
        const double error = sweep(Moment::Phase::growing, stage_sweeps(), true);
        record_stage(error);
        more = error < best_ * (1 - kWorthAtoms);
        better_ = better_ || more;
        if (more)
          best_ = error;
        else
          *factors_ = std::move(*before_);
      }
      if (better_) break;  // not both ways
    }
    direction_ = 0;  // what is kept from here on says nothing of it
    before_.reset();
    double least = std::numeric_limits<double>::infinity();
    for (const double share : kUncertainty)
      if (const double error = validation_error(share); error < least) least = error, uncertainty_ = share;
  }

  int stage_sweeps() const { return has_link() ? kBoundSweeps : kStageSweeps; }

  void use_all_entries() {
    group_all_entries();
    std::vector<int> used = used_coordinates(*factors_);
    std::sort(used.begin(), used.end());
    factors_->keep(used);
    stage_ = Stage::refining;
  }

  void group_all_entries() {
    pool_.put_back();
    factors_->rebind(pool_.data());
  }

  void sample() {
    if (!resumed_) {
      const int atoms = std::min(std::max(factors_->atoms(), kFewestSampledAtoms), most_atoms());
      if (options_.checkpoints) before_ = *factors_;  // what the model is made of
      if (atoms > factors_->atoms()) factors_->widen(atoms);
      stage_ = Stage::sampling;
      sweeps_ = {};
    }
    resumed_ = false;
    const int total = draws_.total();
    for (int& k = sweeps_.done; k < total && !run_.stopped();) {
      factors_->draw();
      draws_.add(++k, *factors_);
      report(Moment::Phase::sampling, k, total, Moment::kUnknown);
    }
    std::move(draws_).move_to(result_.model);
  }

  /// Between two sweeps, or two draws.
  void visit_state(StateArchive& archive) {
    archive("stage", stage_, 0, Index(Stage::sampling));
    const bool all = stage_ == Stage::refining || stage_ == Stage::sampling;
    if (archive.reads() && all && held_back().size() > 0) group_all_entries();
    archive("done", sweeps_.done);
    archive("since", sweeps_.since);
    archive("best_of_rank", sweeps_.best);
    archive("reference", sweeps_.reference);
    archive("best", best_);
    archive("atoms", atoms_, 0, most_atoms());
    archive("direction", direction_, 0, 1);
    archive("better", better_);
    archive("uncertainty", uncertainty_);
    StateArchive factors = archive.in("factors"), before = archive.in("before");
    bool has_before = before_.has_value();
    archive("has_before", has_before);
    archive.require(has_before == (stage_ != Stage::refining && (all || held_back().size() > 0)),
                    "what it would go back to is not there");
    if (archive.reads() && has_before) before_ = *factors_;
    if (has_before) before_->visit_state(before);
    if (!archive.reads()) factors_->gather();
    factors_->visit_state(factors);  // last: copies share what is left of the last step
    visit(archive, "path", result_.path);
    if (stage_ == Stage::sampling)
      draws_.visit_state(archive, pool_->rows(), pool_->cols(), factors_->atoms());
  }

  /// The model of what sweeps have settled on, which draws have left.
  CompletionModel settled_model() {
    if (stage_ != Stage::sampling) return model();
    std::swap(*factors_, *before_);
    CompletionModel settled = model();
    std::swap(*factors_, *before_);
    return settled;
  }

  CompletionModel model() {
    CompletionModel model = std::move(result_.model);
    const std::vector<int> used = used_coordinates(*factors_);
    model.noise_variance = has_link() ? uncertainty_ : factors_->noise_variance();
    model.rows = side_of_model(factors_->rows(), used, options_.use_pattern, row_features_);
    model.cols = side_of_model(factors_->cols(), used, options_.use_pattern, col_features_);
    const auto products = [&](const EntryTasks& entries, AlignedVector<float> own,
                              AlignedVector<float> others, int width) {
      return pool_.product_sums(&entries == pool_->by_row().get(), std::move(own), std::move(others), width,
                                threads_);
    };
    add_newcomers(model, *pool_->by_row(), *pool_->by_col(), row_features_, col_features_, products,
                  threads_);
    return model;
  }

  /// No matrix that fits in memory has use for more.
  int most_atoms() const { return int(std::min<Index>(options_.max_rank, 4095)); }

  double noise() const {
    return has_link() ? Moment::kUnknown : unit_ * scale_ * std::sqrt(factors_->noise_variance());
  }

  void record_stage(double validation) {
    result_.path.push_back({Index(used_coordinates(*factors_).size()) - 1, factors_->sweeps(), noise(),
                            validation, run_.seconds()});
  }

  void report(Moment::Phase phase, int sweep, int most, double validation) {
    const Moment moment{.phase = phase,
                        .rank = factors_->atoms(),
                        .sweep = sweep,
                        .max_sweeps = most,
                        .noise = noise(),
                        .validation = validation};
    if (may_be_left() && options_.interrupted())
      run_.go_on(moment);  // this sweep may have been left half done
    else
      run_.step_done(moment);
  }

  enum class Stage { growing, variances, refining, sampling };
  struct Sweeps {
    int done = 0, since = 0;  // in all, and since the held-back error has fallen by as much as counts
    double best = std::numeric_limits<double>::infinity(), reference = best;
  };
  static constexpr const char* kPart = "completion";  // of a run, among its checkpoints

  const CompletionOptions& options_;
  int threads_;
  Run run_;
  LedPool pool_;
  bool stays_ = false;  // with the ranks
  CompletionResult result_;
  const CompletionModel* start_ = nullptr;  // where it has something to say
  double unit_ = 1;                         // entries are in this unit
  double mean_ = 0, scale_ = 1;             // of entries, in the unit
  double uncertainty_ = 0.5;                // of log-odds: the share of their variances that counts
  std::optional<ScaledFeatures> row_features_, col_features_;
  std::optional<BayesianFactors> factors_;

  // Where it is.
  bool resumed_ = false;  // and inside a loop of sweeps or draws
  Stage stage_ = Stage::growing;
  Sweeps sweeps_;
  double best_ = std::numeric_limits<double>::infinity();  // of the ranks, or variances, so far
  int atoms_ = 0, direction_ = 0;
  bool better_ = false;
  std::optional<BayesianFactors> before_;  // the last rank or variance, or what draws began with
  Draws draws_{options_.samples, options_.stored_samples, threads_};
};

}  // namespace

int draws_for_high_effort(Index entries) {
  return int(std::clamp(1.5e8 / double(std::max<Index>(entries, 1)), 200.0, 800.0));
}

CompletionResult complete(ObservedEntries entries, const CompletionOptions& options) {
  return Completion(std::move(entries), options).result();
}

CompletionResult complete_ranked(RankedEntries entries, const CompletionOptions& options) {
  require_possible_apart(options);
  return Completion(std::move(entries), options).result();
}

}  // namespace pursuit
