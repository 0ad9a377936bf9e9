#include "pursuit/completion/implicit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "algorithms/expansion_space.hpp"
#include "base/chunks.hpp"
#include "completion/implicit_atoms.hpp"
#include "completion/implicit_judge.hpp"
#include "completion/newcomers.hpp"
#include "linalg/products.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr double kFirstZeros = 1, kFirstRidge = 0.003;  // at which the search for better ones begins
constexpr double kStep = 2;                             // factor between two that are tried
constexpr int kMostSteps = 8;                           // in one direction
constexpr Index kSearchAtoms = 15;                      // by which zeros and ridge are chosen: few are quick
constexpr int kSearchSweeps = 4;
constexpr int kRankSweeps = 5, kRefiningSweepsOfAll = 3;
constexpr int kUpdateSweeps = 3;
constexpr int kAtomSweeps = 3;          // of corrections after every structured atom
constexpr Index kAtomsWithoutGain = 8;  // before no more are tried
constexpr double kWorth = 2e-3;         // share of the gain that other settings must add

void check_implicit(const ImplicitOptions& options, const ObservedEntries& entries) {
  if (options.max_rank < 1)
    throw InvalidArgument(fmt::format("max_rank {}: must be 1 or more", options.max_rank));
  if (!(options.validation >= 0 && options.validation < 1))
    throw InvalidArgument(fmt::format("validation {}: must be at least 0 and below 1", options.validation));
  for (std::size_t e = 0; e < entries.value.size(); ++e)
    if (!(entries.value[e] >= 0))
      throw InvalidInput(
          fmt::format("the entry at row {}, column {} is {}: implicit feedback is of numbers of at least 0 "
                      "(how often, how "
                      "long), for what was not seen counts as less than anything that was",
                      entries.row[e], entries.col[e], entries.value[e]));
  if (options.sets) {
    if (options.row_features || options.col_features || options.start)
      throw InvalidArgument(
          "sets: features and a model to start from are for factors that are free, not for structured atoms");
    if (options.sets->weights.kind == WeightRule::convex)
      throw InvalidArgument(fmt::format(
          "weights {}: structured atoms of implicit feedback pay for their size, and their weights are free "
          "or nonneg",
          options.sets->weights.spec()));
    options.sets->left.require_dimension(entries.rows);
    options.sets->right.require_dimension(entries.cols);
  }
  if (const CompletionModel* start = options.start) {
    if (start->is_implicit() && start->atoms.rank() > 0)
      throw InvalidArgument("start: a model of structured atoms; one of factors that are free can go on");
    if (!start->is_implicit())
      throw InvalidArgument("start: the model is not of implicit feedback and cannot start one that is");
    if (start->rows.size() > entries.rows || start->cols.size() > entries.cols)
      throw InvalidArgument(
          fmt::format("start: a model of {} x {} cannot start a {} x {} one; it must be as "
                      "large or smaller",
                      start->rows.size(), start->cols.size(), entries.rows, entries.cols));
  }
}

ObservedEntries without_zeros(ObservedEntries entries) {
  std::size_t kept = 0;
  for (std::size_t e = 0; e < entries.value.size(); ++e) {
    if (entries.value[e] == 0) continue;
    entries.row[kept] = entries.row[e];
    entries.col[kept] = entries.col[e];
    entries.value[kept++] = entries.value[e];
  }
  if (kept == 0) throw InvalidInput("every entry is 0: of implicit feedback nothing was seen then");
  entries.row.resize(kept);
  entries.col.resize(kept);
  entries.value.resize(kept);
  return entries;
}

/// Both orders of the same entries.
struct ImplicitData {
  ImplicitEntries by_row, by_col;

  ImplicitData(const ObservedMatrix& entries, const Confidence& confidence)
      : by_row(entries.by_row(), confidence), by_col(entries.by_col(), confidence) {}
};

ObservedEntries in_order(const GroupedEntries& by_row, Index cols) {
  ObservedEntries result{by_row.size(), cols, {}, by_row.index, by_row.value};
  result.row.reserve(by_row.index.size());
  for (Index i = 0; i < by_row.size(); ++i)
    result.row.insert(result.row.end(), std::size_t(by_row.count(i)), int(i));
  return result;
}

/// Square matrix of inner products of the factors of all members.
Matrix products_of(const ImplicitVectors& side, Index atoms) {
  return gram_of(side.matrix(atoms).rightCols(atoms).cast<double>());
}

