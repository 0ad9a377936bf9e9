#include "completion/new_rows_by_loss.hpp"

#include <cmath>

#include "base/parallel.hpp"
#include "completion/predictor.hpp"
#include "objective/entry_loss.hpp"
#include "objective/newton_direction.hpp"
#include "objective/ordinal_shape.hpp"

namespace pursuit {
namespace {

constexpr double kLeastVariance = 1e-12;  // of an atom that no row uses, relative to its mean square
constexpr int kNewtonSteps = 100, kStepHalvings = 30;

LossShape shape_of(const CompletionModel& model) {
  LossShape shape{.loss = model.loss, .lower = {}, .upper = {}};
  const double noise = model.scale * std::sqrt(model.noise_variance);
  shape.width = 1e-3 * (noise > 0 ? noise : 1.0);
  shape.floor = model.mean;
  shape.size = model.own_terms.size;
  set_thresholds(shape, model.own_terms.grades, model.own_terms.thresholds);
  return shape;
}

/// What turns costs into minus log-likelihoods.
double cost_scale(const CompletionModel& model) {
  const double variance = std::max(model.noise_variance, kLeastVariance) * model.scale * model.scale;
  switch (model.loss.kind) {
    case Loss::absolute:
    case Loss::quantile: return std::sqrt(variance);
    case Loss::bernoulli:
    case Loss::ordinal:
    case Loss::negative_binomial: return 1;
    default: return variance;
  }
}

/// The prior of a row: of its offset, and of its entries of the atoms.
struct RowPrior {
  Vector mean, precision;  // times the scale of costs
};
RowPrior prior_of(const CompletionModel& model) {
  const AverageMember atoms = average_row(model);
  const Index rank = model.atoms.rank();
  RowPrior prior{Vector(1 + rank), Vector(1 + rank)};
  const double scale = cost_scale(model);
  const auto set = [&](Index k, double mean, double variance) {
    prior.mean[k] = mean;
    prior.precision[k] = scale / std::max(variance, kLeastVariance * (mean * mean + 1e-100));
  };
  set(0, model.scale * model.rows.intercept[0], model.scale * model.scale * model.rows.prior_variance[0]);
  for (Index k = 0; k < rank; ++k) set(1 + k, atoms.mean[k], atoms.variance[k]);
  return prior;
}

}  // namespace

Matrix factors_by_loss(const CompletionModel& model, const GroupedEntries& entries, int threads) {
  const LossShape shape = shape_of(model);
  const auto loss = entry_loss(shape);
  const RowPrior prior = prior_of(model);
  const Predictor predictor(model);
  const Index rank = model.atoms.rank(), width = 1 + rank;
  Matrix columns(model.column_count(), width);
  for (Index j = 0; j < columns.rows(); ++j) {
    columns(j, 0) = 1;
    for (Index k = 0; k < rank; ++k) columns(j, 1 + k) = predictor.column(int(j)).mean(k);
  }
  const bool nonnegative = model.loss.has_positive_means() || model.rows.nonnegative;
  const Index free = model.loss.has_positive_means() ? 0 : 1;  // an offset may have any sign
  Matrix result(entries.size(), width);
  parallel_for(entries.size(), threads, [&](Index i) {
    const auto first = std::size_t(entries.start[std::size_t(i)]);
    const Index count = entries.count(i);
    Matrix along(count, width);
    Vector y(count), base(count), slope(count), curvature(count), at = prior.mean;
    for (Index e = 0; e < count; ++e) {
      const int j = entries.index[first + std::size_t(e)];
      along.row(e) = columns.row(j);
      y[e] = entries.value[first + std::size_t(e)];
      base[e] = model.mean + model.scale * model.cols.mean(j, 0);
    }
    const auto value = [&](const Vector& row, const Vector& x) {
      return loss->varying({count, y.data(), x.data(), nullptr}) +
             0.5 * prior.precision.dot((row - prior.mean).cwiseAbs2());
    };
    Vector x = base + along * at;
    double best = value(at, x);
    for (int step = 0; step < kNewtonSteps; ++step) {
      loss->derivatives({count, y.data(), x.data(), nullptr}, Curvature::local, slope.data(),
                        curvature.data());
      const Matrix gram =
          along.transpose() * curvature.asDiagonal() * along + Matrix(prior.precision.asDiagonal());
      const Vector sums = along.transpose() * slope - prior.precision.cwiseProduct(at - prior.mean);
      Vector move = newton_direction(gram, sums, 0, nonnegative, at, free);
      const double before = best;
      for (int halving = 0; halving < kStepHalvings && !(best < before); ++halving, move *= 0.5) {
        Vector moved = at + move;
        if (nonnegative) moved.tail(width - free) = moved.tail(width - free).cwiseMax(0.0);
        const Vector there = base + along * moved;
        if (const double f = value(moved, there); f < best) {
          best = f;
          at = moved;
          x = there;
        }
      }
      if (!(before - best > 1e-10 * std::abs(before))) break;
    }
    result.row(i) = at;
    result(i, 0) /= model.scale;  // as offsets of rows are
  });
  return result;
}

}  // namespace pursuit
