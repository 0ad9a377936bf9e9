#include "pursuit/completion/implicit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/chunks.hpp"
#include "base/kernel.hpp"
#include "completion/implicit_factors.hpp"
#include "completion/newcomers.hpp"
#include "linalg/products.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr double kFirstZeros = 1, kFirstRidge = 0.003;  // at which the search for better ones begins
constexpr double kStep = 2;                             // factor between two that are tried
constexpr int kMostSteps = 8;                           // in one direction
constexpr Index kSearchAtoms = 15;                      // by which zeros and ridge are chosen: few are quick
constexpr int kSearchSweeps = 4;
constexpr int kRankSweeps = 5, kRefiningSweepsOfAll = 3;
constexpr int kUpdateSweeps = 3;
constexpr double kWorth = 2e-3;      // share of the gain that other settings must add
constexpr Index kMostJudged = 4000;  // rows; more would not make a choice any surer
constexpr Index kFewestJudged = 20;  // fewer say nothing
constexpr Index kScores = 1 << 21;   // at once, of one thread

void check_implicit(const ImplicitOptions& options, const ObservedEntries& entries) {
  if (options.max_rank < 1)
    throw InvalidArgument(fmt::format("max_rank {}: must be 1 or more", options.max_rank));
  if (!(options.validation >= 0 && options.validation < 1))
    throw InvalidArgument(fmt::format("validation {}: must be at least 0 and below 1", options.validation));
  for (std::size_t e = 0; e < entries.value.size(); ++e)
    if (!(entries.value[e] >= 0))
      throw InvalidInput(
          fmt::format("the entry at row {}, column {} is {}: implicit feedback is of numbers of at least 0 "
                      "(how often, how "
                      "long), for what was not seen counts as less than anything that was",
                      entries.row[e], entries.col[e], entries.value[e]));
  if (const CompletionModel* start = options.start) {
    if (!start->is_implicit())
      throw InvalidArgument("start: the model is not of implicit feedback and cannot start one that is");
    if (start->rows.size() > entries.rows || start->cols.size() > entries.cols)
      throw InvalidArgument(
          fmt::format("start: a model of {} x {} cannot start a {} x {} one; it must be as "
                      "large or smaller",
                      start->rows.size(), start->cols.size(), entries.rows, entries.cols));
  }
}

ObservedEntries without_zeros(ObservedEntries entries) {
  std::size_t kept = 0;
  for (std::size_t e = 0; e < entries.value.size(); ++e) {
    if (entries.value[e] == 0) continue;
    entries.row[kept] = entries.row[e];
    entries.col[kept] = entries.col[e];
    entries.value[kept++] = entries.value[e];
  }
  if (kept == 0) throw InvalidInput("every entry is 0: of implicit feedback nothing was seen then");
  entries.row.resize(kept);
  entries.col.resize(kept);
  entries.value.resize(kept);
  return entries;
}

/// Both orders of the same entries.
struct ImplicitData {
  ImplicitEntries by_row, by_col;

  ImplicitData(const ObservedMatrix& entries, const Confidence& confidence)
      : by_row(entries.by_row(), confidence), by_col(entries.by_col(), confidence) {}
};

/// Entries of some rows, to judge by.
struct HeldBack {
  std::vector<int> row;
  std::vector<std::vector<int>> cols;  // of each of these rows
};

/// Takes some entries out of some rows: which ones depends on the seed and on their positions alone.
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

ObservedEntries in_order(const GroupedEntries& by_row, Index cols) {
  ObservedEntries result{by_row.size(), cols, {}, by_row.index, by_row.value};
  result.row.reserve(by_row.index.size());
  for (Index i = 0; i < by_row.size(); ++i)
    result.row.insert(result.row.end(), std::size_t(by_row.count(i)), int(i));
  return result;
}

PURSUIT_KERNEL int count_above(const float* scores, int count, float bound) {
  int above = 0;
  for (int j = 0; j < count; ++j) above += int(scores[j] > bound);
  return above;
}

