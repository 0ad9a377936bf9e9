#pragma once
// Supports within a few of many groups that do not overlap.

#include "atoms/supports.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {

/// At most `active` groups with at most `within` entries each, and at most `total` entries in all. Without a
/// bound on the total a group is worth the sum of its largest gains, and the best groups are taken: O(n).
/// With it, dynamic programming over (groups so far, groups taken, entries taken): O(n active total).
class GroupSupports final : public Supports {
 public:
  GroupSupports(Groups groups, Index active, Index within, std::optional<Index> total = {});

  void select(ConstVectorRef gains, Marks& kept) const override;
  bool allows(ConstVectorRef u) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;
  /// A bound on the total is a count.
  SupportsPtr narrowed(const Constraint& constraint) const override;

 private:
  Index groups() const { return Index(first_.size()) - 1; }
  Index size(Index group) const { return first_[std::size_t(group + 1)] - first_[std::size_t(group)]; }
  /// The most entries of this group that may be used.
  Index room(Index group) const;
  void select_groups(ConstVectorRef gains, Marks& kept) const;
  void select_with_total(ConstVectorRef gains, Marks& kept) const;

  Groups source_;
  Index active_, within_;
  std::optional<Index> total_;
  std::vector<Index> first_,
      members_;  // members of group g: members_[first_[g]] .. members_[first_[g + 1] - 1]
};

}  // namespace pursuit
