#pragma once
// f(X) = sum over the known entries of weight * l(y, x + offsets), for any loss.
//
// Nothing is kept per entry but the data: what a pass over them needs of x is computed from the factors as it
// goes, a group (row or column) at a time. With one mode fixed every group has a quadratic of its own in its
// entries of all atoms, sum_e h_e v v^T and sum_e r_e v: these make the parabolas of an atom, kept true while
// atoms of a block move, and where a set leaves entries alone a group takes its own Newton step, looked at
// and shortened until its part of f falls.

#include <memory>
#include <optional>

#include "base/chunks.hpp"
#include "objective/entry_groups.hpp"
#include "objective/entry_loss.hpp"
#include "objective/group_panel.hpp"
#include "objective/loss_walk.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

class LossObjective final : public Objective {
 public:
  /// At x = 0. The domain of the data is checked.
  LossObjective(EntryGroups entries, const LossOptions& options, int threads);

  Index modes() const override { return entries_.modes(); }
  const Axis& axis(Index mode) const override { return axes_[std::size_t(mode)]; }
  void contract(Index mode, const Factors& z, Panel& out) const override;

  double value() const override;
  double null_value() const override { return null_value_; }
  Quadratic quadratic() const override {
    if (shape_.loss.kind == Loss::squares) return Quadratic::exact;
    return loss_->has_above() ? Quadratic::above : Quadratic::local;
  }
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
  bool atoms_share_systems() const override { return true; }
  std::unique_ptr<FreeSweeps> free_sweeps(const FreeSweepsOf& what) const override;
  bool has_own_terms() const override;
  void fit_own_terms() override;
  OwnTerms own_terms() const override;
  void visit_state(StateArchive& archive) override;

  /// Those of a model of the same columns; row offsets stay to be fitted.
  void take_own_terms(const OwnTerms& model);
  void fit_row_offsets() {
    if (has_offsets_) fit_offsets(0);
  }

  /// Of coordinates that are free of each other, or not negative, from `first` on.
  struct NewtonStep {
    Index first = 0;
    bool nonnegative = false;
    ElasticNet price = {};
    bool far = false;  // whether steps may be longer than Newton's: to the end of rows whose other factor
                       // stays; where that follows, rows of several atoms only run away from it
  };
  /// A step of the iterate.
  void step(Index mode, const NewtonStep& step);

 private:
  class System;
  class Sweeps;

  /// A sum of atoms as the groups along a mode see it.
  struct Place {
    Matrix own;  // a column for every group: its entries of the atoms, with their weights
    GroupPanel other;
  };
  Place place(Index mode, const Panel& own, const Factors& at) const {
    return {own.transpose(), GroupPanel(at, mode, entries_.are_listed())};
  }
  Place place(Index mode) const {
    return place(mode, x_.factors[mode] * x_.weights.asDiagonal(), x_.factors);
  }

  Chunks pieces(Index mode) const;  // of groups, which the data alone decide
  /// Calls visit(g, walk) for every group along a mode, with its linear predictors; on all threads.
  template <class Visit>
  void stream(Index mode, const Place& at, const Visit& visit) const;
  template <class Visit>
  void stream(Index mode, const Visit& visit) const {
    stream(mode, place(mode), visit);
  }
  /// Of atoms z, with c_i = <r, z_i>.
  WeightQuadratic quadratic_of(const Factors& z) const;
  /// A Newton step of every group along a mode, each shortened until its part of f falls: column g of `own`
  /// are the coordinates of group g along the columns of `along`. Returns f, with what coordinates pay.
  double newton_steps(Index mode, const Place& at, const GroupPanel& along, const NewtonStep& options,
                      Matrix& own) const;

  void renew_loss();
  void fit_null();
  void fit_constant();
  void fit_offsets(Index mode);
  bool fits_size() const;
  void fit_size();
  void start_thresholds();
  void take_thresholds(const Vector& thresholds);
  void fit_thresholds();

  LossShape shape_;
  EntryGroups entries_;
  std::unique_ptr<EntryLoss> loss_;
  int threads_;
  bool has_offsets_;
  std::vector<Axis> axes_;
  Vector log_scale_;             // of rows
  std::vector<Vector> offsets_;  // of rows, where log_scale_ is part of them, of columns, ...
  std::vector<int> grades_;      // of ordinal data, and the thresholds between them
  Vector thresholds_ = Vector(0);
  double constant_ = 0, null_value_ = 0;
  Expansion x_;
  mutable std::optional<double> value_;  // where nothing has moved since it was asked for
};

template <class Visit>
void LossObjective::stream(Index mode, const Place& at, const Visit& visit) const {
  std::vector<const double*> offsets;  // of the other modes, where there are any
  for (Index m = 0; m < modes(); ++m)
    if (m != mode)
      offsets.push_back(offsets_[std::size_t(m)].isZero(0) ? nullptr : offsets_[std::size_t(m)].data());
  const Chunks chunks = pieces(mode);
  parallel_for(chunks.count(), threads_, [&](Index piece) {
    LossWalk walk;
    walk.piece = piece;
    for (Index g = chunks.first(piece); g < chunks.first(piece + 1); ++g) {
      walk.begin(entries_.group(mode, g, walk.scratch), offsets_[std::size_t(mode)][g], offsets);
      at.other.predict(walk.group, at.own.col(g).data(), walk.x.data());
      visit(g, walk);
    }
  });
}

}  // namespace pursuit
