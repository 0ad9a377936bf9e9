#pragma once
// Fixed cuts of a range, and sums along them. Where a sum is cut and in which order its parts are added
// depends on the sizes alone: the same bits for any number of threads or processes.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace pursuit {

/// 0..size cut into a power of two of consecutive pieces, `least` long or longer, at most `most` of them.
class Chunks {
 public:
  explicit Chunks(Index size, Index least = 128, Index most = 256)
      : size_(size), count_(Index(std::bit_floor(std::uint64_t(std::clamp<Index>(size / least, 1, most))))) {}

  Index count() const { return count_; }
  Index first(Index chunk) const { return size_ / count_ * chunk + size_ % count_ * chunk / count_; }
  Index length(Index chunk) const { return first(chunk + 1) - first(chunk); }

 private:
  Index size_, count_;
};

/// The parts added in pairs, the pairs in pairs ...; the first part ends as the sum. add(into, part) adds
/// two.
template <class Part, class Add>
void tree_sum(std::vector<Part>& parts, const Add& add) {
  for (std::size_t step = 1; step < parts.size(); step *= 2)
    for (std::size_t c = 0; c + step < parts.size(); c += 2 * step) add(parts[c], parts[c + step]);
}

/// Sum of part(first, length) over the chunks, made on up to `threads` threads.
template <class Part, class MakePart>
Part chunked_sum(const Chunks& chunks, int threads, const MakePart& part) {
  std::vector<Part> parts(std::size_t(chunks.count()));
  parallel_for(chunks.count(), threads,
               [&](Index c) { parts[std::size_t(c)] = part(chunks.first(c), chunks.length(c)); });
  tree_sum(parts, [](Part& into, const Part& other) { into += other; });
  return std::move(parts.front());
}

}  // namespace pursuit
