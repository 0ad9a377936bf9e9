#include "linalg/top_k.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "base/kernel.hpp"
#include "base/packs.hpp"

namespace pursuit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kFew = 16;  // so many keys are sorted out directly
constexpr Index kEntriesAtOnce = 8;
constexpr int kSteps = 32;  // where these do not narrow the range, the keys tie or differ by magnitudes

PURSUIT_KERNEL Index count_above(const double* keys, Index n, double bound) {
  packs::Counts lanes[packs::kPacks] = {};
  const Index even = n - n % packs::kPack;
  packs::for_each_pack(
      even, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        packs::Pack key;
        packs::load(keys + i, count, key);
        lanes[lane] -= key > bound;  // true is -1
      });
  const packs::Counts all = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  Index total = (all[0] + all[1]) + (all[2] + all[3]);
  for (Index i = even; i < n; ++i) total += keys[i] > bound;
  return total;
}

PURSUIT_KERNEL void extremes(const double* keys, Index n, double& lowest, double& highest) {
  packs::Pack low[packs::kPacks], high[packs::kPacks];
  for (Index lane = 0; lane < packs::kPacks; ++lane) low[lane] = high[lane] = packs::Pack{} + keys[0];
  const Index even = n - n % packs::kPack;
  packs::for_each_pack(
      even, [&](Index i, auto count, int lane) __attribute__((always_inline)) {
        packs::Pack key;
        packs::load(keys + i, count, key);
        low[lane] = key < low[lane] ? key : low[lane];
        high[lane] = key > high[lane] ? key : high[lane];
      });
  lowest = highest = keys[0];
  for (Index lane = 0; lane < packs::kPacks; ++lane)
    for (Index j = 0; j < packs::kPack; ++j) {
      lowest = std::min(lowest, low[lane][j]);
      highest = std::max(highest, high[lane][j]);
    }
  for (Index i = even; i < n; ++i) {
    lowest = std::min(lowest, keys[i]);
    highest = std::max(highest, keys[i]);
  }
}

/// Copies the keys in (lo, hi] and counts those above. Most blocks have none, or are passed without a look.
PURSUIT_KERNEL Gathered gather(const double* keys, Index n, double lo, double hi, double* out) {
  Index above = 0, inside = 0, i = 0;
  for (; i + kEntriesAtOnce <= n; i += kEntriesAtOnce) {
    packs::Counts over = {}, within = {};
    for (Index j = 0; j < kEntriesAtOnce; j += packs::kPack) {
      packs::Pack key;
      packs::load(keys + i + j, packs::Full(), key);
      over -= key > hi;
      within -= (key > lo) & (key <= hi);
    }
    above += (over[0] + over[1]) + (over[2] + over[3]);
    if (((within[0] | within[1]) | (within[2] | within[3])) == 0) continue;
    for (Index j = 0; j < kEntriesAtOnce; ++j) {
      out[inside] = keys[i + j];
      inside += Index(keys[i + j] > lo) & Index(keys[i + j] <= hi);
    }
  }
  for (; i < n; ++i) {
    above += keys[i] > hi;
    out[inside] = keys[i];
    inside += Index(keys[i] > lo) & Index(keys[i] <= hi);
  }
  return {above, inside};
}

/// The k-th largest key, how many lie above it and how many are equal to it.
struct Place {
  double key;
  Index above, equal;
};

Place among_few(std::vector<double>& keys, Index n, Index k) {
  std::nth_element(keys.begin(), keys.begin() + (k - 1), keys.begin() + n, std::greater<>());
  const double key = keys[std::size_t(k - 1)];
  return {key, std::count_if(keys.begin(), keys.begin() + (k - 1), [&](double x) { return x > key; }),
          std::count(keys.begin(), keys.begin() + n, key)};
}

/// Narrows (lo, hi] around the k-th largest by counting, which needs no data to move: where the counts at
/// both ends lead by interpolation, and by halves every other time.
Place search(const double* keys, Index n, Index k, std::vector<double>& inside) {
  double lo, hi;
  extremes(keys, n, lo, hi);
  Index below = n, above = 0;  // keys above lo, which is lowered a little, and above hi
  lo = std::nextafter(lo, -kInfinity);
  for (int step = 0; step < kSteps && below - above > kFew; ++step) {
    // Counts fall about exponentially towards the largest keys.
    const double most = double(below), wanted = double(k) - 0.5, least = double(above) + 0.5;
    const double share = step % 2 == 0 ? std::log(most / wanted) / std::log(most / least) : 0.5;
    double middle = lo + share * (hi - lo);
    if (!(middle > lo && middle < hi)) middle = lo + 0.5 * (hi - lo);
    if (!(middle > lo && middle < hi)) break;  // neighbours, or too far apart for their difference
    const Index count = count_above(keys, n, middle);
    (count >= k ? lo : hi) = middle;
    (count >= k ? below : above) = count;
  }
  inside.resize(std::size_t(n + 1));
  const Gathered found = gather(keys, n, lo, hi, inside.data());
  Place place = among_few(inside, found.inside, k - found.above);
  place.above += found.above;
  return place;
}

