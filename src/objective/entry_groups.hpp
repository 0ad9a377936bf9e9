#pragma once
// The entries that are known, along any mode: listed ones, all of a dense matrix, or all of a sparse one,
// of which a row is spread out when it is walked, so that nothing of the size of the full matrix is ever
// held.

#include "base/aligned.hpp"
#include "objective/listed_tensor.hpp"
#include "pursuit/data/observed_entries.hpp"
#include "pursuit/data/stored_entries.hpp"
#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/poisson.hpp"

namespace pursuit {

class EntryGroups {
 public:
  /// Entries of a matrix of which every one is known.
  EntryGroups(const DataMatrix& data, const EntryWeights& weights);
  /// What is not listed is unknown.
  EntryGroups(const ObservedEntries& data, const EntryWeights& weights);
  /// Of an array, which must have been checked; what is not listed is unknown.
  explicit EntryGroups(const ObservedTensor& data);

  Index modes() const { return Index(sides_.size()); }
  /// Number of rows, of columns, ...
  Index size(Index mode) const { return sides_[std::size_t(mode)].y.rows; }
  std::vector<Index> shape() const;
  double entries() const;  // of all groups
  /// Whether groups list their places.
  bool are_listed() const { return !spread_ && !sides_[0].y.is_dense(); }

  struct Group : Places {
    const double *y, *weight;  // null: 1
  };
  struct Scratch {
    AlignedVector<double> y, weight;
  };
  Group group(Index mode, Index g, Scratch& scratch) const;

  /// Nothing but the rows, which leave it.
  Counts release() &&;

  /// InvalidInput, naming the first entry that counts and is outside the domain of a loss.
  void require_domain(const Loss& loss) const;

 private:
  void take(StoredEntries data, bool others_are_zero, const EntryWeights& weights);

  std::vector<ListedGroups> sides_ = std::vector<ListedGroups>(2);
  bool spread_ = false;  // what is not stored is zero
  Vector factors_[2];    // weights of rows and of columns, or empty
};

}  // namespace pursuit
