#include "objective/newton_direction.hpp"

#include <algorithm>

#include "linalg/cholesky.hpp"

namespace pursuit {

Vector newton_direction(const Matrix& G, const Vector& g, Index first, bool nonnegative, const Vector& x,
                        Index free) {
  const Index n = g.size() - first;
  Vector d = Vector::Zero(g.size());
  const auto H = G.bottomRightCorner(n, n);
  if (!nonnegative) {
    const double ridge = 1e-10 * H.trace() / double(n) + 1e-300;  // where entries are fewer than atoms
    const Cholesky cholesky(Matrix(H) + ridge * Matrix::Identity(n, n));
    if (cholesky.definite()) {
      d.tail(n) = cholesky.solve(g.tail(n));
      return d;
    }
  }
  constexpr int kPasses = 20;
  for (int pass = 0; pass < kPasses; ++pass) {
    double change = 0, size = 0;
    for (Index k = first; k < g.size(); ++k) {
      if (!(G(k, k) > 0)) continue;
      const double goal = d[k] + (g[k] - G.col(k).tail(n).dot(d.tail(n))) / G(k, k);
      const double next = nonnegative && k >= free ? std::max(goal, -x[k]) : goal;
      change += G(k, k) * (next - d[k]) * (next - d[k]);
      size += G(k, k) * next * next;
      d[k] = next;
    }
    if (change <= 1e-6 * size) break;
  }
  return d;
}

}  // namespace pursuit
