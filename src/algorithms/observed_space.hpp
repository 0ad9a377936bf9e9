#pragma once
// Matrices of which some entries were seen, as a space for Algorithm 1: matrix completion by pursuit. The
// oracle sees the residual on the observed entries; corrections are exact under the mask, one factor at a
// time (AtomSet::fit).

#include "algorithms/matrix_space.hpp"
#include "pursuit/algorithms/pursue.hpp"
#include "pursuit/correction/regularization.hpp"
#include "pursuit/objective/observed.hpp"

namespace pursuit {

class ObservedSpace {
 public:
  using Atom = RankOneAtom;

  /// `data` must be symmetric, as a mask and in its values, where the sets are. Corrections are exact fits of
  /// one factor after the other or, by_oracle, new runs of the power method on the residual without the atom,
  /// as in the paper; atoms u u^T have only the latter.
  ObservedSpace(const ObservedMatrix& data, AtomSets sets, WeightRule weights, Regularization regularization,
                OracleOptions oracle, bool by_oracle, int threads);

  double target_norm_squared() const { return f_.target_norm_squared(); }
  Found<Atom> find_atom();
  Vector inner_products(const Atom& atom) const { return f_.inner_products(model_, atom.u, atom.v); }
  void append(const Atom& atom);
  void set_weights(const Vector& weights);
  WeightSystem weight_system() const;
  int correct(int sweeps, double tolerance, const std::function<bool(int, double)>& watch,
              WeightSystem& system);

  const Model& model() const { return model_; }
  double squared_error() const { return 2 * f_.value(); }  // over the observed entries

 private:
  /// An atom as x y^T: its scale is split between the factors, and each has variances where it is self-tuned.
  struct Split {
    double left_scale = 0;  // x = left_scale * u, y = weight / left_scale * v
    Vector left_variance, right_variance;
    double left_prior = 1, right_prior = 1;  // tau
  };

  void correct_by_fit(Index i);
  void correct_by_oracle(Index i);
  /// Refits one factor, the other fixed; keeps what there is where the set's fit is no better.
  void refit(Index i, bool left);
  double noise_with_uncertainty() const;
  void drop_weightless();

  ObservedObjective f_;
  AtomSets sets_;
  WeightRule weights_;
  Regularization regularization_;
  OracleOptions oracle_;
  bool by_oracle_;
  int threads_;
  Model model_;
  std::vector<Split> splits_;
  Vector row_counts_, col_counts_;
  double noise_variance_ = 0;
};

static_assert(CorrectableSpace<ObservedSpace>);

}  // namespace pursuit