/// One run of complete_implicit().
class ImplicitRun {
 public:
  ImplicitRun(ObservedEntries entries, const ImplicitOptions& options)
      : options_(options),
        threads_(resolve_threads(options.threads)),
        run_({.time_limit = options.time_limit}, options.observer) {
    require_valid(entries, threads_);
    check_implicit(options, entries);
    prior_ =
        options.start ? options.start->implicit : ImplicitPrior{kFirstZeros, kFirstRidge, options.confidence};
    if (options.row_features) row_features_.emplace(*options.row_features, entries.rows, "row");
    if (options.col_features) col_features_.emplace(*options.col_features, entries.cols, "column");
    all_.emplace(without_zeros(std::move(entries)), threads_);
  }

  CompletionResult result() {
    run_.finish(Stop::all_sweeps);
    CompletionResult result;
    result.model = options_.sets ? model_of(choose_atoms()) : model_of_factors();
    if (row_features_) place_by_features(result.model.rows, all_->by_row(), *row_features_, threads_);
    if (col_features_) place_by_features(result.model.cols, all_->by_col(), *col_features_, threads_);
    note_unseen(result.model, all_->by_row());
    require_sound(result.model);
    result.path = std::move(path_);
    result.predictions = predict(result.model, options_.predict, threads_);
    result.seen = std::move(*all_).take_by_row();
    result.stop = run_.stop();
    result.seconds = run_.seconds();
    return result;
  }

 private:
  CompletionModel model_of_factors() {
    const ImplicitData data(*all_, prior_.confidence);
    std::optional<ImplicitFactors> factors;
    if (options_.start) {
      factors.emplace(update(data));
    } else {
      factors.emplace(choose(data));
      factors->rebind(data.by_row, data.by_col);
      if (!run_.stopped()) sweep(*factors, Moment::Phase::refining, kRefiningSweepsOfAll);
    }
    record(factors->atoms(), Moment::kUnknown);
    return options_.start && unchanged_ ? *options_.start : model_of(*factors);
  }

  ImplicitFactors update(const ImplicitData& data) {
    const CompletionModel& start = *options_.start;
    ImplicitFactors factors(data.by_row, data.by_col, start, threads_);
    unchanged_ = options_.start_entries && start.rows.size() == all_->rows() &&
                 start.cols.size() == all_->cols() &&
                 count_changes(*options_.start_entries, all_->by_row()) == 0;
    if (!unchanged_) sweep(factors, Moment::Phase::refining, kUpdateSweeps);
    return factors;
  }

  /// Zeros, ridge and rank by the entries held back, and the factors that go with them.
  ImplicitFactors choose(const ImplicitData& all) {
    GroupedEntries kept = all_->by_row();
    const HeldBack held = hold_back_of_rows(kept, options_.validation, options_.seed);
    Index atoms = std::min(kSearchAtoms, options_.max_rank);
    if (held.row.empty()) {
      ImplicitFactors factors(all.by_row, all.by_col, atoms, options_.seed, threads_);
      sweep(factors, Moment::Phase::growing, kRankSweeps);
      return factors;
    }
    const ObservedMatrix part(in_order(kept, all_->cols()), threads_);
    const ImplicitData data(part, prior_.confidence);
    const auto gain = [&](const ImplicitFactors& factors) {
      return gain_of(factors.rows(), factors.cols(), part.by_row(), held, threads_);
    };
    ImplicitFactors best(data.by_row, data.by_col, atoms, options_.seed, threads_);
    double most = search(best, gain);
    record(best.atoms(), most);
    run_.finish(Stop::rank_reached);
    while (atoms < options_.max_rank && !run_.stopped()) {
      atoms = std::min(4 * atoms + 3, options_.max_rank);
      const auto fitted = [&] {
        ImplicitFactors factors(data.by_row, data.by_col, atoms, options_.seed, threads_);
        sweep(factors, Moment::Phase::growing, kRankSweeps);
        return factors;
      };
      ImplicitFactors wider = fitted();
      if (run_.stopped()) break;
      double more = gain(wider);
      if (more < most * (1 + kWorth)) {  // more atoms fit more noise, unless more is asked of them
        const double ridge = std::exchange(prior_.ridge, kStep * prior_.ridge);
        ImplicitFactors firmer = fitted();
        const double of_firmer = run_.stopped() ? 0 : gain(firmer);
        if (of_firmer > more) {
          more = of_firmer;
          wider = std::move(firmer);
        }
        if (of_firmer < more || of_firmer < most) prior_.ridge = ridge;
      }
      record(wider.atoms(), more);
      if (more < most) {
        run_.finish(Stop::no_gain);
        break;
      }
      most = more;
      best = std::move(wider);
    }
    return best;
  }

