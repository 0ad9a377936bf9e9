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
#include <limits>

#include "pursuit/algorithms/trace.hpp"
#include "pursuit/base/timer.hpp"
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
  { space.objective_at_zero() } -> std::convertible_to<double>;        // f(0)
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
  int corrections = 0;             // sweeps of corrections after every atom
  int polish = 0;                  // at most so many sweeps at the end
  double polish_tolerance = 1e-6;  // the polish ends when a sweep lowers f by less than this share
  double target_error = 0;         // stop at this relative error
  double time_limit = std::numeric_limits<double>::infinity();  // seconds
  double ascent_tolerance = 1e-9;  // an atom with <z, r> below this share of ||y|| ||z|| is no ascent
};

struct PursuitOutcome {
  Trace trace;
  Stop stop = Stop::rank_reached;
};

/// The bookkeeping of a run: its trace, its clock, and whether it should stop.
class RunLog {
 public:
  RunLog(const PursuitOptions& options, double objective_at_zero, const Observer& observer)
      : options_(options), objective_at_zero_(objective_at_zero), observer_(observer) {}

  /// Ends the run where the target or the time limit is reached or the observer says so.
  bool should_stop(Moment::Phase phase, Index rank, int sweep, int max_sweeps, double objective) {
    const double error = relative_error(objective);
    if (error <= options_.target_error) return finish(Stop::target_error);
    if (timer_.seconds() >= options_.time_limit) return finish(Stop::time_limit);
    if (observer_ && !observer_({phase, rank, options_.rank, sweep, max_sweeps, error, timer_.seconds()}))
      return finish(Stop::interrupted);
    return false;
  }

  bool finish(Stop stop) {
    outcome_.stop = stop;
    return finished_ = true;
  }
  bool finished() const { return finished_; }
  /// Finished by a target, a limit or the observer, and not because there is nothing left to find.
  bool stopped_from_outside() const {
    return finished_ && outcome_.stop != Stop::no_ascent && outcome_.stop != Stop::dependent_atom;
  }

  void record(Step step, Index rank, double objective_before, double objective) {
    step.rank = rank;
    step.objective = objective;
    step.relative_error = relative_error(step.objective);
    step.gain = objective_before - step.objective;
    step.seconds = timer_.seconds();
    outcome_.trace.push_back(step);
  }

  const PursuitOutcome& outcome() const { return outcome_; }

 private:
  double relative_error(double objective) const {
    return objective_at_zero_ > 0 ? std::sqrt(objective / objective_at_zero_) : 0.0;
  }

  const PursuitOptions& options_;
  double objective_at_zero_;
  const Observer& observer_;
  Timer timer_;
  PursuitOutcome outcome_;
  bool finished_ = false;
};

template <PursuitSpace Space>
PursuitOutcome pursue(Space& space, const PursuitOptions& options, const Observer& observer = {}) {
  using Phase = Moment::Phase;
  const double norm = std::sqrt(2 * space.objective_at_zero());  // ||y||
  WeightSystem system = space.weight_system();
  RunLog log(options, space.objective_at_zero(), observer);
  const auto correct = [&](Phase phase, int sweeps, double tolerance) {
    if constexpr (CorrectableSpace<Space>) {
      const auto watch = [&](int sweep, double f) {
        return !log.should_stop(phase, system.size(), sweep, sweeps, f);
      };
      if (sweeps > 0) return space.correct(sweeps, tolerance, watch, system);
    }
    return 0;
  };

  const auto record = [&](Step step, double before) {
    if constexpr (requires { space.describe(step); }) space.describe(step);
    log.record(step, system.size(), before, space.objective());
  };

  if (system.size() > 0) {  // x_0
    const double before = space.objective_at_zero();
    system.solve();
    space.set_weights(system.weights());
    record({}, before);
  }
  const auto grow = [&] {
    // Corrections may leave an atom without weight, which is then dropped and its place filled again; the
    // second bound is for problems that will not take more atoms.
    for (Index r = 1; system.size() < options.rank && r <= 2 * options.rank && !log.finished();
         ++r) {  // 1: r = 1..R
      const double before = space.objective();
      const auto found = space.find_atom();  // 2: z_r := LMO(grad f(x_{r-1}))
      if (!(system.ascent(found.value) > options.ascent_tolerance * norm * std::sqrt(found.norm_squared))) {
        log.finish(Stop::no_ascent);
        break;
      }
      const Vector products = space.inner_products(found.atom);
      if (!system.append(products, found.norm_squared, found.value + products.dot(system.weights()))) {
        log.finish(Stop::dependent_atom);
        break;
      }
      space.append(found);
      system.solve();                                                         // 3: alpha := argmin f
      space.set_weights(system.weights());                                    // 5: x_r := sum alpha_i z_i
      const int sweeps = correct(Phase::correction, options.corrections, 0);  // 4: correct the z_i
      record({.lmo_value = std::abs(found.value),
              .spread = found.spread,
              .iterations = found.iterations,
              .sweeps = sweeps},
             before);
      if (!log.finished()) log.should_stop(Phase::atom, system.size(), 0, 0, space.objective());
    }
    if (system.size() < options.rank && !log.finished()) log.finish(Stop::no_ascent);
  };
  const auto polish = [&] {
    const double before = space.objective();
    const int sweeps = correct(Phase::polish, options.polish, options.polish_tolerance);
    if (sweeps > 0) record({.sweeps = sweeps}, before);
  };

  constexpr int kRounds = 3;  // a polish that drops atoms is followed by new ones and another polish
  for (int round = 0; round < kRounds; ++round) {
    grow();
    if (system.size() == 0 || log.stopped_from_outside()) break;
    polish();
    if (log.finished() || system.size() >= options.rank) break;
  }
  if (system.size() < options.rank && !log.finished()) log.finish(Stop::no_ascent);
  return log.outcome();
}

}  // namespace pursuit
