#include "pursuit/completion/choose_rank.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "algorithms/nonnegative_parts.hpp"
#include "base/parallel.hpp"
#include "base/require.hpp"
#include "completion/rank_folds.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/objective/make_objective.hpp"

namespace pursuit {
namespace {

void check(const ChooseOptions& o, Index rows, Index cols) {
  check_choice(o);
  const Index most = std::min(rows, cols);
  require(o.ranks.back() <= most,
          fmt::format("ranks: {} atoms of a {} x {} matrix; at most {} can be told from each other",
                      o.ranks.back(), rows, cols, most));
  const AtomSets sets(o.factor.left, o.factor.right, false);
  sets.mode(0).require_dimension(rows);
  sets.mode(1).require_dimension(cols);
  if (o.factor.loss.has_positive_means())
    require_nonnegative_parts(o.factor.loss, o.factor.weights, sets, {rows, cols}, o.ranks.back(),
                              {"left set", "right set"});
  if (double(rows) * double(cols) < kEntriesPerAtom * double(o.ranks.back()) * double(rows + cols))
    throw InvalidInput(fmt::format(
        "a {} x {} matrix has too few entries to hold some out and find {} atoms; fewer ranks are needed",
        rows, cols, o.ranks.back()));
}

/// All entries of the matrix, zeros too, times `scale`.
ObservedEntries all_entries(const DataMatrix& Y, double scale) {
  const auto stored = Y.stored_entries();
  if (!stored)
    throw InvalidArgument("choose_rank: the matrix is known by its products alone; entries are needed");
  constexpr double kMostEntries = std::numeric_limits<int>::max();
  if (double(Y.rows()) * double(Y.cols()) > kMostEntries)
    throw InvalidInput(
        fmt::format("a {} x {} matrix has more entries than can be held out one by one ({:.0f}); "
                    "take a part of its rows",
                    Y.rows(), Y.cols(), kMostEntries));
  ObservedEntries entries{Y.rows(), Y.cols(), {}, {}, {}};
  const auto count = std::size_t(Y.rows() * Y.cols());
  entries.row.reserve(count);
  entries.col.reserve(count);
  entries.value.assign(count, 0.0F);
  for (Index i = 0; i < Y.rows(); ++i) {
    for (Index j = 0; j < Y.cols(); ++j) {
      entries.row.push_back(int(i));
      entries.col.push_back(int(j));
    }
    for (std::int64_t k = stored->start[std::size_t(i)]; k < stored->start[std::size_t(i) + 1]; ++k) {
      const Index j =
          stored->is_dense() ? k - stored->start[std::size_t(i)] : Index(stored->index[std::size_t(k)]);
      entries.value[std::size_t(i * Y.cols() + j)] = float(scale * stored->value[std::size_t(k)]);
    }
  }
  return entries;
}

/// Everything but one of the parts.
ObservedEntries without(const std::vector<ObservedEntries>& parts, std::size_t left_out) {
  ObservedEntries rest{parts[0].rows, parts[0].cols, {}, {}, {}};
  for (std::size_t k = 0; k < parts.size(); ++k)
    if (k != left_out) put_back(rest, parts[k]);
  return rest;
}

class MatrixFold final : public RankFold {
 public:
  MatrixFold(const ChooseOptions& options, ObservedEntries training, const ObservedEntries& held_out,
             int number)
      : RankFold(options, AtomSets(options.factor.left, options.factor.right, false), training.value, number),
        training_(std::move(training)),
        held_out_(held_out) {
    f_ = make_objective(training_, {o_.loss, {}, o_.offsets, o_.row_scale}, 1);
  }

 private:
  double error(bool held_out) const override {
    const ObservedEntries& entries = held_out ? held_out_ : training_;
    const Expansion& x = f_->iterate();
    const Matrix left = x.scaled_left(), &right = x.right();
    Judge judge(*this);
    const OwnTerms& own = judge.own();
    for (std::size_t e = 0; e < entries.row.size(); ++e) {
      const int i = entries.row[e], j = entries.col[e];
      double predictor = left.row(i).dot(right.row(j));
      if (own.row_offsets.size() > 0) predictor += own.row_offsets[i] + own.col_offsets[j];
      if (o_.row_scale.size() > 0)
        predictor =
            o_.loss.has_log_link() ? predictor + std::log(o_.row_scale[i]) : predictor * o_.row_scale[i];
      judge.see(entries.value[e], predictor);
    }
    return judge.error();
  }

  ObservedEntries training_;
  const ObservedEntries& held_out_;
};

}  // namespace

RankChoice choose_rank(const DataMatrixPtr& Y, const ChooseOptions& options) {
  check(options, Y->rows(), Y->cols());
  // Entries are single numbers: of squares in a unit that they can be told in, of others as they are.
  const double scale = options.factor.loss.kind == Loss::squares ? unit_scale(Y->largest_magnitude()) : 1;
  const ObservedEntries entries = all_entries(*Y, scale);
  const auto parts =
      split(entries, fold_sizes(entries.size(), options.folds), options.factor.seed, options.factor.threads);
  return choose_by_folds(options, [&](int number) {
    return std::make_unique<MatrixFold>(options, without(parts, std::size_t(number)),
                                        parts[std::size_t(number)], number);
  });
}

}  // namespace pursuit
