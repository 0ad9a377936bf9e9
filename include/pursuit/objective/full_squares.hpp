#pragma once
// f(X) = 1/2 ||Y - X||^2 over sums of atoms, every entry of Y known, any number of modes.
//
// The residual is never formed: a contraction of it is one of Y less O(r) per entry of the result. Inner
// products of atoms are products of those of their factors. With all modes but one fixed, P = the contraction
// of Y and G = the Hadamard product of the other modes' Gram matrices say everything about that one.

#include <functional>

#include "pursuit/objective/objective.hpp"

namespace pursuit {

class FullSquares final : public Objective {
 public:
  /// At x = 0, with atoms that are symmetric or not.
  explicit FullSquares(const TargetPtr& target, bool symmetric = false);
  /// With atoms whose modes share factors as they say: panel_of_mode[m] is the factor of mode m.
  FullSquares(TargetPtr target, std::vector<Index> panel_of_mode);
  explicit FullSquares(DataMatrixPtr data, bool symmetric = false)
      : FullSquares(matrix_target(std::move(data)), symmetric) {}

  Index modes() const override { return target_->modes(); }
  const Axis& axis(Index mode) const override { return target_->axis(mode); }
  void contract(Index mode, const Factors& z, Panel& out) const override;

  double value() const override { return refreshed().value; }
  double null_value() const override { return null_value_; }
  const Expansion& iterate() const override { return x_; }
  void move_to(Expansion x) override;
  void move_to(Expansion x, const Vector& target_products) override;
  void append(const Factors& atom, double value) override;
  void reweigh(const Vector& weights) override;
  void replace(Index k, const Factors& atom, double value, double weight) override;
  void keep(const std::vector<Index>& atoms) override;
  Matrix gram(const Factors& a, const Factors& b) const override;
  WeightQuadratic weight_quadratic() const override;
  std::unique_ptr<ModeSystem> along(Index mode) override;
  bool atoms_share_systems() const override { return true; }
  /// Atoms get other factors along a mode, and other weights, by `change`. `gram` is grams_but() of this
  /// mode, `contraction` that of the target along it, or empty: then it is made once it is asked for.
  void refit(Index mode, const std::function<void(Panel& factors, Vector& weights)>& change, Matrix gram,
             Panel contraction);
  void visit_state(StateArchive& archive) override;
  const Target* target() const override { return target_.get(); }

  /// ||Y - X|| / ||Y||, entry by entry where f(X) is so small that rounding rules it.
  double relative_error() const;

 private:
  class System;

  /// What weights see of x.
  struct Products {
    Matrix gram;    // <z_i, z_j>
    Vector target;  // <y, z_i>
    double value;   // f
  };
  /// A ModeSystem leaves its own P and G behind, from which they follow once they are asked for.
  const Products& refreshed() const;
  double value_of(const Vector& weights) const;

  TargetPtr target_;
  double null_value_;
  Expansion x_;
  mutable Products products_;
  mutable Index open_mode_ = -1;  // the mode of the last ModeSystem, where atoms may have moved since
  mutable Panel P_;               // contraction of the target along it
  Matrix G_;                      // Gram matrix of all other modes
  Panel scaled_;                  // weight * factor along it, of every atom
};

/// The Hadamard product of the Gram matrices of all modes but one; of all where left_out < 0.
Matrix grams_but(const Form& form, Index left_out, const Factors& a, const Factors& b);

}  // namespace pursuit
