#pragma once
// Algorithm 1 of Khanna, Tschannen and Jaggi (2016): generalized pursuit in a Hilbert space,
//
//   minimise f(x) = 1/2 ||y - x||^2 over the linear span of a set S of atoms,
//
// written once for every space. A space brings the data y, the oracle over its atoms and their inner
// products; the weights are a small system of their own. Cost per step: one oracle call, O(r^2) for weights,
// and the corrections.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <memory>
#include <utility>

#include "pursuit/algorithms/trace.hpp"
#include "pursuit/base/checkpoints.hpp"
#include "pursuit/base/run.hpp"
#include "pursuit/weights/weight_system.hpp"

namespace pursuit {

/// An atom with its products: what line 2 returns.
template <class Atom>
struct Found {
  Atom atom;
  double value = 0;         // <z, r>, negative where -z is the better direction
  double norm_squared = 1;  // <z, z>
  double spread = 0;
  int iterations = 0;
};

/// What Algorithm 1 asks of a Hilbert space with data y, atoms S and a current expansion x = sum_i alpha_i
/// z_i.
template <class Space>
concept PursuitSpace = requires(Space& space, const typename Space::Atom& atom,
                                const Found<typename Space::Atom>& found, const Vector& alpha) {
  { space.objective() } -> std::convertible_to<double>;                // f(x)
  { space.null_objective() } -> std::convertible_to<double>;           // f of nothing
  { space.find_atom() } -> std::same_as<Found<typename Space::Atom>>;  // (Approx-)LMO at the residual
  { space.inner_products(atom) } -> std::convertible_to<Vector>;       // <z, z_i> with the expansion
  space.append(found);                                                 // with weight 0
  space.set_weights(alpha);
  { space.weight_system() } -> std::same_as<WeightSystem>;  // of the atoms already there (X_0)
};

/// A space whose atoms can move: correct() improves them, drops those left without weight, and renews the
/// system.
template <class Space>
concept CorrectableSpace = PursuitSpace<Space> &&
    requires(Space& space, WeightSystem& system, const std::function<bool(int, double)>& watch) {
  { space.correct(1, 0.0, watch, system) } -> std::convertible_to<int>;
};

struct PursuitOptions {
  Index rank = 10;
  int corrections = 0;              // sweeps of corrections after every atom, at most
  double correction_tolerance = 0;  // they end when a sweep lowers f by no more than this share
  int polish = 0;                   // at most so many sweeps at the end
  double polish_tolerance = 1e-6;   // the polish ends when a sweep lowers f by less than this share
  double ascent_tolerance = 1e-9;   // an atom with <z, r> below this share of ||y|| ||z|| is no ascent
};

struct PursuitOutcome {
  Trace trace;
  Stop stop = Stop::rank_reached;
};

/// One run of Algorithm 1, which can be taken step by step.
template <PursuitSpace Space>
class Pursuit {
 public:
  /// All three must outlive it.
  Pursuit(Space& space, const PursuitOptions& options, Run& run)
      : space_(space),
        options_(options),
        run_(run),
        norm_(std::sqrt(2 * space.null_objective())),
        system_(space.weight_system()) {
    if constexpr (requires(StateArchive & archive) { space.visit_state(archive); }) {
      kept_ = std::make_unique<Kept>(run.checkpoints(), "pursuit",
                                     [this](StateArchive& archive) { visit_state(archive); });
      if (kept_->resumed()) return;
    }
    if (system_.size() == 0) return;  // else x_0
    before_ = space_.null_objective();
    fit_weights();
    record({});
  }

  /// Whether another atom is wanted; the second bound is for problems that will not take more atoms.
  bool is_growing() const {
    return system_.size() < options_.rank && steps_ < 2 * options_.rank && !run_.finished();
  }

  /// One more atom. Corrections may leave one without weight, which is then dropped and its place filled
  /// again.
  void step() {
    ++steps_;  // 1: r = 1..R
    if constexpr (requires { space_.renew(system_); }) space_.renew(system_);
    before_ = space_.objective();
    const auto found = space_.find_atom();  // 2: z_r := LMO(grad f(x_{r-1}))
    if (!(system_.ascent(found.value) > options_.ascent_tolerance * norm_ * std::sqrt(found.norm_squared)))
      return run_.finish(Stop::no_ascent);
    const Vector products = space_.inner_products(found.atom);
    if (!system_.append(products, found.norm_squared, found.value + products.dot(system_.weights())))
      return run_.finish(Stop::dependent_atom);
    space_.append(found);
    fit_weights();  // 3, 5: x_r := sum alpha_i z_i
    newest_ = {.lmo_value = std::abs(found.value), .spread = found.spread, .iterations = found.iterations};
    begin_sweeps(options_.corrections);
    place_ = Place::correcting;
    end_step();
  }

