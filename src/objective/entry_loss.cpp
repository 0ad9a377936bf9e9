#include "objective/entry_loss.hpp"

#include <algorithm>
#include <utility>

#include "base/kernel.hpp"
#include "objective/loss_functions.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

template <class Point>
PURSUIT_KERNEL void slopes_of(Point loss, EntryRun run, double* __restrict slope) {
  for (Index e = 0; e < run.count; ++e) slope[e] = loss.slope(run.y[e], run.x[e]);
}
template <class Point>
PURSUIT_KERNEL void above_of(Point loss, EntryRun run, double* __restrict curvature) {
  for (Index e = 0; e < run.count; ++e) curvature[e] = loss.above(run.y[e], run.x[e]);
}
template <class Point>
PURSUIT_KERNEL void local_of(Point loss, EntryRun run, double* __restrict curvature) {
  for (Index e = 0; e < run.count; ++e) curvature[e] = loss.local(run.y[e], run.x[e]);
}

template <class Point>
PURSUIT_KERNEL void values_of(Point loss, EntryRun run, double* __restrict values) {
  for (Index e = 0; e < run.count; ++e) values[e] = loss.varies(run.y[e], run.x[e]);
}

void weigh(const EntryRun& run, double* numbers) {
  if (run.weight)
    for (Index e = 0; e < run.count; ++e) numbers[e] *= run.weight[e];
}

template <class Point>
class PointLoss final : public EntryLoss {
 public:
  explicit PointLoss(Point loss) : loss_(std::move(loss)) {}

  bool has_above() const override { return Point::has_above; }
  double varying(const EntryRun& run) const override {
    constexpr Index kBlock = 256;
    double values[kBlock], sum = 0;
    for (Index first = 0; first < run.count; first += kBlock) {
      const EntryRun block{std::min(kBlock, run.count - first), run.y + first, run.x + first,
                           run.weight ? run.weight + first : nullptr};
      values_of(loss_, block, values);
      weigh(block, values);
      sum += Eigen::Map<const Vector>(values, block.count).sum();
    }
    return sum;
  }
  double constant(const EntryRun& run) const override {
    double sum = 0;
    for (Index e = 0; e < run.count; ++e)
      if (const double weight = run.weight ? run.weight[e] : 1; weight != 0)
        sum += weight * loss_.constant(run.y[e]);
    return sum;
  }
  void slopes(const EntryRun& run, double* slope) const override {
    slopes_of(loss_, run, slope);
    weigh(run, slope);
  }
  void derivatives(const EntryRun& run, Curvature kind, double* slope, double* curvature) const override {
    slopes(run, slope);
    kind == Curvature::above ? above_of(loss_, run, curvature) : local_of(loss_, run, curvature);
    weigh(run, curvature);
  }

 private:
  Point loss_;
};

template <class Point>
std::unique_ptr<EntryLoss> made(Point point) {
  return std::make_unique<PointLoss<Point>>(std::move(point));
}

}  // namespace

std::unique_ptr<EntryLoss> entry_loss(const LossShape& shape) {
  const double parameter = shape.loss.parameter;
  switch (shape.loss.kind) {
    case Loss::squares: return made(losses::Squares{});
    case Loss::huber: return made(losses::Robust{parameter, parameter});
    case Loss::absolute: return made(losses::Robust{shape.width, 1});
    case Loss::quantile: return made(losses::Robust{shape.width, 0.5, parameter - 0.5});
    case Loss::bernoulli: return made(losses::Bernoulli{});
    case Loss::poisson_log: return made(losses::PoissonLog{});
    case Loss::negative_binomial: return made(losses::NegativeBinomial(shape.size, parameter == 0));
    case Loss::gamma: return made(losses::Gamma{});
    case Loss::ordinal:
      return made(losses::Ordinal{shape.lower.data(), shape.upper.data(), shape.first_grade});
    case Loss::poisson: return made(losses::Poisson{shape.floor});
    case Loss::itakura_saito: return made(losses::ItakuraSaito{shape.floor});
  }
  throw InvalidArgument("loss " + shape.loss.spec() + ": is none of those there are");
}

}  // namespace pursuit
