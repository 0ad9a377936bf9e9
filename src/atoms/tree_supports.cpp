#include "atoms/tree_supports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "atoms/spec_text.hpp"
#include "atoms/unit_vectors.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

TreeSupports::TreeSupports(Tree tree, Index k) : tree_(std::move(tree)), k_(k) {
  if (k < 1) throw InvalidArgument(fmt::format("{}: at least 1 node must be allowed", spec()));
  const auto n = Index(tree_.parent.size());
  if (n == 0) throw InvalidArgument(fmt::format("{}: there are no nodes", spec()));
  if (k > n)
    throw InvalidArgument(
        fmt::format("{}: {} nodes do not fit a tree of {}; allowed are 1..{}", spec(), k, n, n));
  std::vector<std::vector<Index>> children(std::size_t(n + 1));  // of the roots' common parent last
  for (Index i = 0; i < n; ++i) {
    const Index parent = tree_.parent[std::size_t(i)];
    if (parent < -1 || parent >= n || parent == i)
      throw InvalidArgument(
          fmt::format("{}: node {} has parent {}; allowed are 0..{} except itself, and -1 for a root", spec(),
                      i, parent, n - 1));
    children[std::size_t(parent < 0 ? n : parent)].push_back(i);
  }
  depth_.assign(std::size_t(n), 0);
  after_.assign(std::size_t(n), 0);
  std::vector<std::pair<Index, std::size_t>> stack{{n, 0}};  // node, its next child
  std::vector<Index> position(std::size_t(n), 0);
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    const auto& own = children[std::size_t(node)];
    if (next == own.size()) {
      if (node < n) after_[std::size_t(position[std::size_t(node)])] = Index(preorder_.size());
      stack.pop_back();
      continue;
    }
    const Index child = own[next++];
    depth_[std::size_t(child)] = Index(stack.size()) - 1;
    position[std::size_t(child)] = Index(preorder_.size());
    preorder_.push_back(child);
    stack.emplace_back(child, 0);
  }
  if (Index(preorder_.size()) < n) {  // what no root reaches hangs on a cycle
    std::vector<unsigned char> reached(std::size_t(n), 0);
    for (const Index node : preorder_) reached[std::size_t(node)] = 1;
    const auto lost = std::find(reached.begin(), reached.end(), 0) - reached.begin();
    throw InvalidArgument(fmt::format(
        "{}: following the parents of node {} never ends at a root: there is a cycle", spec(), lost));
  }
  last_use_.assign(std::size_t(n + 1), 0);
  for (Index p = n; p-- > 0;)
    last_use_[std::size_t(p + 1)] = last_use_[std::size_t(after_[std::size_t(p)])] = p;
}

std::string TreeSupports::spec() const {
  return fmt::format("{}:{}", tree_.source.empty() ? "custom:tree" : "tree:" + spec_path(tree_.source), k_);
}

void TreeSupports::require_dimension(Index n) const {
  require_length(spec(), Index(tree_.parent.size()), n);
}

bool TreeSupports::allows(ConstVectorRef u) const {
  if (u.size() != Index(tree_.parent.size())) return false;
  Marks needed(tree_.parent.size(), 0);
  Index count = 0;
  for (Index i = 0; i < u.size(); ++i)
    for (Index node = u[i] != 0 ? i : -1; node >= 0 && !needed[std::size_t(node)];
         node = tree_.parent[std::size_t(node)]) {
      needed[std::size_t(node)] = 1;
      if (++count > k_) return false;
    }
  return true;
}

Index TreeSupports::best_single(ConstVectorRef g) const {
  Index best = preorder_.front();
  for (Index i = 0; i < g.size(); ++i)  // a node needs all above it
    if (depth_[std::size_t(i)] < k_ && (g[i] > g[best] || (g[i] == g[best] && i < best))) best = i;
  return best;
}

void TreeSupports::select(ConstVectorRef gains, Marks& kept) const {
  const Index n = gains.size(), width = k_ + 1;
  kept.assign(std::size_t(n), 0);
  thread_local std::vector<unsigned char> taken;  // (position, budget): whether the node is taken
  thread_local std::vector<std::vector<double>> rows, free_rows;
  taken.assign(std::size_t((n * width + 7) / 8), 0);
  rows.resize(std::size_t(n + 1));
  const auto fresh_row = [&]() -> std::vector<double> {
    if (free_rows.empty()) return std::vector<double>(std::size_t(width));
    std::vector<double> row = std::move(free_rows.back());
    free_rows.pop_back();
    row.resize(std::size_t(width));
    return row;
  };
  rows[std::size_t(n)] = fresh_row();
  std::fill(rows[std::size_t(n)].begin(), rows[std::size_t(n)].end(), 0.0);
  for (Index p = n; p-- > 0;) {
    const Index after = after_[std::size_t(p)];
    const double gain = gains[preorder_[std::size_t(p)]];
    std::vector<double> row = fresh_row();
    const double *with = rows[std::size_t(p + 1)].data(), *without = rows[std::size_t(after)].data();
    row[0] = 0;
    for (Index j = 1; j <= k_; ++j) {
      const double take = gain + with[j - 1], pass = without[j];
      row[std::size_t(j)] = std::max(take, pass);
      if (take > pass) {
        const Index bit = p * width + j;
        taken[std::size_t(bit / 8)] |= static_cast<unsigned char>(1U << unsigned(bit % 8));
      }
    }
    for (const Index done : {p + 1, after})
      if (last_use_[std::size_t(done)] == p && !rows[std::size_t(done)].empty())
        free_rows.push_back(std::exchange(rows[std::size_t(done)], {}));
    rows[std::size_t(p)] = std::move(row);
  }
  free_rows.push_back(std::exchange(rows[0], {}));
  Index budget = k_;
  for (Index p = 0; p < n && budget > 0;) {
    const Index bit = p * width + budget;
    if ((taken[std::size_t(bit / 8)] >> unsigned(bit % 8)) & 1U) {
      kept[std::size_t(preorder_[std::size_t(p)])] = 1;
      --budget;
      ++p;
    } else {
      p = after_[std::size_t(p)];
    }
  }
}

Atoms tree(Tree tree, Index k) {
  return std::make_shared<UnitVectors>(false, std::make_shared<TreeSupports>(std::move(tree), k));
}

}  // namespace pursuit
