#pragma once
// f(X) = 1/2 sum over the observed entries of (y_ij - x_ij)^2, X a sum of rank-one atoms: the Hilbert space
// of matrices known on a mask, with the inner product over that mask.
//
// The residual lives on the observed entries, once in the order of the rows and once in that of the columns,
// so that either mode is one stream through memory, cut among threads by rows and columns. A move of an atom
// waits until a side is streamed again: fitting both factors of an atom costs one pass over each order.

#include <memory>
#include <optional>
#include <vector>

#include "pursuit/data/observed_matrix.hpp"
#include "pursuit/data/rank_team.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

class ObservedSides;

class ObservedSquares final : public Objective {
 public:
  /// At x = 0; `data` must be symmetric, as a mask and in its values, where the atoms are.
  /// The ranks of a team, which outlives this, share the work: the same bits.
  ObservedSquares(ObservedMatrix data, bool symmetric, int threads, RankTeam* team = nullptr);
  ~ObservedSquares() override;
  ObservedSquares(const ObservedSquares&) = delete;  // sides refer to the data
  ObservedSquares& operator=(const ObservedSquares&) = delete;

  Index modes() const override { return 2; }
  const Axis& axis(Index mode) const override { return axes_[std::size_t(mode)]; }
  void contract(Index mode, const Factors& z, Panel& out) const override;

  double value() const override;
  double null_value() const override { return null_value_; }
  const Expansion& iterate() const override { return x_; }
  using Objective::move_to;
  void move_to(Expansion x) override;
  void append(const Factors& atom, double value) override;
  void reweigh(const Vector& weights) override;
  void replace(Index k, const Factors& atom, double value, double weight) override;
  void keep(const std::vector<Index>& atoms) override;
  Matrix gram(const Factors& a, const Factors& b) const override;
  WeightQuadratic weight_quadratic() const override;
  std::unique_ptr<ModeSystem> along(Index mode) override;
  bool atoms_share_systems() const override { return false; }
  std::unique_ptr<FreeSweeps> free_sweeps(const FreeSweepsOf& what) const override;

  void visit_state(StateArchive& archive) override;

  Index size() const { return data_.size(); }

 private:
  class System;
  class Sweeps;

  /// x has one more term, left right^T.
  void add(const Vector& left, const Vector& right);

  ObservedMatrix data_;
  std::vector<Axis> axes_;
  std::unique_ptr<ObservedSides> sides_;
  double null_value_ = 0;
  Expansion x_;
  mutable std::optional<double> value_;  // where x has not moved since it was asked for
};

}  // namespace pursuit
