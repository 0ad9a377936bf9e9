#include "pursuit/algorithms/factor_tensor.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/pursue_atoms.hpp"
#include "atoms/along_axis.hpp"
#include "base/require.hpp"
#include "pursuit/objective/full_squares.hpp"

namespace pursuit {
namespace {

std::vector<Index> panels_of_modes(const AtomSets& sets) {
  std::vector<Index> result;
  for (Index mode = 0; mode < sets.modes(); ++mode) result.push_back(sets.panel_of(mode));
  return result;
}

void validate_tensor(const Target& Y, const AtomSets& sets, const FactorOptions& o) {
  require(sets.modes() == Y.modes(),
          fmt::format("{} sets for an array of {} modes: one for each is needed", sets.modes(), Y.modes()));
  require(o.rank >= 1, fmt::format("rank {}: at least one atom is needed", o.rank));
  for (Index mode = 0; mode < Y.modes(); ++mode) {
    const Index first = sets.mode_of(sets.panel_of(mode));
    require(Y.axis(mode).size() == Y.axis(first).size(),
            fmt::format("modes {} and {} share their factors, but have sizes {} and {}", first, mode,
                        Y.axis(first).size(), Y.axis(mode).size()));
    sets.mode(mode).require_dimension(Y.axis(mode).size());
  }
}

/// Random members in all modes: one contraction tells nothing about which of them belong together.
Expansion random_atoms(const Target& Y, const AtomSets& sets, const FactorOptions& o) {
  Random random(o.seed);
  std::vector<Panel> panels;
  for (Index panel = 0; panel < sets.panels(); ++panel) {
    const Axis& axis = Y.axis(sets.mode_of(panel));
    Panel members = axis.gaussian(o.rank, random).cwiseAbs();
    for (Index k = 0; k < o.rank; ++k) {
      const Vector g = members.col(k);
      maximize(axis, sets.of(panel, k), g, members.col(k));
    }
    panels.push_back(std::move(members));
  }
  return {Factors(std::move(panels), panels_of_modes(sets)), Vector::Ones(o.rank)};
}

/// Signs are nobody's choice where a set is symmetric: weights positive, and of the modes with such sets all
/// but the first have their largest entry positive.
void settle_mode_signs(const AtomSets& sets, Expansion& model) {
  for (Index k = 0; k < model.rank(); ++k) {
    Index taker = -1;  // the mode that takes the sign
    for (Index mode = 0; mode < sets.modes(); ++mode) {
      const Index panel = sets.panel_of(mode);
      if (!sets.panel(panel).traits().symmetric || !sets.is_single(panel)) continue;
      if (taker < 0) {
        taker = mode;
        continue;
      }
      auto own = model.factors[mode].col(k);
      Index largest = 0;
      own.cwiseAbs().maxCoeff(&largest);
      if (own[largest] < 0) {
        own *= -1;
        model.weights[k] *= -1;
      }
    }
    if (taker >= 0 && model.weights[k] < 0) {
      model.factors[taker].col(k) *= -1;
      model.weights[k] *= -1;
    }
  }
}

}  // namespace

FactorResult factor_tensor(const TargetPtr& Y, const AtomSets& sets, const FactorOptions& o) {
  Run run({.time_limit = o.time_limit, .target_error = o.target_error}, o.observer);
  validate_tensor(*Y, sets, o);
  FullSquares f(Y, panels_of_modes(sets));
  FactorResult result;
  if (f.null_value() == 0) {
    result.model = f.iterate();
    result.stop = Stop::no_ascent;
    return result;
  }
  if (o.start == Start::leading) f.move_to(random_atoms(*Y, sets, o));
  pursue_atoms(f, o, sets, {}, run, result);
  settle_mode_signs(sets, result.model);
  result.relative_error = f.relative_error();
  result.seconds = run.seconds();
  return result;
}

}  // namespace pursuit
