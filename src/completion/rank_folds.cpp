#include "completion/rank_folds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <mutex>
#include <tuple>

#include "algorithms/pursue_atoms.hpp"
#include "base/parallel.hpp"
#include "base/require.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/objective/means.hpp"

namespace pursuit {

void check_choice(const ChooseOptions& o) {
  require(!o.ranks.empty(), "ranks: at least one is needed");
  for (std::size_t i = 0; i < o.ranks.size(); ++i) {
    require(o.ranks[i] >= 1, fmt::format("ranks: {} is no number of atoms; 1 or more is needed", o.ranks[i]));
    require(i == 0 || o.ranks[i] > o.ranks[i - 1], "ranks: they must ascend");
  }
  require(o.folds >= 2, fmt::format("folds {}: at least 2 are needed", o.folds));
  require(!o.factor.entry_weights.any(), "weights of entries: ranks are chosen for entries that count alike");
}

void RankFold::settle(int number, double count, double sum, double squares) {
  // What a factor is where the entries that it stands on were held out is nobody's business but the ridge's;
  // a hundredth and ten times as much find the same ranks.
  constexpr double kRidge = 0.1;
  // Means that must not vanish do not quite: one zero of a model beside one count would outweigh all else.
  constexpr double kFloor = 1e-3;
  o_.seed += std::uint64_t(number);
  o_.initial = {};
  o_.fixed = 0;
  o_.target_error = 0;
  const bool in_units_of_data = o_.loss.kind == Loss::squares || o_.loss.kind == Loss::huber;
  const double unit = in_units_of_data ? std::sqrt(squares / count) : 1;
  if (o_.weights.kind != WeightRule::convex && squares > 0) ridge_ = {Regularization::ridge, kRidge * unit};
  if (o_.loss.has_positive_means() || o_.loss.has_log_link())
    lowest_ = std::max(lowest_, kFloor * sum / count);
}

FoldScore RankFold::next(Index rank, const Observer& observer) {
  Run run({}, observer);
  FactorResult result;
  o_.rank = rank;
  // A run that found no more atoms finds none now.
  if (!exhausted_) {
    pursue_atoms(*f_, o_, sets_, {}, ridge_, run, result);
    exhausted_ = result.stop == Stop::no_ascent || result.stop == Stop::dependent_atom;
  }
  return {error(true), error(false), f_->iterate()};
}

/// Kept within the range of what was factored, as completed matrices are: where nearly all that an atom
/// stands on was held out, it may be anything.
double RankFold::within_range(double predictor) const {
  if (o_.loss.kind == Loss::bernoulli || o_.loss.kind == Loss::ordinal || lowest_ >= highest_)
    return predictor;
  return o_.loss.has_log_link() ? std::clamp(predictor, std::log(lowest_), std::log(highest_))
                                : std::clamp(predictor, lowest_, highest_);
}

void RankFold::Judge::see(double y, double predictor) {
  cost_ += cost_of(fold_.o_.loss, own_, y, fold_.within_range(predictor));
  null_ += 0.5 * y * y;
  ++count_;
}

double RankFold::Judge::error() const {
  if (fold_.o_.loss.kind == Loss::squares) return null_ > 0 ? std::sqrt(cost_ / null_) : 0;
  return cost_ / count_;
}

namespace {

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

RankChoice choose_by_folds(const ChooseOptions& options,
                           const std::function<std::unique_ptr<RankFold>(int number)>& make_fold) {
  const Timer timer;
  const std::size_t ranks = options.ranks.size();
  std::vector<std::vector<FoldScore>> folds(static_cast<std::size_t>(options.folds));
  std::mutex telling;
  double done = 0, all = 0;
  for (const Index rank : options.ranks) all += double(rank) * double(folds.size());
  bool stopped = false;
  const auto tell = [&](double more, const std::string& what) {
    const std::lock_guard lock(telling);
    done += more;
    if (!stopped && options.watch && !options.watch(done / all, what)) stopped = true;
    return !stopped;
  };
  parallel_for(Index(folds.size()), resolve_threads(options.factor.threads), [&](Index number) {
    const std::unique_ptr<RankFold> fold = make_fold(int(number));
    for (std::size_t k = 0; k < ranks; ++k) {
      const std::string what =
          fmt::format("fold {} of {}, {} atoms", number + 1, folds.size(), options.ranks[k]);
      FoldScore score = fold->next(options.ranks[k], [&](const Moment&) { return tell(0, what); });
      if (!tell(double(options.ranks[k]), what)) return;
      folds[std::size_t(number)].push_back(std::move(score));
    }
  });

  RankChoice choice;
  choice.error_name = options.factor.loss.kind == Loss::squares
                          ? "relative error"
                          : fmt::format("mean {} loss", options.factor.loss.spec());
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
