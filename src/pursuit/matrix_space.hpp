#pragma once
// Matrices with the Frobenius product as a space for Algorithm 1; this makes it Algorithm 2.

#include "pursuit/correction/correction.hpp"
#include "pursuit/pursuit/pursue.hpp"

namespace pursuit {

/// The sets of the two factors; with one set for both, atoms are u u^T.
struct AtomSets {
  Atoms left, right;
  bool symmetric = false;

  bool vary_by_atom() const { return left->varies_by_atom() || right->varies_by_atom(); }
};

class MatrixSpace {
 public:
  using Atom = RankOneAtom;

  MatrixSpace(const FrobeniusObjective& f, AtomSets sets, WeightRule weights, OracleOptions oracle,
              CorrectionOptions correction, Model start);

  double target_norm_squared() const { return f_.target_norm_squared(); }
  Found<Atom> find_atom();
  Vector inner_products(const Atom& atom) const { return f_.inner_products(iterate_.model, atom.u, atom.v); }
  void append(const Atom& atom);
  void set_weights(const Vector& weights) { iterate_.model.weights = weights; }
  WeightSystem weight_system() const;
  int correct(int sweeps, double tolerance, const std::function<bool(int, double)>& watch,
              WeightSystem& system);

  void describe(Step& step) const {
    step.left_support = (model().left.array() != 0).count();
    step.right_support = (model().right.array() != 0).count();
  }

  const Model& model() const { return iterate_.model; }

 private:
  void drop_weightless();

  const FrobeniusObjective& f_;
  AtomSets sets_;
  WeightRule weights_;
  OracleOptions oracle_;
  CorrectionOptions correction_;
  Iterate iterate_;
};

static_assert(CorrectableSpace<MatrixSpace>);

}  // namespace pursuit
