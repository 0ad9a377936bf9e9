#pragma once
// The sets of an atom's factors: one for every panel of factors, which is one for every mode unless modes
// share their factor.

#include <algorithm>
#include <utility>
#include <vector>

#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

class AtomSets {
 public:
  AtomSets(std::vector<Atoms> of_panel, std::vector<Index> panel_of_mode)
      : of_panel_(std::move(of_panel)), panel_of_(std::move(panel_of_mode)) {}
  /// Of matrices; with one set for both factors, atoms are u u^T, and `right` is not looked at.
  AtomSets(Atoms left, Atoms right, bool symmetric = false)
      : of_panel_(symmetric ? std::vector{std::move(left)} : std::vector{std::move(left), std::move(right)}),
        panel_of_{0, symmetric ? 0 : 1} {}

  Index panels() const { return Index(of_panel_.size()); }
  Index modes() const { return Index(panel_of_.size()); }
  Index panel_of(Index mode) const { return panel_of_[std::size_t(mode)]; }
  /// The first mode of a panel, and whether it is the only one.
  Index mode_of(Index panel) const {
    return Index(std::find(panel_of_.begin(), panel_of_.end(), panel) - panel_of_.begin());
  }
  bool is_single(Index panel) const { return std::count(panel_of_.begin(), panel_of_.end(), panel) == 1; }
  bool all_single() const { return panels() == modes(); }

  const Atoms& panel(Index p) const { return of_panel_[std::size_t(p)]; }
  const Atoms& mode(Index m) const { return panel(panel_of(m)); }
  const AtomSet& of(Index panel_number, Index atom) const { return panel(panel_number).of(atom); }

  /// The atoms that stay where only those with `weight(i)` are wanted. The place of an atom says what its
  /// sets are, so that in a list of sets an atom without weight keeps its place as long as others follow.
  template <class HasWeight>
  std::vector<Index> staying(Index count, const HasWeight& weight) const {
    std::vector<Index> result;
    bool last_sets = true, followed = false;  // from atom i on all sets are the same; an atom follows
    for (Index i = count - 1; i >= 0; --i) {
      last_sets = last_sets && (i + 1 == count || same_sets(i, i + 1));
      if (!weight(i) && (last_sets || !followed)) continue;
      followed = true;
      result.push_back(i);
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

 private:
  bool same_sets(Index i, Index j) const {
    return std::all_of(of_panel_.begin(), of_panel_.end(),
                       [&](const Atoms& set) { return &set.of(i) == &set.of(j); });
  }

  std::vector<Atoms> of_panel_;
  std::vector<Index> panel_of_;
};

}  // namespace pursuit
