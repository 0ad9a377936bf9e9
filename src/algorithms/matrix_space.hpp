#pragma once
// Matrices with the Frobenius product as a space for Algorithm 1; this makes it Algorithm 2.

#include <algorithm>
#include <vector>

#include "pursuit/algorithms/pursue.hpp"
#include "pursuit/correction/correction.hpp"

namespace pursuit {

/// The sets of the two factors; with one set for both, atoms are u u^T.
struct AtomSets {
  Atoms left, right;
  bool symmetric = false;

  /// The atoms that stay where only those with `weight(i)` are wanted. The place of an atom says what its
  /// sets are, so that in a list of sets an atom without weight keeps its place as long as others follow.
  template <class HasWeight>
  std::vector<Index> staying(Index count, const HasWeight& weight) const {
    std::vector<Index> result;
    bool last_sets = true, followed = false;  // from atom i on all sets are the same; an atom follows
    for (Index i = count - 1; i >= 0; --i) {
      last_sets = last_sets && same_as_next(left, i, count) && same_as_next(right, i, count);
      if (!weight(i) && (last_sets || !followed)) continue;
      followed = true;
      result.push_back(i);
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

 private:
  static bool same_as_next(const Atoms& set, Index i, Index count) {
    return i + 1 == count || &set.of(i) == &set.of(i + 1);
  }
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
  /// Constrained weights may leave atoms without any; unless they are known ones, they go.
  void drop_weightless();
  WeightSystem weight_system() const;
  int correct(int sweeps, double tolerance, const std::function<bool(int, double)>& watch,
              WeightSystem& system);

  void describe(Step& step) const {
    step.left_support = (model().left.array() != 0).count();
    step.right_support = (model().right.array() != 0).count();
  }

  const Model& model() const { return iterate_.model; }

 private:
  const FrobeniusObjective& f_;
  AtomSets sets_;
  WeightRule weights_;
  OracleOptions oracle_;
  CorrectionOptions correction_;
  Iterate iterate_;
};

static_assert(CorrectableSpace<MatrixSpace>);

}  // namespace pursuit
