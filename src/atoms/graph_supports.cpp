#include "atoms/graph_supports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "atoms/forest_program.hpp"
#include "atoms/spec_text.hpp"
#include "atoms/unit_vectors.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// Sets of vertices that grow together.
class UnionFind {
 public:
  explicit UnionFind(Index n) : parent_(std::size_t(n)) {
    std::iota(parent_.begin(), parent_.end(), Index(0));
  }
  Index find(Index i) {
    while (parent_[std::size_t(i)] != i)
      i = parent_[std::size_t(i)] = parent_[std::size_t(parent_[std::size_t(i)])];
    return i;
  }
  /// False where they are together already.
  bool unite(Index i, Index j) {
    i = find(i);
    j = find(j);
    parent_[std::size_t(std::max(i, j))] = std::min(i, j);
    return i != j;
  }

 private:
  std::vector<Index> parent_;
};

}  // namespace

GraphSupports::GraphSupports(Graph graph, Index k, Index components)
    : graph_(std::move(graph)), k_(k), c_(components) {
  if (k < 1) throw InvalidArgument(fmt::format("{}: at least 1 vertex must be allowed", spec()));
  if (components < 1) throw InvalidArgument(fmt::format("{}: at least 1 component must be allowed", spec()));
  if (k > graph_.vertices)
    throw InvalidArgument(fmt::format("{}: {} vertices do not fit a graph of {}; allowed are 1..{}", spec(),
                                      k, graph_.vertices, graph_.vertices));
  neighbours_.resize(std::size_t(graph_.vertices));
  UnionFind joined(graph_.vertices);
  std::sort(graph_.edges.begin(), graph_.edges.end());
  for (auto& [i, j] : graph_.edges) {
    if (i < 0 || j < 0 || i >= graph_.vertices || j >= graph_.vertices || i == j)
      throw InvalidArgument(fmt::format("{}: edge {} {} does not join two of the vertices 0..{}", spec(), i,
                                        j, graph_.vertices - 1));
    if (i > j) std::swap(i, j);
  }
  std::sort(graph_.edges.begin(), graph_.edges.end());
  graph_.edges.erase(std::unique(graph_.edges.begin(), graph_.edges.end()), graph_.edges.end());
  for (const auto& [i, j] : graph_.edges) {
    neighbours_[std::size_t(i)].push_back(j);
    neighbours_[std::size_t(j)].push_back(i);
    is_forest_ = joined.unite(i, j) && is_forest_;
  }
}

std::string GraphSupports::spec() const {
  return fmt::format("{}:{}:{}", graph_.source.empty() ? "custom:graph" : "graph:" + spec_path(graph_.source),
                     k_, c_);
}

void GraphSupports::require_dimension(Index n) const {
  require_length(spec(), graph_.vertices, n);
}

double GraphSupports::factor() const {
  return is_forest_ || c_ >= k_ ? 1.0 : std::sqrt(double(c_) / double(k_));
}

