#pragma once
// Supports that lie in a rooted subtree.

#include <cstdint>

#include "atoms/supports.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {

/// At most k nodes of a tree (or forest) that contain the parent of each of them. In preorder, the best use
/// of nodes from position p on with budget j either takes node p or passes over its whole subtree:
///
///   best(p, j) = max( gain_p + best(p + 1, j - 1), best(p + size of the subtree, j) )
///
/// exactly, in O(n k) steps, with one bit of memory for each and as many rows as the tree is deep.
class TreeSupports final : public Supports {
 public:
  TreeSupports(Tree tree, Index k);

  void select(ConstVectorRef gains, Marks& kept) const override;
  bool allows(ConstVectorRef u) const override;
  Index best_single(ConstVectorRef g) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;

 private:
  Tree tree_;
  Index k_;
  std::vector<Index> preorder_;  // position -> node
  std::vector<Index> after_;     // position -> position after its subtree
  std::vector<Index> last_use_;  // position -> the lowest position whose row is made from this one's
  std::vector<Index> depth_;     // node -> its distance from the root
};

}  // namespace pursuit
