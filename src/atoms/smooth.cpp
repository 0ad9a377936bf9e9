// Unit vectors whose neighbours differ little: sum (u_{i+1} - u_i)^2 <= lambda, that is the cone
// x^T (L - lambda I) x <= 0 with L the Laplacian of the path.
//
// A quadratic objective under one quadratic constraint has no gap between local and global optima (the
// S-lemma): x solves (diag(a) + beta (L - lambda I)) x = b for the beta >= 0 at which the constraint is met,
// among those that leave the matrix positive definite. The excess x^T (L - lambda I) x falls as beta grows:
// a one-dimensional search, with a tridiagonal system at each step. Where b is orthogonal to the vector that
// makes the matrix singular in the end, the constraint may not be met on the way; the rest is then a multiple
// of that vector.

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "atoms/cone_set.hpp"
#include "atoms/path_roughness.hpp"
#include "atoms/simple_members.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

double roughness(ConstVectorRef x) {
  return (x.tail(x.size() - 1) - x.head(x.size() - 1)).squaredNorm();
}

/// (diag(a) + beta (L - lambda I)) factored as L D L^T.
class Tridiagonal {
 public:
  /// False where the matrix is not positive definite.
  bool factor(ConstVectorRef a, double beta, double lambda) {
    const Index n = a.size();
    pivots_.resize(n);
    beta_ = beta;
    for (Index i = 0; i < n; ++i) {
      const double neighbours = double(i > 0) + double(i + 1 < n);
      pivots_[i] = a[i] + beta * (neighbours - lambda);
      if (i > 0) pivots_[i] -= beta * beta / pivots_[i - 1];
      if (!(pivots_[i] > 0)) return false;
    }
    return true;
  }

  void solve(ConstVectorRef b, VectorRef x) const {
    const Index n = b.size();
    x = b;
    for (Index i = 1; i < n; ++i) x[i] += beta_ / pivots_[i - 1] * x[i - 1];
    x[n - 1] /= pivots_[n - 1];
    for (Index i = n - 1; i > 0; --i) x[i - 1] = (x[i - 1] + beta_ * x[i]) / pivots_[i - 1];
  }

 private:
  Vector pivots_;
  double beta_ = 0;
};

class Smooth final : public ConeSet {
 public:
  explicit Smooth(double lambda) : ConeSet({.symmetric = true, .exact_fit = true}), path_{lambda} {
    if (!(lambda > 0) || !std::isfinite(lambda))
      throw InvalidArgument(fmt::format("smooth:{}: the roughness must be a number above 0", lambda));
  }

  std::string spec() const override { return fmt::format("smooth:{}", path_.lambda); }

  AtomSetPtr narrowed(const Constraint& constraint) const override {
    return std::holds_alternative<Nonnegativity>(constraint) ? nonneg_smooth(path_.lambda) : nullptr;
  }

  bool contains(ConstVectorRef u, double tolerance) const override {
    return has_unit_norm(u, tolerance) && roughness(u) <= path_.lambda + 4 * tolerance;
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    thread_local Vector curvature;
    // Where there is no curvature a trace of it keeps the solution determined.
    curvature = a.cwiseMax(1e-12 * std::max(a.maxCoeff(), 1e-300));
    search(curvature, b, x);
    const double steepness = a.dot(x.cwiseAbs2()), along = b.dot(x);
    if (!(steepness > 0) || along == 0) {
      x.setZero();
      return 0;
    }
    x *= along / steepness;  // the best multiple, so that the gain is what it says
    return along * along / steepness;
  }

  /// Only for g = 0: the set spans everything.
  void least_bad(ConstVectorRef g, VectorRef u) const override { constant_along(g, u); }

 private:
  void search(ConstVectorRef a, ConstVectorRef b, VectorRef x) const {
    thread_local Tridiagonal matrix;
    thread_local Vector trial, outside, within, along_null;
    x = b.cwiseQuotient(a);
    if (x.size() < 2 || path_.excess(x) <= 0) return;
    double lo = 0;
    trial = outside = x;
    const auto best = [&](double beta, Vector& at) {
      if (!matrix.factor(a, beta, path_.lambda)) return false;
      matrix.solve(b, at);
      return true;
    };
    if (search_price(path_, a.mean(), best, trial, outside, within, lo)) {
      // Where b is almost orthogonal to the vector that vanishes in the end, no number beta is close enough:
      // between the last two solutions the constraint is met.
      within -= outside;
      const double step = path_.crossing(outside, within);
      x = outside + std::min(step, 1.0) * within;
      return;
    }
    // The hard case: fill up with the vector that the matrix, at the last beta, makes almost vanish.
    if (!matrix.factor(a, lo, path_.lambda)) return;
    matrix.solve(b, x);
    along_null = Vector::Ones(b.size());
    for (int repeat = 0; repeat < 3; ++repeat) {
      within = along_null / along_null.norm();
      matrix.solve(within, along_null);
    }
    along_null /= along_null.norm();
    if (along_null.dot(b) < 0) along_null = -along_null;
    x += path_.crossing(x, along_null) * along_null;
  }

  PathRoughness path_;
};

}  // namespace

Atoms smooth(double lambda) {
  return std::make_shared<Smooth>(lambda);
}

}  // namespace pursuit