/// A narrow range (lo, hi] that almost surely holds the k-th largest of n keys, from the ranks in a sample.
struct Range {
  double lo, hi;
};
Range likely_range(const std::vector<double>& sample, Index size, Index n, Index k,
                   std::vector<double>& few) {
  const double rank = double(k) * double(size) / double(n), share = double(k) / double(n);
  const double spread = 3 * std::sqrt(double(size) * share * (1 - share)) + 4;
  const auto upper = Index(rank - spread), lower = Index(rank + spread);
  const double hi = upper >= 1 ? search(sample.data(), size, upper, few).key : kInfinity;
  const double lo =
      lower <= size ? std::nextafter(search(sample.data(), size, lower, few).key, -kInfinity) : -kInfinity;
  return {lo, hi};
}

Place search_or_sort(const double* keys, Index n, Index k, std::vector<double>& few) {
  if (n > 4 * kFew) return search(keys, n, k, few);
  few.assign(keys, keys + n);
  return among_few(few, n, k);
}

Place find(const double* keys, Index n, Index k) {
  thread_local std::vector<double> sample, inside, few;
  if (n <= kKeysWithoutSample) return search_or_sort(keys, n, k, few);
  const Sampling sampling(n);
  sample.resize(std::size_t(sampling.size));
  for (Index s = 0; s < sampling.size; s += Sampling::kBlock)
    std::copy_n(keys + sampling.place(s), Sampling::kBlock, sample.begin() + s);
  const auto [lo, hi] = likely_range(sample, sampling.size, n, k, few);
  inside.resize(std::size_t(n + 1));
  const Gathered found = gather(keys, n, lo, hi, inside.data());
  const Index left = k - found.above;
  if (left < 1 || left > found.inside) return search(keys, n, k, few);
  Place place = search_or_sort(inside.data(), found.inside, left, few);
  place.above += found.above;
  return place;
}

}  // namespace

double likely_bound(const std::vector<double>& sample, Index n, Index k) {
  thread_local std::vector<double> few;
  return likely_range(sample, Index(sample.size()), n, k, few).lo;
}

TopK find_top_k(ConstVectorRef keys, Index k) {
  const Index n = keys.size();
  const Place place = find(keys.data(), n, k);
  Index ties = k - place.above, end = n;
  if (ties < place.equal)
    for (end = 0; ties > 0; ++end) ties -= keys[end] == place.key;
  return {place.key, end};
}

SourceTopK find_top_k(KeySource& source, Index k) {
  thread_local std::vector<double> sample, keys, few;
  thread_local std::vector<int> places;
  const Index n = source.size();
  keys.resize(std::size_t(n + 1));
  places.resize(std::size_t(n + 1));
  Gathered found{0, 0};
  if (n > kKeysWithoutSample) {
    const Sampling sampling(n);
    sample.resize(std::size_t(sampling.size));
    for (Index s = 0; s < sampling.size; s += Sampling::kBlock)
      source.copy(sampling.place(s), Sampling::kBlock, sample.data() + s);
    if (std::all_of(sample.begin(), sample.end(), [](double key) { return std::isfinite(key); })) {
      const auto [lo, hi] = likely_range(sample, sampling.size, n, k, few);
      found = source.gather(lo, hi, keys.data(), places.data());
    }
  }
  if (k - found.above < 1 || k - found.above > found.inside)
    found = source.gather(-kInfinity, kInfinity, keys.data(), places.data());
  if (found.above + found.inside < k ||
      (found.above == 0 && found.inside == n &&
       !std::all_of(keys.begin(), keys.begin() + n, [](double key) { return std::isfinite(key); })))
    return {false, {}, 0, keys.data(), places.data(), 0};
  const Place place = search_or_sort(keys.data(), found.inside, k - found.above, few);
  const Index ties = k - found.above - place.above;
  Index end = n;
  if (ties < place.equal)
    for (Index c = 0, left = ties; left > 0; ++c)
      if (keys[std::size_t(c)] == place.key && --left == 0) end = places[std::size_t(c)] + 1;
  return {true, {place.key, end}, ties, keys.data(), places.data(), found.inside};
}

}  // namespace pursuit
