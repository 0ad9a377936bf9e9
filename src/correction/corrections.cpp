#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "atoms/along_axis.hpp"
#include "correction/by_oracle.hpp"
#include "correction/factor_fits.hpp"
#include "correction/fits_over_ranks.hpp"
#include "correction/progress.hpp"
#include "correction/run_ahead.hpp"
#include "linalg/elementwise.hpp"
#include "pursuit/correction/correction.hpp"
#include "pursuit/objective/full_squares.hpp"

namespace pursuit {
namespace {

/// Whether the multiples of a set's members treat every entry alone.
bool acts_on_coordinates(const AtomSet& set, const CorrectionOptions& options) {
  return set.traits().coordinatewise() && (set.traits().symmetric || options.sign == Sign::nonnegative) &&
         !options.bounded_weights;
}

/// The best weight of an atom whose factor along this mode stays.
void refit_weight(const Objective& f, ModeSystem& system, Index mode, Index k, Sign sign, double steepness) {
  Parabolas parabolas;
  system.parabolas(k, nullptr, parabolas);
  const Vector u = f.iterate().factors[mode].col(k);
  if (steepness != 1) steepen(parabolas, steepness, f.iterate().weights[k] * u);
  const double slope = f.axis(mode).dots(parabolas.b, u)[0],
               curvature = curvature_along(parabolas, f.axis(mode), u);
  if (!(curvature > 0)) return;
  const double weight = slope / curvature;
  system.move(k, u, sign == Sign::nonnegative ? std::max(weight, 0.0) : weight);
}

/// The best factor for a weight that stays.
void refit_factor(const Objective& f, ModeSystem& system, Index mode, Index k, const AtomSet& set,
                  double steepness, Parabolas& parabolas) {
  const double weight = f.iterate().weights[k];
  if (weight == 0) return;
  system.parabolas(k, nullptr, parabolas);
  if (!parabolas.is_uniform()) level(parabolas, steepness, weight * f.iterate().factors[mode].col(k));
  if (!(parabolas.uniform > 0)) return;
  Vector fresh(parabolas.b.size());
  maximize(f.axis(mode), set, weight * parabolas.b, fresh);
  system.move(k, fresh, weight);
}

/// One sweep of fits over all modes of all atoms.
class FitSweep {
 public:
  FitSweep(Objective& f, const AtomSets& sets, const CorrectionOptions& options, FactorFits& fits)
      : f_(f),
        sets_(sets),
        o_(options),
        fits_(fits),
        oldest_(std::max<Index>(0, f.iterate().rank() - options.last)) {}

  void run() {
    const Index rank = f_.iterate().rank();
    fits_.prepare();
    if (f_.atoms_share_systems()) {
      for (Index panel = 0; panel < sets_.panels(); ++panel)
        if (!sets_.is_single(panel))
          fit_shared(panel);
        else
          f_.quadratic() == Quadratic::exact ? fit_panel(panel) : fit_carefully(panel);
    } else {
      for (Index k = 0; k < rank; ++k)
        for (Index panel = 0; panel < sets_.panels(); ++panel) fit(*f_.along(sets_.mode_of(panel)), panel, k);
    }
    fits_.settle_noise();
    f_.fit_own_terms();
  }

 private:
  void fit_panel(Index panel) {
    const Index rank = f_.iterate().rank();
    if (!fits_.anything_paid() && fits_over_ranks(f_, sets_, panel, oldest_, o_)) return;
    const auto system = f_.along(sets_.mode_of(panel));
    Index k = 0;
    for (; k < std::min(rank, o_.known_of(panel)); ++k) fit(*system, panel, k);
    if (!(sweeps_coordinates(panel) && system->sweep(sweep_of(panel))))
      for (; k < rank; ++k) fit(*system, panel, k);
  }

