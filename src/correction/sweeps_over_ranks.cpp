#include "correction/sweeps_over_ranks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "data/matrix_over_ranks.hpp"
#include "data/ranked_sides.hpp"
#include "linalg/products.hpp"
#include "objective/coordinate_sweep.hpp"
#include "objective/matrix_target.hpp"

namespace pursuit {
namespace {

constexpr int kModes = 2;

/// What all have to know.
struct SweepsTask {
  Index rank = 0;
  int most = 0, threads = 1;
  double tolerance = 0, objective = 0, squared_norm = 0;
  int passes[kModes] = {1, 1};
  bool nonnegative[kModes] = {true, true};
};

class SweepsOfRank final : public FreeSweeps {
 public:
  /// All ranks make it together, with rank 0's task.
  SweepsOfRank(const RankedRows& rows, const SweepsTask& task)
      : ranks_(rows.ranks()), sides_(rows.sides()), task_(task), shared_(sides_.factors(task.rank)) {}

  /// From all that rank 0 has to the part of this rank, and back.
  Panel deal(Index mode, const Panel& all) {
    shared_.from_leader(mode, all);
    return shared_.own(mode);
  }
  Panel collect(Index mode, const Panel& own) { return shared_.to_leader(mode, own); }

  double sweep(Index mode, const Factors& at, bool nonnegative, bool value, Panel& X) override {
    const Index other = 1 - mode, r = task_.rank;
    SharingRound round;
    if (sides_.looks_at_all(
            mode))  // nobody reads any more what was published before: whoever did has met others since
      shared_.publish(other, at[other], round);
    Vector gram;
    add_gram(other, at[other], round, gram);
    round.run();
    const Matrix G = gram.reshaped(r, r);
    sides_.contract(mode, shared_.whole(other), at[other], P_);
    coordinate_sweep(P_, G, {nonnegative, 0, task_.passes[mode], task_.threads}, X);
    return value ? value_of(mode, G, X) : 0;
  }
  /// <y, z_k> of the atoms, after a sweep whose value was asked for.
  const Vector& products() const { return products_; }

  bool agree(bool more) {
    ranks_.broadcast(&more, sizeof more);
    return more;
  }

 private:
  void add_gram(Index mode, const Panel& X, SharingRound& round, Vector& gram) const {
    const Index r = task_.rank, begin = sides_.first(mode);
    round.sum(sides_.shares(mode), r * r, task_.threads, gram, [&](Index first, Index last, double* sums) {
      const auto own = X.middleRows(first - begin, last - first);
      Eigen::Map<Matrix>(sums, r, r) += transposed_product(own, own);
    });
  }

  /// f from P and G, as rank 0 has it.
  double value_of(Index mode, const Matrix& G, const Panel& X) {
    const Index r = task_.rank, begin = sides_.first(mode);
    SharingRound round;
    Vector gram;
    add_gram(mode, X, round, gram);
    round.sum(sides_.shares(mode), r, task_.threads, products_, [&](Index first, Index last, double* sums) {
      Eigen::Map<Vector>(sums, r) += P_.middleRows(first - begin, last - first)
                                         .cwiseProduct(X.middleRows(first - begin, last - first))
                                         .colwise()
                                         .sum()
                                         .transpose();
    });
    round.run();
    double f = std::max(
        0.0, 0.5 * task_.squared_norm - products_.sum() + 0.5 * G.cwiseProduct(gram.reshaped(r, r)).sum());
    ranks_.broadcast(&f, sizeof f);
    return f;
  }

  Ranks& ranks_;
  const RankedSides& sides_;
  SweepsTask task_;
  SharedFactors shared_;
  Panel P_;
  Vector products_;
};

/// All ranks call it; of rank 0 come the task, the factors and what is asked after every sweep.
CorrectionOutcome sweep_together(const RankedRows& rows, SweepsTask task, const CorrectionOptions* asked,
                                 PenalizedFactors& good, Vector& products) {
  Ranks& ranks = rows.ranks();
  ranks.broadcast(&task, sizeof task);
  SweepsOfRank sweeps(rows, task);
  PenalizedFactors own;
  own.objective = task.objective;
  std::vector<FreeMode> modes;
  for (Index mode = 0; mode < kModes; ++mode) {
    own.factors[mode] = sweeps.deal(mode, good.factors[mode]);
    modes.push_back({task.nonnegative[mode]});
  }
  CorrectionOptions options{.sweeps = task.most, .tolerance = task.tolerance, .threads = task.threads};
  if (asked) options.keep_going = asked->keep_going;
  const CorrectionOutcome outcome = run_ahead(
      sweeps, modes, std::numeric_limits<double>::infinity(), options, own,
      [&](const Panel&) { products = sweeps.products(); }, [&](bool more) { return sweeps.agree(more); });
  for (Index mode = 0; mode < kModes; ++mode) good.factors[mode] = sweeps.collect(mode, own.factors[mode]);
  good.objective = own.objective;
  return outcome;
}

}  // namespace

std::optional<CorrectionOutcome> sweeps_over_ranks(const Target& Y, const std::vector<FreeMode>& modes,
                                                   const CorrectionOptions& options, PenalizedFactors& good,
                                                   Vector& products) {
  const DataMatrix* matrix = matrix_of(Y);
  const auto shared = matrix ? over_ranks(*matrix) : std::nullopt;
  const bool free = std::all_of(modes.begin(), modes.end(), [](const FreeMode& mode) {
    return mode.penalty.l1 == 0 && mode.penalty.l2 == 0;
  });
  if (!shared || !free || options.checkpoints || good.factors.panels() != kModes) return std::nullopt;
  const Index rank = good.factors.count();
  SweepsTask task{.rank = rank,
                  .most = options.sweeps,
                  .threads = options.threads,
                  .tolerance = options.tolerance,
                  .objective = good.objective,
                  .squared_norm = Y.squared_norm()};
  for (Index mode = 0; mode < kModes; ++mode) {
    task.passes[mode] = passes_along(Y, mode, rank);
    task.nonnegative[mode] = modes[std::size_t(mode)].nonnegative;
  }
  CorrectionOutcome outcome;
  products = Vector::Zero(rank);
  shared->team->ask({.order = Order::sweeps, .matrix = shared->number},
                    [&] { outcome = sweep_together(*shared->rows, task, &options, good, products); });
  return outcome;
}

void follow_sweeps(const RankedRows& rows) {
  PenalizedFactors good;
  Vector products;
  sweep_together(rows, {}, nullptr, good, products);
}

}  // namespace pursuit
