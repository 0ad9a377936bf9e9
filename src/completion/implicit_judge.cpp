#include "completion/implicit_judge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/kernel.hpp"
#include "base/parallel.hpp"
#include "linalg/products.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr Index kMostJudged = 4000;  // rows; more would not make a choice any surer
constexpr Index kFewestJudged = 20;  // fewer say nothing
constexpr Index kScores = 1 << 21;   // at once, of one thread

/// How many are better than this one, those that are as good counting half: atoms that leave most of a row
/// at zero are not to be judged as if all of it came first.
PURSUIT_KERNEL double count_better(const float* scores, int count, int own) {
  int above = 0, equal = 0;
  for (int j = 0; j < count; ++j) {
    above += int(scores[j] > scores[own]);
    equal += int(scores[j] == scores[own]);
  }
  return above + 0.5 * (equal - 1);
}

}  // namespace

HeldBack hold_back_of_rows(GroupedEntries& by_row, double share, std::uint64_t seed) {
  std::vector<std::pair<RandomBlock, int>> rows;
  for (Index i = 0; i < by_row.size(); ++i)
    if (by_row.count(i) >= 2) rows.emplace_back(random_block(seed, std::uint64_t(i), 1), int(i));
  HeldBack result;
  if (share == 0 || Index(rows.size()) < kFewestJudged) return result;
  const auto judged = std::min<std::size_t>(rows.size(), std::size_t(kMostJudged));
  std::partial_sort(rows.begin(), rows.begin() + std::ptrdiff_t(judged), rows.end());
  for (std::size_t k = 0; k < judged; ++k) result.row.push_back(rows[k].second);
  std::sort(result.row.begin(), result.row.end());
  std::size_t next = 0;
  std::int64_t kept = 0, begin = 0;
  for (Index i = 0; i < by_row.size(); ++i) {
    const std::int64_t first = begin, last = begin = by_row.start[i + 1];
    RandomBlock bound{0, 0};
    if (next < judged && result.row[next] == i) {
      ++next;
      std::vector<RandomBlock> keys;
      for (std::int64_t e = first; e < last; ++e)
        keys.push_back(random_block(seed, std::uint64_t(i), 2 + std::uint64_t(by_row.index[e])));
      const auto count =
          std::clamp<std::int64_t>(std::llround(share * double(last - first)), 1, last - first - 1);
      std::nth_element(keys.begin(), keys.begin() + count, keys.end());
      bound = keys[std::size_t(count)];
      result.cols.emplace_back();
    }
    for (std::int64_t e = first; e < last; ++e) {
      if (bound != RandomBlock{0, 0} &&
          random_block(seed, std::uint64_t(i), 2 + std::uint64_t(by_row.index[e])) < bound) {
        result.cols.back().push_back(by_row.index[e]);
        continue;
      }
      by_row.index[kept] = by_row.index[e];
      by_row.value[kept++] = by_row.value[e];
    }
    by_row.start[i + 1] = kept;
  }
  by_row.index.resize(std::size_t(kept));
  by_row.value.resize(std::size_t(kept));
  return result;
}

double gain_of(const ImplicitVectors& of_rows, const ImplicitVectors& of_cols, const GroupedEntries& seen,
               const HeldBack& held, int threads) {
  const Index columns = of_cols.size(), width = of_cols.width;
  const Index at_once = std::clamp<Index>(kScores / columns, 1, 64), rows = Index(held.row.size());
  std::vector<double> gain(held.row.size(), 0.0);
  parallel_for((rows + at_once - 1) / at_once, threads, [&](Index block) {
    const Index first = block * at_once, count = std::min(at_once, rows - first);
    Matrix panel(width, count);
    for (Index k = 0; k < count; ++k)
      for (Index c = 0; c < width; ++c) panel(c, k) = of_rows.of(held.row[std::size_t(first + k)])[c];
    Eigen::MatrixXf scores(columns, count);
    multiply({of_cols.numbers.data(), columns, width, width, true}, panel, scores);
    for (Index k = 0; k < count; ++k) {
      const auto place = std::size_t(first + k);
      float* of_row = scores.col(k).data();
      const int row = held.row[place];
      for (std::int64_t e = seen.start[row]; e < seen.start[row + 1]; ++e) of_row[seen.index[e]] = -INFINITY;
      for (const int col : held.cols[place]) {
        const double better = count_better(of_row, int(columns), col);
        gain[place] += 1 / std::log2(better + 2) / double(held.cols[place].size());
      }
    }
  });
  double sum = 0;
  for (const double each : gain) sum += each;
  return sum / double(rows);
}

}  // namespace pursuit
