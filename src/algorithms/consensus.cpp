#include "pursuit/algorithms/consensus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "algorithms/unit_clusters.hpp"
#include "base/parallel.hpp"
#include "base/require.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/correction/penalized.hpp"
#include "pursuit/objective/make_objective.hpp"
#include "pursuit/weights/nonnegative_least_squares.hpp"

namespace pursuit {
namespace {

void check(const DataMatrix& Y, const ConsensusOptions& o) {
  require(o.rank >= 1, fmt::format("rank {}: must be 1 or more", o.rank));
  require(o.seeds >= 2, fmt::format("seeds {}: at least 2 factorizations can agree", o.seeds));
  require(o.density > 0 && o.density <= 2,
          fmt::format("density {}: a distance of unit vectors, above 0 and at most 2, is needed", o.density));
  require(o.neighbours > 0 && o.neighbours <= 1,
          fmt::format("neighbours {}: a share above 0 and at most 1 is needed", o.neighbours));
  require(o.polish >= 1, fmt::format("polish {}: at least 1 sweep is needed", o.polish));
  require(o.polish_tolerance >= 0, fmt::format("tolerance {}: must be 0 or more", o.polish_tolerance));
  require(o.loss.kind == Loss::squares || o.loss.kind == Loss::poisson || o.loss.kind == Loss::itakura_saito,
          fmt::format("loss {}: non-negative parts have squares, poisson or itakura-saito", o.loss.spec()));
  if (Y.largest_magnitude() == 0) throw InvalidInput("all entries are zero: there are no parts");
  if (const auto part = Y.negative_part(); part && part->count > 0)
    throw InvalidInput(
        fmt::format("{} entries are negative, down to {:.4g}: non-negative parts do not add up to them",
                    part->count, part->lowest));
}

/// The data under a loss: non-negative factors of them, and the left one alone for a right one that is given.
class Parts {
 public:
  Parts(DataMatrixPtr Y, const ConsensusOptions& options)
      : Y_(std::move(Y)), o_(options), squares_(options.loss.kind == Loss::squares) {
    if (squares_)
      null_ = 0.5 * Y_->squared_norm();
    else
      null_ = make_objective(Y_, {.loss = o_.loss}, resolve_threads(o_.threads))->null_value();
  }

  double null() const { return null_; }
  double relative(double objective) const {
    return null_ > 0 ? std::sqrt(std::max(0.0, objective) / null_) : 0;
  }

  PenalizedFactors from_random_start(Random random, const std::function<bool()>& go_on) const {
    const double size = std::sqrt(std::max(0.0, Y_->column_means().mean()) / double(o_.rank));
    PenalizedFactors factors{Factors(size * random.gaussian_matrix(Y_->rows(), o_.rank).cwiseAbs(),
                                     size * random.gaussian_matrix(Y_->cols(), o_.rank).cwiseAbs())};
    CorrectionOptions sweeps{.sweeps = o_.polish, .tolerance = o_.polish_tolerance, .threads = 1};
    sweeps.keep_going = [&](int, double) { return go_on(); };
    if (squares_)
      penalized_sweeps(*matrix_target(Y_), {}, {}, sweeps, factors);
    else
      penalized_sweeps(*make_objective(Y_, {.loss = o_.loss}, 1), {}, {}, sweeps, false, factors);
    return factors;
  }

  /// Of the least loss: every row is convex.
  PenalizedFactors with_spectra(const Matrix& spectra) const {
    const int threads = resolve_threads(o_.threads);
    Matrix products;
    Y_->apply(spectra, products);
    const Matrix gram = spectra.transpose() * spectra;
    PenalizedFactors result{Factors(nonnegative_least_squares(gram, products, threads), spectra)};
    if (squares_) {
      const Matrix& W = result.factors[0];
      const double fall = 2 * products.cwiseProduct(W).sum() - (W.transpose() * W).cwiseProduct(gram).sum();
      result.objective = std::max(0.0, null_ - 0.5 * fall);
      return result;
    }
    Matrix& W = result.factors[0];
    W.array() += 0.1 * W.mean() + std::numeric_limits<double>::min();  // means must not vanish
    constexpr int kMostSweeps = 500;
    constexpr double kSettled = 1e-12;
    penalized_sweeps(*make_objective(Y_, {.loss = o_.loss}, threads), {}, {},
                     {.sweeps = kMostSweeps, .tolerance = kSettled, .threads = threads}, true, result);
    return result;
  }

