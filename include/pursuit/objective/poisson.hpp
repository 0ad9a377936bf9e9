#pragma once
// f(X) = sum_ij w_ij (y_ij log(y_ij / (s_i x_ij)) - y_ij + s_i x_ij), half the deviance of counts whose means
// are s_i x_ij: the Kullback-Leibler divergence of the data from the model. X must not be negative.
//
// Arrays of more modes are the same, with products over all of them.
// Of sparse counts only the entries that are not zero are looked at: the sum of the model separates. On
// non-negative sets a sweep is Newton's method row by row, all atoms of a row at once.

#include <memory>
#include <optional>
#include <vector>

#include "pursuit/data/stored_entries.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// What is known of a matrix of counts.
struct Counts {
  StoredEntries entries;
  bool others_are_zero = true;       // entries that are not listed; otherwise they are unknown
  std::vector<double> weights = {};  // of every listed entry; then others are unknown
  Vector row_weights = Vector(0), col_weights = Vector(0);
};

class CountTable;
struct ObservedTensor;

class PoissonCounts final : public Objective {
 public:
  /// At x = 0. InvalidInput, naming the entry, for one that is negative or not finite. `row_scale` are the
  /// exposures s, 1 where empty.
  explicit PoissonCounts(Counts counts, const Vector& row_scale = Vector(0), int threads = 1);
  /// Of an array, which must have been checked.
  explicit PoissonCounts(const ObservedTensor& counts, int threads = 1);
  ~PoissonCounts() override;

  Index modes() const override { return Index(axes_.size()); }
  const Axis& axis(Index mode) const override { return axes_[std::size_t(mode)]; }
  void contract(Index mode, const Factors& z, Panel& out) const override;

  double value() const override;
  double null_value() const override;
  Quadratic quadratic() const override { return Quadratic::local; }
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
  void visit_state(StateArchive& archive) override;

 private:
  class System;
  class Sweeps;

  /// The product of these vectors, one for each mode, has been added to x.
  using Pending = std::vector<Vector>;
  /// x of every entry in the order of a mode; nothing where it has to be made anew.
  struct Model {
    std::vector<double> x;
    std::vector<Pending> pending;
  };
  const std::vector<double>& model(Index mode) const;
  void add(Pending change);
  /// Atom k with another factor along a mode.
  Pending product_with(Index k, Index mode, const Vector& own) const;
  void forget();

  std::unique_ptr<const CountTable> counts_;
  std::vector<Axis> axes_;
  Expansion x_;
  mutable std::vector<Model> models_;
  mutable std::optional<double> value_;
};

}  // namespace pursuit
