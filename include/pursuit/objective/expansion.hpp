#pragma once
// A short sum of atoms, X = sum_k weights_k u_k (x) v_k (x) ...; of matrices, weights_k u_k v_k^T.

#include <string>
#include <vector>

#include "pursuit/base/state_archive.hpp"
#include "pursuit/linalg/axis.hpp"

namespace pursuit {

/// The factors of atoms: a panel for every mode, a column for every atom. Modes may share a panel: atoms u
/// u^T have one for both.
class Factors {
 public:
  Factors() : Factors(Panel(), Panel()) {}
  Factors(Panel left, Panel right) : panels_{std::move(left), std::move(right)}, panel_of_{0, 1} {}
  Factors(std::vector<Panel> panels, std::vector<Index> panel_of_mode)
      : panels_(std::move(panels)), panel_of_(std::move(panel_of_mode)) {}
  static Factors symmetric(Panel both) {
    return Factors(std::vector<Panel>{std::move(both)}, std::vector<Index>{0, 0});
  }

  Index modes() const { return Index(panel_of_.size()); }
  Index panels() const { return Index(panels_.size()); }
  Index panel_of(Index mode) const { return panel_of_[std::size_t(mode)]; }
  Index count() const { return panels_.front().cols(); }

  Panel& panel(Index p) { return panels_[std::size_t(p)]; }
  const Panel& panel(Index p) const { return panels_[std::size_t(p)]; }
  Panel& operator[](Index mode) { return panel(panel_of(mode)); }
  const Panel& operator[](Index mode) const { return panel(panel_of(mode)); }

  /// The same modes with other atoms: some of these, or this one alone.
  Factors pick(const std::vector<Index>& atoms) const;
  Factors atom(Index k) const { return pick({k}); }

  void append(const Factors& atoms);
  void replace(Index k, const Factors& atom);

 private:
  std::vector<Panel> panels_;
  std::vector<Index> panel_of_;
};

struct Expansion {
  Factors factors;
  Vector weights = Vector(0);

  Expansion() = default;
  Expansion(Factors atoms, Vector alpha) : factors(std::move(atoms)), weights(std::move(alpha)) {}
  /// Of matrices; symmetric atoms have `left` alone.
  Expansion(Panel left, Panel right, Vector alpha, bool symmetric = false)
      : Expansion(
            symmetric ? Factors::symmetric(std::move(left)) : Factors(std::move(left), std::move(right)),
            std::move(alpha)) {}

  Index rank() const { return weights.size(); }
  void append(const Factors& atom, double weight);
  void keep(const std::vector<Index>& atoms);  // drops all others

  // Of matrices: X = left diag(weights) right^T.
  Panel& left() { return factors[0]; }
  Panel& right() { return factors[1]; }
  const Panel& left() const { return factors[0]; }
  const Panel& right() const { return factors[1]; }
  bool symmetric() const { return factors.panels() == 1; }
  Matrix scaled_left() const { return left() * weights.asDiagonal(); }
  Matrix dense() const { return scaled_left() * right().transpose(); }
};

/// Factors and expansions of the same modes: what is read has panels as long as those that are there.
void visit(StateArchive& archive, const std::string& name, Factors& factors,
           Index count = StateArchive::kAny);
void visit(StateArchive& archive, const std::string& name, Expansion& x);

}  // namespace pursuit
