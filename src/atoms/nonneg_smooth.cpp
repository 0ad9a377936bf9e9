// Unit vectors without a negative entry whose neighbours differ little: the cone of all x >= 0 with
// x^T (L - lambda I) x <= 0, L the Laplacian of the path.
//
// With a price beta on the excess, the best x >= 0 solves a tridiagonal system whose entries beside the
// diagonal are not positive, where it is found by its active set in a few rounds. As long as the matrix
// diag(a) + beta (L - lambda I) is positive definite that bounds what any member gains, and the bound is
// reached where the excess is 0: on data whose entries are positive on the whole this is so, and the answer
// is the best there is. Otherwise the cone is not convex where it matters. Descent then starts from what the
// search ended at and from peaks at the largest entries, -|x|^2 replaced by its tangent, and ends in a local
// optimum: the set promises no share of the best.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "atoms/cone_set.hpp"
#include "atoms/path_roughness.hpp"

namespace pursuit {
namespace {

double neighbours(Index i, Index n) {
  return double(i > 0) + double(i + 1 < n);
}

/// Quadratics x^T M x - 2 q^T x over x >= 0, M = diag(d) + beta L - beta I lambda: no entry beside the
/// diagonal is positive, so that an entry that is positive without the others stays so with them.
class PathQuadratic {
 public:
  /// False where M is not positive definite.
  bool set(ConstVectorRef a, double beta, double lambda) {
    const Index n = a.size();
    beta_ = beta;
    diagonal_.resize(n);
    double pivot = 1;
    for (Index i = 0; i < n; ++i) {
      diagonal_[i] = a[i] + beta * (neighbours(i, n) - lambda);
      pivot = diagonal_[i] - (i > 0 ? beta * beta / pivot : 0.0);
      if (!(pivot > 0)) return false;
    }
    return true;
  }

  /// Without a bound on x.
  void solve(ConstVectorRef q, VectorRef x) {
    inside_.assign(std::size_t(q.size()), 1);
    solve_inside(q, x);
  }

  void minimize(ConstVectorRef q, VectorRef x) {
    const Index n = q.size();
    next_.resize(std::size_t(n));
    solve(q, x);
    for (Index round = 0; round < n; ++round) {
      bool changed = false;
      for (Index i = 0; i < n; ++i) {
        const double beside = (i > 0 ? x[i - 1] : 0.0) + (i + 1 < n ? x[i + 1] : 0.0);
        next_[std::size_t(i)] = inside_[std::size_t(i)] ? x[i] > 0 : q[i] + beta_ * beside > 0;
        changed |= next_[std::size_t(i)] != inside_[std::size_t(i)];
      }
      if (!changed) break;
      inside_.swap(next_);
      solve_inside(q, x);
    }
    x = x.cwiseMax(0.0);
  }

 private:
  void solve_inside(ConstVectorRef q, VectorRef x) {
    const Index n = q.size();
    pivots_.resize(n);
    for (Index i = 0; i < n; ++i) {
      if (!inside_[std::size_t(i)]) {
        x[i] = 0;
        continue;
      }
      const bool linked = i > 0 && inside_[std::size_t(i - 1)];
      pivots_[i] = diagonal_[i] - (linked ? beta_ * beta_ / pivots_[i - 1] : 0.0);
      x[i] = q[i] + (linked ? beta_ / pivots_[i - 1] * x[i - 1] : 0.0);
    }
    for (Index i = n - 1; i >= 0; --i) {
      if (!inside_[std::size_t(i)]) continue;
      const bool linked = i + 1 < n && inside_[std::size_t(i + 1)];
      x[i] = (x[i] + (linked ? beta_ * x[i + 1] : 0.0)) / pivots_[i];
    }
  }

  Vector diagonal_, pivots_;
  std::vector<unsigned char> inside_, next_;
  double beta_ = 0;
};

/// b^T x once x is its best multiple; 0, and x = 0, where none gains.
double gain_of_best_multiple(ConstVectorRef a, ConstVectorRef b, VectorRef x) {
  const double steepness = a.dot(x.cwiseAbs2()), along = b.dot(x);
  if (!(steepness > 0) || !(along > 0)) {
    x.setZero();
    return 0;
  }
  x *= along / steepness;
  return along * along / steepness;
}

class NonnegSmooth final : public ConeSet {
 public:
  explicit NonnegSmooth(double lambda)
      : ConeSet({.symmetric = false, .exact_fit = false, .oracle_factor = 0}), path_{lambda} {}

  std::string spec() const override { return fmt::format("nonneg+smooth:{}", path_.lambda); }

  bool contains(ConstVectorRef u, double tolerance) const override {
    return has_unit_norm(u, tolerance) && u.minCoeff() >= 0 && path_.excess(u) <= 4 * tolerance;
  }

  AtomSetPtr narrowed(const Constraint& constraint) const override {
    return std::holds_alternative<Nonnegativity>(constraint) ? std::make_shared<NonnegSmooth>(path_.lambda)
                                                             : nullptr;
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    thread_local Vector curvature, other;
    // Where there is no curvature a trace of it keeps the solution determined.
    curvature = a.cwiseMax(1e-12 * std::max(a.maxCoeff(), 1e-300));
    if (search(curvature, b, x)) return gain_of_best_multiple(a, b, x);
    descend(curvature, b, x);
    const double gain = gain_of_best_multiple(a, b, x);
    other.resize(b.size());
    best_peak(curvature, b, other);
    descend(curvature, b, other);
    const double from_peak = gain_of_best_multiple(a, b, other);
    if (from_peak > gain) x = other;
    return std::max(gain, from_peak);
  }

