#include "algorithms/closed_factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "algorithms/pursue_atoms.hpp"
#include "base/require.hpp"
#include "linalg/products.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/weights/nonnegative_least_squares.hpp"
#include "pursuit/weights/simplex_least_squares.hpp"

namespace pursuit {
namespace {

constexpr int kSweepsOfStart = 50;        // of the parts without closure
constexpr int kPassesOverParts = 3;       // to every fit of shares
constexpr double kPartOfTolerance = 0.1;  // alternating steps are small

void check_closed(const FactorOptions& o, Index rows, Index cols) {
  require(o.rank >= 1, fmt::format("rank {}: at least one atom is needed", o.rank));
  require(
      o.left.traits().coordinatewise(),
      fmt::format(
          "closure: scores are shares, not negative and of sum 1 in every row; left is nonneg then, not {}",
          o.left.spec()));
  require(o.weights.kind == WeightRule::free || o.weights.kind == WeightRule::nonneg,
          fmt::format("closure: the sizes of parts are fitted; weights are free or nonneg then, not {}",
                      o.weights.spec()));
  require(LossOptions{o.loss, o.entry_weights, o.offsets, o.row_scale}.plain_squares(),
          "closure: goes with plain squares only, without weights, offsets and row scales");
  require(o.fixed == o.initial.rank() && (o.fixed == 0 || o.fixed_factors == FixedFactors::right),
          "closure: known right factors may go with it, but neither known scores nor atoms to begin with");
  require(o.fixed == 0 || (o.initial.right().rows() == cols && o.initial.right().allFinite() &&
                           o.initial.weights.allFinite()),
          fmt::format("closure: known right factors must be finite and have {} entries", cols));
  require(o.fixed <= o.rank, fmt::format("fixed {}: known right factors, but rank {}", o.fixed, o.rank));
  require(!o.checkpoints, "closure: has no state to go on from; leave out the checkpoint");
  o.left.require_dimension(rows);
  o.right.require_dimension(cols);
}

/// Y ~ W H^T with rows of W on the simplex.
class ClosedFit {
 public:
  ClosedFit(const DataMatrix& Y, const FactorOptions& options, double scale)
      : Y_(Y), o_(options), known_(options.initial.right() * options.initial.weights.asDiagonal() * scale) {}

  /// From the parts that there are without closure, in the sizes in which scores sum to one best.
  void start(const FactorResult& free) {
    const Index fixed = known_.cols();
    std::vector<Index> own;  // which of the atoms are not known
    for (Index k = 0; k < free.model.rank() && fixed + Index(own.size()) < o_.rank; ++k)
      if (!is_known(free.model.right().col(k))) own.push_back(k);
    const Index rank = fixed + Index(own.size());
    U_.resize(Y_.cols(), rank);
    sizes_.resize(rank);
    Matrix scores(Y_.rows(), Index(own.size()));
    for (Index k = 0; k < fixed; ++k) {
      sizes_[k] = known_.col(k).norm();
      U_.col(k) = known_.col(k) / (sizes_[k] > 0 ? sizes_[k] : 1.0);
    }
    for (Index k = fixed; k < rank; ++k) {
      const Index from = own[std::size_t(k - fixed)];
      U_.col(k) = free.model.right().col(from);
      scores.col(k - fixed) = free.model.weights[from] * free.model.left().col(from);
    }
    const Vector ones = Vector::Ones(Y_.rows());
    const Vector inverse = nonnegative_least_squares(gram_of(scores), (scores.transpose() * ones).transpose())
                               .row(0)
                               .transpose();
    for (Index k = fixed; k < rank; ++k) {
      const double largest = scores.col(k - fixed).maxCoeff();
      sizes_[k] = inverse[k - fixed] > 0 ? 1 / inverse[k - fixed] : largest;
    }
    W_ = Matrix(0, 0);
  }

  Index rank() const { return sizes_.size(); }