  /// Where the quadratic is not f itself, what fits make of f is looked at. Where it is like f near the
  /// iterate alone, parabolas are made steeper, which keeps factors in their sets and nearer to where they
  /// were, until f falls.
  void fit_carefully(Index panel) {
    constexpr double kSteeper = 4, kSteepest = 300;
    const bool may_miss = f_.quadratic() == Quadratic::local && !sweeps_coordinates(panel);
    const double before = f_.value() + fits_.price();
    const Expansion start = f_.iterate();
    const FactorFits::Splits splits = fits_.splits();
    for (steepness_ = 1; steepness_ < (may_miss ? kSteepest : kSteeper); steepness_ *= kSteeper) {
      fit_panel(panel);
      if (f_.value() + fits_.price() < before) break;
      f_.move_to(start);
      fits_.take(splits);
    }
    steepness_ = 1;
  }

  /// Factors that modes share are fitted as if the first of these modes had its own, go a part of the way
  /// there and back into their sets: as far as f falls.
  void fit_shared(Index panel) {
    const Expansion start = f_.iterate();
    const double before = f_.value();
    const Index mode = sets_.mode_of(panel);
    f_.move_to(with_own_panels(start));
    fit_panel(panel);
    const Expansion apart = f_.iterate();
    Index sharing = 0;
    for (Index other = 0; other < sets_.modes(); ++other) sharing += sets_.panel_of(other) == panel ? 1 : 0;
    constexpr int kHalvings = 8;
    for (int halvings = 0; halvings < kHalvings; ++halvings) {
      const double share = std::ldexp(1.0 / double(sharing), -halvings);
      Expansion moved = start;
      for (Index k = oldest_; k < start.rank(); ++k) {
        // An atom's weight is in equal parts in the factors that are shared.
        const double weight = start.weights[k], part = std::pow(std::abs(weight), 1.0 / double(sharing));
        if (!(part > 0)) continue;
        const Vector own = part * start.factors[mode].col(k),
                     other = apart.weights[k] * part / weight * apart.factors[mode].col(k),
                     wanted = own + share * (other - own);
        if (!wanted.allFinite()) continue;  // a weight of next to nothing
        const double scale = pursuit::fit(f_.axis(mode), sets_.of(panel, k), 1.0, wanted, Sign::nonnegative,
                                          moved.factors[mode].col(k));
        moved.weights[k] = std::copysign(std::pow(scale, double(sharing)), weight);
      }
      f_.move_to(std::move(moved));
      if (f_.value() < before) return;
    }
    f_.move_to(start);
  }

  static Expansion with_own_panels(const Expansion& x) {
    std::vector<Panel> panels;
    std::vector<Index> own;
    panels.reserve(std::size_t(x.factors.modes()));
    own.reserve(std::size_t(x.factors.modes()));
    for (Index mode = 0; mode < x.factors.modes(); ++mode) {
      panels.push_back(x.factors[mode]);
      own.push_back(mode);
    }
    return {Factors(std::move(panels), std::move(own)), x.weights};
  }

  bool sweeps_coordinates(Index panel) const {
    return !fits_.anything_paid() && !sets_.panel(panel).varies() &&
           acts_on_coordinates(sets_.of(panel, 0), o_);
  }

  CoordinateSweep sweep_of(Index panel) const {
    const Index mode = sets_.mode_of(panel), rank = f_.iterate().rank();
    return {!sets_.of(panel, 0).traits().symmetric, std::max(oldest_, o_.known_of(panel)),
            f_.target() ? passes_along(*f_.target(), mode, rank) : 1, o_.threads};
  }

  void fit(ModeSystem& system, Index panel, Index k) {
    const Index mode = sets_.mode_of(panel);
    const AtomSet& set = sets_.of(panel, k);
    if (k < o_.known_of(panel)) {
      if (!o_.bounded_weights) refit_weight(f_, system, mode, k, o_.sign, steepness_);
    } else if (k >= oldest_) {
      if (o_.bounded_weights && f_.atoms_share_systems())
        refit_factor(f_, system, mode, k, set, steepness_, parabolas_);
      else
        fits_.refit(system, mode, k, set, o_.sign, steepness_);
    }
  }

