#include "pursuit/baselines/spannogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "baselines/plane_sweep.hpp"
#include "linalg/lanczos.hpp"
#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/baselines/component.hpp"

namespace pursuit {
namespace {

/// Directions of R^d, one per column, of which one or its opposite is the best, exactly or nearly.
Matrix candidate_directions(const Matrix& V, Index k, const SpannogramOptions& options) {
  if (V.cols() == 1) return Matrix::Ones(1, 1);
  if (V.cols() == 2) return best_plane_direction(V, k);
  return Random(options.seed).gaussian_matrix(V.cols(), options.samples);
}

/// The best member for each direction and its opposite; the best of these on V V^T, and its value there.
Component best_candidate(const Matrix& V, const Matrix& directions, const AtomSet& atoms) {
  constexpr Index kBlock = 64;
  Component best;
  Vector u(V.rows());
  for (Index first = 0; first < directions.cols(); first += kBlock) {
    const Matrix block = V * directions.middleCols(first, std::min(kBlock, directions.cols() - first));
    for (Index s = 0; s < 2 * block.cols(); ++s) {
      atoms.maximize(s % 2 == 0 ? Vector(block.col(s / 2)) : Vector(-block.col(s / 2)), u);
      const double value = (V.transpose() * u).squaredNorm();
      if (best.u.size() == 0 || value > best.variance) best = {u, value, 0};
    }
  }
  return best;
}

void require_allowed(const SpannogramOptions& options, Index p) {
  if (options.k < 0 || options.k > p)
    throw InvalidArgument(fmt::format("{} non-zeros: allowed are 1..{}", options.k, p));
  if (options.dimension < 1 || options.dimension > p)
    throw InvalidArgument(fmt::format("dimension {}: allowed are 1..{}", options.dimension, p));
  if (options.samples < 1)
    throw InvalidArgument(fmt::format("samples {}: at least 1 is needed", options.samples));
  if (!(options.failure > 0 && options.failure < 1))
    throw InvalidArgument(fmt::format("failure {}: a probability above 0 and below 1", options.failure));
}

}  // namespace

SpannogramResult spannogram(const Covariance& C, const SpannogramOptions& options) {
  const Index p = C.rows(), k = options.k == 0 ? p : options.k;
  require_allowed(options, p);
  const EigenPairs leading = leading_eigenpairs(C, options.dimension + 1, true);
  if (leading.values.size() == 0) return {heaviest_coordinate(C).u, 0, 0, 1, 0};  // nothing varies
  const Index d = std::min(options.dimension, leading.values.size());
  const double left_out = leading.values.size() > d ? leading.values[d] : 0;  // lambda_{d+1}
  const Matrix V = leading.vectors.leftCols(d) * leading.values.head(d).cwiseSqrt().asDiagonal();
  const Component found = best_candidate(V, candidate_directions(V, k, options), *(nonneg() + sparse(k)));

  SpannogramResult result;
  result.u = found.u;
  Matrix image;
  C.apply(result.u, image);
  result.variance = result.u.dot(image.col(0));
  result.covering_angle = d >= 3 ? covering_angle(d, options.samples, options.failure) : 0;
  const double missed = std::pow(std::cos(result.covering_angle), 2);
  const double lambda = leading.values[0], share = double(k) / (2 * double(p));
  result.upper_bound = std::min(lambda, found.variance / missed + left_out);
  result.a_priori = std::max(share, 1 / (1 + left_out / (share * lambda)));
  return result;
}

double covering_angle(Index dimension, Index samples, double failure) {
  // The angle of two random lines has a density proportional to sin^(d-2) on [0, pi/2]; all samples are
  // further away than theta with probability P(angle > theta)^samples.
  constexpr int kSteps = 20000;
  const double width = std::numbers::pi / 2 / kSteps;
  const auto density = [&](int step) {
    return std::pow(std::sin((step + 0.5) * width), double(dimension - 2));
  };
  double total = 0, within = 0;
  for (int step = 0; step < kSteps; ++step) total += density(step);
  const double needed = -std::expm1(std::log(failure) / double(samples)) * total;
  int step = 0;
  while (step < kSteps && within < needed) within += density(step++);
  return step * width;
}

}  // namespace pursuit
