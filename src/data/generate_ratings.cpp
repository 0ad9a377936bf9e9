#include "pursuit/data/generate_ratings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "data/alias_table.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {

namespace {

// Chosen to look like MovieLens: the most active hundredth of the rows holds a tenth of the entries, the most
// popular hundredth of the columns a fifth.
constexpr double kRowSpread = 1.1, kColumnSpread = 1.6;
constexpr double kMean = 3.5, kRowOffset = 0.4, kColumnOffset = 0.5, kTaste = 0.5;

void require(bool holds, const std::string& defect) {
  if (!holds) throw InvalidArgument(defect);
}

void require_possible(const RatingsShape& shape) {
  constexpr Index kMost = std::numeric_limits<int>::max();
  for (const auto& [name, count] : {std::pair("rows", shape.rows), std::pair("columns", shape.cols)}) {
    require(count >= 1 && count <= kMost,
            fmt::format("the number of {} is {}; allowed are 1 to {}", name, count, kMost));
  }
  require(shape.entries >= 1 && shape.entries <= shape.rows * shape.cols,
          fmt::format("the number of entries is {}; {} rows and {} columns allow 1 to {}", shape.entries,
                      shape.rows, shape.cols, shape.rows * shape.cols));
  require(shape.rank >= 0 && shape.rank <= 1000,
          fmt::format("the rank is {}; allowed are 0 to 1000", shape.rank));
  require(shape.noise >= 0 && std::isfinite(shape.noise),
          fmt::format("the noise is {}; allowed are numbers from 0 on", shape.noise));
}

/// Log-normal: most are small, a few are large.
std::vector<double> heavy_tailed(Index count, double spread, Random& random) {
  std::vector<double> weights(static_cast<std::size_t>(count));
  for (double& weight : weights) weight = std::exp(spread * random.gaussian());
  return weights;
}

/// How many entries each row has: in proportion to its weight, but at least one and at most `most`, `total`
/// together. Where there are too few for all rows, some have none.
std::vector<Index> share_out(Index total, const std::vector<double>& weights, Index most) {
  const Index least = total >= static_cast<Index>(weights.size()) ? 1 : 0;
  std::vector<Index> counts(weights.size());
  const auto count_at = [&](double scale) {
    Index sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double share = std::min(scale * weights[i], static_cast<double>(most));
      counts[i] = std::clamp(static_cast<Index>(share), least, most);
      sum += counts[i];
    }
    return sum;
  };
  // The largest scale that gives no more than there are.
  double low = 0, high = 1;
  while (count_at(high) < total && high < 1e300) high *= 2;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (count_at(middle) <= total ? low : high) = middle;
  }
  Index left = total - count_at(low);
  for (std::size_t i = 0; left > 0; i = (i + 1) % counts.size()) {
    if (counts[i] == most) continue;
    ++counts[i];
    --left;
  }
  return counts;
}

/// Which columns a row must hold so that no column stays empty, for each row: a column goes to a row drawn at
/// random that has room.
class PromisedColumns {
 public:
  PromisedColumns(const std::vector<Index>& counts, Index cols, Index entries, Random& random)
      : starts_(counts.size() + 1, 0) {
    std::vector<int> columns(static_cast<std::size_t>(cols));
    std::iota(columns.begin(), columns.end(), 0);
    for (std::size_t k = columns.size() - 1; k > 0; --k)
      std::swap(columns[k], columns[static_cast<std::size_t>(random.below(static_cast<Index>(k) + 1))]);
    columns.resize(static_cast<std::size_t>(std::min(cols, entries)));

    const auto rows = static_cast<Index>(counts.size());
    std::vector<Index> promised(counts.size(), 0);
    std::vector<std::size_t> row_of;
    row_of.reserve(columns.size());
    while (row_of.size() < columns.size()) {
      auto row = static_cast<std::size_t>(random.below(rows));
      while (promised[row] == counts[row]) row = (row + 1) % counts.size();
      ++promised[row];
      row_of.push_back(row);
    }
    for (std::size_t i = 0; i < counts.size(); ++i)
      starts_[i + 1] = starts_[i] + static_cast<std::size_t>(promised[i]);
    columns_.resize(columns.size());
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t k = 0; k < columns.size(); ++k) columns_[next[row_of[k]]++] = columns[k];
  }

  std::pair<const int*, const int*> of(std::size_t row) const {
    return {columns_.data() + starts_[row], columns_.data() + starts_[row + 1]};
  }

 private:
  std::vector<std::size_t> starts_;
  std::vector<int> columns_;
};

