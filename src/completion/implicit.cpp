#include "pursuit/completion/implicit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "algorithms/expansion_space.hpp"
#include "algorithms/identity.hpp"
#include "completion/implicit_atoms.hpp"
#include "completion/implicit_check.hpp"
#include "completion/implicit_judge.hpp"
#include "completion/implicit_models.hpp"
#include "completion/newcomers.hpp"
#include "completion/states.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr double kFirstZeros = 1, kFirstRidge = 0.003;  // at which the search for better ones begins
constexpr double kStep = 2;                             // factor between two that are tried
constexpr int kMostSteps = 8;                           // in one direction
constexpr Index kSearchAtoms = 15;                      // by which zeros and ridge are chosen: few are quick
constexpr int kSearchSweeps = 4;
constexpr int kRankSweeps = 5, kRefiningSweepsOfAll = 3;
constexpr int kSignedSweepsMore = 3;  // where entries are not negative, which settle later
constexpr int kUpdateSweeps = 3;
constexpr int kAtomSweeps = 3;          // of corrections after every structured atom
constexpr Index kAtomsWithoutGain = 8;  // before no more are tried
constexpr double kWorth = 2e-3;         // share of the gain that other settings must add

ObservedEntries in_order(const GroupedEntries& by_row, Index cols) {
  ObservedEntries result{by_row.size(), cols, {}, by_row.index, by_row.value};
  result.row.reserve(by_row.index.size());
  for (Index i = 0; i < by_row.size(); ++i)
    result.row.insert(result.row.end(), std::size_t(by_row.count(i)), int(i));
  return result;
}

Identity identity_of(const ObservedEntries& entries, const ImplicitOptions& o) {
  Identity identity;
  identity.add("command", "complete implicit feedback");
  identity.add("shape", fmt::format("{} x {}", entries.rows, entries.cols));
  identify("entries", entries, identity);
  identity.add("confidence", o.confidence.spec());
  identity.add("max_rank", double(most_atoms(o)));
  identity.add("validation", o.validation);
  if (o.sets) {
    identify(AtomSets(o.sets->left, o.sets->right), {entries.rows, entries.cols}, most_atoms(o), identity);
    identity.add("weights", o.sets->weights.spec());
  }
  if (o.start)
    for (const CompletionSide* side : {&o.start->rows, &o.start->cols})
      identity.add_bytes("start", side->mean.data(), std::size_t(side->mean.size()) * sizeof(float));
  identity.add("seed", std::to_string(o.seed));
  return identity;
}

/// One run of complete_implicit(): one trial after the other, each of some sweeps or of a pursuit. What they
/// were worth decides about the next one; a run that goes on from a checkpoint is told this of those behind
/// it, whose factors are not made again, and lives from the one in whose midst it was left.
class ImplicitRun {
 public:
  ImplicitRun(ObservedEntries entries, const ImplicitOptions& options)
      : options_(options),
        threads_(resolve_threads(options.threads)),
        run_({.time_limit = options.time_limit}, options.observer, {}, options.checkpoints) {
    require_valid(entries, threads_);
    require_possible(options, entries);
    max_rank_ = most_atoms(options);
    if (options.sets) {
      at_once_ = moves_at_once(*options.sets);
      if (at_once_) signs_ = signs_of(*options.sets);
    }
    if (options.checkpoints) {
      run_.begin_checkpoints(identity_of(entries, options));
      if (options.interrupted) options.checkpoints->hold_states();
    }
    prior_ =
        options.start ? options.start->implicit : ImplicitPrior{kFirstZeros, kFirstRidge, options.confidence};
    if (options.row_features) row_features_.emplace(*options.row_features, entries.rows, "row");
    if (options.col_features) col_features_.emplace(*options.col_features, entries.cols, "column");
    all_.emplace(without_zeros(std::move(entries)), threads_);
    best_atoms_ = no_atoms();
  }

  CompletionResult result() {
    run_.finish(Stop::all_sweeps);
    const Kept kept(run_.checkpoints(), "implicit", [this](StateArchive& archive) { visit_state(archive); });
    lives_ = !kept.resumed();
    CompletionResult result;
    result.model = !options_.sets ? model_of_factors()
                                  : implicit_model(at_once_ ? choose_factors() : choose_atoms(),
                                                   *options_.sets, *all_, prior_, threads_);
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
    const ImplicitSides data(*all_, prior_.confidence, options_.team);
    const ImplicitFactors factors = options_.start ? update(data) : chosen(data);
    record(factors.atoms(), Moment::kUnknown);
    return options_.start && unchanged_ ? *options_.start : implicit_model(factors, *all_, prior_, threads_);
  }

