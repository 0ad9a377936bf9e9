#pragma once
// R^d with a finite dictionary of vectors as a space for Algorithm 1. Everything happens in inner
// products: the oracle needs D^T r = D^T y - sum_i alpha_i (D^T d_i) only.

#include <vector>

#include "pursuit/algorithms/pursue.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

/// The columns of a matrix as directions, with what a pursuit needs of them, shared by all signals. The
/// matrix stays where it is. A zero column has no direction and is zero here too: orthogonal to every signal,
/// it is never chosen.
class UnitColumns {
 public:
  /// `with_gram` keeps all inner products, which pays where there are many signals; it is not heeded where
  /// they would take far more memory than the matrix.
  UnitColumns(const DenseView<double>& D, bool with_gram, int threads = 1);

  Index dimension() const { return view_.rows; }
  Index size() const { return view_.cols; }
  const Vector& norms() const { return norms_; }
  bool keeps_gram() const { return gram_.size() > 0; }

  /// So many of them, from `first` on.
  Matrix columns(Index first, Index count) const;
  /// Their products with every signal.
  Matrix products(const Matrix& signals) const;
  /// <d_i, d_j> for all i; `scratch` holds it where it is not kept.
  const double* gram_column(Index j, Vector& scratch) const;

 private:
  DenseView<double> view_;
  DataMatrixPtr data_;  // the same
  Vector norms_, inverse_norms_;
  Matrix gram_;
};

/// A matrix as it lies in memory.
inline DenseView<double> view_of(const Matrix& D) {
  return {D.data(), D.rows(), D.cols(), D.rows()};
}
DenseView<double> view_of(Matrix&&) = delete;  // nobody would own it

class DictionarySpace {
 public:
  using Atom = Index;

  /// `correlations` are D^T y. With lmo_accuracy delta < 1 the oracle is as bad as an inexact one may be: of
  /// the atoms with <z, r> >= delta * max it returns the worst (the paper's inexact LMO, for certificates and
  /// tests).
  DictionarySpace(const UnitColumns& dictionary, Vector correlations, double target_norm_squared,
                  WeightRule weights, Index capacity, double lmo_accuracy = 1);

  double objective() const { return objective_; }
  double null_objective() const { return 0.5 * target_norm_squared_; }
  Found<Atom> find_atom();
  Vector inner_products(Atom atom) const;
  void append(const Found<Atom>& found);
  void set_weights(const Vector& weights);
  WeightSystem weight_system() const { return WeightSystem(rule_); }

  const std::vector<Index>& atoms() const { return atoms_; }
  const Vector& weights() const { return weights_; }

 private:
  const UnitColumns& dictionary_;
  Vector correlations_, residual_correlations_, scratch_;  // D^T y, D^T r
  double target_norm_squared_;
  WeightRule rule_;
  double lmo_accuracy_;
  std::vector<Index> atoms_;
  Matrix gram_columns_;  // D^T d_i of the atoms, side by side to stay in cache
  Vector weights_;
  double objective_;
};

static_assert(PursuitSpace<DictionarySpace>);

/// The same without inner products of columns, for dictionaries with too many of them to be kept: the oracle
/// needs D^T r, which whoever takes the step computes, for many signals in one product.
class ResidualSpace {
 public:
  using Atom = Index;

  ResidualSpace(const UnitColumns& dictionary, ConstVectorRef signal, WeightRule weights)
      : dictionary_(dictionary), signal_(signal), residual_(signal), rule_(weights) {}

  /// The residual, and D^T of it, which must be given before every step.
  const Vector& residual() const { return residual_; }
  void give_correlations(ConstVectorRef correlations) { correlations_ = correlations; }

  double objective() const { return 0.5 * residual_.squaredNorm(); }
  double null_objective() const { return 0.5 * signal_.squaredNorm(); }
  Found<Atom> find_atom() const;
  Vector inner_products(Atom atom) const;
  void append(const Found<Atom>& found);
  void set_weights(const Vector& weights);
  WeightSystem weight_system() const { return WeightSystem(rule_); }

  const std::vector<Index>& atoms() const { return atoms_; }
  const Vector& weights() const { return weights_; }

 private:
  const UnitColumns& dictionary_;
  Vector signal_, residual_, correlations_;
  WeightRule rule_;
  std::vector<Index> atoms_;
  Matrix columns_;  // of the atoms, and room for more
  Vector weights_ = Vector(0);
};

static_assert(PursuitSpace<ResidualSpace>);

}  // namespace pursuit