  /// Shares for the parts, then the parts for these; returns f.
  double sweep() {
    Matrix H = U_ * sizes_.asDiagonal(), products;
    Y_.apply(H, products);
    simplex_least_squares(gram_of(H), products, Y_.threads(), W_);
    const Matrix G = gram_of(W_);
    Y_.apply_transposed(W_, products);
    Vector u(H.rows()), goal;
    for (int pass = 0; pass < kPassesOverParts; ++pass)
      for (Index k = known_.cols(); k < rank(); ++k) {
        if (!(G(k, k) > 0)) continue;  // nothing holds it
        goal = products.col(k) - H * G.col(k) + G(k, k) * H.col(k);
        u = U_.col(k);
        const double size = o_.right.of(k).fit(G(k, k), goal, Sign::nonnegative, u);
        const auto cost = [&](const Vector& h) { return 0.5 * G(k, k) * h.squaredNorm() - goal.dot(h); };
        const Vector moved = size * u;
        if (!(cost(moved) < cost(H.col(k)))) continue;  // sets whose oracle is not exact
        U_.col(k) = u;
        sizes_[k] = size;
        H.col(k) = moved;
      }
    const double f =
        0.5 * Y_.squared_norm() - products.cwiseProduct(H).sum() + 0.5 * G.cwiseProduct(gram_of(H)).sum();
    return std::max(f, 0.0);
  }

  Expansion atoms() const { return {W_, U_, sizes_}; }

 private:
  bool is_known(const Vector& right) const {
    for (const auto& each : known_.colwise())
      if (right.dot(each) >= (1 - 1e-12) * right.norm() * each.norm()) return true;
    return false;
  }

  const DataMatrix& Y_;
  const FactorOptions& o_;
  Matrix known_;  // as they stay
  Matrix W_;      // shares
  Matrix U_;      // parts, as their sets have them
  Vector sizes_;
};

Step step_of(double f, double before, double null, const Expansion& model, int sweeps, double seconds) {
  const auto support = [](const Matrix& factor) { return Index((factor.array() != 0).count()); };
  return {.rank = model.rank(),
          .objective = f,
          .relative_error = null > 0 ? std::sqrt(f / null) : 0,
          .gain = before - f,
          .sweeps = sweeps,
          .seconds = seconds,
          .left_support = support(model.left()),
          .right_support = support(model.right())};
}

}  // namespace

FactorResult factor_closed(const DataMatrixPtr& Y, const FactorOptions& options) {
  check_closed(options, Y->rows(), Y->cols());
  const auto [data, scale] = comfortable(Y);
  Run run({.time_limit = options.time_limit, .target_error = options.target_error}, options.observer);
  FactorOptions open = options;
  open.closure = false;
  open.left = nonneg();
  open.weights = WeightRule::nonneg;
  open.polish = std::min(options.polish, kSweepsOfStart);
  open.target_error = 0;
  open.observer = [&](const Moment& moment) { return run.go_on(moment); };
  for (Index k = 0; k < open.fixed; ++k) {
    const double norm = open.initial.right().col(k).norm();
    require(norm > 0, fmt::format("closure: known right factor {} is zero", k + 1));
    open.initial.right().col(k) /= norm;
  }
  open.initial.weights.setOnes();
  ClosedFit fit(*data, options, scale);
  fit.start(factor(data, open));

  FactorResult result;
  const double null = result.null_objective = result.objective = 0.5 * data->squared_norm();
  result.model = {Matrix(Y->rows(), 0), Matrix(Y->cols(), 0), Vector(0)};
  if (fit.rank() > 0) {
    int sweeps = 0;  // one at least: without it there are no shares
    bool goes_on = true;
    while (goes_on) {
      const double before = result.objective;
      result.objective = fit.sweep();
      ++sweeps;
      goes_on = run.go_on({.phase = Moment::Phase::polish,
                           .rank = fit.rank(),
                           .target_rank = options.rank,
                           .sweep = sweeps,
                           .max_sweeps = options.polish,
                           .relative_error = null > 0 ? std::sqrt(result.objective / null) : 0}) &&
                sweeps < options.polish &&
                before - result.objective > kPartOfTolerance * options.polish_tolerance * before;
    }
    result.model = fit.atoms();
    result.trace = {step_of(result.objective, null, null, result.model, sweeps, run.seconds())};
  }
  if (fit.rank() < options.rank) run.finish(Stop::no_ascent);
  result.relative_error = null > 0 ? std::sqrt(result.objective / null) : 0;
  result.stop = run.stop();
  undo_scale(scale, result);
  result.seconds = run.seconds();
  return result;
}

}  // namespace pursuit