  /// Where sets know of signs at most: all atoms of a row at once.
  Expansion choose_factors() {
    const ImplicitSides data(*all_, prior_.confidence, options_.team);
    const ImplicitFactors factors = chosen(data);
    record(factors.atoms(), Moment::kUnknown);
    return atoms_of(factors);
  }

  ImplicitFactors chosen(const ImplicitSides& data) {
    ImplicitFactors factors = choose(data);
    factors.rebind(data);
    if (!run_.stopped()) sweep(factors, Moment::Phase::refining, kRefiningSweepsOfAll + more_sweeps());
    return factors;
  }
  int more_sweeps() const { return signs_.rows || signs_.cols ? kSignedSweepsMore : 0; }

  ImplicitFactors update(const ImplicitSides& data) {
    const CompletionModel& start = *options_.start;
    ImplicitFactors factors(data, start, threads_);
    unchanged_ = options_.start_entries && start.rows.size() == all_->rows() &&
                 start.cols.size() == all_->cols() &&
                 count_changes(*options_.start_entries, all_->by_row(), 0, all_->rows()) == 0;
    if (!unchanged_) sweep(factors, Moment::Phase::refining, kUpdateSweeps);
    return factors;
  }

  /// Zeros, ridge and rank by the entries held back, and the factors that go with them.
  ImplicitFactors choose(const ImplicitSides& all) {
    GroupedEntries kept = all_->by_row();
    const HeldBack held = hold_back_of_rows(kept, options_.validation, options_.seed);
    Index atoms = std::min(kSearchAtoms, max_rank_);
    if (held.row.empty()) {
      ImplicitFactors factors(all, atoms, signs_, options_.seed, threads_);
      tried(factors, kRankSweeps + more_sweeps(), [](const ImplicitFactors&) { return 0.0; });
      return factors;
    }
    const ObservedMatrix part(in_order(kept, all_->cols()), threads_);
    const ImplicitSides data(part, prior_.confidence, options_.team);
    const auto random = [&](Index count) {
      return ImplicitFactors(data, count, signs_, options_.seed, threads_);
    };
    restore(best_, random);
    restore(wider_, random);
    const auto gain = [&](const ImplicitFactors& factors) {
      return gain_of(factors.rows(), factors.cols(), part.by_row(), held, threads_);
    };
    double most = search(random(atoms), gain);
    record(best_.now->atoms(), most);
    run_.finish(Stop::rank_reached);
    while (atoms < max_rank_ && !run_.stopped()) {
      atoms = std::min(4 * atoms + 3, max_rank_);
      wider_.now.reset();
      ImplicitFactors next = random(atoms);
      double more = tried(next, kRankSweeps + more_sweeps(), gain);
      if (run_.stopped()) break;
      wider_.now = std::move(next);
      if (more < most * (1 + kWorth)) {  // more atoms fit more noise, unless more is asked of them
        const double ridge = std::exchange(prior_.ridge, kStep * prior_.ridge);
        ImplicitFactors firmer = random(atoms);
        const double worth = tried(firmer, kRankSweeps + more_sweeps(), gain),
                     of_firmer = run_.stopped() ? 0 : worth;
        if (of_firmer > more) {
          more = of_firmer;
          wider_.now = std::move(firmer);
        }
        if (of_firmer < more || of_firmer < most) prior_.ridge = ridge;
      }
      record(atoms, more);
      if (more < most) {
        run_.finish(Stop::no_gain);
        break;
      }
      most = more;
      best_.now = std::move(wider_.now);
    }
    wider_.now.reset();
    ImplicitFactors best = std::move(*best_.now);
    best_.now.reset();
    return best;
  }

  /// What factors are worth after so many sweeps.
  template <class Gain>
  double tried(ImplicitFactors& factors, int sweeps, const Gain& gain) {
    if (trials_ < worths_.size()) return worths_[trials_++];
    sweep(factors, Moment::Phase::growing, sweeps);
    const double worth = gain(factors);
    if (!run_.stopped()) note(worth);
    return worth;
  }

  void note(double worth) {
    worths_.push_back(worth);
    ++trials_;
  }

