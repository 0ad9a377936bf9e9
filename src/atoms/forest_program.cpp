#include "atoms/forest_program.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace pursuit {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Values over (components 0..c, vertices 0..size).
struct Table {
  Index size = 0;
  std::vector<double> value;

  Table(Index c, Index vertices, double fill)
      : size(vertices), value(std::size_t((c + 1) * (vertices + 1)), fill) {}
  double& at(Index m, Index j) { return value[std::size_t(m * (size + 1) + j)]; }
  double at(Index m, Index j) const { return value[std::size_t(m * (size + 1) + j)]; }
};

/// How an entry of a merged table came about: what of it lies in the child's subtree.
struct Origin {
  std::int32_t vertices = 0;
  std::int16_t components = 0;
  bool joined = false;  // the child is chosen and hangs together with its parent
};

/// One merge of a child into its parent, remembered for the way back.
struct Merge {
  Index child;
  Index size;                              // of the merged tables
  std::vector<Origin> chosen, not_chosen;  // for the parent in, and out of, the choice
};

class ForestProgram {
 public:
  ForestProgram(const std::vector<std::vector<Index>>& neighbours, ConstVectorRef gains, Index k, Index c)
      : neighbours_(neighbours), gains_(gains), k_(k), c_(c), merges_(neighbours.size() + 1) {}

  void run(Marks& kept) {
    const auto n = Index(neighbours_.size());
    // The roots become children of one more vertex, which is never chosen.
    std::vector<Index> parent(std::size_t(n), -2), order;
    for (Index root = 0; root < n; ++root) {
      if (parent[std::size_t(root)] != -2) continue;
      parent[std::size_t(root)] = n;
      order.push_back(root);
      for (std::size_t at = order.size() - 1; at < order.size(); ++at)
        for (const Index next : neighbours_[std::size_t(order[at])])
          if (parent[std::size_t(next)] == -2) {
            parent[std::size_t(next)] = order[at];
            order.push_back(next);
          }
    }
    std::vector<Table> chosen(std::size_t(n + 1), Table(0, 0, kImpossible)), rest = chosen;
    for (Index v = 0; v <= n; ++v) {
      const Index size = v < n ? 1 : 0;
      chosen[std::size_t(v)] = Table(c_, size, kImpossible);
      rest[std::size_t(v)] = Table(c_, size, kImpossible);
      rest[std::size_t(v)].at(0, 0) = 0;
      if (v < n && c_ > 0 && k_ > 0) chosen[std::size_t(v)].at(1, 1) = gains_[v];
    }
    for (auto v = order.rbegin(); v != order.rend(); ++v) {  // children before their parents
      const auto up = std::size_t(parent[std::size_t(*v)]), down = std::size_t(*v);
      merge(*v, chosen[down], rest[down], merges_[up], chosen[up], rest[up]);
      chosen[down] = rest[down] = Table(0, 0, kImpossible);
    }
    const Table& all = rest.back();
    Index m = 0, j = 0;
    for (Index components = 0; components <= c_; ++components)
      for (Index vertices = 0; vertices <= all.size; ++vertices)
        if (all.at(components, vertices) > all.at(m, j)) {
          m = components;
          j = vertices;
        }
    kept.assign(std::size_t(n), 0);
    walk_back(n, m, j, kept);
  }

 private:
  void merge(Index child, const Table& child_chosen, const Table& child_rest, std::vector<Merge>& merges,
             Table& parent_chosen, Table& parent_rest) {
    const Index size = std::min(k_, parent_chosen.size + child_chosen.size);
    Merge record{child, size, std::vector<Origin>(std::size_t((c_ + 1) * (size + 1))), {}};
    record.not_chosen = record.chosen;
    const auto combine = [&](const Table& up, const Table& down, bool joined, Table& into,
                             std::vector<Origin>& origins) {
      for (Index m1 = 0; m1 <= c_; ++m1)
        for (Index j1 = 0; j1 <= up.size; ++j1) {
          const double base = up.at(m1, j1);
          if (base == kImpossible) continue;
          for (Index m2 = joined ? 1 : 0; m2 <= c_ - m1 + (joined ? 1 : 0); ++m2)
            for (Index j2 = 0; j2 <= std::min(down.size, size - j1); ++j2) {
              const Index m = m1 + m2 - (joined ? 1 : 0), j = j1 + j2;
              if (const double value = base + down.at(m2, j2); value > into.at(m, j)) {
                into.at(m, j) = value;
                origins[std::size_t(m * (size + 1) + j)] = {std::int32_t(j2), std::int16_t(m2), joined};
              }
            }
        }
    };
    Table chosen(c_, size, kImpossible), rest(c_, size, kImpossible);
    Table any = child_rest;  // the child in or out, apart from its parent
    for (std::size_t e = 0; e < any.value.size(); ++e)
      any.value[e] = std::max(any.value[e], child_chosen.value[e]);
    combine(parent_chosen, any, false, chosen, record.chosen);
    combine(parent_chosen, child_chosen, true, chosen, record.chosen);
    combine(parent_rest, any, false, rest, record.not_chosen);
    child_is_chosen_.resize(neighbours_.size());
    auto& better = child_is_chosen_[std::size_t(child)];  // whether `any` is the child chosen
    better.resize(any.value.size());
    for (std::size_t e = 0; e < any.value.size(); ++e)
      better[e] = child_chosen.value[e] > child_rest.value[e];
    parent_chosen = std::move(chosen);
    parent_rest = std::move(rest);
    merges.push_back(std::move(record));
  }

  /// Unrolls the choice of (m, j) at the vertex above all.
  void walk_back(Index top, Index m, Index j, Marks& kept) const {
    struct Place {
      Index v, m, j;
      bool chosen;
    };
    std::vector<Place> stack{{top, m, j, false}};
    while (!stack.empty()) {
      Place place = stack.back();
      stack.pop_back();
      if (place.chosen) kept[std::size_t(place.v)] = 1;
      const auto& merges = merges_[std::size_t(place.v)];
      for (auto merge = merges.rbegin(); merge != merges.rend(); ++merge) {
        const Origin& origin =
            (place.chosen ? merge->chosen
                          : merge->not_chosen)[std::size_t(place.m * (merge->size + 1) + place.j)];
        const auto& better = child_is_chosen_[std::size_t(merge->child)];
        const Index width = Index(better.size()) / (c_ + 1);
        const bool inside = origin.joined || better[std::size_t(origin.components * width + origin.vertices)];
        stack.push_back({merge->child, origin.components, origin.vertices, inside});
        place.m -= origin.components - (origin.joined ? 1 : 0);
        place.j -= origin.vertices;
      }
    }
  }

  const std::vector<std::vector<Index>>& neighbours_;
  ConstVectorRef gains_;
  Index k_, c_;
  std::vector<std::vector<Merge>> merges_;          // of every vertex, in the order they happened
  std::vector<std::vector<bool>> child_is_chosen_;  // over (components, vertices) of a child's final tables
};

}  // namespace

void best_in_forest(const std::vector<std::vector<Index>>& neighbours, ConstVectorRef gains, Index k, Index c,
                    Marks& kept) {
  ForestProgram(neighbours, gains, k, c).run(kept);
}

}  // namespace pursuit
