#include "pursuit/completion/choose_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "algorithms/nonnegative_parts.hpp"
#include "algorithms/pursue_atoms.hpp"
#include "base/parallel.hpp"
#include "base/require.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/objective/make_objective.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {
namespace {

constexpr double kEntriesPerAtom = 2;  // held out and in all: fewer say nothing

/// What one fold found at one rank.
struct FoldScore {
  double error = 0, training = 0;
  Expansion atoms;
};

void check(const ChooseOptions& o, Index rows, Index cols) {
  require(!o.ranks.empty(), "ranks: at least one is needed");
  for (std::size_t i = 0; i < o.ranks.size(); ++i) {
    require(o.ranks[i] >= 1, fmt::format("ranks: {} is no number of atoms; 1 or more is needed", o.ranks[i]));
    require(i == 0 || o.ranks[i] > o.ranks[i - 1], "ranks: they must ascend");
  }
  const Index most = std::min(rows, cols);
  require(o.ranks.back() <= most,
          fmt::format("ranks: {} atoms of a {} x {} matrix; at most {} can be told from each other",
                      o.ranks.back(), rows, cols, most));
  require(o.folds >= 2, fmt::format("folds {}: at least 2 are needed", o.folds));
  require(!o.factor.entry_weights.any(), "weights of entries: ranks are chosen for entries that count alike");
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

/// One fold: the ranks one after the other, each from where the last one stands.
class Fold {
 public:
  Fold(const ChooseOptions& options, const ObservedEntries& training, const ObservedEntries& held_out,
       int number)
      : o_(options.factor), sets_(o_.left, o_.right, false), training_(training), held_out_(held_out) {
    o_.seed += std::uint64_t(number);
    o_.initial = {};
    o_.fixed = 0;
    o_.target_error = 0;
    f_ = make_objective(training, {o_.loss, {}, o_.offsets, o_.row_scale}, 1);
    double sum = 0, squares = 0;
    for (const float value : training.value) {
      sum += std::abs(value);
      squares += double(value) * value;
      lowest_ = std::min(lowest_, double(value));
      highest_ = std::max(highest_, double(value));
    }
    const bool in_units_of_data = o_.loss.kind == Loss::squares || o_.loss.kind == Loss::huber;
    const double unit = in_units_of_data ? std::sqrt(squares / double(training.size())) : 1;
    if (o_.weights.kind != WeightRule::convex && squares > 0) ridge_ = {Regularization::ridge, kRidge * unit};
    if (o_.loss.has_positive_means() || o_.loss.has_log_link())
      lowest_ = std::max(lowest_, kFloor * sum / double(training.size()));
  }

  FoldScore next(Index rank, const Observer& observer) {
    Run run({}, observer);
    FactorResult result;
    o_.rank = rank;
    // A run that found no more atoms finds none now.
    if (!exhausted_) {
      pursue_atoms(*f_, o_, sets_, {0, 0}, ridge_, run, result);
      exhausted_ = result.stop == Stop::no_ascent || result.stop == Stop::dependent_atom;
    }
    const OwnTerms own = f_->own_terms();
    return {error_on(held_out_, own), error_on(training_, own), f_->iterate()};
  }

 private:
  /// What a factor is where the entries that it stands on were held out is nobody's business but the ridge's;
  /// a hundredth and ten times as much find the same ranks.
  static constexpr double kRidge = 0.1;

  /// Means that must not vanish do not quite: one zero of a model beside one count would outweigh all else.
  static constexpr double kFloor = 1e-3;

  /// Kept within the range of what was factored, as completed matrices are: where nearly all that an atom
  /// stands on was held out, it may be anything.
  double within_range(double predictor) const {
    if (o_.loss.kind == Loss::bernoulli || o_.loss.kind == Loss::ordinal || lowest_ >= highest_)
      return predictor;
    return o_.loss.has_log_link() ? std::clamp(predictor, std::log(lowest_), std::log(highest_))
                                  : std::clamp(predictor, lowest_, highest_);
  }

  double error_on(const ObservedEntries& entries, const OwnTerms& own) const {
    const Expansion& x = f_->iterate();
    const Matrix left = x.scaled_left(), &right = x.right();
    double cost = 0, null = 0;
    for (std::size_t e = 0; e < entries.row.size(); ++e) {
      const int i = entries.row[e], j = entries.col[e];
      double predictor = left.row(i).dot(right.row(j));
      if (own.row_offsets.size() > 0) predictor += own.row_offsets[i] + own.col_offsets[j];
      if (o_.row_scale.size() > 0) {
        predictor =
            o_.loss.has_log_link() ? predictor + std::log(o_.row_scale[i]) : predictor * o_.row_scale[i];
      }
      const double y = entries.value[e];
      cost += cost_of(o_.loss, own, y, within_range(predictor));
      null += 0.5 * y * y;
    }
    if (o_.loss.kind == Loss::squares) return null > 0 ? std::sqrt(cost / null) : 0;
    return cost / double(entries.size());
  }

  FactorOptions o_;
  AtomSets sets_;
  const ObservedEntries &training_, &held_out_;
  std::unique_ptr<Objective> f_;
  double lowest_ = std::numeric_limits<double>::infinity(), highest_ = -lowest_;
  Regularization ridge_ = {};
  bool exhausted_ = false;
};

/// Mean and standard error.
std::pair<double, double> estimate(const std::vector<double>& values) {
  const double count = double(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (count - 1) / count) : 0.0};
}

double stability_of(const std::vector<std::vector<FoldScore>>& folds, std::size_t rank) {
  double sum = 0;
  int pairs = 0;
  for (std::size_t a = 0; a < folds.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b, ++pairs)
      sum += matched_cosine(folds[a][rank].atoms, folds[b][rank].atoms);
  }
  return pairs > 0 ? sum / pairs : 1;
}