/// Draws the columns of one row after the other, popular ones more often, none twice in a row.
class ColumnDraw {
 public:
  explicit ColumnDraw(std::vector<double> popularity)
      : popularity_(std::move(popularity)), alias_(popularity_), last_row_(popularity_.size(), -1) {}

  /// `count` columns for `row`, sorted, the promised ones among them.
  void draw(int row, Index count, std::pair<const int*, const int*> promised, Random& random,
            std::vector<int>& columns) {
    columns.clear();
    const auto take = [&](int column) {
      if (std::exchange(last_row_[static_cast<std::size_t>(column)], row) != row) columns.push_back(column);
    };
    const auto wanted = static_cast<std::size_t>(count);
    std::for_each(promised.first, promised.second, take);
    // Drawing again what the row has already is quick while it has little; a row that has much would wait
    // long for the last unpopular columns.
    for (Index tries = 8 * count; tries > 0 && columns.size() < wanted; --tries) take(alias_.draw(random));
    if (columns.size() < wanted) draw_among_others(row, wanted - columns.size(), random, columns);
    std::sort(columns.begin(), columns.end());
  }

 private:
  /// The same distribution by exponential clocks: a column rings early in proportion to its popularity, and
  /// the first to ring are taken.
  void draw_among_others(int row, std::size_t count, Random& random, std::vector<int>& columns) {
    clocks_.clear();
    for (std::size_t j = 0; j < popularity_.size(); ++j) {
      if (last_row_[j] == row) continue;
      clocks_.emplace_back(-std::log1p(-random.uniform()) / popularity_[j], static_cast<int>(j));
    }
    std::nth_element(clocks_.begin(), clocks_.begin() + static_cast<std::ptrdiff_t>(count - 1),
                     clocks_.end());
    for (std::size_t k = 0; k < count; ++k) columns.push_back(clocks_[k].second);
  }

  std::vector<double> popularity_;
  io::AliasTable alias_;
  std::vector<int> last_row_;  // that each column was drawn for
  std::vector<std::pair<double, int>> clocks_;
};

/// What a rating is expected to be, noise aside.
class Taste {
 public:
  Taste(const RatingsShape& shape, Random& random)
      : rank_(static_cast<std::size_t>(shape.rank)),
        // Both factors have this spread; the product of the two then has the spread kTaste.
        spread_(std::sqrt(kTaste / std::sqrt(std::max(1.0, static_cast<double>(shape.rank))))),
        row_(rank_),
        offsets_(static_cast<std::size_t>(shape.cols)),
        cols_(rank_ * offsets_.size()) {
    for (float& offset : offsets_) offset = static_cast<float>(kColumnOffset * random.gaussian());
    for (float& factor : cols_) factor = static_cast<float>(spread_ * random.gaussian());
  }

  void next_row(Random& random) {
    base_ = static_cast<float>(kMean + kRowOffset * random.gaussian());
    for (float& factor : row_) factor = static_cast<float>(spread_ * random.gaussian());
  }

  double of(int column) const {
    const auto j = static_cast<std::size_t>(column);
    return std::inner_product(row_.begin(), row_.end(),
                              cols_.begin() + static_cast<std::ptrdiff_t>(j * rank_), base_ + offsets_[j]);
  }

 private:
  std::size_t rank_;
  double spread_;
  float base_ = 0;
  std::vector<float> row_, offsets_, cols_;
};

float half_stars(double rating) {
  return static_cast<float>(std::clamp(std::round(2 * rating) / 2, 0.5, 5.0));
}

}  // namespace

ObservedEntries generate_ratings(const RatingsShape& shape) {
  require_possible(shape);
  Random random(shape.seed);
  const std::vector<Index> counts =
      share_out(shape.entries, heavy_tailed(shape.rows, kRowSpread, random), shape.cols);
  const PromisedColumns promised(counts, shape.cols, shape.entries, random);
  ColumnDraw draw(heavy_tailed(shape.cols, kColumnSpread, random));
  Taste taste(shape, random);

  ObservedEntries entries{shape.rows, shape.cols, {}, {}, {}};
  const auto total = static_cast<std::size_t>(shape.entries);
  entries.row.reserve(total);
  entries.col.reserve(total);
  entries.value.reserve(total);
  std::vector<int> columns;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    draw.draw(static_cast<int>(i), counts[i], promised.of(i), random, columns);
    taste.next_row(random);
    for (const int j : columns) {
      entries.row.push_back(static_cast<int>(i));
      entries.col.push_back(j);
      entries.value.push_back(half_stars(taste.of(j) + shape.noise * random.gaussian()));
    }
  }
  return entries;
}

}  // namespace pursuit
