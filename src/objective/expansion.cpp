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

void visit(StateArchive& archive, const std::string& name, Factors& factors, Index count) {
  StateArchive own = archive.in(name);
  for (Index p = 0; p < factors.panels(); ++p) {
    own("panel" + std::to_string(p), factors.panel(p), factors.panel(p).rows(), count);
    count = factors.count();
  }
}

void visit(StateArchive& archive, const std::string& name, Expansion& x) {
  archive(name + ".weights", x.weights);
  visit(archive, name, x.factors, x.weights.size());
}

}  // namespace pursuit