  /// The rest of the steps, and the polish.
  PursuitOutcome finish() {
    if (place_ == Place::correcting) end_step();  // resumed there
    for (; round_ < kRounds; ++round_) {
      while (is_growing() && place_ == Place::growing) step();
      if (system_.size() < options_.rank && !run_.finished()) run_.finish(Stop::no_ascent);
      if (system_.size() == 0 || run_.stopped()) break;
      polish();
      if (run_.finished() || system_.size() >= options_.rank) break;
      steps_ = 0;
    }
    if (system_.size() < options_.rank && !run_.finished()) run_.finish(Stop::no_ascent);
    return {std::move(trace_), run_.stop()};
  }

 private:
  using Phase = Moment::Phase;
  enum class Place { growing, correcting, polishing };

  void end_step() {
    newest_.sweeps = correct(Phase::correction, options_.corrections,
                             options_.correction_tolerance);  // 4: correct the z_i
    newest_.last_sweep = last_sweep_;
    place_ = Place::growing;
    record(newest_);
    if (!run_.finished()) go_on(Phase::atom, 0, 0, space_.objective());
  }

  double relative_error(double objective) const {
    return norm_ > 0 ? std::sqrt(objective / space_.null_objective()) : 0.0;
  }
  bool go_on(Phase phase, int sweep, int max_sweeps, double objective) {
    return run_.step_done({.phase = phase,
                           .rank = system_.size(),
                           .target_rank = options_.rank,
                           .sweep = sweep,
                           .max_sweeps = max_sweeps,
                           .relative_error = relative_error(objective)});
  }
  int correct(Phase phase, int sweeps, double tolerance) {
    if constexpr (CorrectableSpace<Space>) {
      const auto watch = [&](int sweep, double f) {
        last_sweep_ = swept_ > 0 ? std::max(0.0, 1 - f / swept_) : 0.0;
        swept_ = f;
        return go_on(phase, sweep, sweeps, f);
      };
      if (sweeps > 0) return space_.correct(sweeps, tolerance, watch, system_);
    }
    return 0;
  }
  /// Where the system is not f itself, the space looks at what its solutions make of f.
  void fit_weights() {
    if constexpr (requires { space_.fit_weights(system_); }) {
      space_.fit_weights(system_);
    } else {
      system_.solve();
      space_.set_weights(system_.weights());
    }
  }
  void polish() {
    if (place_ != Place::polishing) {
      before_ = space_.objective();
      begin_sweeps(options_.polish);
    }
    place_ = Place::polishing;
    const int sweeps = correct(Phase::polish, options_.polish, options_.polish_tolerance);
    place_ = Place::growing;
    if (sweeps > 0) record({.sweeps = sweeps, .last_sweep = last_sweep_});
  }
  void begin_sweeps(int sweeps) {
    last_sweep_ = 0;
    if (sweeps > 0) swept_ = space_.objective();
  }
  void record(Step step) {
    if constexpr (requires { space_.describe(step); }) space_.describe(step);
    step.rank = system_.size();
    step.objective = space_.objective();
    step.relative_error = relative_error(step.objective);
    step.gain = before_ - step.objective;
    step.seconds = run_.seconds();
    trace_.push_back(step);
  }

  /// Between two atoms, or between two sweeps over them.
  void visit_state(StateArchive& archive) {
    if constexpr (requires { space_.visit_state(archive); }) {
      StateArchive space = archive.in("space"), system = archive.in("system");
      Index atoms = system_.size();
      archive("atoms", atoms);
      space_.visit_state(space);
      system_.visit_state(system, atoms);
      visit(archive, "trace", trace_);
      Trace newest{newest_};
      visit(archive, "newest", newest);
      archive.require(newest.size() == 1, "its newest step is not one");
      newest_ = newest.front();
      archive("before", before_);
      archive("swept", swept_);
      archive("last_sweep", last_sweep_);
      archive("steps", steps_);
      archive("round", round_, 0, kRounds);
      archive("place", place_, 0, Index(Place::polishing));
    }
  }

  static constexpr int kRounds = 3;  // a polish that drops atoms is followed by new ones and another polish

  Space& space_;
  PursuitOptions options_;
  Run& run_;
  double norm_;  // ||y||
  WeightSystem system_;
  Trace trace_;
  Index steps_ = 0;
  int round_ = 0;
  Place place_ = Place::growing;
  double before_ = 0;                  // f before this step
  double swept_ = 0, last_sweep_ = 0;  // f after the last sweep, and the share that it took
  Step newest_;                        // of the atom that is being corrected
  std::unique_ptr<Kept> kept_;
};

template <PursuitSpace Space>
PursuitOutcome pursue(Space& space, const PursuitOptions& options, Run& run) {
  return Pursuit(space, options, run).finish();
}

template <PursuitSpace Space>
PursuitOutcome pursue(Space& space, const PursuitOptions& options, Run&& run = Run()) {
  return pursue(space, options, run);
}

}  // namespace pursuit
