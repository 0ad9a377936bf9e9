#pragma once
// R^d with a finite dictionary of unit vectors as a space for Algorithm 1. Everything happens in inner
// products: the oracle needs D^T r = D^T y - sum_i alpha_i (D^T d_i) only.

#include <vector>

#include "pursuit/pursuit/pursue.hpp"

namespace pursuit {

/// Unit-norm columns with what a pursuit needs of them, shared by all signals.
class Dictionary {
 public:
  /// Normalises the columns of D; a zero column is an InvalidInput naming it. `with_gram` computes D^T D
  /// once, which pays when there are many signals.
  Dictionary(const Matrix& D, bool with_gram, int threads = 1);

  Index dimension() const { return unit_.rows(); }
  Index size() const { return unit_.cols(); }
  const Matrix& unit() const { return unit_; }
  const Vector& norms() const { return norms_; }

  /// <d_i, d_j> for all i; `scratch` holds it where it is not kept.
  const double* gram_column(Index j, Vector& scratch) const;

 private:
  Matrix unit_, gram_;
  Vector norms_;
};

class DictionarySpace {
 public:
  using Atom = Index;

  /// `correlations` are D^T y. With lmo_accuracy delta < 1 the oracle is as bad as an inexact one may be: of
  /// the atoms with <z, r> >= delta * max it returns the worst (the paper's inexact LMO, for certificates and
  /// tests).
  DictionarySpace(const Dictionary& dictionary, Vector correlations, double target_norm_squared,
                  WeightRule weights, Index capacity, double lmo_accuracy = 1);

  double target_norm_squared() const { return target_norm_squared_; }
  Found<Atom> find_atom();
  Vector inner_products(Atom atom) const;
  void append(Atom atom);
  void set_weights(const Vector& weights) { weights_ = weights; }
  WeightSystem weight_system() const { return {rule_, target_norm_squared_}; }

  const std::vector<Index>& atoms() const { return atoms_; }
  const Vector& weights() const { return weights_; }

 private:
  const Dictionary& dictionary_;
  Vector correlations_, residual_correlations_, scratch_;  // D^T y, D^T r
  double target_norm_squared_;
  WeightRule rule_;
  double lmo_accuracy_;
  std::vector<Index> atoms_;
  Matrix gram_columns_;  // D^T d_i of the atoms, side by side to stay in cache
  Vector weights_;
};

static_assert(PursuitSpace<DictionarySpace>);

}  // namespace pursuit
