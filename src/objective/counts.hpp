#pragma once
// Counts y_ij with weights w_ij and exposures s_i, and the half deviance of a model X of them,
//
//   f(X) = sum_ij w_ij (y_ij log(y_ij / (s_i x_ij)) - y_ij + s_i x_ij) .
//
// Where every entry is known and weights are those of rows and columns, the sum of the model is a product of
// sums over the factors of each atom: entries that are zero cost nothing, and none of them is listed. Arrays
// of more modes are the same, row by row of each of them.

#include <vector>

#include "base/parallel.hpp"
#include "objective/listed_tensor.hpp"
#include "objective/poisson_rows.hpp"
#include "pursuit/data/stored_entries.hpp"
#include "pursuit/objective/poisson.hpp"

namespace pursuit {

/// A sweep over one mode: every row of its factor by itself, all atoms at once.
struct RowSweep {
  Index first = 0;  // atoms before this one stay
  double l1 = 0, l2 = 0;
  bool value = false;  // whether f is asked for
};

class CountTable {
 public:
  CountTable(Counts counts, const Vector& row_scale, int threads);
  CountTable(const ObservedTensor& counts, int threads);

  Index modes() const { return Index(sides_.size()); }
  Index size(Index mode) const { return sides_[std::size_t(mode)].y.rows; }
  Index entries() const { return Index(sides_[0].y.index.size()); }
  int threads() const { return threads_; }
  double floor() const { return floor_; }
  double total() const { return total_; }
  double null_value() const { return null_value_; }
  double constant() const { return constant_; }  // f but for what depends on X
  bool separates() const { return separates_; }

  CountRow row(Index mode, Index i) const;
  Index first_entry(Index mode, Index i) const { return sides_[std::size_t(mode)].y.start[std::size_t(i)]; }
  /// What multiplies the model of row i beside the other mode's, where the sum separates; 1 elsewhere.
  double multiplier(Index mode, Index i) const {
    return separates_ ? sides_[std::size_t(mode)].multiplier[std::size_t(i)] : 1.0;
  }
  /// Sums of columns with the multipliers of a mode; zeros where the sum does not separate.
  Vector weighted_sums(Index mode, const Panel& X) const;
  /// Their products over all modes but one.
  Vector background(Index mode, const Factors& z) const;

  /// Calls work(piece, row) for all rows, a piece on one thread; pieces are the same for any number of them.
  template <class Work>
  void for_rows(Index mode, const Work& work) const;
  Index pieces(Index mode) const { return Index(sides_[std::size_t(mode)].cuts.size()) - 1; }

  /// Moves X, the weighted factor of `mode`, with those of all other modes fixed; returns f where asked for.
  double sweep(Index mode, const Factors& at, const RowSweep& options, Panel& X) const;

  /// f, and x of every entry in the order of `mode` where not null.
  double value(Index mode, const Panel& X, const Factors& at, double* x = nullptr) const;

 private:
  struct Side {
    StoredEntries y;                             // with their weights
    std::vector<std::vector<int>> further = {};  // places along more modes
    std::vector<double> exposed;                 // of every entry, where the sum does not separate
    std::vector<double> multiplier;              // of every row, where it does
    std::vector<Index> cuts;                     // rows where pieces begin
  };

  void settle(double exposure);
  void cut(Side& side);

  int threads_;
  bool separates_;
  std::vector<Side> sides_;
  double total_ = 0, constant_ = 0, null_value_ = 0, floor_ = 0;
};

template <class Work>
void CountTable::for_rows(Index mode, const Work& work) const {
  const std::vector<Index>& cuts = sides_[std::size_t(mode)].cuts;
  parallel_for(Index(cuts.size()) - 1, threads_, [&](Index piece) {
    for (Index i = cuts[std::size_t(piece)]; i < cuts[std::size_t(piece) + 1]; ++i) work(piece, i);
  });
}

}  // namespace pursuit
