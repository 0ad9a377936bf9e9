#pragma once
// Entries that count more and less.

#include <span>
#include <string>

#include "base/chunks.hpp"
#include "pursuit/data/observed_entries.hpp"
#include "pursuit/objective/loss.hpp"

namespace pursuit {

/// InvalidArgument or InvalidInput unless there are as many weights as entries, of at least 0, and one above
/// it; no weights are right too.
void require_weights(std::span<const float> weights, const ObservedEntries& entries);

/// InvalidInput, naming the first entry that counts and that the loss does not take.
void require_domain(const Loss& loss, const ObservedEntries& entries, std::span<const float> weights = {});

/// InvalidInput: the loss does not take the value of this entry.
[[noreturn]] void refuse_value(const Loss& loss, int row, int col, float value);

/// Entries with their weights, which are entries of the same places; none: all count alike.
struct WeightedEntries {
  ObservedEntries entries, weights;

  WeightedEntries() = default;
  WeightedEntries(ObservedEntries own, ObservedEntries own_weights)
      : entries(std::move(own)), weights(std::move(own_weights)) {}
  /// With weights in the order of the entries.
  WeightedEntries(ObservedEntries own, std::span<const float> own_weights);

  Index size() const { return entries.size(); }

  /// Takes a share out of them, as pursuit::hold_back.
  WeightedEntries hold_back(double share, std::uint64_t seed, int threads);
  void put_back(const WeightedEntries& held);

  /// Without the entries that do not count.
  void drop_weightless();
};

/// A mean, from parts of it.
struct WeightedMean {
  double sum = 0, weight = 0;

  WeightedMean& operator+=(const WeightedMean& more) {
    sum += more.sum;
    weight += more.weight;
    return *this;
  }
  double value() const { return sum / weight; }
};

/// Of a number of each entry.
template <class OfEntry>
WeightedMean mean_over(const WeightedEntries& all, int threads, const OfEntry& of_entry) {
  const std::vector<float>& weights = all.weights.value;
  return chunked_sum<WeightedMean>(Chunks(all.size()), threads, [&](Index first, Index count) {
    WeightedMean mean;
    for (Index e = first; e < first + count; ++e) {
      const double counts = weights.empty() ? 1.0 : double(weights[e]);
      mean += {counts * of_entry(e), counts};
    }
    return mean;
  });
}

}  // namespace pursuit
