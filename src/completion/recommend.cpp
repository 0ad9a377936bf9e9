#include "pursuit/completion/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/kernel.hpp"
#include "base/parallel.hpp"
#include "completion/predictor.hpp"
#include "linalg/products.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr Index kBlockRows = 64, kBlockCols = 1024;  // of a block of scores, which stays in the second cache
constexpr Index kGroup = 32;                         // scores that are looked at together

/// The best by predicted value before it is clipped, for many may reach the top of the range; then clipped.
std::vector<Recommendation> best_of(std::vector<Recommendation> candidates, Index count,
                                    const Predictor& predictor) {
  const auto better = [](const Recommendation& a, const Recommendation& b) {
    return a.prediction.value != b.prediction.value ? a.prediction.value > b.prediction.value : a.col < b.col;
  };
  const auto kept = std::min<std::size_t>(std::size_t(count), candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + std::ptrdiff_t(kept), candidates.end(), better);
  std::vector<Recommendation> best(candidates.begin(), candidates.begin() + std::ptrdiff_t(kept));
  for (Recommendation& each : best) each.prediction = predictor.clipped(each.prediction);
  return best;  // in memory of its own size: there may be as many lists as rows
}

/// Every column is predicted but the excluded ones, which ascend.
std::vector<Recommendation> best_in_row(const Predictor& predictor, Index columns, int row, Index count,
                                        std::span<const int> excluded) {
  std::vector<Recommendation> candidates;
  candidates.reserve(std::size_t(columns));
  for (int j = 0; j < columns; ++j)
    if (!std::binary_search(excluded.begin(), excluded.end(), j))
      candidates.push_back({j, predictor.unclipped({row, j})});
  return best_of(std::move(candidates), count, predictor);
}

void require_count(Index count) {
  if (count < 0) throw InvalidArgument(fmt::format("{} recommendations: must be 0 or more", count));
}

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

}  // namespace

/// What may be among the best of a row, by scores that are off by at most half of `margin`.
struct Recommender::Candidates {
  struct Scored {
    float score;
    int col;
  };
  std::vector<Scored> scored;
  std::size_t count = 0, room = 0;
  double margin = 0;
  float threshold = std::numeric_limits<float>::lowest();  // what is left out scores minus infinity

  void offer(const float* scores, Index first, Index number) {
    int groups[kBlockCols / kGroup] = {};
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
                       [](const Scored& a, const Scored& b) { return a.score > b.score; });
      threshold = std::max(threshold, std::nextafter(float(last->score - margin), -INFINITY));
      std::erase_if(scored, [&](const Scored& each) { return each.score < threshold; });
    }
    room = 2 * std::max(scored.size(), count) + kGroup;
  }
};

std::vector<Recommendation> recommend(const CompletionModel& model, int row, Index count,
                                      std::span<const int> excluded) {
  require_count(count);
  const Predictor predictor(model);
  predictor.require_inside({row, -1});
  return best_in_row(predictor, model.column_count(), row, count, excluded);
}

Recommender::Recommender(const CompletionModel& model)
    : model_(model), predictor_(std::make_shared<Predictor>(model)) {
  // Of a column: offset and factors, or those of every draw, which columns without entries have none of;
  // structured atoms; whether it has no entries; its selection; with draws its factors if it has no entries.
  if (model.average_rows.size() > 0)
    draws_.emplace_back(&model.average_rows, &model.average_cols);
  else
    for (const CompletionSample& sample : model.samples) draws_.emplace_back(&sample.rows, &sample.cols);
  const Index width = model.cols.mean.cols(), drawn = draws_.empty() ? 0 : draws_[0].second->cols();
  const Index draws = Index(draws_.size()), own = draws > 0 ? draws * drawn : width;
  const Index atoms = model.atoms.rank();
  cols_ = FactorMatrix::Zero(model.column_count(), own + atoms + 2 + (draws > 0 ? width : 0));
  if (draws == 0) cols_.leftCols(own) = model.cols.mean;
  for (Index s = 0; s < draws; ++s) cols_.middleCols(s * drawn, drawn) = *draws_[std::size_t(s)].second;
  for (Index j = 0; j < cols_.rows() && atoms > 0; ++j) {
    const AtomMember column = predictor_->column(int(j));
    for (Index k = 0; k < atoms; ++k) cols_(j, own + k) = float(column.mean(k));
  }
  for (Index j = 0; j < cols_.rows(); ++j) cols_(j, own + atoms + 1) = selection(model.cols, int(j));
  for (const int j : model.cols.unseen) {
    cols_(j, own + atoms) = 1;
    if (draws == 0) continue;
    cols_.row(j).head(own).setZero();
    cols_.row(j).tail(width) = model.cols.mean.row(j);
  }
  for (Index j = 0; j < cols_.rows(); ++j)
    longest_column_ = std::max(longest_column_, double(cols_.row(j).norm()));
}

