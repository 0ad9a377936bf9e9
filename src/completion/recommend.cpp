#include "pursuit/completion/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.hpp"
#include "completion/best_products.hpp"
#include "completion/predictor.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// The best by predicted value before it is clipped, for many may reach the top of the range; then clipped.
std::vector<Recommendation> best_of(std::vector<Recommendation> candidates, const ListOptions& options,
                                    const Predictor& predictor) {
  const auto rank = [&](const Recommendation& each) {
    return options.optimism == 0 ? each.prediction.value
                                 : each.prediction.value + options.optimism * each.prediction.deviation;
  };
  const auto better = [&](const Recommendation& a, const Recommendation& b) {
    const double of_a = rank(a), of_b = rank(b);
    return of_a != of_b ? of_a > of_b : a.col < b.col;
  };
  const auto kept = std::min<std::size_t>(std::size_t(options.count), candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + std::ptrdiff_t(kept), candidates.end(), better);
  std::vector<Recommendation> best(candidates.begin(), candidates.begin() + std::ptrdiff_t(kept));
  for (Recommendation& each : best) each.prediction = predictor.clipped(each.prediction);
  return best;  // in memory of its own size: there may be as many lists as rows
}

void require_sensible(const ListOptions& options, const CompletionModel& model) {
  if (options.count < 0)
    throw InvalidArgument(fmt::format("{} recommendations: must be 0 or more", options.count));
  if (!std::isfinite(options.optimism))
    throw InvalidArgument(fmt::format("optimism {}: must be a finite number", options.optimism));
  const Index columns = model.column_count();
  if (options.left_out && options.left_out->size() != model.row_count())
    throw InvalidArgument(fmt::format("entries to leave out of {} rows; the matrix has {}",
                                      options.left_out->size(), model.row_count()));
  if (!options.columns) return;
  int before = -1;
  for (const int j : *options.columns) {
    if (j <= before || j >= columns)
      throw InvalidArgument(
          fmt::format("column {} behind {}: columns must ascend and lie in 0 to {}", j, before, columns - 1));
    before = j;
  }
}

/// The entries of a row that are left out of its list, ascending.
std::span<const int> left_out_of(int row, const ListOptions& options) {
  if (!options.left_out || row < 0) return {};
  return {options.left_out->index.data() + options.left_out->start[row],
          std::size_t(options.left_out->count(row))};
}

}  // namespace

std::vector<Recommendation> recommend(const CompletionModel& model, int row, Index count,
                                      std::span<const int> excluded) {
  const ListOptions options{.count = count};
  require_sensible(options, model);
  const Predictor predictor(model);
  predictor.require_inside({row, -1});
  std::vector<Recommendation> candidates;
  candidates.reserve(std::size_t(model.column_count()));
  for (int j = 0; j < model.column_count(); ++j)
    if (!std::binary_search(excluded.begin(), excluded.end(), j))
      candidates.push_back({j, predictor.unclipped({row, j})});
  return best_of(std::move(candidates), options, predictor);
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
  FactorMatrix cols = FactorMatrix::Zero(model.column_count(), own + atoms + 2 + (draws > 0 ? width : 0));
  if (draws == 0) cols.leftCols(own) = model.cols.mean;
  for (Index s = 0; s < draws; ++s) cols.middleCols(s * drawn, drawn) = *draws_[std::size_t(s)].second;
  for (Index j = 0; j < cols.rows() && atoms > 0; ++j) {
    const AtomMember column = predictor_->column(int(j));
    for (Index k = 0; k < atoms; ++k) cols(j, own + k) = float(column.mean(k));
  }
  for (Index j = 0; j < cols.rows(); ++j) cols(j, own + atoms + 1) = selection(model.cols, int(j));
  for (const int j : model.cols.unseen) {
    cols(j, own + atoms) = 1;
    if (draws == 0) continue;
    cols.row(j).head(own).setZero();
    cols.row(j).tail(width) = model.cols.mean.row(j);
  }
  products_ = std::make_shared<BestProducts>(std::move(cols));
}

/// What a row is multiplied with columns by; what it adds to all of them alike is left out.
void Recommender::fill_row(int row, Eigen::Ref<Eigen::RowVectorXf> factors) const {
  const Index atoms = model_.atoms.rank(), width = model_.rows.mean.cols();
  const Index all = products_->vectors().cols(), own = all - atoms - 2 - (draws_.empty() ? 0 : width);
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
    factors[all - width] = 1;
  }
  const AtomMember member = predictor_->row(row);
  for (Index k = 0; k < atoms; ++k) factors[own + k] = float(member.mean(k) / model_.scale);
}

bool Recommender::has_product(int row) const {
  return row >= 0 && (draws_.empty() || has_entries(model_.rows, row));
}

