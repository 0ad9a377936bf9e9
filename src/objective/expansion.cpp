#include "pursuit/objective/expansion.hpp"

namespace pursuit {

Factors Factors::pick(const std::vector<Index>& atoms) const {
  Factors result = *this;
  for (Panel& panel : result.panels_) panel = Panel(panel(Eigen::all, atoms));
  return result;
}

void Factors::append(const Factors& atoms) {
  const Index before = count();
  for (std::size_t p = 0; p < panels_.size(); ++p) {
    Panel& panel = panels_[p];
    panel.conservativeResize(atoms.panels_[p].rows(), before + atoms.count());
    panel.rightCols(atoms.count()) = atoms.panels_[p];
  }
}

void Factors::replace(Index k, const Factors& atom) {
  for (std::size_t p = 0; p < panels_.size(); ++p) panels_[p].col(k) = atom.panels_[p].col(0);
}

void Expansion::append(const Factors& atom, double weight) {
  factors.append(atom);
  weights.conservativeResize(rank() + 1);
  weights[rank() - 1] = weight;
}

void Expansion::keep(const std::vector<Index>& atoms) {
  factors = factors.pick(atoms);
  weights = Vector(weights(atoms));
}

}  // namespace pursuit
