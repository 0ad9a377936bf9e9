// Convex (or concave) sequences: the projection onto the cone of non-negative second differences.
//
// A convex sequence is piecewise linear, and the projection has few knots. They are found by an active set
// method, as for non-negative least squares (Lawson and Hanson 1974) in the basis of hinges max(i - j, 0)
// next to the straight lines: the hinge with the steepest descent becomes a knot; the best piecewise linear
// fit with these knots, a tridiagonal system, is approached until a knot would bend the wrong way, and that
// one is dropped. Every round lowers the objective, so that it ends. O(n) per round.

#include <algorithm>
#include <cmath>
#include <vector>

#include "atoms/cone_set.hpp"
#include "atoms/simple_members.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

/// The knots of a piecewise linear sequence, both ends included, with its values there.
struct Spline {
  std::vector<Index> knots;
  std::vector<double> values;

  double slope(std::size_t k) const { return (values[k + 1] - values[k]) / double(knots[k + 1] - knots[k]); }
  /// The change of slope at an inner knot.
  double bend(std::size_t k) const { return slope(k) - slope(k - 1); }

  void drop(std::size_t k) {
    knots.erase(knots.begin() + std::ptrdiff_t(k));
    values.erase(values.begin() + std::ptrdiff_t(k));
  }

  /// A knot where the sequence is straight: values stay as they are.
  void split(Index place) {
    const auto k = std::size_t(std::upper_bound(knots.begin(), knots.end(), place) - knots.begin()) - 1;
    const double value = values[k] + slope(k) * double(place - knots[k]);
    knots.insert(knots.begin() + std::ptrdiff_t(k + 1), place);
    values.insert(values.begin() + std::ptrdiff_t(k + 1), value);
  }

  void write(VectorRef x) const {
    for (std::size_t k = 0; k + 1 < knots.size(); ++k)
      for (Index i = knots[k]; i < knots[k + 1]; ++i) x[i] = values[k] + slope(k) * double(i - knots[k]);
    x[knots.back()] = values.back();
  }
};

class Shape final : public ConeSet {
 public:
  explicit Shape(Curve curve) : ConeSet({.symmetric = false, .exact_fit = true}), curve_(curve) {}

  std::string spec() const override { return curve_ == Curve::convex ? "convex-shape" : "concave-shape"; }

  bool contains(ConstVectorRef u, double tolerance) const override {
    if (!has_unit_norm(u, tolerance)) return false;
    const double side = curve_ == Curve::convex ? 1 : -1;
    for (Index i = 1; i + 1 < u.size(); ++i)
      if (side * (u[i + 1] - 2 * u[i] + u[i - 1]) < -tolerance) return false;
    return true;
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    thread_local Vector curvature, slopes;
    // Where there is no curvature a trace of it keeps the straight pieces determined.
    curvature = a.cwiseMax(1e-12 * std::max(a.maxCoeff(), 1e-300));
    if (curve_ == Curve::convex)
      slopes = b;
    else
      slopes = -b;
    regress(curvature, slopes, x);
    if (curve_ == Curve::concave) x = -x;
    // The best multiple, so that the gain is what it says.
    const double steepness = a.dot(x.cwiseAbs2()), along = b.dot(x);
    if (!(steepness > 0) || !(along > 0)) {
      x.setZero();
      return 0;
    }
    x *= along / steepness;
    return along * along / steepness;
  }

  /// Constant vectors are members both ways.
  void least_bad(ConstVectorRef g, VectorRef u) const override { constant_along(g, u); }

 private:
  /// The piecewise linear fit with the knots of `spline`: normal equations in the basis of hats.
  static void fit_values(ConstVectorRef a, ConstVectorRef b, Spline& spline) {
    const std::size_t m = spline.knots.size();
    thread_local std::vector<double> diagonal, beside, right;
    diagonal.assign(m, 0.0);
    beside.assign(m, 0.0);
    right.assign(m, 0.0);
    for (std::size_t k = 0; k + 1 < m; ++k) {
      const Index first = spline.knots[k], last = spline.knots[k + 1];
      const double width = double(last - first);
      for (Index i = first + (k > 0 ? 1 : 0); i <= last; ++i) {
        const double right_share = double(i - first) / width, left_share = 1 - right_share;
        diagonal[k] += a[i] * left_share * left_share;
        diagonal[k + 1] += a[i] * right_share * right_share;
        beside[k] += a[i] * left_share * right_share;
        right[k] += b[i] * left_share;
        right[k + 1] += b[i] * right_share;
      }
    }
    for (std::size_t k = 1; k < m; ++k) {
      const double factor = beside[k - 1] / diagonal[k - 1];
      diagonal[k] -= factor * beside[k - 1];
      right[k] -= factor * right[k - 1];
    }
    for (std::size_t k = m; k-- > 0;)
      spline.values[k] = (right[k] - (k + 1 < m ? beside[k] * spline.values[k + 1] : 0.0)) / diagonal[k];
  }

  /// The place of the hinge along which the objective falls most steeply; -1 where none does noticeably.
  static Index best_hinge(ConstVectorRef a, ConstVectorRef b, ConstVectorRef x) {
    const Index n = x.size();
    const double noise = 1e-11 * std::max(b.norm(), 1e-300);
    Index best = -1;
    double steepest = noise, sum = 0, moment = 0;  // over i > j of -gradient, and of (i - j) times it
    for (Index j = n - 2; j > 0; --j) {
      sum += b[j + 1] - a[j + 1] * x[j + 1];
      moment += sum;
      const auto length = double(n - 1 - j);
      const double norm = std::sqrt(length * (length + 1) * (2 * length + 1) / 6);
      if (const double descent = moment / norm; descent > steepest) {
        steepest = descent;
        best = j;
      }
    }
    return best;
  }

  static void regress(ConstVectorRef a, ConstVectorRef b, VectorRef x) {
    const Index n = b.size();
    if (n < 3) {
      x = b.cwiseQuotient(a);
      return;
    }
    thread_local Spline spline, target;
    spline.knots = {0, n - 1};
    spline.values = {0, 0};
    fit_values(a, b, spline);
    spline.write(x);
    double value = (x.array() * (a.array() * x.array() - 2 * b.array())).sum();
    for (Index rounds = 0; rounds < 4 * n; ++rounds) {
      const Index place = best_hinge(a, b, x);
      if (place < 0 || std::binary_search(spline.knots.begin(), spline.knots.end(), place)) break;
      spline.split(place);
      while (true) {
        target = spline;
        fit_values(a, b, target);
        double step = 1;
        std::size_t blocking = 0;
        for (std::size_t k = 1; k + 1 < spline.knots.size(); ++k) {
          const double now = std::max(spline.bend(k), 0.0), then = target.bend(k);
          if (then < 0 && now < step * (now - then)) {
            step = now / (now - then);
            blocking = k;
          }
        }
        for (std::size_t k = 0; k < spline.values.size(); ++k)
          spline.values[k] += step * (target.values[k] - spline.values[k]);
        if (blocking == 0) break;
        spline.drop(blocking);
      }
      spline.write(x);
      const double reached = (x.array() * (a.array() * x.array() - 2 * b.array())).sum();
      if (!(reached < value)) break;
      value = reached;
    }
  }

  Curve curve_;
};

}  // namespace

Atoms shape(Curve curve) {
  return std::make_shared<Shape>(curve);
}

}  // namespace pursuit
