#include <algorithm>
#include <utility>
#include <vector>

#include "linalg/decompositions.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/oracle/find_atom.hpp"

namespace pursuit {
namespace {

/// Factors of the modes of `sets`, none of them looked at before.
Factors empty_factors(const AtomSets& sets) {
  std::vector<Index> panel_of;
  for (Index mode = 0; mode < sets.modes(); ++mode) panel_of.push_back(sets.panel_of(mode));
  return {std::vector<Panel>(std::size_t(sets.panels())), std::move(panel_of)};
}

}  // namespace

Factors starting_block(const Form& R, const AtomSets& sets, int count, std::uint64_t seed) {
  // Two contractions give everything: a sketch S = R Omega shows the range of R and which rows are heavy, and
  // R^T [Q, heavy unit vectors] shows the leading right directions, the heavy rows themselves and which
  // columns are heavy (Halko, Martinsson and Tropp 2011). Modes beyond the second are sketched at random.
  Random random(seed);
  const Axis &left = R.axis(0), &right = R.axis(1);
  const Index sketch = std::min<Index>({8, left.size(), right.size()});
  const Index heavy = (count + 3) / 4;
  const auto sketched = [&](Index mode, const Panel& block, Panel& out) {
    std::vector<Panel> panels;
    std::vector<Index> panel_of;
    for (Index m = 0; m < R.modes(); ++m) {
      panels.push_back(m == 1 - mode || m == mode ? block : R.axis(m).gaussian(block.cols(), random));
      panel_of.push_back(m);
    }
    R.contract(mode, {std::move(panels), std::move(panel_of)}, out);
  };
  Panel S, B;
  sketched(0, right.gaussian(sketch, random), S);
  const Panel Q = left.orthonormal(S);
  const auto rows = left.heaviest(S, heavy);
  Panel block(left.own(), Q.cols() + Index(rows.size()));
  block << Q, left.units(rows);
  sketched(1, block, B);
  const Panel image = B.leftCols(Q.cols());
  const SymmetricEigen eigen = symmetric_eigen(right.inner(image, image));
  Panel leading = image * eigen.vectors.rowwise().reverse();
  const Vector sizes = right.norms(leading);
  for (Index k = 0; k < leading.cols(); ++k)  // zero stays as it is
    if (sizes[k] > 0) leading.col(k) /= sizes[k];
  const Panel columns = right.units(right.heaviest(image, heavy));

  Factors starts = empty_factors(sets);
  for (Index panel = 0; panel < starts.panels(); ++panel) {
    const Index mode = sets.mode_of(panel);
    const bool follows = panel == 0 && sets.is_single(panel);  // it is the best answer to the others
    if (follows || panel == sets.panel_of(1))
      starts.panel(panel).resize(R.axis(mode).own(), count);
    else
      starts.panel(panel) = R.axis(mode).gaussian(count, random);
  }
  Panel& start = starts[1];
  Index next_direction = 0, row = 0, column = 0;
  for (int s = 0; s < count; ++s) {
    const bool opposite =
        s % 2 == 1;  // odd places look the other way, which matters to sets without symmetry
    switch (s % 8) {
      case 0:
      case 1:
      case 4:
      case 5:
        if (next_direction / 2 < leading.cols()) {
          start.col(s) = (opposite ? -1.0 : 1.0) * leading.col(next_direction++ / 2);
          continue;
        }
        break;
      case 2:
      case 6:
        if (row < Index(rows.size())) {
          start.col(s) = B.col(Q.cols() + row++);
          continue;
        }
        break;
      case 3:
        if (column < columns.cols()) {
          start.col(s) = columns.col(column++);
          continue;
        }
        break;
      default: break;
    }
    if (s % 16 == 15)
      start.col(s) = right.gaussian(1, random);
    else
      start.col(s) = leading * random.gaussian_matrix(leading.cols(), 1);
  }
  const Vector norms = right.norms(start);
  for (Index s = 0; s < count; ++s)
    if (!(norms[s] > 0)) start.col(s) = right.gaussian(1, random);
  return starts;
}

}  // namespace pursuit