 private:
  DataMatrixPtr Y_;
  const ConsensusOptions& o_;
  bool squares_;
  double null_ = 0;
};

struct Runs {
  std::vector<Matrix> spectra;  // of unit length
  std::vector<double> errors;
  bool interrupted = false;
};

Runs factorizations(const Parts& parts, const ConsensusOptions& o) {
  std::vector<Matrix> spectra(std::size_t(o.seeds), Matrix());
  std::vector<double> errors(std::size_t(o.seeds), 0.0);
  std::mutex telling;
  bool stopped = false;
  int done = 0;
  const auto tell = [&](int more) {
    const std::lock_guard lock(telling);
    done += more;
    if (!stopped && o.watch &&
        !o.watch(double(done) / o.seeds, fmt::format("{} parts, {} of {} starts", o.rank, done, o.seeds)))
      stopped = true;
    return !stopped;
  };
  parallel_for(o.seeds, resolve_threads(o.threads), [&](Index number) {
    if (!tell(0)) return;
    const PenalizedFactors found =
        parts.from_random_start(Random(o.seed).stream(number), [&] { return tell(0); });
    if (!tell(1)) return;
    Matrix right = found.factors[1];
    for (auto column : right.colwise()) column.stableNormalize();
    spectra[std::size_t(number)] = std::move(right);
    errors[std::size_t(number)] = parts.relative(found.objective);
  });
  Runs runs;
  runs.interrupted = stopped;
  for (std::size_t number = 0; number < spectra.size(); ++number) {
    if (spectra[number].size() == 0) continue;
    runs.spectra.push_back(std::move(spectra[number]));
    runs.errors.push_back(errors[number]);
  }
  return runs;
}

/// Entry by entry; where that leaves nothing, the mean.
Vector median_of(const Matrix& spectra, const std::vector<Index>& members) {
  Vector median(spectra.rows());
  std::vector<double> values(members.size());
  for (Index i = 0; i < spectra.rows(); ++i) {
    for (std::size_t m = 0; m < members.size(); ++m) values[m] = spectra(i, members[m]);
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    median[i] = values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
  }
  if (!(median.sum() > 0)) {
    median.setZero();
    for (const Index member : members) median += spectra.col(member);
  }
  return median.stableNormalized();
}

/// What agrees among all spectra: sets density, part_of, members, silhouette and stability.
Matrix agreed_spectra(const Matrix& all, Index neighbours, const ConsensusOptions& o, Consensus& result) {
  const Matrix gram = all.transpose() * all;
  const Matrix distances = unit_distances(gram);
  const Vector density = distance_to_neighbours(distances, neighbours);
  result.density.assign(density.begin(), density.end());
  std::vector<Index> kept;
  for (Index i = 0; i < all.cols(); ++i)
    if (gram(i, i) > 0 && density[i] < o.density) kept.push_back(i);
  if (Index(kept.size()) < o.rank)
    throw InvalidInput(
        fmt::format("{} of {} spectra have neighbours within {}, which are fewer than the {} parts; a larger "
                    "density, more seeds or fewer parts are needed",
                    kept.size(), all.cols(), o.density, o.rank));
  result.kept = double(kept.size()) / double(all.cols());
  const std::vector<Index> cluster_of = unit_clusters(gram(kept, kept), o.rank, o.seed);
  result.silhouette = silhouette(distances(kept, kept), cluster_of, o.rank);
  result.part_of.assign(std::size_t(all.cols()), -1);
  std::vector<std::vector<Index>> members(std::size_t(o.rank), std::vector<Index>{});
  for (std::size_t i = 0; i < kept.size(); ++i) {
    result.part_of[std::size_t(kept[i])] = cluster_of[i];
    members[std::size_t(cluster_of[i])].push_back(kept[i]);
  }
  Matrix spectra(all.rows(), o.rank);
  for (Index part = 0; part < o.rank; ++part) {
    const auto& own = members[std::size_t(part)];
    spectra.col(part) = median_of(all, own);
    double cosines = 0;
    for (const Index member : own) cosines += all.col(member).dot(spectra.col(part));
    result.members.push_back(Index(own.size()));
    result.stability.push_back(std::min(1.0, cosines / double(own.size())));
  }
  return spectra;
}

Matrix shares_of_rows(Matrix usages) {
  for (auto row : usages.rowwise())
    if (const double sum = row.sum(); sum > 0) row /= sum;
  return usages;
}

/// Parts in the order of their share in all rows together.
void order_by_usage(const Matrix& usages, const Matrix& spectra, Consensus& result) {
  // Spectra of equal sums make usages amounts.
  const Vector sums = spectra.colwise().sum();
  const Vector total = shares_of_rows(usages * sums.asDiagonal()).colwise().sum();
  std::vector<Index> order(std::size_t(total.size()), 0);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return total[a] > total[b]; });
  const Consensus before = result;
  std::vector<Index> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    place[std::size_t(order[k])] = Index(k);
    result.stability[k] = before.stability[std::size_t(order[k])];
    result.members[k] = before.members[std::size_t(order[k])];
  }
  for (Index& part : result.part_of)
    if (part >= 0) part = place[std::size_t(part)];
  Matrix left = usages(Eigen::all, order);
  Vector weights = left.colwise().stableNorm().transpose();
  for (Index k = 0; k < weights.size(); ++k)
    if (weights[k] > 0) left.col(k) /= weights[k];
  result.model = Expansion(std::move(left), spectra(Eigen::all, order), std::move(weights));
}

}  // namespace

