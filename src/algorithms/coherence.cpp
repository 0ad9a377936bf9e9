#include "pursuit/algorithms/coherence.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"
#include "pursuit/algorithms/dictionary_space.hpp"

namespace pursuit {

Vector cumulative_coherence(const Matrix& D) {
  Matrix correlation = gram_of(UnitColumns(view_of(D), false).columns(0, D.cols())).cwiseAbs();
  const Index N = correlation.cols();
  Vector mu = Vector::Zero(N);
  for (Index k = 0; k < N; ++k) {
    auto column = correlation.col(k);
    column[k] = 0;
    std::sort(column.begin(), column.end(), std::greater<>());  // the m largest give the worst I for this k
    double sum = 0;
    for (Index m = 1; m < N; ++m) mu[m] = std::max(mu[m], sum += column[m - 1]);
  }
  return mu;
}

std::optional<double> coherence_rate(const Vector& coherence, Index atoms) {
  const double mu = coherence[atoms - 1];
  if (!(mu < 1)) return std::nullopt;
  return 1 - (1 - mu) / double(atoms);
}

RateCertificate certify_omp(const Matrix& D, const Vector& signal, Index steps, double delta) {
  const double scale = unit_scale(signal.lpNorm<Eigen::Infinity>());
  const Vector y = scale * signal;
  const UnitColumns dictionary(view_of(D), true);
  const Matrix unit = dictionary.columns(0, D.cols());
  // By an orthonormal basis: through the coefficients of nearly dependent columns, which are huge, r* would
  // be off by far more than rounding, and so would every distance to it.
  const Matrix basis = independent_basis(unit);
  const Vector projection = basis * (basis.transpose() * y);
  const auto rate = coherence_rate(cumulative_coherence(D), D.cols());

  RateCertificate certificate;
  certificate.distance_to_span = (y - projection).norm() / scale;
  const double rounding = 1e-13 * y.squaredNorm();
  Vector residual = y;
  for (Index r = 1; r <= steps; ++r) {
    // r* is the same throughout, and r - r* = x* - x: all distances are measured inside the span.
    const double before = (residual - (y - projection)).squaredNorm();
    if (before <= rounding) break;
    const double best = (unit.transpose() * residual).cwiseAbs().maxCoeff();
    DictionarySpace space(dictionary, unit.transpose() * y, y.squaredNorm(), WeightRule::free, r, delta);
    const auto outcome = pursue(space, {.rank = r, .ascent_tolerance = 0});
    if (Index(space.atoms().size()) < r) break;
    residual = y;
    for (Index i = 0; i < r; ++i) residual -= space.weights()[i] * unit.col(space.atoms()[std::size_t(i)]);
    CertifiedStep step;
    step.decay = (residual - (y - projection)).squaredNorm() / before;
    step.guaranteed = 1 - delta * delta * best * best / before;
    if (rate) step.coherence_bound = 1 - delta * delta * (1 - *rate);
    const double slack = rounding / before;
    step.holds =
        step.decay <= step.guaranteed + slack && (!rate || step.decay <= *step.coherence_bound + slack);
    certificate.holds = certificate.holds && step.holds;
    certificate.steps.push_back(step);
  }
  return certificate;
}

std::vector<Index> steps_below_guarantee(const Trace& trace, double atom_norm) {
  std::vector<Index> broken;
  if (trace.empty()) return broken;
  const double rounding = 1e-12 * (trace.front().objective + trace.front().gain);
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (trace[i].gain < 0.5 * std::pow(trace[i].lmo_value / atom_norm, 2) - rounding)
      broken.push_back(Index(i));
  return broken;
}

}  // namespace pursuit
