#pragma once
// f(X) = 1/2 sum over the observed entries of (y_ij - x_ij)^2, X a sum of rank-one atoms: the Hilbert space
// of matrices known on a mask, with the inner product over that mask.
//
// The residual, which is the negative gradient, lives on the observed entries and is kept as X changes. Cost
// of every function below: one pass over the entries, times the number of atoms where a model is an argument.

#include "pursuit/data/observed_matrix.hpp"
#include "pursuit/objective/expansion.hpp"

namespace pursuit {

/// InvalidInput for more entries than the 32-bit starts of a sparse residual can count.
void require_indexable(Index entries);

class ObservedObjective {
 public:
  /// At X = 0. `data` is copied.
  explicit ObservedObjective(const ObservedMatrix& data);

  Index rows() const { return residual_.rows(); }
  Index cols() const { return residual_.cols(); }
  Index size() const { return residual_.nonZeros(); }
  double target_norm_squared() const { return target_norm_squared_; }
  double value() const;  // f

  /// -grad f: y_ij - x_ij where observed; entries that are not stored are not observed.
  const SparseMatrix& residual() const { return residual_; }

  void move_to(const Model& model);
  void add(ConstVectorRef u, ConstVectorRef v, double weight);  // X += weight u v^T

  double norm_squared(ConstVectorRef u, ConstVectorRef v) const;  // <u v^T, u v^T>
  double product(ConstVectorRef u, ConstVectorRef v) const;       // <R, u v^T>
  Vector inner_products(const Model& model, ConstVectorRef u, ConstVectorRef v) const;
  Matrix gram(const Model& model) const;
  Vector target_products(const Model& model) const;

  /// For v fixed, f of X + x v^T is f(X) + 1/2 sum_i a_i x_i^2 - b_i x_i, a_i = sum_j v_j^2 and b_i = sum_j
  /// R_ij v_j over the entries of row i. The squares of v are an argument of their own: uncertain ones are
  /// larger than v_j^2.
  struct Parabolas {
    Vector a, b;
  };
  Parabolas left_parabolas(ConstVectorRef v, ConstVectorRef v_squares) const;
  Parabolas right_parabolas(ConstVectorRef u, ConstVectorRef u_squares) const;

  Vector row_counts() const;
  Vector col_counts() const;

 private:
  /// Calls visit(i, j, e) for every entry.
  template <class Visit>
  void for_each(const Visit& visit) const;

  std::vector<double> target_;
  SparseMatrix residual_;
  double target_norm_squared_ = 0;
};

}  // namespace pursuit