  /// Tries larger and smaller ridges, and zeros that count more or less, all from the same factors; leaves
  /// the best.
  template <class Gain>
  double search(ImplicitFactors& best, const Gain& gain) {
    const ImplicitFactors start = best;
    const ImplicitPrior first = prior_;
    double most = -1;
    const auto better = [&](double zeros, double ridge) {
      if (run_.stopped()) return false;
      const ImplicitPrior kept = prior_;
      prior_.zeros = zeros * first.zeros;
      prior_.ridge = ridge * first.ridge;
      ImplicitFactors tried = start;  // always the same random ones
      sweep(tried, Moment::Phase::growing, kSearchSweeps);
      const double value = gain(tried);
      if (value > most * (1 + kWorth)) {
        most = value;
        best = std::move(tried);
        return true;
      }
      prior_ = kept;
      return false;
    };
    // The ridge of what was not seen is zeros * ridge: one number is searched for, then how it is shared.
    double ridge = 1, zeros = 1;
    better(zeros, ridge);
    climb([&](double factor) {
      if (!better(zeros, ridge * factor)) return false;
      ridge *= factor;
      return true;
    });
    climb([&](double factor) {
      if (!better(zeros / factor, ridge * factor)) return false;
      zeros /= factor, ridge *= factor;
      return true;
    });
    return most;
  }

  template <class Better>
  static void climb(const Better& better) {
    for (const double factor : {kStep, 1 / kStep}) {
      int steps = 0;
      while (steps < kMostSteps && better(factor)) ++steps;
      if (steps > 0) return;  // not both ways
    }
  }

  void sweep(ImplicitFactors& factors, Moment::Phase phase, int turns) {
    factors.ends_when(options_.interrupted);
    factors.sweep(prior_, turns, [&](int turn) {
      return run_.go_on({.phase = phase, .rank = factors.atoms(), .sweep = turn, .max_sweeps = turns});
    });
    last_sweeps_ = turns;
  }

  void record(Index atoms, double gain) {
    path_.push_back({atoms, last_sweeps_, Moment::kUnknown, gain, run_.seconds()});
  }

  /// The same for structured atoms. Zeros and a first ridge are those of vectors that are free of any set,
  /// which are quick; then the ridge and the rank are tried with the atoms themselves.
  Expansion choose_atoms() {
    GroupedEntries kept = all_->by_row();
    const HeldBack held = hold_back_of_rows(kept, options_.validation, options_.seed);
    const Index few = std::min(kSearchAtoms, options_.max_rank);
    if (held.row.empty()) return pursue_atoms(all_->by_row(), few, {});
    search_with_free_vectors(kept, held, few);
    Expansion best;
    double most = -1;
    const auto better = [&](double factor) {
      if (run_.stopped()) return false;
      const double ridge = std::exchange(prior_.ridge, factor * prior_.ridge);
      Expansion widest;
      double own = -1;
      Index since = 0;
      pursue_atoms(kept, options_.max_rank, [&](const Expansion& atoms) {
        const ImplicitPair vectors = vectors_of(atoms);
        const double gain = gain_of(vectors.rows, vectors.cols, kept, held, threads_);
        record(atoms.rank(), gain);
        ++since;
        if (gain > own) {
          own = gain;
          widest = atoms;
          since = 0;
        }
        return since < kAtomsWithoutGain;
      });
      if (own > most * (1 + kWorth)) {
        most = own;
        best = std::move(widest);
        return true;
      }
      prior_.ridge = ridge;
      return false;
    };
    better(kStep);  // there will be more atoms than vectors had, which fit more noise
    climb(better);
    if (run_.stopped()) return best;
    run_.finish(best.rank() < options_.max_rank ? Stop::no_gain : Stop::rank_reached);
    Expansion of_all = pursue_atoms(all_->by_row(), best.rank(), {});
    record(of_all.rank(), Moment::kUnknown);
    return run_.stopped() ? best : of_all;
  }

  void search_with_free_vectors(const GroupedEntries& kept, const HeldBack& held, Index atoms) {
    const ObservedMatrix part(in_order(kept, all_->cols()), threads_);
    const ImplicitData data(part, prior_.confidence);
    ImplicitFactors vectors(data.by_row, data.by_col, atoms, options_.seed, threads_);
    search(vectors, [&](const ImplicitFactors& factors) {
      return gain_of(factors.rows(), factors.cols(), part.by_row(), held, threads_);
    });
  }

  /// Algorithm 2; `judge`, where there is one, sees the atoms after every new one and says whether to go on.
  Expansion pursue_atoms(const GroupedEntries& seen, Index rank,
                         const std::function<bool(const Expansion&)>& judge) {
    last_sweeps_ = kAtomSweeps;
    const auto f = implicit_objective(in_order(seen, all_->cols()), prior_, threads_);
    CorrectionOptions corrections;
    corrections.threads = threads_;
    ExpansionSpace space(*f, AtomSets(options_.sets->left, options_.sets->right), options_.sets->weights,
                         {.seed = options_.seed}, corrections,
                         {Regularization::count_weighted_ridge, prior_.ridge});
    pursue(space, {.rank = rank, .corrections = kAtomSweeps}, Run({}, [&](const Moment& moment) {
             if (!run_.go_on({.phase = Moment::Phase::growing,
                              .rank = moment.rank,
                              .target_rank = rank,
                              .sweep = int(moment.rank),
                              .max_sweeps = int(rank)}))
               return false;
             return moment.phase != Moment::Phase::atom || !judge || judge(space.expansion());
           }));
    return space.expansion();
  }