/// Every column is predicted.
std::vector<Recommendation> Recommender::best_of_all(int row, const ListOptions& options) const {
  const std::span<const int> excluded = left_out_of(row, options);
  std::vector<Recommendation> candidates;
  const auto consider = [&](int j) {
    if (!std::binary_search(excluded.begin(), excluded.end(), j))
      candidates.push_back({j, predictor_->unclipped({row, j})});
  };
  if (options.columns)
    for (const int j : *options.columns) consider(j);
  else
    for (int j = 0; j < model_.column_count(); ++j) consider(j);
  return best_of(std::move(candidates), options, *predictor_);
}

std::vector<std::vector<Recommendation>> Recommender::lists(std::span<const int> rows,
                                                            const ListOptions& options, int threads) const {
  require_sensible(options, model_);
  for (const int row : rows) predictor_->require_inside({row, -1});
  const auto count = Index(rows.size());
  std::vector<std::vector<Recommendation>> result(rows.size());
  if (options.count == 0) return result;
  // The order is that of probabilities, or of bounds, which no product gives.
  if (model_.loss.kind != Loss::squares || options.optimism != 0) {
    parallel_for(count, resolve_threads(threads),
                 [&](Index k) { result[std::size_t(k)] = best_of_all(rows[std::size_t(k)], options); });
    return result;
  }
  std::vector<int> place;  // of columns among those that lists may hold
  if (options.columns) {
    place.assign(std::size_t(model_.column_count()), -1);
    for (std::size_t p = 0; p < options.columns->size(); ++p)
      place[std::size_t((*options.columns)[p])] = int(p);
  }
  std::shared_ptr<const BestProducts> products = products_;
  if (options.columns)
    products = std::make_shared<BestProducts>(products_->vectors()(*options.columns, Eigen::all));
  constexpr Index kBlock = BestProducts::kBlock;
  parallel_for((count + kBlock - 1) / kBlock, resolve_threads(threads), [&](Index block) {
    const Index first = block * kBlock, number = std::min(kBlock, count - first);
    FactorMatrix queries = FactorMatrix::Zero(number, products->vectors().cols());
    for (Index i = 0; i < number; ++i)
      if (const int row = rows[std::size_t(first + i)]; has_product(row)) fill_row(row, queries.row(i));
    std::vector<std::vector<int>> places(options.columns ? std::size_t(number) : 0);  // of what is left out
    const auto best = products->of(queries, options.count, [&](Index i) {
      const std::span<const int> excluded = left_out_of(rows[std::size_t(first + i)], options);
      if (!options.columns) return excluded;
      std::vector<int>& own = places[std::size_t(i)];
      for (const int j : excluded)
        if (place[std::size_t(j)] >= 0) own.push_back(place[std::size_t(j)]);
      return std::span<const int>(own);
    });
    for (Index i = 0; i < number; ++i) {
      const int row = rows[std::size_t(first + i)];
      auto& list = result[std::size_t(first + i)];
      if (!has_product(row)) {
        list = best_of_all(row, options);
        continue;
      }
      std::vector<Recommendation> candidates;
      for (const ScoredItem& each : best[std::size_t(i)]) {
        const int col = options.columns ? (*options.columns)[std::size_t(each.item)] : each.item;
        candidates.push_back({col, predictor_->unclipped({row, col})});
      }
      list = best_of(std::move(candidates), options, *predictor_);
    }
  });
  return result;
}

std::vector<std::vector<Recommendation>> Recommender::of_rows(int first, int last, Index count,
                                                              const GroupedEntries* seen, int threads) const {
  if (first < 0 || last < first || last > model_.row_count())
    throw InvalidArgument(fmt::format("rows {} to {}: the matrix has {}", first, last, model_.row_count()));
  std::vector<int> rows(std::size_t(last - first));
  std::iota(rows.begin(), rows.end(), first);
  return lists(rows, {.count = count, .left_out = seen}, threads);
}

Recommender::Vectors Recommender::vectors() const {
  // Behind what fill_row() multiplies: the constant that it leaves out; and where columns have draws, their
  // factors, for rows that have none.
  const FactorMatrix& cols = products_->vectors();
  const Index width = cols.cols(), own = draws_.empty() ? 0 : model_.cols.mean.cols();
  const Index atoms = model_.atoms.rank(), marks = width - own - 2;  // where no entries and selection stand
  Vectors result{FactorMatrix::Zero(model_.row_count(), width + 1 + own),
                 FactorMatrix::Zero(model_.column_count(), width + 1 + own)};
  result.cols.leftCols(width) = cols;
  result.cols.col(width).setOnes();
  if (own > 0) result.cols.rightCols(own) = model_.cols.mean;
  for (int i = 0; i < model_.row_count(); ++i) {
    auto row = result.rows.row(i);
    fill_row(i, row.head(width));
    if (!has_product(i)) {
      row.head(marks - atoms).setZero();
      row[marks] = selection(model_.rows, i);
      row.segment(width - own, own).setZero();
      row.tail(own) = model_.rows.mean.row(i);
      row[width + 1] = 1;
    }
    row *= float(model_.scale);
    const double rest = row.cast<double>().dot(result.cols.row(0).cast<double>());
    row[width] = float(predictor_->linear_mean({i, 0}) - rest);
  }
  return result;
}

}  // namespace pursuit
