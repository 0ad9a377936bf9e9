#pragma once
// What is done to the entries of panels one by one, on all threads.

#include "base/chunks.hpp"
#include "base/work.hpp"

namespace pursuit {

/// What a number takes that comes from memory and goes there, in multiply-adds.
inline constexpr double kOfANumber = 8;

/// Calls change(first, count) for ranges of 0..size.
template <class Change>
void for_entries(Index size, int threads, const Change& change) {
  const Chunks chunks(size, Index(1) << 13, 1024);
  parallel_for(chunks.count(), threads_for(kOfANumber * double(size), threads),
               [&](Index chunk) { change(chunks.first(chunk), chunks.length(chunk)); });
}

inline auto entries_of(Matrix& X, Index first, Index count) {
  return Eigen::Map<Eigen::ArrayXd>(X.data() + first, count);
}
inline auto entries_of(const Matrix& X, Index first, Index count) {
  return Eigen::Map<const Eigen::ArrayXd>(X.data() + first, count);
}

inline void copy_entries(const Matrix& from, int threads, Matrix& to) {
  to.resize(from.rows(), from.cols());
  for_entries(from.size(), threads, [&](Index first, Index count) {
    entries_of(to, first, count) = entries_of(from, first, count);
  });
}

}  // namespace pursuit
