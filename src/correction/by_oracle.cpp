#include <algorithm>
#include <cmath>

#include "correction/progress.hpp"
#include "pursuit/correction/correction.hpp"

namespace pursuit {

CorrectionOutcome correct_by_oracle(const FrobeniusObjective& f, const Atoms& atoms,
                                    const CorrectionOptions& options, Iterate& iterate) {
  if (options.sweeps < 1 || iterate.model.rank() == 0) return {};
  Model& model = iterate.model;
  const Index oldest = std::max<Index>(0, model.rank() - options.last);
  OracleOptions oracle = options.oracle;
  oracle.sign = options.fixed_weights ? Sign::nonnegative : options.sign;
  SweepCounter counter(options);
  Matrix image;
  for (bool more = true; more;) {
    const double before = iterate.objective;
    for (Index i = 0; i < model.rank(); ++i) {
      const bool known = i < options.fixed_left;  // stays, and gets its best weight
      if (!known && i < oldest) continue;
      const Vector u = model.left.col(i);
      const double alpha = model.weights[i], norm = u.squaredNorm();
      model.weights[i] = 0;  // the residual without atom i
      const auto R = f.residual(model);
      R->apply(u, image);
      const double without =
          iterate.objective + alpha * u.dot(image.col(0)) - 0.5 * alpha * alpha * norm * norm;
      const RankOneAtom found =
          known ? RankOneAtom{u, u, u.dot(image.col(0))} : refine_symmetric(*R, atoms.of(i), u, oracle);
      const double found_norm = found.u.squaredNorm();
      const double weight = options.fixed_weights ? alpha : found.value / (found_norm * found_norm);
      const double with = without - weight * found.value + 0.5 * std::pow(weight * found_norm, 2);
      const bool allowed = options.sign == Sign::free || weight >= 0;
      if (allowed && with < iterate.objective) {
        iterate.target_products[i] =
            found.value + f.inner_products(model, found.u, found.u).dot(model.weights);
        model.left.col(i) = model.right.col(i) = found.u;
        model.weights[i] = weight;
        iterate.objective = std::max(with, 0.0);
      } else {
        model.weights[i] = alpha;
      }
    }
    more = counter.another(before, iterate.objective);
  }
  return counter.outcome();
}

}  // namespace pursuit
