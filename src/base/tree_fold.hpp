#pragma once
// Sums of parts that come one after the other, and from several owners, along the one binary tree over all
// parts: whoever owns a whole subtree adds it up, and whoever gets these sums goes on in the same tree. The
// order of additions depends on the number of parts alone, which is a power of two.

#include <utility>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

template <class Part>
class TreeFold {
 public:
  /// The sum over the parts index << level ... ((index + 1) << level) - 1.
  struct Node {
    int level;
    Index index;
    Part part;
  };

  /// Nodes come in order. Two that are the halves of one are added.
  void push(int level, Index index, Part part) {
    nodes_.push_back({level, index, std::move(part)});
    while (nodes_.size() > 1) {
      Node &left = nodes_[nodes_.size() - 2], &right = nodes_.back();
      if (left.level != right.level || left.index % 2 != 0) return;
      left.part += right.part;
      spare_.push_back(std::move(right.part));
      ++left.level;
      left.index /= 2;
      nodes_.pop_back();
    }
  }

  /// What could not be added any further: one node where all parts have come.
  std::vector<Node>& nodes() { return nodes_; }

  /// A part that was added and is not needed any more, whose memory may serve the next; an empty one where
  /// there is none.
  Part take_spare() {
    if (spare_.empty()) return {};
    Part part = std::move(spare_.back());
    spare_.pop_back();
    return part;
  }

 private:
  std::vector<Part> spare_;
  std::vector<Node> nodes_;
};

/// The tree without its sums: the nodes that whoever owns the parts first .. last - 1 ends with.
struct Unsummed {
  void operator+=(Unsummed) const {}
};
inline std::vector<TreeFold<Unsummed>::Node> subtrees(Index first, Index last) {
  TreeFold<Unsummed> fold;
  for (Index part = first; part < last; ++part) fold.push(0, part, {});
  return fold.nodes();
}

}  // namespace pursuit
