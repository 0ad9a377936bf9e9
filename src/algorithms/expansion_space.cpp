#include "algorithms/expansion_space.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pursuit {
namespace {

bool is_allowed(const WeightRule& rule, const Vector& weights) {
  if (!rule.allows_negative() && (weights.array() < 0).any()) return false;
  return rule.kind != WeightRule::convex || weights.sum() <= rule.radius;
}

}  // namespace

ExpansionSpace::ExpansionSpace(Objective& f, AtomSets sets, WeightRule weights, const OracleOptions& oracle,
                               CorrectionOptions correction, const Regularization& regularization,
                               FirstWeights first)
    : f_(f),
      sets_(std::move(sets)),
      weights_(weights),
      oracle_(oracle),
      correction_(std::move(correction)),
      regularized_(regularization.kind != Regularization::none),
      corrections_(f, sets_, regularization) {
  oracle_.sign = correction_.sign = weights.allows_negative() ? Sign::free : Sign::nonnegative;
  correction_.bounded_weights = weights.kind == WeightRule::convex;
  oracle_.free_scale = !correction_.bounded_weights;
  settled_ = first == FirstWeights::stay && f.quadratic() != Quadratic::exact;
  if (expansion().rank() > 0 && !settled_) {
    // Rules that never look back at older weights need good ones to start from.
    const bool looks_back = weights.kind != WeightRule::newest && weights.kind != WeightRule::economic;
    if (f.quadratic() != Quadratic::exact && !is_allowed(weights, expansion().weights))
      set_weights(Vector::Zero(expansion().rank()));  // whatever lies between this and a solution is allowed
    WeightSystem fitted = weight_system(looks_back ? weights : WeightRule(WeightRule::free));
    fit_weights(fitted);
    drop_weightless();
  }
}

Found<Factors> ExpansionSpace::find_atom() {
  ++oracle_.seed;  // fresh random starts for every atom
  FoundAtom atom = pursuit::find_atom(f_, sets_, expansion().rank(), oracle_);
  const double norm_squared = f_.gram(atom.factors, atom.factors)(0, 0);
  return {std::move(atom.factors), atom.value, norm_squared, atom.spread, atom.iterations};
}

Vector ExpansionSpace::inner_products(const Factors& atom) const {
  return expansion().rank() > 0 ? Vector(f_.gram(expansion().factors, atom)) : Vector(0);
}

WeightSystem ExpansionSpace::weight_system(const WeightRule& rule) const {
  WeightSystem system(rule);
  if (expansion().rank() > 0) {
    if (!known_) known_ = f_.weight_quadratic();
    system.reset(known_->gram, known_->linear, expansion().weights);
  }
  return system;
}

void ExpansionSpace::renew(WeightSystem& system) const {
  if (settled_) system = weight_system(system.rule());
}

WeightSystem ExpansionSpace::weight_system() const {
  if (settled_) {
    const Index rank = expansion().rank();
    WeightSystem system(weights_);
    system.reset(Matrix::Zero(rank, rank), Vector::Zero(rank), expansion().weights);
    return system;
  }
  // Regularised, the scale of older atoms belongs to their factors.
  return weight_system(regularized_ ? WeightRule(WeightRule::newest) : weights_);
}

void ExpansionSpace::fit_weights(WeightSystem& system) {
  constexpr int kRounds = 5, kHalvings = 30;
  constexpr double kStraight = 1.2;   // times what was promised: there is further to go
  constexpr double kLittle = 1e-4;    // of f: more rounds are worth less than corrections,
  constexpr double kNothing = 1e-10;  // and what promises less is not even looked at
  if (settled_) return;
  if (f_.quadratic() == Quadratic::exact) {
    system.solve();
    return set_weights(system.weights());
  }
  for (int round = 0; round < kRounds; ++round) {
    const double before = f_.value();
    const Vector start = expansion().weights;
    const double here = system.change();
    system.solve();
    const double promised = here - system.change();
    Vector step = system.weights() - start;
    for (int halving = 0; promised > kNothing * before && halving < kHalvings; ++halving, step *= 0.5) {
      set_weights(start + step);
      if (f_.value() < before) break;
    }
    if (before - f_.value() > kStraight * promised) go_further(start, step);
    const double gain = before - f_.value();
    if (!(gain > 0)) set_weights(start);
    system = weight_system(system.rule());
    if (!(gain > kLittle * before)) break;
  }
}

/// A loss that is steep by its curvature, as means far above the data are under a log link, lets every step
/// come nearer by the same small length.
void ExpansionSpace::go_further(const Vector& start, Vector step) {
  constexpr int kDoublings = 20;
  for (int doubling = 0; doubling < kDoublings; ++doubling) {
    const double before = f_.value();
    const Vector here = expansion().weights;
    step *= 2;
    if (!is_allowed(weights_, start + step)) return;
    set_weights(start + step);
    if (!(f_.value() < before)) return set_weights(here);
  }
}

int ExpansionSpace::correct(int sweeps, double tolerance, const std::function<bool(int, double)>& watch,
                            WeightSystem& system) {
  CorrectionOptions options = correction_;
  options.sweeps = sweeps;
  options.tolerance = tolerance;
  options.keep_going = watch;
  options.oracle = oracle_;
  // Fits are free in their scale. Where the weights are not, what they reach may lie outside what is allowed.
  double before = f_.value();
  Expansion start = correction_.bounded_weights ? expansion() : Expansion();
  const Kept kept(correction_.checkpoints, "correction", [&](StateArchive& archive) {
    archive("before", before);
    if (correction_.bounded_weights) visit(archive, "start", start);
  });
  const CorrectionOutcome outcome = corrections_.run(options);
  known_.reset();
  converged_ = outcome.converged;
  settled_ = outcome.carried_weights && f_.quadratic() != Quadratic::exact && !regularized_;
  drop_weightless();
  system = weight_system();
  if (!regularized_) fit_weights(system);  // otherwise weights are part of the factors that pay
  if (correction_.bounded_weights && f_.value() > before) {
    f_.move_to(start);
    known_.reset();
    system = weight_system();
  }
  return outcome.sweeps;
}

void ExpansionSpace::visit_state(StateArchive& archive) {
  StateArchive objective = archive.in("objective"), corrections = archive.in("corrections");
  f_.visit_state(objective);
  corrections_.visit_state(corrections);
  archive("seed", oracle_.seed);
  archive("converged", converged_);
  archive("settled", settled_);
  known_.reset();
}

void ExpansionSpace::describe(Step& step) const {
  step.left_support = (expansion().left().array() != 0).count();
  step.right_support = (expansion().right().array() != 0).count();
}

void ExpansionSpace::drop_weightless() {
  // Self-tuned atoms shrink for ever without getting there.
  const double nothing = regularized_ ? 1e-9 * std::sqrt(2 * f_.null_value()) : 0.0;
  Index known = 0;
  for (Index panel = 0; panel < sets_.panels(); ++panel) known = std::max(known, correction_.known_of(panel));
  const Vector& weights = expansion().weights;
  const std::vector<Index> staying =
      sets_.staying(weights.size(), [&](Index i) { return i < known || std::abs(weights[i]) > nothing; });
  if (Index(staying.size()) == weights.size()) return;
  Vector kept = Vector::Zero(weights.size());
  for (const Index i : staying) kept[i] = weights[i];
  f_.reweigh(kept);  // what is dropped is nothing
  f_.keep(staying);
  corrections_.keep(staying);
  known_.reset();
}

}  // namespace pursuit