std::string atoms_predict(Index count) {
  return fmt::format("{} {}", count, count == 1 ? "atom predicts" : "atoms predict");
}

/// The smallest rank as good as the best, and why.
void recommend_rank(RankChoice& choice) {
  const auto& ranks = choice.ranks;
  const auto best = std::min_element(
      ranks.begin(), ranks.end(), [](const RankScore& a, const RankScore& b) { return a.error < b.error; });
  choice.best = best->rank;
  auto chosen = best;
  for (auto each = ranks.begin(); each != best; ++each) {
    std::vector<double> worse(each->errors.size());
    for (std::size_t f = 0; f < worse.size(); ++f) worse[f] = each->errors[f] - best->errors[f];
    const auto [mean, deviation] = estimate(worse);
    if (mean <= deviation) {
      chosen = each;
      break;
    }
  }
  choice.rank = chosen->rank;
  choice.reason =
      chosen == best
          ? fmt::format("{} the entries held out best ({} {:.4g})", atoms_predict(best->rank),
                        choice.error_name, best->error)
          : fmt::format(
                "{} the entries held out as well as {} do, within the standard error of the "
                "difference ({} {:.4g} and {:.4g})",
                atoms_predict(chosen->rank), best->rank, choice.error_name, chosen->error, best->error);
  choice.reason += fmt::format(", and atoms are found again in other folds with a mean cosine of {:.3f}",
                               chosen->stability);
  if (best == ranks.end() - 1 && ranks.size() > 1)
    choice.reason +=
        fmt::format("; the error still falls at {}, the largest rank that was tried", best->rank);
}

}  // namespace

double matched_cosine(const Expansion& a, const Expansion& b) {
  if (a.rank() == 0 || b.rank() == 0) return a.rank() == b.rank() ? 1 : 0;
  Matrix cosines = Matrix::Ones(a.rank(), b.rank());
  for (Index mode = 0; mode < a.factors.modes(); ++mode) {
    const auto units = [](const Panel& panel) {
      Matrix result = panel;
      for (auto column : result.colwise()) column.stableNormalize();
      return result;
    };
    const Matrix left = units(a.factors[mode]), right = units(b.factors[mode]);
    cosines.array() *= (left.transpose() * right).array().abs();
  }
  double sum = 0;
  for (Index k = 0; k < std::min(a.rank(), b.rank()); ++k) {
    Index i = 0, j = 0;
    sum += cosines.maxCoeff(&i, &j);
    cosines.row(i).setConstant(-1);
    cosines.col(j).setConstant(-1);
  }
  return std::min(1.0, sum / double(std::max(a.rank(), b.rank())));
}

RankChoice choose_rank(const DataMatrixPtr& Y, const ChooseOptions& options) {
  check(options, Y->rows(), Y->cols());
  const Timer timer;
  const bool squares = options.factor.loss.kind == Loss::squares;
  // Entries are single numbers: of squares in a unit that they can be told in, of others as they are.
  const double scale = squares ? unit_scale(Y->largest_magnitude()) : 1;
  const ObservedEntries entries = all_entries(*Y, scale);
  const auto parts =
      split(entries, fold_sizes(entries.size(), options.folds), options.factor.seed, options.factor.threads);

  const std::size_t ranks = options.ranks.size();
  std::vector<std::vector<FoldScore>> folds(parts.size());
  std::mutex telling;
  double done = 0, all = 0;
  for (const Index rank : options.ranks) all += double(rank) * double(parts.size());
  bool stopped = false;
  const auto tell = [&](double more, const std::string& what) {
    const std::lock_guard lock(telling);
    done += more;
    if (!stopped && options.watch && !options.watch(done / all, what)) stopped = true;
    return !stopped;
  };
  parallel_for(Index(parts.size()), resolve_threads(options.factor.threads), [&](Index number) {
    const ObservedEntries training = without(parts, std::size_t(number));
    Fold fold(options, training, parts[std::size_t(number)], int(number));
    for (std::size_t k = 0; k < ranks; ++k) {
      const std::string what =
          fmt::format("fold {} of {}, {} atoms", number + 1, parts.size(), options.ranks[k]);
      FoldScore score = fold.next(options.ranks[k], [&](const Moment&) { return tell(0, what); });
      if (!tell(double(options.ranks[k]), what)) return;
      folds[std::size_t(number)].push_back(std::move(score));
    }
  });

  RankChoice choice;
  choice.error_name = squares ? "relative error" : fmt::format("mean {} loss", options.factor.loss.spec());
  std::size_t judged = ranks;
  for (const auto& fold : folds) judged = std::min(judged, fold.size());
  choice.interrupted = judged < ranks;
  choice.ranks.reserve(judged);
  for (std::size_t k = 0; k < judged; ++k) {
    RankScore score{.rank = options.ranks[k]};
    score.errors.reserve(folds.size());
    for (const auto& fold : folds) {
      score.errors.push_back(fold[k].error);
      score.training += fold[k].training / double(folds.size());
    }
    std::tie(score.error, score.deviation) = estimate(score.errors);
    score.stability = stability_of(folds, k);
    choice.ranks.push_back(std::move(score));
  }
  if (judged > 0) recommend_rank(choice);
  choice.seconds = timer.seconds();
  return choice;
}

}  // namespace pursuit
