#include "algorithms/observed_tensor_atoms.hpp"

#include <fmt/format.h>

#include "algorithms/nonnegative_parts.hpp"
#include "algorithms/tensor_starts.hpp"
#include "atoms/along_axis.hpp"
#include "base/require.hpp"

namespace pursuit {

std::vector<Index> sharing_of(const AtomSets& sets, const ObservedTensor& data) {
  require_modes(sets, data.entries.shape);
  return sets.all_single() ? std::vector<Index>() : panels_of_modes(sets);
}

void require_sets_for(const Objective& f, const AtomSets& sets, const FactorOptions& o) {
  require(o.rank >= 1, fmt::format("rank {}: at least one atom is needed", o.rank));
  std::vector<std::string> names;
  for (Index mode = 0; mode < f.modes(); ++mode) {
    sets.mode(mode).require_dimension(f.axis(mode).size());
    names.push_back(fmt::format("set of mode {}", mode));
  }
  if (o.loss.has_positive_means()) {
    std::vector<Index> sizes;
    for (Index mode = 0; mode < f.modes(); ++mode) sizes.push_back(f.axis(mode).size());
    require_nonnegative_parts(o.loss, o.weights, sets, sizes, o.rank, names);
  }
}

/// Random members say nothing of how large the data are: a sweep or two where all coordinates are free does.
void start_at_random(const ObservedTensor& data, const AtomSets& sets, const FactorOptions& o, Objective& f) {
  Random random(o.seed);
  std::vector<Panel> panels;
  panels.reserve(std::size_t(sets.panels()));
  bool free = o.loss.kind == Loss::poisson && o.weights.kind == WeightRule::nonneg && sets.all_single();
  for (Index panel = 0; panel < sets.panels(); ++panel) {
    const Index mode = sets.mode_of(panel);
    const Axis& axis = f.axis(mode);
    Panel members = axis.gaussian(o.rank, random).cwiseAbs();
    if (sets.is_single(panel))
      for (const Index place : places_without_entries(data, mode)) members.row(place).setZero();
    for (Index k = 0; k < o.rank; ++k) {
      const Vector g = members.col(k);
      maximize(axis, sets.of(panel, k), g, members.col(k));
    }
    panels.push_back(std::move(members));
    free = free && !sets.panel(panel).varies() && sets.of(panel, 0).traits().coordinatewise();
  }
  f.move_to({Factors(std::move(panels), panels_of_modes(sets)), Vector::Ones(o.rank)});
  for (int sweep = 0; free && sweep < 2; ++sweep)
    for (Index mode = 0; mode < f.modes(); ++mode) f.along(mode)->sweep({.nonnegative = true});
}

}  // namespace pursuit
