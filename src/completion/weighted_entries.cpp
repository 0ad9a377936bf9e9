#include "completion/weighted_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pursuit/base/error.hpp"
#include "pursuit/completion/split.hpp"

namespace pursuit {

void require_weights(std::span<const float> weights, const ObservedEntries& entries) {
  if (weights.empty()) return;
  if (Index(weights.size()) != entries.size())
    throw InvalidArgument(fmt::format("entry_weights: {} for {} entries; there must be as many",
                                      weights.size(), entries.size()));
  for (std::size_t e = 0; e < weights.size(); ++e)
    if (!(weights[e] >= 0 && std::isfinite(weights[e])))
      throw InvalidInput(
          fmt::format("entry_weights: the weight of the entry at ({}, {}) is {}; allowed are finite numbers "
                      "of at least 0",
                      entries.row[e], entries.col[e], weights[e]));
  if (std::all_of(weights.begin(), weights.end(), [](float weight) { return weight == 0; }))
    throw InvalidInput("entry_weights: every entry has weight 0; nothing was seen then");
}

void require_domain(const Loss& loss, const ObservedEntries& entries, std::span<const float> weights) {
  if (loss.kind == Loss::squares) return;
  for (std::size_t e = 0; e < entries.value.size(); ++e)
    if (!loss.accepts(entries.value[e]) && (weights.empty() || weights[e] > 0))
      refuse_value(loss, entries.row[e], entries.col[e], entries.value[e]);
}

void refuse_value(const Loss& loss, int row, int col, float value) {
  throw InvalidInput(fmt::format("the entry at row {}, column {} is {}; loss {} takes {}; {} would take it",
                                 row, col, value, loss.spec(), loss.domain(), losses_for(value)));
}

WeightedEntries::WeightedEntries(ObservedEntries own, std::span<const float> own_weights)
    : entries(std::move(own)) {
  if (own_weights.empty()) return;
  weights = {entries.rows, entries.cols, entries.row, entries.col, {own_weights.begin(), own_weights.end()}};
}

WeightedEntries WeightedEntries::hold_back(double share, std::uint64_t seed, int threads) {
  WeightedEntries held;  // which ones depends on their positions alone
  if (weights.size() > 0) held.weights = pursuit::hold_back(weights, share, seed, threads);
  held.entries = pursuit::hold_back(entries, share, seed, threads);
  return held;
}

void WeightedEntries::put_back(const WeightedEntries& held) {
  pursuit::put_back(entries, held.entries);
  if (held.weights.size() > 0) pursuit::put_back(weights, held.weights);
}

void WeightedEntries::drop_weightless() {
  if (weights.size() == 0) return;
  std::size_t kept = 0;
  for (std::size_t e = 0; e < weights.value.size(); ++e) {
    if (weights.value[e] == 0) continue;
    entries.row[kept] = weights.row[kept] = entries.row[e];
    entries.col[kept] = weights.col[kept] = entries.col[e];
    weights.value[kept] = weights.value[e];
    entries.value[kept++] = entries.value[e];
  }
  for (ObservedEntries* part : {&entries, &weights}) {
    part->row.resize(kept);
    part->col.resize(kept);
    part->value.resize(kept);
  }
}

}  // namespace pursuit