/// What a row is multiplied with columns by; what it adds to all of them alike is left out.
void Recommender::fill_row(int row, Eigen::Ref<Eigen::RowVectorXf> factors) const {
  const Index atoms = model_.atoms.rank(), width = model_.rows.mean.cols();
  const Index own = cols_.cols() - atoms - 2 - (draws_.empty() ? 0 : width);
  factors.setZero();
  factors[own + atoms] = selection(model_.rows, row);
  factors[own + atoms + 1] = has_entries(model_.rows, row) ? 0.0F : 1.0F;
  if (draws_.empty()) {
    factors.head(own) = model_.rows.mean.row(row);
    factors[0] = 1;
  } else {
    const auto count = float(draws_.size());
    for (std::size_t s = 0; s < draws_.size(); ++s) {
      const FactorMatrix& draw = *draws_[s].first;
      auto part = factors.segment(Index(s) * draw.cols(), draw.cols());
      part = draw.row(row) / count;
      factors[own + atoms] -= part[0];  // which is left out of columns with entries
      part[0] = 1 / count;
    }
    factors[own + atoms] += model_.rows.mean(row, 0);
    factors.tail(width) = model_.rows.mean.row(row);
    factors[cols_.cols() - width] = 1;
  }
  const AtomMember member = predictor_->row(row);
  for (Index k = 0; k < atoms; ++k) factors[own + k] = float(member.mean(k) / model_.scale);
}

void Recommender::score(int first, std::span<Candidates> best, const GroupedEntries* seen) const {
  const Index rows = Index(best.size()), width = cols_.cols();
  FactorMatrix factors(rows, width);
  std::vector<std::int64_t> next(best.size());  // entry of a row that is left out
  for (Index i = 0; i < rows; ++i) {
    fill_row(first + int(i), factors.row(i));
    constexpr double kRounding = std::numeric_limits<float>::epsilon();
    best[i].margin = 2 * kRounding * double(width + 4) * double(factors.row(i).norm()) * longest_column_;
    if (seen) next[i] = seen->start[first + i];
  }
  const Matrix panel = factors.transpose().cast<double>();
  Eigen::MatrixXf scores(kBlockCols, rows);
  for (Index col = 0; col < cols_.rows(); col += kBlockCols) {
    const Index count = std::min(kBlockCols, cols_.rows() - col);
    multiply({cols_.data() + col * width, count, width, width, true}, panel, scores.topRows(count));
    for (Index i = 0; i < rows; ++i) {
      float* of_row = scores.col(i).data();
      if (seen)
        for (; next[i] < seen->start[first + i + 1] && seen->index[next[i]] < col + count; ++next[i])
          of_row[seen->index[next[i]] - col] = -INFINITY;
      best[i].offer(of_row, col, count);
    }
  }
}

std::vector<std::vector<Recommendation>> Recommender::of_rows(int first, int last, Index count,
                                                              const GroupedEntries* seen, int threads) const {
  require_count(count);
  if (first < 0 || last < first || last > model_.row_count())
    throw InvalidArgument(fmt::format("rows {} to {}: the matrix has {}", first, last, model_.row_count()));
  std::vector<std::vector<Recommendation>> result(std::size_t(last - first));
  if (count == 0) return result;
  if (model_.loss.kind != Loss::squares) {  // the order is that of probabilities, which no product gives
    parallel_for(last - first, resolve_threads(threads), [&](Index k) {
      const Index row = first + k;
      const std::span<const int> left_out =
          seen ? std::span<const int>(seen->index.data() + seen->start[row], std::size_t(seen->count(row)))
               : std::span<const int>();
      result[std::size_t(k)] = best_in_row(*predictor_, model_.column_count(), int(row), count, left_out);
    });
    return result;
  }
  parallel_for((last - first + kBlockRows - 1) / kBlockRows, resolve_threads(threads), [&](Index block) {
    const int begin = first + int(block * kBlockRows), end = std::min(last, begin + int(kBlockRows));
    std::vector<Candidates> best(std::size_t(end - begin));
    for (Candidates& each : best) each.count = std::size_t(count), each.forget_the_rest();
    score(begin, best, seen);
    for (int row = begin; row < end; ++row) {
      if (!draws_.empty() && !has_entries(model_.rows, row)) {  // no draw knows it
        const auto columns = seen ? std::span(seen->index).subspan(seen->start[row], seen->count(row))
                                  : std::span<const int>();
        result[std::size_t(row - first)] = recommend(model_, row, count, columns);
        continue;
      }
      Candidates& of_row = best[std::size_t(row - begin)];
      of_row.forget_the_rest();
      std::vector<Recommendation> candidates;
      for (const auto& each : of_row.scored)
        candidates.push_back({each.col, predictor_->unclipped({row, each.col})});
      result[std::size_t(row - first)] = best_of(std::move(candidates), count, *predictor_);
    }
  });
  return result;
}

}  // namespace pursuit