  /// The best of a few peaks, or the constant vector.
  void least_bad(ConstVectorRef g, VectorRef u) const override {
    const Vector ones = Vector::Ones(g.size()), constant = ones.normalized();
    best_peak(ones, g, u);
    u /= u.norm();
    if (!(g.dot(u) > g.dot(constant))) u = constant;
  }

 private:
  /// Whether the best member was found, and is known to be that; if not, x is a member of the cone.
  bool search(ConstVectorRef a, ConstVectorRef b, VectorRef x) const {
    thread_local PathQuadratic quadratic;
    thread_local Vector trial, outside, within, ray;
    x = b.cwiseMax(0.0).cwiseQuotient(a);
    if (x.size() < 2 || path_.excess(x) <= 0) return true;
    double lo = 0;
    trial = outside = x;
    const auto best = [&](double beta, Vector& at) {
      if (!quadratic.set(a, beta, path_.lambda)) return false;
      quadratic.minimize(b, at);
      return true;
    };
    if (search_price(path_, a.mean(), best, trial, outside, within, lo)) {
      within -= outside;
      x = (outside + std::min(path_.crossing(outside, within), 1.0) * within).cwiseMax(0.0);
      return true;
    }
    // Filled up with the positive vector that the matrix, at the last beta, makes almost vanish.
    ray.setOnes(b.size());
    if (lo > 0 && quadratic.set(a, lo, path_.lambda))
      for (int repeat = 0; repeat < 3; ++repeat) {
        within = ray / ray.norm();
        quadratic.solve(within, ray);
      }
    ray /= ray.norm();
    if (!(path_.excess(ray) < 0)) ray.setConstant(1 / std::sqrt(double(b.size())));
    x = outside + path_.crossing(outside, ray) * ray;
    return false;
  }

  /// From a member x of the cone: the excess with the tangent of |x|^2 at x in its place is convex and no
  /// less than it, so that the best point under it is a member again and no worse.
  void descend(ConstVectorRef a, ConstVectorRef b, VectorRef x) const {
    constexpr int kRounds = 50, kDoublings = 200, kHalvings = 45;
    constexpr double kLittle = 1e-10;
    thread_local PathQuadratic quadratic;
    thread_local Vector here, within;
    double reached = 0;
    for (int round = 0; round < kRounds; ++round) {
      // The tangent is of use near the best multiple.
      if (const double along = b.dot(x); along > 0) x *= along / a.dot(x.cwiseAbs2());
      here = x;
      const double square = here.squaredNorm();
      const auto meets = [&](double beta) {
        if (!quadratic.set(a, beta, 0)) return false;
        quadratic.minimize(b + (beta * path_.lambda) * here, x);
        return PathRoughness{0}.excess(x) - 2 * path_.lambda * here.dot(x) + path_.lambda * square <= 0;
      };
      double lo = 0, hi = a.mean();
      int doubling = 0;
      while (!meets(hi) && doubling++ < kDoublings) {
        lo = hi;
        hi *= 2;
      }
      if (doubling > kDoublings) {
        x = here;
        return;
      }
      within = x;
      for (int halving = 0; halving < kHalvings && hi - lo > 1e-13 * hi; ++halving) {
        const double beta = 0.5 * (lo + hi);
        if (meets(beta)) {
          hi = beta;
          within = x;
        } else {
          lo = beta;
        }
      }
      x = within;
      const double value = (x.array() * (2 * b.array() - a.array() * x.array())).sum();
      if (!(value > reached + kLittle * std::abs(value))) return;
      reached = value;
    }
  }

  /// Of the best members for single entries, the largest few of b, and for b with so much added to such an
  /// entry that it is positive on the whole, the one that gains most along b.
  void best_peak(ConstVectorRef a, ConstVectorRef b, VectorRef x) const {
    constexpr Index kPlaces = 8;
    thread_local Vector raised, candidate;
    std::vector<Index> places(static_cast<std::size_t>(b.size()));
    std::iota(places.begin(), places.end(), Index(0));
    std::stable_sort(places.begin(), places.end(), [&](Index i, Index j) { return b[i] > b[j]; });
    places.resize(std::size_t(std::min(kPlaces, b.size())));
    double best = -std::numeric_limits<double>::infinity();
    candidate.resize(b.size());
    const double size = b.cwiseAbs().sum();
    for (const Index place : places)
      for (const double share : {0.0, 0.5, 1.0}) {  // of b beside the peak
        raised = share * b;
        raised[place] += std::max(size, 1e-300);
        search(a, raised, candidate);
        const double value = b.dot(candidate) / std::sqrt(a.dot(candidate.cwiseAbs2()));
        if (value > best) {
          best = value;
          x = candidate;
        }
      }
  }

  PathRoughness path_;
};

}  // namespace

AtomSetPtr nonneg_smooth(double lambda) {
  return std::make_shared<NonnegSmooth>(lambda);
}

}  // namespace pursuit