GraphSupports::Neighbours GraphSupports::spanning_forest(ConstVectorRef gains) const {
  std::vector<std::pair<Index, Index>> edges = graph_.edges;
  const auto weight = [&](const auto& edge) { return std::min(gains[edge.first], gains[edge.second]); };
  std::stable_sort(edges.begin(), edges.end(),
                   [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
  Neighbours forest(neighbours_.size());
  UnionFind joined(gains.size());
  for (const auto& [i, j] : edges)
    if (joined.unite(i, j)) {
      forest[std::size_t(i)].push_back(j);
      forest[std::size_t(j)].push_back(i);
    }
  return forest;
}

void GraphSupports::select(ConstVectorRef gains, Marks& kept) const {
  if (is_forest_) return best_in_forest(neighbours_, gains, k_, c_, kept);
  best_in_forest(spanning_forest(gains), gains, k_, c_, kept);
  improve(gains, kept);
}

Index GraphSupports::components_of(const Marks& inside) const {
  Marks seen(inside.size(), 0);
  std::vector<Index> stack;
  Index count = 0;
  for (std::size_t start = 0; start < inside.size(); ++start) {
    if (!inside[start] || seen[start]) continue;
    ++count;
    seen[start] = 1;
    stack.push_back(Index(start));
    while (!stack.empty()) {
      const Index v = stack.back();
      stack.pop_back();
      for (const Index next : neighbours_[std::size_t(v)])
        if (inside[std::size_t(next)] && !seen[std::size_t(next)]) {
          seen[std::size_t(next)] = 1;
          stack.push_back(next);
        }
    }
  }
  return count;
}

/// Adds a vertex beside the choice, for one of less gain where there is no room, while that helps.
void GraphSupports::improve(ConstVectorRef gains, Marks& kept) const {
  for (bool better = true; better;) {
    better = false;
    std::vector<Index> chosen, beside;
    Marks seen = kept;
    for (std::size_t v = 0; v < kept.size(); ++v)
      if (kept[v]) {
        chosen.push_back(Index(v));
        for (const Index next : neighbours_[v])
          if (!std::exchange(seen[std::size_t(next)], static_cast<unsigned char>(1))) beside.push_back(next);
      }
    const auto larger = [&](Index i, Index j) { return gains[i] != gains[j] ? gains[i] > gains[j] : i < j; };
    std::sort(beside.begin(), beside.end(), larger);
    std::sort(chosen.begin(), chosen.end(), [&](Index i, Index j) { return larger(j, i); });
    for (const Index in : beside) {
      if (!(gains[in] > 0)) break;
      kept[std::size_t(in)] = 1;
      better = Index(chosen.size()) < k_;
      for (std::size_t o = 0; o < chosen.size() && !better && gains[chosen[o]] < gains[in]; ++o) {
        kept[std::size_t(chosen[o])] = 0;
        better = components_of(kept) <= c_;
        if (!better) kept[std::size_t(chosen[o])] = 1;
      }
      if (better) break;
      kept[std::size_t(in)] = 0;
    }
  }
}

bool GraphSupports::allows(ConstVectorRef u) const {
  if (u.size() != graph_.vertices) return false;
  Marks inside(std::size_t(u.size()), 0), covered;
  for (Index i = 0; i < u.size(); ++i) inside[std::size_t(i)] = u[i] != 0;
  if (connectable(inside)) return true;
  // A choice that covers all non-zeros proves that they are allowed.
  const Vector wanted = (u.array() != 0).cast<double>();
  select(wanted, covered);
  for (std::size_t i = 0; i < inside.size(); ++i)
    if (inside[i] && !covered[i]) return false;
  return true;
}

/// Joins the nearest two components by a shortest path until there are few enough; whether that stays within
/// k.
bool GraphSupports::connectable(Marks inside) const {
  Index used = std::count(inside.begin(), inside.end(), 1);
  while (used <= k_) {
    const Index count = components_of(inside);
    if (count <= c_) return true;
    // Breadth first from every component at once; where two meet, the way between them is short.
    const auto n = inside.size();
    std::vector<Index> from(n, -1), label(n, -1), distance(n, 0), queue;
    for (std::size_t start = 0; start < n; ++start) {
      if (!inside[start] || label[start] >= 0) continue;
      std::vector<Index> stack{Index(start)};
      label[start] = Index(start);
      while (!stack.empty()) {
        const Index v = stack.back();
        stack.pop_back();
        queue.push_back(v);
        for (const Index next : neighbours_[std::size_t(v)])
          if (inside[std::size_t(next)] && label[std::size_t(next)] < 0) {
            label[std::size_t(next)] = Index(start);
            stack.push_back(next);
          }
      }
    }
    Index best = -1, meets = -1, length = Index(n);
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const Index v = queue[at];
      for (const Index next : neighbours_[std::size_t(v)]) {
        if (label[std::size_t(next)] < 0) {
          label[std::size_t(next)] = label[std::size_t(v)];
          from[std::size_t(next)] = v;
          distance[std::size_t(next)] = distance[std::size_t(v)] + 1;
          queue.push_back(next);
        } else if (label[std::size_t(next)] != label[std::size_t(v)]) {
          const Index both = distance[std::size_t(v)] + distance[std::size_t(next)];
          if (both < length) {
            length = both;
            best = v;
            meets = next;
          }
        }
      }
    }
    if (best < 0) return false;
    for (Index end : {best, meets})
      for (Index v = end; v >= 0 && !inside[std::size_t(v)]; v = from[std::size_t(v)])
        inside[std::size_t(v)] = 1;
    used = std::count(inside.begin(), inside.end(), 1);
  }
  return false;
}

Atoms graph(Graph graph, Index k, Index components) {
  return std::make_shared<UnitVectors>(false,
                                       std::make_shared<GraphSupports>(std::move(graph), k, components));
}

}  // namespace pursuit
