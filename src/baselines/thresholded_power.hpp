#pragma once
// Power iterations u <- step(C u), scaled to unit norm, where the step is a threshold rather than the oracle
// of a fixed set: what GPower and emPCA have in common.

#include <cmath>
#include <utility>

#include "pursuit/baselines/component.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

/// `step(g, value)` gets g = C u and value = u^T C u > 0. A step to zero ends the run with the last u.
template <class Step>
Component thresholded_power(const LinearOperator& C, Vector u, const PowerOptions& options,
                            const Step& step) {
  Matrix g;
  Component result{std::move(u), 0, 0};
  for (double previous = 0;; previous = result.variance) {
    C.apply(result.u, g);
    result.variance = result.u.dot(g.col(0));
    const bool settled =
        std::abs(result.variance - previous) <= options.tolerance * std::abs(result.variance);
    if (settled || !(result.variance > 0) || result.iterations >= options.max_iterations) return result;
    const Vector next = step(Vector(g.col(0)), result.variance);
    const double length = next.norm();
    if (!(length > 0)) return result;
    result.u = next / length;
    ++result.iterations;
  }
}

/// The best values on the support of u, which is kept: plain power iterations on the principal submatrix.
inline Component refit_on_support(const LinearOperator& C, const Component& found, bool nonnegative,
                                  const PowerOptions& options) {
  const Vector support = (found.u.array() != 0).cast<double>();
  Component refitted = thresholded_power(C, found.u, options, [&](const Vector& g, double) -> Vector {
    return (nonnegative ? Vector(g.cwiseMax(0.0)) : g).cwiseProduct(support);
  });
  refitted.iterations += found.iterations;
  return refitted;
}

}  // namespace pursuit
