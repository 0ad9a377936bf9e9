#include "completion/best_products.hpp"

#include <algorithm>
#include <cmath>

#include "base/kernel.hpp"
#include "linalg/products.hpp"

namespace pursuit {
namespace {

constexpr Index kBlockItems = 1024;  // a block of scores stays in the second cache
constexpr Index kGroup = 32;         // scores that are looked at together

/// Numbers of scores at places whose group of kGroup holds one of at least `threshold`, most often none.
PURSUIT_KERNEL Index promising_groups(const float* scores, Index count, float threshold, int* groups) {
  Index found = 0;
  for (Index first = 0; first < count; first += kGroup) {
    int promising = 0;
    const Index last = std::min(count, first + kGroup);
    for (Index j = first; j < last; ++j) promising |= int(scores[j] >= threshold);
    groups[found] = int(first);
    found += promising;
  }
  return found;
}

/// What may be among the best of a query, by scores that are off by at most half of `margin`.
struct BestScores {
  std::vector<ScoredItem> scored;
  std::size_t count = 0, room = 0;
  double margin = 0;
  float threshold = std::numeric_limits<float>::lowest();  // what is left out scores minus infinity

  void offer(const float* scores, Index first, Index number) {
    int groups[kBlockItems / kGroup] = {};
    const Index found = promising_groups(scores, number, threshold, groups);
    for (Index g = 0; g < found; ++g)
      for (Index j = groups[g]; j < std::min<Index>(number, groups[g] + kGroup); ++j)
        if (scores[j] >= threshold) {
          scored.push_back({scores[j], int(first + j)});
          if (scored.size() >= room) forget_the_rest();
        }
  }

  void forget_the_rest() {
    if (scored.size() > count) {
      const auto last = scored.begin() + std::ptrdiff_t(count) - 1;
      std::nth_element(scored.begin(), last, scored.end(),
                       [](const ScoredItem& a, const ScoredItem& b) { return a.score > b.score; });
      threshold = std::max(threshold, std::nextafter(float(last->score - margin), -INFINITY));
      std::erase_if(scored, [&](const ScoredItem& each) { return each.score < threshold; });
    }
    room = 2 * std::max(scored.size(), count) + kGroup;
  }
};

}  // namespace

BestProducts::BestProducts(FactorMatrix items) : items_(std::move(items)) {
  for (Index j = 0; j < items_.rows(); ++j) longest_ = std::max(longest_, double(items_.row(j).norm()));
}

std::vector<ScoredItem> BestProducts::all_but(std::span<const int> left_out) const {
  std::vector<ScoredItem> all;
  for (int item = 0; item < int(items_.rows()); ++item)
    if (!std::binary_search(left_out.begin(), left_out.end(), item)) all.push_back({0, item});
  return all;
}

std::vector<std::vector<ScoredItem>> BestProducts::of(
    const FactorMatrix& queries, Index count,
    const std::function<std::span<const int>(Index query)>& left_out) const {
  const Index rows = queries.rows(), width = items_.cols();
  std::vector<BestScores> best(static_cast<std::size_t>(rows));
  std::vector<std::span<const int>> next(best.size());  // items of a query that are left out
  std::vector<std::vector<ScoredItem>> result(best.size());
  std::vector<bool> too_large(best.size());  // whose scores may be no numbers
  for (Index i = 0; i < rows; ++i) {
    constexpr double kRounding = std::numeric_limits<float>::epsilon();
    BestScores& of_query = best[std::size_t(i)];
    const double largest = double(queries.row(i).norm()) * longest_;
    too_large[std::size_t(i)] = !(largest < std::numeric_limits<float>::max());
    of_query.margin = 2 * kRounding * double(width + 4) * largest;
    of_query.count = std::size_t(count);
    of_query.forget_the_rest();
    next[std::size_t(i)] = left_out(i);
    if (too_large[std::size_t(i)]) result[std::size_t(i)] = all_but(next[std::size_t(i)]);
  }
  const Matrix panel = queries.transpose().cast<double>();
  Eigen::MatrixXf scores(kBlockItems, rows);
  for (Index first = 0; first < items_.rows(); first += kBlockItems) {
    const Index number = std::min(kBlockItems, items_.rows() - first);
    multiply({items_.data() + first * width, number, width, width, true}, panel, scores.topRows(number));
    for (Index i = 0; i < rows; ++i) {
      float* of_query = scores.col(i).data();
      std::span<const int>& out = next[std::size_t(i)];
      for (; !out.empty() && out.front() < first + number; out = out.subspan(1))
        of_query[out.front() - first] = -INFINITY;
      best[std::size_t(i)].offer(of_query, first, number);
    }
  }
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (too_large[i]) continue;
    best[i].forget_the_rest();
    result[i] = std::move(best[i].scored);
  }
  return result;
}

}  // namespace pursuit
