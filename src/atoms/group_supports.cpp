#include "atoms/group_supports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "atoms/spec_text.hpp"
#include "atoms/unit_vectors.hpp"
#include "linalg/top_k.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

GroupSupports::GroupSupports(Groups groups, Index active, Index within, std::optional<Index> total)
    : source_(std::move(groups)), active_(active), within_(within), total_(total) {
  if (active < 1) throw InvalidArgument(fmt::format("{}: at least 1 group must be allowed", spec()));
  if (within < 1)
    throw InvalidArgument(fmt::format("{}: at least 1 entry of a group must be allowed", spec()));
  const std::vector<Index>& group_of = source_.group_of;
  if (group_of.empty()) throw InvalidArgument(fmt::format("{}: there are no groups", spec()));
  if (const Index lowest = *std::min_element(group_of.begin(), group_of.end()); lowest < 0)
    throw InvalidArgument(fmt::format("{}: group {} is below 0", spec(), lowest));
  const Index count = *std::max_element(group_of.begin(), group_of.end()) + 1;
  first_.assign(std::size_t(count + 1), 0);
  for (const Index group : group_of) ++first_[std::size_t(group + 1)];
  for (Index g = 0; g < count; ++g)
    if (first_[std::size_t(g + 1)] == 0)
      throw InvalidArgument(fmt::format("{}: group {} of {} is empty", spec(), g + 1, count));
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  members_.resize(group_of.size());
  std::vector<Index> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < group_of.size(); ++i)
    members_[std::size_t(next[std::size_t(group_of[i])]++)] = Index(i);
  if (active_ > count)
    throw InvalidArgument(fmt::format("{}: {} groups may be active, but there are {}; allowed are 1..{}",
                                      spec(), active_, count, count));
}

std::string GroupSupports::spec() const {
  std::string text = source_.source.empty() ? "custom:group" : "group:" + spec_path(source_.source);
  text += fmt::format(":{}", active_);
  if (within_ < std::numeric_limits<Index>::max()) text += fmt::format(":{}", within_);
  return total_ ? fmt::format("{}+sparse:{}", text, *total_) : text;
}

void GroupSupports::require_dimension(Index n) const {
  require_length(spec(), Index(source_.group_of.size()), n);
}

Index GroupSupports::room(Index group) const {
  return std::min({size(group), within_, total_.value_or(size(group))});
}

SupportsPtr GroupSupports::narrowed(const Constraint& constraint) const {
  const auto* sparsity = std::get_if<Sparsity>(&constraint);
  const auto* count = sparsity ? std::get_if<Index>(&sparsity->bound) : nullptr;
  if (!count) return nullptr;
  return std::make_shared<GroupSupports>(source_, active_, within_,
                                         std::min(*count, total_.value_or(*count)));
}

bool GroupSupports::allows(ConstVectorRef u) const {
  if (u.size() != Index(members_.size())) return false;
  Index used_groups = 0, used = 0;
  for (Index g = 0; g < groups(); ++g) {
    Index here = 0;
    for (Index m = first_[std::size_t(g)]; m < first_[std::size_t(g + 1)]; ++m)
      here += u[members_[std::size_t(m)]] != 0;
    if (here > within_) return false;
    used_groups += here > 0;
    used += here;
  }
  return used_groups <= active_ && used <= total_.value_or(used);
}

void GroupSupports::select(ConstVectorRef gains, Marks& kept) const {
  kept.assign(std::size_t(gains.size()), 0);
  total_ ? select_with_total(gains, kept) : select_groups(gains, kept);
}

void GroupSupports::select_groups(ConstVectorRef gains, Marks& kept) const {
  thread_local Vector worth, inside;
  thread_local std::vector<Index> chosen;
  const auto gather = [&](Index g) {
    inside.resize(size(g));
    for (Index m = 0; m < size(g); ++m) inside[m] = gains[members_[std::size_t(first_[std::size_t(g)] + m)]];
  };
  worth.setZero(groups());
  for (Index g = 0; g < groups(); ++g) {
    gather(g);
    if (room(g) == size(g))
      worth[g] = inside.sum();
    else
      for_top_k(inside, room(g), [&](Index m) { worth[g] += inside[m]; });
  }
  chosen.clear();
  for_top_k(worth, active_, [&](Index g) { chosen.push_back(g); });
  for (const Index g : chosen) {
    gather(g);
    for_top_k(inside, room(g),
              [&](Index m) { kept[std::size_t(members_[std::size_t(first_[std::size_t(g)] + m)])] = 1; });
  }
}

void GroupSupports::select_with_total(ConstVectorRef gains, Marks& kept) const {
  const Index total = *total_, width = total + 1;
  thread_local std::vector<Index> sorted;    // members of every group, the largest gain first
  thread_local std::vector<double> best;     // (taken groups, entries)
  thread_local std::vector<int> entries_of;  // (group, taken groups, entries): how many of the group
  sorted = members_;
  best.assign(std::size_t((active_ + 1) * width), 0.0);
  entries_of.assign(std::size_t(groups() * (active_ + 1) * width), 0);
  for (Index g = 0; g < groups(); ++g) {
    const auto begin = sorted.begin() + first_[std::size_t(g)],
               end = sorted.begin() + first_[std::size_t(g + 1)];
    std::sort(begin, end,
              [&](Index i, Index j) { return gains[i] != gains[j] ? gains[i] > gains[j] : i < j; });
    for (Index taken = active_; taken > 0; --taken) {  // downwards: row `taken - 1` is still without g
      double* row = best.data() + taken * width;
      int* choice = entries_of.data() + (g * (active_ + 1) + taken) * width;
      for (Index used = total; used > 0; --used) {
        double sum = 0;
        for (Index c = 1; c <= std::min(room(g), used); ++c) {
          sum += gains[*(begin + (c - 1))];
          if (const double value = best[std::size_t((taken - 1) * width + used - c)] + sum;
              value > row[used]) {
            row[used] = value;
            choice[used] = int(c);
          }
        }
      }
    }
  }
  Index taken = active_, used = total;
  for (Index g = groups(); g-- > 0;) {
    const int c = entries_of[std::size_t((g * (active_ + 1) + taken) * width + used)];
    for (Index m = 0; m < c; ++m) kept[std::size_t(sorted[std::size_t(first_[std::size_t(g)] + m)])] = 1;
    if (c == 0) continue;
    --taken;
    used -= c;
  }
}

Atoms group(Groups groups, Index active, Index within) {
  return std::make_shared<UnitVectors>(false,
                                       std::make_shared<GroupSupports>(std::move(groups), active, within));
}

}  // namespace pursuit
