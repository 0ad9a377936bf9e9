#pragma once
// f(X) = (f of what was seen)(X) + zeros / 2 * ||X||^2: every entry, seen or not, is also a zero that counts
// that much. The zeros are never formed: of sums of atoms ||X||^2 is in the Gram matrices of their factors,
// so that a contraction costs O(r) per entry of its result more than one over what was seen.

#include <memory>

#include "pursuit/objective/objective.hpp"

namespace pursuit {

class WeakZeros final : public Objective {
 public:
  /// Of squares, weighted or not, without terms of their own; two modes with factors of their own.
  WeakZeros(std::unique_ptr<Objective> seen, double zeros) : seen_(std::move(seen)), zeros_(zeros) {}

  Index modes() const override { return seen_->modes(); }
  const Axis& axis(Index mode) const override { return seen_->axis(mode); }
  void contract(Index mode, const Factors& z, Panel& out) const override;

  double value() const override;
  double null_value() const override { return seen_->null_value(); }
  const Expansion& iterate() const override { return seen_->iterate(); }
  using Objective::move_to;
  void move_to(Expansion x) override { seen_->move_to(std::move(x)); }
  void append(const Factors& atom, double value) override { seen_->append(atom, value); }
  void reweigh(const Vector& weights) override { seen_->reweigh(weights); }
  void replace(Index k, const Factors& atom, double value, double weight) override {
    seen_->replace(k, atom, value, weight);
  }
  void keep(const std::vector<Index>& atoms) override { seen_->keep(atoms); }
  Matrix gram(const Factors& a, const Factors& b) const override;
  WeightQuadratic weight_quadratic() const override;
  std::unique_ptr<ModeSystem> along(Index mode) override;
  bool atoms_share_systems() const override { return seen_->atoms_share_systems(); }
  void visit_state(StateArchive& archive) override { seen_->visit_state(archive); }

 private:
  class System;

  std::unique_ptr<Objective> seen_;
  double zeros_;
};

}  // namespace pursuit