Matrix Consensus::usages() const {
  const Vector sums = model.right().colwise().sum();
  return shares_of_rows(model.scaled_left() * sums.asDiagonal());
}

Consensus consensus(const DataMatrixPtr& Y, const ConsensusOptions& options) {
  check(*Y, options);
  const Timer timer;
  const bool squares = options.loss.kind == Loss::squares;
  const Comfortable data = squares ? comfortable(Y) : Comfortable{Y, 1.0};
  const Parts parts(data.data, options);
  Runs runs = factorizations(parts, options);
  Consensus result;
  result.interrupted = runs.interrupted;
  result.errors = std::move(runs.errors);
  if (runs.spectra.size() < 2) {  // interrupted before two could agree
    result.seconds = timer.seconds();
    return result;
  }
  const auto count = Index(runs.spectra.size());
  Matrix all(Y->cols(), options.rank * count);
  for (Index run = 0; run < count; ++run)
    all.middleCols(run * options.rank, options.rank) = runs.spectra[std::size_t(run)];
  const auto neighbours = Index(options.neighbours * double(count));
  const Matrix spectra = agreed_spectra(all, std::max<Index>(1, neighbours), options, result);
  const PenalizedFactors refit = parts.with_spectra(spectra);
  order_by_usage(refit.factors[0], refit.factors[1], result);
  result.model.weights /= data.scale;
  result.objective = refit.objective / (data.scale * data.scale);
  result.null_objective = parts.null() / (data.scale * data.scale);
  result.relative_error = parts.relative(refit.objective);
  result.seconds = timer.seconds();
  return result;
}

ConsensusChoice choose_consensus(const DataMatrixPtr& Y, const std::vector<Index>& ranks,
                                 const ConsensusOptions& options) {
  require(!ranks.empty(), "ranks: at least one is needed");
  ConsensusChoice choice;
  double all = 0, done = 0;
  for (const Index rank : ranks) all += double(rank);
  for (const Index rank : ranks) {
    ConsensusOptions one = options;
    one.rank = rank;
    if (options.watch)
      one.watch = [&](double share, const std::string& what) {
        return options.watch((done + share * double(rank)) / all, what);
      };
    Consensus next = consensus(Y, one);
    done += double(rank);
    if (next.interrupted && !choice.ranks.empty()) break;
    const bool interrupted = next.interrupted;
    choice.ranks.push_back(std::move(next));
    if (interrupted) break;
  }
  constexpr double kHardlyBelow = 0.05;
  double best = -1;
  for (const Consensus& each : choice.ranks) best = std::max(best, each.silhouette);
  for (std::size_t k = 0; k < choice.ranks.size(); ++k)
    if (choice.ranks[k].silhouette >= best - kHardlyBelow) choice.chosen = k;
  const Consensus& chosen = choice.ranks[choice.chosen];
  choice.reason = fmt::format(
      "{} is the largest number of parts whose silhouette over starts, {:.3f}, is within {} of the best, "
      "{:.3f}",
      chosen.model.rank(), chosen.silhouette, kHardlyBelow, best);
  return choice;
}

}  // namespace pursuit