  /// Tries larger and smaller ridges, and zeros that count more or less, all from the same factors; leaves
  /// the best.
  template <class Gain>
  double search(const ImplicitFactors& start, const Gain& gain) {
    best_.now = start;
    const ImplicitPrior first = prior_;
    double most = -1;
    const auto better = [&](double zeros, double ridge) {
      if (run_.stopped()) return false;
      const ImplicitPrior kept = prior_;
      prior_.zeros = zeros * first.zeros;
      prior_.ridge = ridge * first.ridge;
      ImplicitFactors factors = start;  // always the same random ones
      const double value = tried(factors, kSearchSweeps, gain);
      if (value > most * (1 + kWorth)) {
        most = value;
        best_.now = std::move(factors);
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
    live();
    int done = 0;
    const Kept kept(run_.checkpoints(), "sweeps", [&](StateArchive& archive) {
      archive("done", done, 0, turns);
      factors.visit_state(archive);
    });
    factors.ends_when(options_.interrupted);
    factors.sweep(prior_, done, turns, [&](int turn) {
      done = turn;
      const Moment moment{.phase = phase, .rank = factors.atoms(), .sweep = turn, .max_sweeps = turns};
      const bool half_done = options_.interrupted && options_.interrupted();
      return half_done ? run_.go_on(moment) : run_.step_done(moment);
    });
    last_sweeps_ = turns;
  }

  void record(Index atoms, double gain) {
    if (lives_) path_.push_back({atoms, last_sweeps_, Moment::kUnknown, gain, run_.seconds()});
  }

  /// Factors that later trials may need, and what a resumed run has of them until it lives.
  struct Spare {
    std::optional<ImplicitFactors> now = {}, kept = {};
    Index atoms = 0;
    ImplicitVectors rows = {}, cols = {};
  };

  void live() {
    if (std::exchange(lives_, true)) return;
    for (Spare* spare : {&best_, &wider_})
      if (spare->kept) spare->now = std::exchange(spare->kept, {});
    if (kept_atoms_) best_atoms_ = *std::exchange(kept_atoms_, {});
  }

  void visit_state(StateArchive& archive) {
    archive("worths", worths_);
    visit(archive, "path", path_);
    for (auto& [name, spare] : {std::pair("best", &best_), std::pair("wider", &wider_)}) {
      StateArchive own = archive.in(name);
      if (archive.reads()) {
        own("atoms", spare->atoms, 0, max_rank_);
        if (spare->atoms > 0) {
          own("rows", spare->rows.numbers);
          own("cols", spare->cols.numbers);
        }
      } else {
        Index atoms = spare->now ? spare->now->atoms() : 0;
        own("atoms", atoms);
        if (spare->now) spare->now->visit_state(own);
      }
    }
    if (options_.sets) {
      Expansion atoms = best_atoms_;
      if (archive.reads()) atoms = no_atoms();
      visit(archive, "best_atoms", atoms);
      if (archive.reads()) kept_atoms_ = std::move(atoms);
    }
  }

  /// Of a run that goes on, once there is what factors belong to.
  template <class Make>
  void restore(Spare& spare, const Make& make) {
    if (lives_ || spare.atoms == 0) return;
    spare.kept.emplace(make(spare.atoms));
    if (!spare.kept->take(std::move(spare.rows), std::move(spare.cols)))
      throw InvalidInput("the checkpoint is not of this run: its factors have other sizes");
  }

  Expansion no_atoms() const { return {Panel(all_->rows(), 0), Panel(all_->cols(), 0), Vector(0)}; }

  /// The same for atoms of other sets. Zeros and a first ridge are those of vectors that are free of any set,
  /// which are quick; then the ridge and the rank are tried with the atoms themselves.
  Expansion choose_atoms() {
    GroupedEntries kept = all_->by_row();
    const HeldBack held = hold_back_of_rows(kept, options_.validation, options_.seed);
    const Index few = std::min(kSearchAtoms, max_rank_);
    if (held.row.empty()) return pursue_atoms(all_->by_row(), few, {});
    search_with_free_vectors(kept, held, few);
    double most = -1;
    const auto better = [&](double factor) {
      if (run_.stopped()) return false;
      const double ridge = std::exchange(prior_.ridge, factor * prior_.ridge);
      Expansion widest = no_atoms();
      double own = -1;
      Index since = 0;
      if (trials_ < worths_.size()) {
        own = worths_[trials_++];
      } else {
        const Kept kept_trial(run_.checkpoints(), "trial", [&](StateArchive& archive) {
          visit(archive, "widest", widest);
          archive("own", own);
          archive("since", since);
        });
        pursue_atoms(kept, max_rank_, [&](const Expansion& atoms) {
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
        if (!run_.stopped()) note(own);
      }
      if (own > most * (1 + kWorth)) {
        most = own;
        best_atoms_ = std::move(widest);
        return true;
      }
      prior_.ridge = ridge;
      return false;
    };
    better(kStep);  // there will be more atoms than vectors had, which fit more noise
    climb(better);
    if (run_.stopped()) return best_atoms_;
    if (kept_atoms_) best_atoms_ = *kept_atoms_;  // all trials are behind a run that goes on
    run_.finish(best_atoms_.rank() < max_rank_ ? Stop::no_gain : Stop::rank_reached);
    Expansion of_all = pursue_atoms(all_->by_row(), best_atoms_.rank(), {});
    record(of_all.rank(), Moment::kUnknown);
    return run_.stopped() ? best_atoms_ : of_all;
  }

  void search_with_free_vectors(const GroupedEntries& kept, const HeldBack& held, Index atoms) {
    const ObservedMatrix part(in_order(kept, all_->cols()), threads_);
    const ImplicitSides data(part, prior_.confidence, options_.team);
    const auto random = [&](Index count) {
      return ImplicitFactors(data, count, {}, options_.seed, threads_);
    };
    restore(best_, random);
    search(random(atoms), [&](const ImplicitFactors& factors) {
      return gain_of(factors.rows(), factors.cols(), part.by_row(), held, threads_);
    });
    best_ = {};  // settings are what was searched for
  }

  /// Algorithm 2; `judge`, where there is one, sees the atoms after every new one and says whether to go on.
  Expansion pursue_atoms(const GroupedEntries& seen, Index rank,
                         const std::function<bool(const Expansion&)>& judge) {
    live();
    last_sweeps_ = kAtomSweeps;
    const auto f = implicit_objective(in_order(seen, all_->cols()), prior_, threads_, options_.team);
    CorrectionOptions corrections;
    corrections.threads = threads_;
    corrections.checkpoints = run_.checkpoints();
    ExpansionSpace space(*f, AtomSets(options_.sets->left, options_.sets->right), options_.sets->weights,
                         {.seed = options_.seed}, corrections,
                         {Regularization::count_weighted_ridge, prior_.ridge});
    std::function<void()> end;
    Run inner(run_, [&](const Moment& moment) {
      if (!run_.go_on({.phase = Moment::Phase::growing,
                       .rank = moment.rank,
                       .target_rank = rank,
                       .sweep = int(moment.rank),
                       .max_sweeps = int(rank)}))
        return false;
      if (moment.phase == Moment::Phase::atom && judge && !judge(space.expansion())) end();
      return true;
    });
    end = [&] { inner.finish(Stop::no_gain); };
    pursue(space, {.rank = rank, .corrections = kAtomSweeps}, inner);
    return space.expansion();
  }

  const ImplicitOptions& options_;
  int threads_;
  Run run_;
  Index max_rank_ = 0;
  bool at_once_ = false;  // all atoms of a row, under these signs
  ImplicitSigns signs_;
  ImplicitPrior prior_;
  std::optional<ScaledFeatures> row_features_, col_features_;
  std::optional<ObservedMatrix> all_;
  std::vector<CompletionStage> path_;
  int last_sweeps_ = 0;
  bool unchanged_ = false;

  std::vector<double> worths_;  // of the trials so far
  std::size_t trials_ = 0;      // asked for, of which a run that goes on knows some
  bool lives_ = true;
  Spare best_, wider_;
  Expansion best_atoms_;
  std::optional<Expansion> kept_atoms_;
};

}  // namespace

Index most_atoms(const ImplicitOptions& options) {
  constexpr Index kFree = 63, kSigned = 127, kOneByOne = 31;
  if (options.max_rank) return *options.max_rank;
  return !options.sets ? kFree : moves_at_once(*options.sets) ? kSigned : kOneByOne;
}

CompletionResult complete_implicit(ObservedEntries entries, const ImplicitOptions& options) {
  return ImplicitRun(std::move(entries), options).result();
}

}  // namespace pursuit