/// Mean over rows of the mean over their entries held back of 1 / log2(1 + place), place 1 being the best
/// among all columns that the row has no entry in.
double gain_of(const ImplicitFactors& factors, const GroupedEntries& seen, const HeldBack& held,
               int threads) {
  const Index columns = factors.cols().size(), width = factors.cols().width;
  const Index at_once = std::clamp<Index>(kScores / columns, 1, 64), rows = Index(held.row.size());
  std::vector<double> gain(held.row.size(), 0.0);
  parallel_for((rows + at_once - 1) / at_once, threads, [&](Index block) {
    const Index first = block * at_once, count = std::min(at_once, rows - first);
    Matrix panel(width, count);
    for (Index k = 0; k < count; ++k)
      for (Index c = 0; c < width; ++c) panel(c, k) = factors.rows().of(held.row[std::size_t(first + k)])[c];
    Eigen::MatrixXf scores(columns, count);
    multiply({factors.cols().numbers.data(), columns, width, width, true}, panel, scores);
    for (Index k = 0; k < count; ++k) {
      const auto place = std::size_t(first + k);
      float* of_row = scores.col(k).data();
      const int row = held.row[place];
      for (std::int64_t e = seen.start[row]; e < seen.start[row + 1]; ++e) of_row[seen.index[e]] = -INFINITY;
      for (const int col : held.cols[place]) {
        const int better = count_above(of_row, int(columns), of_row[col]);
        gain[place] += 1 / std::log2(better + 2.0) / double(held.cols[place].size());
      }
    }
  });
  double sum = 0;
  for (const double each : gain) sum += each;
  return sum / double(rows);
}

/// Square matrix of inner products of the factors of all members.
Matrix products_of(const ImplicitVectors& side, Index atoms) {
  return gram_of(side.matrix(atoms).rightCols(atoms).cast<double>());
}

/// One run of complete_implicit().
class ImplicitRun {
 public:
  ImplicitRun(ObservedEntries entries, const ImplicitOptions& options)
      : options_(options),
        threads_(resolve_threads(options.threads)),
        run_({.time_limit = options.time_limit}, options.observer) {
    require_valid(entries, threads_);
    check_implicit(options, entries);
    prior_ =
        options.start ? options.start->implicit : ImplicitPrior{kFirstZeros, kFirstRidge, options.confidence};
    if (options.row_features) row_features_.emplace(*options.row_features, entries.rows, "row");
    if (options.col_features) col_features_.emplace(*options.col_features, entries.cols, "column");
    all_.emplace(without_zeros(std::move(entries)), threads_);
  }

  CompletionResult result() {
    run_.finish(Stop::all_sweeps);
    std::optional<ImplicitFactors> factors;
    const ImplicitData data(*all_, prior_.confidence);
    if (options_.start) {
      factors.emplace(update(data));
    } else {
      factors.emplace(choose(data));
      factors->rebind(data.by_row, data.by_col);
      if (!run_.stopped()) sweep(*factors, Moment::Phase::refining, kRefiningSweepsOfAll);
    }
    record(*factors, Moment::kUnknown);
    CompletionResult result;
    if (options_.start && unchanged_) {
      result.model = *options_.start;
    } else {
      result.model = model_of(*factors);
    }
    if (row_features_) place_by_features(result.model.rows, all_->by_row(), *row_features_, threads_);
    if (col_features_) place_by_features(result.model.cols, all_->by_col(), *col_features_, threads_);
    note_unseen(result.model, all_->by_row());
    require_sound(result.model);
    result.path = std::move(path_);
    result.predictions = predict(result.model, options_.predict, threads_);
    result.seen = std::move(*all_).take_by_row();
    result.stop = run_.stop();
    result.seconds = run_.seconds();
    return result;
  }

 private:
  ImplicitFactors update(const ImplicitData& data) {
    const CompletionModel& start = *options_.start;
    ImplicitFactors factors(data.by_row, data.by_col, start, threads_);
    unchanged_ = options_.start_entries && start.rows.size() == all_->rows() &&
                 start.cols.size() == all_->cols() &&
                 count_changes(*options_.start_entries, all_->by_row()) == 0;
    if (!unchanged_) sweep(factors, Moment::Phase::refining, kUpdateSweeps);
    return factors;
  }

