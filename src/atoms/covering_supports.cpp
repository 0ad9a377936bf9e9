#include "atoms/covering_supports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "atoms/spec_text.hpp"
#include "atoms/unit_vectors.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

CoveringSupports::CoveringSupports(EntrySets sets, Index active) : sets_(std::move(sets)), active_(active) {
  const auto count = Index(sets_.members.size());
  if (count == 0) throw InvalidArgument(fmt::format("{}: there are no sets", spec()));
  if (active < 1 || active > count)
    throw InvalidArgument(fmt::format("{}: {} sets may be active, but there are {}; allowed are 1..{}",
                                      spec(), active, count, count));
  for (std::size_t s = 0; s < sets_.members.size(); ++s) {
    auto& members = sets_.members[s];
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (members.empty())
      throw InvalidArgument(fmt::format("{}: set {} of {} is empty", spec(), s + 1, count));
    if (members.front() < 0)
      throw InvalidArgument(fmt::format("{}: entry {} is below 0", spec(), members.front()));
    last_ = std::max(last_, members.back());
    largest_ = std::max(largest_, Index(members.size()));
  }
  if (sets_.entries > 0 && last_ >= sets_.entries)
    throw InvalidArgument(
        fmt::format("{}: entry {} lies beyond the {} entries there are", spec(), last_, sets_.entries));
  sets_of_.resize(std::size_t(last_ + 1));
  for (Index s = 0; s < count; ++s)
    for (const Index i : sets_.members[std::size_t(s)]) sets_of_[std::size_t(i)].push_back(s);
  overlap_ = std::any_of(sets_of_.begin(), sets_of_.end(), [](const auto& own) { return own.size() > 1; });
}

std::string CoveringSupports::spec() const {
  const std::string text = sets_.source.empty() ? "custom:sets" : "sets:" + spec_path(sets_.source);
  return fmt::format("{}:{}", text, active_);
}

void CoveringSupports::require_dimension(Index n) const {
  if (sets_.entries > 0) require_length(spec(), sets_.entries, n);
  if (last_ >= n)
    throw InvalidArgument(
        fmt::format("{}: names entry {}, but the vectors have {} entries, counted from 0", spec(), last_, n));
}

double CoveringSupports::factor() const {
  if (!overlap_ || active_ == 1 || active_ == Index(sets_.members.size())) return 1;
  const auto active = double(active_);
  return std::sqrt(1 - std::pow(1 - 1 / active, active));
}

void CoveringSupports::select(ConstVectorRef gains, Marks& kept) const {
  kept.assign(std::size_t(gains.size()), 0);
  for (Index round = 0; round < active_; ++round) {
    Index best = -1;
    double most = 0;
    for (std::size_t s = 0; s < sets_.members.size(); ++s) {
      double sum = 0;
      for (const Index i : sets_.members[s])
        if (kept[std::size_t(i)] == 0) sum += gains[i];
      if (sum > most) {
        most = sum;
        best = Index(s);
      }
    }
    if (best < 0) return;
    for (const Index i : sets_.members[std::size_t(best)]) kept[std::size_t(i)] = 1;
  }
}

bool CoveringSupports::coverable(Marks& open, Index left, Index sets) const {
  if (left == 0) return true;
  if (left > sets * largest_) return false;
  // Of the entry that the fewest sets have, one is taken.
  std::size_t rarest = open.size();
  for (std::size_t i = 0; i < open.size(); ++i)
    if (open[i] != 0 && (rarest == open.size() || sets_of_[i].size() < sets_of_[rarest].size())) rarest = i;
  for (const Index s : sets_of_[rarest]) {
    std::vector<Index> covered;
    for (const Index i : sets_.members[std::size_t(s)])
      if (open[std::size_t(i)] != 0) covered.push_back(i);
    for (const Index i : covered) open[std::size_t(i)] = 0;
    if (coverable(open, left - Index(covered.size()), sets - 1)) return true;
    for (const Index i : covered) open[std::size_t(i)] = 1;
  }
  return false;
}

bool CoveringSupports::allows(ConstVectorRef u) const {
  if (u.size() <= last_ || (sets_.entries > 0 && u.size() != sets_.entries)) return false;
  Marks open(sets_of_.size(), 0);
  Index left = 0;
  for (Index i = 0; i < u.size(); ++i) {
    if (u[i] == 0) continue;
    if (i > last_ || sets_of_[std::size_t(i)].empty()) return false;
    open[std::size_t(i)] = 1;
    ++left;
  }
  return coverable(open, left, active_);
}

Index CoveringSupports::best_single(ConstVectorRef g) const {
  Index best = -1;
  for (Index i = 0; i <= std::min(last_, g.size() - 1); ++i)
    if (!sets_of_[std::size_t(i)].empty() && (best < 0 || g[i] > g[best])) best = i;
  return std::max<Index>(best, 0);
}

Atoms entry_sets(EntrySets sets, Index active) {
  return std::make_shared<UnitVectors>(false, std::make_shared<CoveringSupports>(std::move(sets), active));
}

}  // namespace pursuit
