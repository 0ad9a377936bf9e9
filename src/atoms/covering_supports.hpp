#pragma once
// Supports within a few of many sets of entries that may overlap.

#include "atoms/supports.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {

/// Non-zeros within the union of at most `active` sets; entries in none are zero. Which union is best is the
/// problem of maximum coverage, NP-hard beyond one set: the set that adds most, again and again, reaches at
/// least 1 - (1 - 1/active)^active of the best sum. Exact for one set, for all, and where none overlap.
/// O(active times the entries of all sets).
class CoveringSupports final : public Supports {
 public:
  CoveringSupports(EntrySets sets, Index active);

  void select(ConstVectorRef gains, Marks& kept) const override;
  bool allows(ConstVectorRef u) const override;
  Index best_single(ConstVectorRef g) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;
  double factor() const override;

 private:
  /// Whether sets can cover the entries that are marked, so many of which are left.
  bool coverable(Marks& open, Index left, Index sets) const;

  EntrySets sets_;
  Index active_, last_ = -1, largest_ = 0;
  bool overlap_ = false;
  std::vector<std::vector<Index>> sets_of_;  // of every entry up to the last
};

}  // namespace pursuit