  /// Zeros, ridge and rank by the entries held back, and the factors that go with them.
  ImplicitFactors choose(const ImplicitData& all) {
    GroupedEntries kept = all_->by_row();
    const HeldBack held = hold_back_of_rows(kept, options_.validation, options_.seed);
    Index atoms = std::min(kSearchAtoms, options_.max_rank);
    if (held.row.empty()) {
      ImplicitFactors factors(all.by_row, all.by_col, atoms, options_.seed, threads_);
      sweep(factors, Moment::Phase::growing, kRankSweeps);
      return factors;
    }
    const ObservedMatrix part(in_order(kept, all_->cols()), threads_);
    const ImplicitData data(part, prior_.confidence);
    const auto gain = [&](const ImplicitFactors& factors) {
      return gain_of(factors, part.by_row(), held, threads_);
    };
    ImplicitFactors best(data.by_row, data.by_col, atoms, options_.seed, threads_);
    double most = search(best, gain);
    record(best, most);
    run_.finish(Stop::rank_reached);
    while (atoms < options_.max_rank && !run_.stopped()) {
      atoms = std::min(4 * atoms + 3, options_.max_rank);
      const auto fitted = [&] {
        ImplicitFactors factors(data.by_row, data.by_col, atoms, options_.seed, threads_);
        sweep(factors, Moment::Phase::growing, kRankSweeps);
        return factors;
      };
      ImplicitFactors wider = fitted();
      if (run_.stopped()) break;
      double more = gain(wider);
      if (more < most * (1 + kWorth)) {  // more atoms fit more noise, unless more is asked of them
        const double ridge = std::exchange(prior_.ridge, kStep * prior_.ridge);
        ImplicitFactors firmer = fitted();
        const double of_firmer = run_.stopped() ? 0 : gain(firmer);
        if (of_firmer > more) {
          more = of_firmer;
          wider = std::move(firmer);
        }
        if (of_firmer < more || of_firmer < most) prior_.ridge = ridge;
      }
      record(wider, more);
      if (more < most) {
        run_.finish(Stop::no_gain);
        break;
      }
      most = more;
      best = std::move(wider);
    }
    return best;
  }

  /// Tries larger and smaller ridges, and zeros that count more or less, all from the same factors; leaves
  /// the best.
  template <class Gain>
  double search(ImplicitFactors& best, const Gain& gain) {
    const ImplicitFactors start = best;
    const ImplicitPrior first = prior_;
    double most = -1;
    const auto better = [&](double zeros, double ridge) {
      if (run_.stopped()) return false;
      const ImplicitPrior kept = prior_;
      prior_.zeros = zeros * first.zeros;
      prior_.ridge = ridge * first.ridge;
      ImplicitFactors tried = start;  // always the same random ones
      sweep(tried, Moment::Phase::growing, kSearchSweeps);
      const double value = gain(tried);
      if (value > most * (1 + kWorth)) {
        most = value;
        best = std::move(tried);
        return true;
      }
      prior_ = kept;
      return false;
    };
    // The ridge of what was not seen is zeros * ridge: one number is searched for, then how it is shared.
    double ridge = 1, zeros = 1;
    better(zeros, ridge);
    climb([&](double factor) {
      if (!better(zeros, ridge * factor)) return false;
      ridge *= factor;
      return true;
    });
    climb([&](double factor) {
      if (!better(zeros / factor, ridge * factor)) return false;
      zeros /= factor, ridge *= factor;
      return true;
    });
    return most;
  }

  template <class Better>
  static void climb(const Better& better) {
    for (const double factor : {kStep, 1 / kStep}) {
      int steps = 0;
      while (steps < kMostSteps && better(factor)) ++steps;
      if (steps > 0) return;  // not both ways
    }
  }

