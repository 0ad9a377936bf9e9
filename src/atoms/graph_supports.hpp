#pragma once
// Supports that lie in a few connected pieces of a graph.

#include "atoms/supports.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {

/// At most k vertices that form at most c connected components; vertices that no edge names stand alone.
///
/// On a forest `select` is exact, by dynamic programming over (vertex, components, vertices), O(n k c^2). The
/// general problem is NP-hard (it contains the Steiner tree problem). There the forest is a spanning one that
/// joins large gains first, and its answer is improved by exchanges along all edges as long as they help. As
/// the c largest gains alone are one of its candidates, sqrt(sum) is at least sqrt(c / k) of the best.
class GraphSupports final : public Supports {
 public:
  GraphSupports(Graph graph, Index k, Index components);

  void select(ConstVectorRef gains, Marks& kept) const override;
  /// Certain where it says yes; on a graph with cycles the search for vertices that connect the non-zeros may
  /// fail.
  bool allows(ConstVectorRef u) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;
  double factor() const override;

 private:
  using Neighbours = std::vector<std::vector<Index>>;

  Neighbours spanning_forest(ConstVectorRef gains) const;
  Index components_of(const Marks& inside) const;
  void improve(ConstVectorRef gains, Marks& kept) const;
  bool connectable(Marks inside) const;

  Graph graph_;
  Index k_, c_;
  Neighbours neighbours_;
  bool is_forest_ = true;
};

}  // namespace pursuit
