#include "algorithms/tensor_starts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "atoms/along_axis.hpp"
#include "base/require.hpp"
#include "linalg/decompositions.hpp"

namespace pursuit {
namespace {

/// Every column brought into its set.
void bring_into(const Axis& axis, const AtomSets& sets, Index panel, Panel& members) {
  for (Index k = 0; k < members.cols(); ++k) {
    const Vector g = members.col(k);
    maximize(axis, sets.of(panel, k), g, members.col(k));
  }
}

constexpr Index kMore = 10;  // columns of a sketch beyond those that are wanted

Factors gaussian_factors(const Target& Y, Index count, Random& random) {
  std::vector<Panel> panels;
  std::vector<Index> own(static_cast<std::size_t>(Y.modes()));
  std::iota(own.begin(), own.end(), Index(0));
  for (Index mode = 0; mode < Y.modes(); ++mode) panels.push_back(Y.axis(mode).gaussian(count, random));
  return {std::move(panels), std::move(own)};
}

/// Of an unfolding, from a sketch of it: orthonormal, as many as there are, at most so many.
Panel leading_directions(const Target& Y, Index mode, const Factors& omega, Index most) {
  const Axis& axis = Y.axis(mode);
  Panel sketch;
  Y.contract(mode, omega, sketch);
  const SymmetricEigen eigen = symmetric_eigen(axis.inner(sketch, sketch));
  const Index count = std::min({most, sketch.cols(), axis.size()});
  return axis.orthonormal(sketch * eigen.vectors.rightCols(count).rowwise().reverse());
}

}  // namespace

std::vector<Index> panels_of_modes(const AtomSets& sets) {
  std::vector<Index> result;
  for (Index mode = 0; mode < sets.modes(); ++mode) result.push_back(sets.panel_of(mode));
  return result;
}

void require_modes(const AtomSets& sets, const std::vector<Index>& shape) {
  require(
      sets.modes() == Index(shape.size()),
      fmt::format("{} sets for an array of {} modes: one for each is needed", sets.modes(), shape.size()));
  for (Index mode = 0; mode < sets.modes(); ++mode) {
    const Index first = sets.mode_of(sets.panel_of(mode));
    require(shape[std::size_t(mode)] == shape[std::size_t(first)],
            fmt::format("modes {} and {} share their factors, but have sizes {} and {}", first, mode,
                        shape[std::size_t(first)], shape[std::size_t(mode)]));
  }
}

Expansion random_members(const Form& Y, const AtomSets& sets, Index rank, Random& random) {
  std::vector<Panel> panels;
  for (Index panel = 0; panel < sets.panels(); ++panel) {
    const Axis& axis = Y.axis(sets.mode_of(panel));
    Panel members = axis.gaussian(rank, random).cwiseAbs();
    bring_into(axis, sets, panel, members);
    panels.push_back(std::move(members));
  }
  return {Factors(std::move(panels), panels_of_modes(sets)), Vector::Ones(rank)};
}

Expansion leading_members(const Target& Y, const AtomSets& sets, Index rank, Random& random) {
  const Factors omega = gaussian_factors(Y, rank + kMore, random);
  std::vector<Panel> panels;
  for (Index panel = 0; panel < sets.panels(); ++panel) {
    const Index mode = sets.mode_of(panel);
    const Axis& axis = Y.axis(mode);
    const Panel directions = leading_directions(Y, mode, omega, rank);
    Panel members = axis.gaussian(rank, random);  // where there are no more directions
    members.leftCols(directions.cols()) = directions;
    if (!sets.panel(panel).traits().symmetric) members = members.cwiseAbs();
    bring_into(axis, sets, panel, members);
    panels.push_back(std::move(members));
  }
  return {Factors(std::move(panels), panels_of_modes(sets)), Vector::Ones(rank)};
}

}  // namespace pursuit
