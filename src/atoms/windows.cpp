#include "atoms/windows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pursuit/base/error.hpp"

namespace pursuit {

Windows::Windows(Index length, Index count) : length_(length), count_(count) {
  if (length < 1) throw InvalidArgument(fmt::format("{}: a window has at least 1 entry", spec()));
  if (count < 1) throw InvalidArgument(fmt::format("{}: at least 1 window is needed", spec()));
}

std::string Windows::spec() const {
  return count_ == 1 ? fmt::format("block:{}", length_) : fmt::format("blocks:{}:{}", length_, count_);
}

void Windows::require_dimension(Index n) const {
  if (length_ > n)
    throw InvalidArgument(fmt::format(
        "{}: a window of {} entries does not fit a vector of {}; allowed are 1..{}", spec(), length_, n, n));
  if (count_ > n)
    throw InvalidArgument(fmt::format(
        "{}: {} windows are more than a vector of {} entries has; allowed are 1..{}", spec(), count_, n, n));
}

void Windows::select(ConstVectorRef gains, Marks& kept) const {
  const Index n = gains.size(), k = std::min(length_, n);
  kept.assign(std::size_t(n), 0);
  // best(c, i): the largest gain of c windows within the first i entries. A window that ends at i starts at
  // i - k or, cut off, at 0. Windows are never shorter: gains are not negative.
  thread_local std::vector<double> best, sums;
  const auto width = std::size_t(n + 1);
  best.assign(width * std::size_t(count_ + 1), 0.0);
  sums.resize(width);
  // Sums of windows, not differences of prefix sums: those would lose small gains beside large ones.
  for (Index end = 1; end <= n; ++end) sums[std::size_t(end)] = 0;
  for (Index first = 0; first < n; first += k) {  // sums over [end - k, end), from two runs within tiles of k
    double run = 0;
    for (Index i = std::min(first + k, n) - 1; i >= first; --i) {
      run += gains[i];
      const Index end = i + k;
      if (end <= n) sums[std::size_t(end)] += run;
    }
    run = 0;
    for (Index i = first; i < std::min(first + k, n); ++i) {
      if (i + 1 - first < k) {
        run += gains[i];
        sums[std::size_t(i + 1)] += run;
      }
    }
  }
  for (Index c = 1; c <= count_; ++c) {
    double* row = best.data() + std::size_t(c) * width;
    const double* fewer = row - width;
    for (Index end = 1; end <= n; ++end)
      row[end] = std::max(row[end - 1], fewer[std::max<Index>(end - k, 0)] + sums[std::size_t(end)]);
  }
  Index end = n;
  for (Index c = count_; c > 0 && end > 0;) {
    const double* row = best.data() + std::size_t(c) * width;
    if (row[end] == row[end - 1]) {
      --end;
      continue;
    }
    const Index first = std::max<Index>(end - k, 0);
    std::fill(kept.begin() + first, kept.begin() + end, 1);
    end = first;
    --c;
  }
}

bool Windows::allows(ConstVectorRef u) const {
  Index used = 0;
  for (Index i = 0; i < u.size(); ++i)
    if (u[i] != 0) {  // a window that starts here reaches furthest
      if (++used > count_) return false;
      i += length_ - 1;
    }
  return true;
}

}  // namespace pursuit