  Objective& f_;
  const AtomSets& sets_;
  const CorrectionOptions& o_;
  FactorFits& fits_;
  Index oldest_;
  double steepness_ = 1;
  Parabolas parabolas_;
};

/// Into memory that is there from the last time.
void copy_expansion(const Expansion& from, int threads, Expansion& to) {
  if (to.factors.panels() != from.factors.panels()) to.factors = from.factors;
  for (Index panel = 0; panel < from.factors.panels(); ++panel)
    copy_entries(from.factors.panel(panel), threads, to.factors.panel(panel));
  to.weights = from.weights;
}

CorrectionOutcome correct_by_fits(Objective& f, const AtomSets& sets, const CorrectionOptions& options,
                                  FactorFits& fits) {
  SweepCounter counter(options);
  Expansion start;
  bool better = true;
  const Kept kept(options.checkpoints, "by_fits", [&](StateArchive& archive) {
    counter.visit_state(archive);
    archive("better", better);
  });
  for (bool more = !kept.resumed() || (counter.another() && better); more;) {
    const double before = f.value();
    if (f.atoms_share_systems()) copy_expansion(f.iterate(), options.threads, start);
    FitSweep(f, sets, options, fits).run();
    const double after = f.value();
    if (fits.anything_paid()) {  // f itself may rise while factors shrink
      more = counter.another(after + std::abs(before - after), after);
    } else {
      better = after < before;
      if (!better && start.rank() > 0) f.move_to(start);
      more = counter.another(before, std::min(before, after)) && better;
    }
  }
  return counter.outcome();
}

/// Sets on which entries are free of each other, all atoms to be corrected: modes run ahead, each atom's
/// weight shared between its factors.
CorrectionOutcome run_ahead_once(Objective& f, const AtomSets& sets, const CorrectionOptions& options,
                                 FreeSweeps* sweeps, double ridge) {
  const Index modes = f.modes(), last = modes - 1;
  // An atom without weight keeps its last factor, so that the others can grow again.
  Expansion x = f.iterate();
  const Vector size = x.weights.cwiseAbs();
  const double mean = size.mean(), share = 1.0 / double(modes);
  const Vector root = modes == 2 ? Vector(size.cwiseSqrt()) : Vector(size.array().pow(share));
  const Vector signed_root =
      (root.array() > 0)
          .select(x.weights.cwiseSign().cwiseProduct(root).array(), mean > 0 ? std::pow(mean, share) : 1.0);
  PenalizedFactors pair{x.factors, f.value() + ridge * size.sum()};
  for (Index mode = 0; mode < modes; ++mode)
    pair.factors[mode] = x.factors[mode] * (mode == last ? signed_root : root).asDiagonal();
  const double before = pair.objective;
  std::vector<FreeMode> free_modes;
  for (Index mode = 0; mode < modes; ++mode) free_modes.push_back({!sets.of(mode, 0).traits().symmetric});
  Vector products;  // of a target
  const double below =
      f.quadratic() == Quadratic::exact ? std::numeric_limits<double>::infinity() : kStepsSettled;
  CorrectionOutcome outcome = sweeps ? run_ahead(*sweeps, free_modes, below, options, pair)
                                     : run_ahead_sweeps(*f.target(), free_modes, options, pair, products);
  if (!(pair.objective < before)) return outcome;
  outcome.carried_weights = true;
  x.weights.setOnes();
  Matrix norms(x.rank(), modes);
  for (Index mode = 0; mode < modes; ++mode) {
    norms.col(mode) = f.axis(mode).norms(pair.factors[mode]);
    x.weights = x.weights.cwiseProduct(norms.col(mode));
  }
  Vector target_products = f.target() ? f.weight_quadratic().linear : Vector(0);
  for (Index k = 0; k < x.rank(); ++k) {
    if (!(x.weights[k] > 0)) continue;
    for (Index mode = 0; mode < modes; ++mode)
      x.factors[mode].col(k) = pair.factors[mode].col(k) / norms(k, mode);
    if (f.target()) target_products[k] = products[k] / x.weights[k];
  }
  if (f.target())
    f.move_to(std::move(x), target_products);
  else
    f.move_to(std::move(x));
  return outcome;
}

/// What f fits beside the atoms is fitted between runs of so many sweeps.
CorrectionOutcome correct_ahead(Objective& f, const AtomSets& sets, const CorrectionOptions& options,
                                FreeSweeps* sweeps, double ridge) {
  constexpr int kSweepsOfARun = 4;
  if (!f.has_own_terms()) return run_ahead_once(f, sets, options, sweeps, ridge);
  const auto paid = [&] { return f.value() + ridge * f.iterate().weights.cwiseAbs().sum(); };
  CorrectionOutcome total;
  double before = paid();
  bool wanted = true;
  const Kept kept(options.checkpoints, "runs_ahead", [&](StateArchive& archive) {
    archive("sweeps", total.sweeps, 0, options.sweeps);
    archive("before", before);
  });
  while (wanted && !total.converged && total.sweeps < options.sweeps) {
    CorrectionOptions part = options;
    part.sweeps = std::min(kSweepsOfARun, options.sweeps - total.sweeps);
    part.keep_going = [&](int sweep, double objective) {
      return wanted = !options.keep_going || options.keep_going(total.sweeps + sweep, objective);
    };
    const CorrectionOutcome made = run_ahead_once(f, sets, part, sweeps, ridge);
    f.fit_own_terms();
    total.sweeps += made.sweeps;
    total.carried_weights = made.carried_weights;
    const double after = paid();
    total.converged = before - after <= options.tolerance * made.sweeps * before;
    before = after;
  }
  return total;
}

bool can_run_ahead(const Objective& f, const AtomSets& sets, const CorrectionOptions& options) {
  if (options.sweeps <= 2 || options.last < f.iterate().rank()) return false;
  for (Index panel = 0; panel < sets.panels(); ++panel)
    if (options.known_of(panel) > 0 || sets.panel(panel).varies() ||
        !acts_on_coordinates(sets.of(panel, 0), options))
      return false;
  return true;
}

ElasticNets same_ridge(const Form& f, double ridge) {
  return {std::vector<ElasticNet>(std::size_t(f.modes()), {.l2 = ridge})};
}

bool all_nonnegative(const AtomSets& sets) {
  for (Index panel = 0; panel < sets.panels(); ++panel)
    if (sets.of(panel, 0).traits().symmetric) return false;
  return true;
}

}  // namespace

Corrections::Corrections(Objective& f, AtomSets sets, const Regularization& regularization)
    : f_(f), sets_(std::move(sets)), fits_(std::make_unique<FactorFits>(f, regularization)) {}
Corrections::~Corrections() = default;

CorrectionOutcome Corrections::run(const CorrectionOptions& options) {
  if (options.sweeps < 1 || f_.iterate().rank() == 0) return {};
  // Shared factors of squares over full data have an oracle whose every step is a product with the data.
  // Elsewhere fits of all atoms at once go further, and losses have no use for what an oracle finds where an
  // atom that stood alone was taken away.
  const bool shared = !sets_.all_single();
  const bool fits =
      !f_.target() && f_.atoms_share_systems() && !fits_->anything_paid() && !options.bounded_weights;
  if (options.by_oracle || (shared && !fits)) return correct_by_oracle(f_, sets_, options, fits_->ridge());
  if (!shared && can_run_ahead(f_, sets_, options) && (!fits_->anything_paid() || fits_->ridge() > 0)) {
    const auto sweeps =
        f_.target() ? nullptr : f_.free_sweeps({all_nonnegative(sets_), same_ridge(f_, fits_->ridge())});
    if (sweeps || (f_.target() && !fits_->anything_paid()))
      return correct_ahead(f_, sets_, options, sweeps.get(), fits_->ridge());
  }
  return correct_by_fits(f_, sets_, options, *fits_);
}

void Corrections::visit_state(StateArchive& archive) {
  StateArchive fits = archive.in("fits");
  fits_->visit_state(fits);
}

void Corrections::keep(const std::vector<Index>& atoms) {
  fits_->keep(atoms);
}

}  // namespace pursuit