  void sweep(ImplicitFactors& factors, Moment::Phase phase, int turns) {
    factors.ends_when(options_.interrupted);
    factors.sweep(prior_, turns, [&](int turn) {
      return run_.go_on({.phase = phase, .rank = factors.atoms(), .sweep = turn, .max_sweeps = turns});
    });
    last_sweeps_ = turns;
  }

  void record(const ImplicitFactors& factors, double gain) {
    path_.push_back({factors.atoms(), last_sweeps_, Moment::kUnknown, gain, run_.seconds()});
  }

  CompletionModel model_of(const ImplicitFactors& factors) const {
    const Index atoms = factors.atoms();
    CompletionModel model;
    model.implicit = prior_;
    // What was seen is fitted to 1 and to 0 at once, by its own weight and that of zeros: the scale makes
    // it 1.
    double weight = 1;
    if (prior_.confidence.kind != Confidence::constant) {
      weight = 0;
      for (const float value : all_->by_row().value) weight += prior_.confidence.weight(value);
      weight /= double(all_->size());
    }
    model.scale = (weight + prior_.zeros) / weight;
    model.lowest = -std::numeric_limits<double>::infinity();
    model.highest = std::numeric_limits<double>::infinity();
    model.rows = side_of(factors.rows(), atoms, all_->by_row());
    model.cols = side_of(factors.cols(), atoms, all_->by_col());
    model.noise_variance = mean_squared_error(factors, model.scale) / (model.scale * model.scale);
    return model;
  }

  /// A member without entries is like the average of the others.
  static CompletionSide side_of(const ImplicitVectors& vectors, Index atoms, const GroupedEntries& entries) {
    CompletionSide side = plain_side(vectors.size());
    side.mean = vectors.matrix(atoms);
    side.variance = FactorMatrix::Zero(vectors.size(), 1 + atoms);
    Vector mean = Vector::Zero(1 + atoms), squares = mean;
    double count = 0;
    for (Index i = 0; i < side.size(); ++i) {
      if (entries.count(i) == 0) continue;
      const Vector own = side.mean.row(i).transpose().cast<double>();
      mean += own;
      squares += own.cwiseAbs2();
      ++count;
    }
    mean /= count;
    side.intercept = mean.cast<float>();
    side.prior_variance = (squares / count - mean.cwiseAbs2()).cwiseMax(0).cast<float>();
    for (Index i = 0; i < side.size(); ++i)
      if (entries.count(i) == 0) {
        side.mean.row(i) = side.intercept.transpose();
        side.variance.row(i) = side.prior_variance.transpose();
      }
    return side;
  }

  /// Of ones where something was seen and zeros elsewhere.
  double mean_squared_error(const ImplicitFactors& factors, double scale) const {
    const GroupedEntries& seen = all_->by_row();
    const Index width = factors.rows().width;
    const double fitted = chunked_sum<double>(Chunks(seen.size()), threads_, [&](Index first, Index count) {
      double sum = 0;
      for (Index i = first; i < first + count; ++i)
        for (std::int64_t e = seen.start[i]; e < seen.start[i + 1]; ++e)
          for (Index c = 1; c < width; ++c)
            sum += double(factors.rows().of(i)[c]) * factors.cols().of(seen.index[e])[c];
      return sum;
    });
    const double all = products_of(factors.rows(), factors.atoms())
                           .cwiseProduct(products_of(factors.cols(), factors.atoms()))
                           .sum();
    const double error = double(seen.index.size()) - 2 * scale * fitted + scale * scale * all;
    return std::max(error, 0.0) / (double(all_->rows()) * double(all_->cols()));
  }

  const ImplicitOptions& options_;
  int threads_;
  Run run_;
  ImplicitPrior prior_;
  std::optional<ScaledFeatures> row_features_, col_features_;
  std::optional<ObservedMatrix> all_;
  std::vector<CompletionStage> path_;
  int last_sweeps_ = 0;
  bool unchanged_ = false;
};

}  // namespace

CompletionResult complete_implicit(ObservedEntries entries, const ImplicitOptions& options) {
  return ImplicitRun(std::move(entries), options).result();
}

}  // namespace pursuit