  CompletionModel model_of(const ImplicitFactors& factors) const {
    CompletionModel model = empty_model();
    model.rows = side_of(factors.rows(), factors.atoms(), all_->by_row());
    model.cols = side_of(factors.cols(), factors.atoms(), all_->by_col());
    model.noise_variance = mean_squared_error(factors.rows(), factors.cols(), factors.atoms(), model.scale) /
                           (model.scale * model.scale);
    return model;
  }

  CompletionModel model_of(Expansion atoms) const {
    CompletionModel model = empty_model();
    model.rows = plain_side(all_->rows());
    model.cols = plain_side(all_->cols());
    if (atoms.rank() > 0) {
      const ImplicitPair vectors = vectors_of(atoms);
      model.noise_variance = mean_squared_error(vectors.rows, vectors.cols, atoms.rank(), model.scale) /
                             (model.scale * model.scale);
      atoms.weights *= model.scale;
      model.atoms = std::move(atoms);
    }
    return model;
  }

  CompletionModel empty_model() const {
    CompletionModel model;
    model.implicit = prior_;
    // What was seen is fitted to 1 and to 0 at once, by its own weight and that of zeros: the scale makes
    // it 1.
    double weight = 1;
    if (prior_.confidence.kind != Confidence::constant) {
      weight = 0;
      for (const float value : all_->by_row().value) weight += prior_.confidence.weight(value);
      weight /= double(all_->size());
    }
    model.scale = (weight + prior_.zeros) / weight;
    model.lowest = -std::numeric_limits<double>::infinity();
    model.highest = std::numeric_limits<double>::infinity();
    return model;
  }

  /// A member without entries is like the average of the others.
  static CompletionSide side_of(const ImplicitVectors& vectors, Index atoms, const GroupedEntries& entries) {
    CompletionSide side = plain_side(vectors.size());
    side.mean = vectors.matrix(atoms);
    side.variance = FactorMatrix::Zero(vectors.size(), 1 + atoms);
    Vector mean = Vector::Zero(1 + atoms), squares = mean;
    double count = 0;
    for (Index i = 0; i < side.size(); ++i) {
      if (entries.count(i) == 0) continue;
      const Vector own = side.mean.row(i).transpose().cast<double>();
      mean += own;
      squares += own.cwiseAbs2();
      ++count;
    }
    mean /= count;
    side.intercept = mean.cast<float>();
    side.prior_variance = (squares / count - mean.cwiseAbs2()).cwiseMax(0).cast<float>();
    for (Index i = 0; i < side.size(); ++i)
      if (entries.count(i) == 0) {
        side.mean.row(i) = side.intercept.transpose();
        side.variance.row(i) = side.prior_variance.transpose();
      }
    return side;
  }

  /// Of ones where something was seen and zeros elsewhere.
  double mean_squared_error(const ImplicitVectors& rows, const ImplicitVectors& cols, Index atoms,
                            double scale) const {
    const GroupedEntries& seen = all_->by_row();
    const Index width = rows.width;
    const double fitted = chunked_sum<double>(Chunks(seen.size()), threads_, [&](Index first, Index count) {
      double sum = 0;
      for (Index i = first; i < first + count; ++i)
        for (std::int64_t e = seen.start[i]; e < seen.start[i + 1]; ++e)
          for (Index c = 1; c < width; ++c) sum += double(rows.of(i)[c]) * cols.of(seen.index[e])[c];
      return sum;
    });
    const double all = products_of(rows, atoms).cwiseProduct(products_of(cols, atoms)).sum();
    const double error = double(seen.index.size()) - 2 * scale * fitted + scale * scale * all;
    return std::max(error, 0.0) / (double(all_->rows()) * double(all_->cols()));
  }

  const ImplicitOptions& options_;
  int threads_;
  Run run_;
  ImplicitPrior prior_;
  std::optional<ScaledFeatures> row_features_, col_features_;
  std::optional<ObservedMatrix> all_;
  std::vector<CompletionStage> path_;
  int last_sweeps_ = 0;
  bool unchanged_ = false;
};

}  // namespace

CompletionResult complete_implicit(ObservedEntries entries, const ImplicitOptions& options) {
  return ImplicitRun(std::move(entries), options).result();
}

}  // namespace pursuit
