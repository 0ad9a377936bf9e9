#pragma once
// The k largest of n keys, ties to the lowest index. O(n), no allocation after the first call of a thread.

#include <algorithm>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// The k largest keys are those above the threshold, and those equal to it at places before `ties_end`.
struct TopK {
  double threshold;
  Index ties_end;

  bool takes(double key, Index i) const { return key > threshold || (key == threshold && i < ties_end); }
};

/// Needs 1 <= k <= keys.size(), and no NaN.
TopK find_top_k(ConstVectorRef keys, Index k);

/// Calls take(i) for the indices of the k largest keys, in ascending order of index.
template <class Take>
void for_top_k(ConstVectorRef keys, Index k, const Take& take) {
  const TopK top = find_top_k(keys, k);
  for (Index i = 0; i < keys.size(); ++i)
    if (top.takes(keys[i], i)) take(i);
}

/// Of more keys than this a sample is looked at before all of them are.
inline constexpr Index kKeysWithoutSample = 4096;

/// The sample of n keys: blocks of neighbours, so that it costs few lines of memory, at equal distances.
struct Sampling {
  static constexpr Index kBlock = 8;

  Index size, stride;
  explicit Sampling(Index n)
      : size(n > 65536   ? 4096
             : n > 16384 ? 2048
                         : 1024),
        stride(n / (size / kBlock)) {}

  Index place(Index sampled) const { return sampled / kBlock * stride + sampled % kBlock; }
  /// How many are sampled of the keys before a place.
  Index before(Index place) const {
    return std::min(size, place / stride * kBlock + std::min(kBlock, place % stride));
  }
};

/// A search for the k largest of n keys with this sample looks one by one at keys above this bound alone,
/// unless there are too few.
double likely_bound(const std::vector<double>& sample, Index n, Index k);

/// How many keys lie above a range, and inside it.
struct Gathered {
  Index above, inside;
};

/// Keys that are made on the way and never stored as a vector: a search reads them once.
class KeySource {
 public:
  virtual ~KeySource() = default;
  virtual Index size() const = 0;
  /// The keys from place `first` on; NaN where a key makes no sense.
  virtual void copy(Index first, Index count, double* keys) const = 0;
  /// The keys in (lo, hi] with their places, in ascending order. `keys` and `places` have room for all and
  /// one more.
  virtual Gathered gather(double lo, double hi, double* keys, int* places) = 0;
};

/// The largest keys of a source, with those that were looked at one by one: all that are neither clearly
/// among the largest nor clearly not. Valid until the next search of the thread.
struct SourceTopK {
  bool found;  // false where a key made no sense
  TopK top;
  Index ties;  // keys equal to the threshold that are taken
  const double* keys;
  const int* places;
  Index inside;

  /// Calls take(key, place) for those that are among the largest; all keys above the range of the last gather
  /// are too.
  template <class Take>
  void for_each_kept(const Take& take) const {
    for (Index c = 0; c < inside; ++c)
      if (top.takes(keys[c], places[c])) take(keys[c], Index(places[c]));
  }
};
/// Needs 1 <= k <= source.size().
SourceTopK find_top_k(KeySource& source, Index k);

}  // namespace pursuit
