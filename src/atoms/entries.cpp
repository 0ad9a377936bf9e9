// Sets that bound or fix the entries one by one: boxes and signs. The scale of a fit couples the entries, and
// is found by a search in one dimension.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "atoms/restricted.hpp"
#include "atoms/scratch.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// lo <= u_i <= hi.
class Box final : public AtomSet {
 public:
  Box(double lo, double hi)
      : AtomSet({.symmetric = lo == -hi, .unit_norm = false, .exact_fit = true}), lo_(lo), hi_(hi) {
    if (!std::isfinite(lo) || !std::isfinite(hi) || lo > hi || (lo == 0 && hi == 0))
      throw InvalidArgument(fmt::format("box:{}:{}: needs two numbers lo <= hi that are not both 0", lo, hi));
  }

  std::string spec() const override { return fmt::format("box:{}:{}", lo_, hi_); }
  AtomSetPtr narrowed(const Constraint& constraint) const override {
    return lo_ <= 0 && hi_ >= 0 ? restricted(*this, constraint) : nullptr;
  }
  bool contains(ConstVectorRef u, double tolerance) const override {
    const double slack = tolerance * std::max(std::abs(lo_), std::abs(hi_));
    return u.size() > 0 && (u.array() >= lo_ - slack && u.array() <= hi_ + slack).all();
  }

 private:
  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    const double either = std::abs(lo_) > std::abs(hi_) ? lo_ : hi_;  // never the zero vector without need
    u = (g.array() > 0).select(hi_, (g.array() < 0).select(lo_, Vector::Constant(g.size(), either)));
  }

  double fit_uniform_impl(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const override {
    Scratch equal(b.size());
    equal.setConstant(curvature);
    return fit_impl(equal, b, sign, u);
  }

  double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const override {
    const double largest = (a.array() > 0).select(b.array() / a.array(), 0.0).abs().maxCoeff();
    double best = 0;
    thread_local Vector scaled;
    if (largest > std::numeric_limits<double>::min()) {
      scaled = b / largest;  // squares can then neither overflow nor vanish
      best = best_scale(a, scaled);
      if (sign == Sign::free && !traits().symmetric) {
        const double reached = value(a, scaled, best);
        scaled = -scaled;
        if (const double down = best_scale(a, scaled); value(a, scaled, down) < reached)
          best = -down;
        else
          scaled = -scaled;
      }
    }
    const double scale = std::abs(best);
    if (!(scale > 0)) {
      maximize_impl(b, u);
      return 0;
    }
    for (Index i = 0; i < b.size(); ++i)  // division rounds
      u[i] = std::clamp(entry(a[i], scaled[i], scale) / scale, lo_, hi_);
    return best * largest;
  }

  /// The best x_i within [t lo, t hi].
  double entry(double a, double b, double t) const {
    return std::clamp(a > 0 ? b / a : 0.0, t * lo_, t * hi_);
  }

  double value(ConstVectorRef a, ConstVectorRef b, double t) const {
    double sum = 0;
    for (Index i = 0; i < b.size(); ++i) {
      const double x = entry(a[i], b[i], t);
      sum += (a[i] * x - 2 * b[i]) * x;
    }
    return sum;
  }

  /// The t >= 0 of the smallest value, which is convex in t; its slope is piecewise linear. Newton's method
  /// on the slope, kept inside a bracket.
  double best_scale(ConstVectorRef a, ConstVectorRef b) const {
    // Beyond the largest t at which an entry meets a bound, nothing gets better.
    double far = 0;
    for (Index i = 0; i < b.size(); ++i) {
      const double free = a[i] > 0 ? b[i] / a[i] : 0.0;
      for (const double bound : {lo_, hi_})
        if (free != 0 && bound != 0 && free / bound > 0) far = std::max(far, free / bound);
    }
    double near = 0, t = far;
    constexpr double kRounding = 1e-15;
    for (int step = 0; step < 200 && far - near > kRounding * far; ++step) {
      double slope = 0, curvature = 0;  // half of them
      for (Index i = 0; i < b.size(); ++i) {
        const double free = a[i] > 0 ? b[i] / a[i] : 0.0;
        const double bound = free > t * hi_ ? hi_ : free < t * lo_ ? lo_ : 0.0;
        slope += bound * (a[i] * t * bound - b[i]);
        curvature += a[i] * bound * bound;
      }
      if (slope <= 0) near = t;
      if (slope >= 0) far = t;
      if (near >= far) break;
      const double newton = curvature > 0 ? t - slope / curvature : near;
      if (std::abs(newton - t) <= kRounding * t) break;
      t = newton > near && newton < far ? newton : near + 0.5 * (far - near);
    }
    return t;
  }

  double lo_, hi_;
};

/// Entries -1 or 1; zeros count as 1.
class Signs final : public AtomSet {
 public:
  Signs() : AtomSet({.symmetric = true, .unit_norm = false, .exact_fit = true}) {}

  std::string spec() const override { return "sign"; }
  bool contains(ConstVectorRef u, double) const override {
    return u.size() > 0 && (u.array().abs() == 1).all();
  }

 private:
  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    u = (g.array() < 0).select(-1.0, Vector::Ones(g.size()));
  }
  double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign, VectorRef u) const override {
    maximize_impl(b, u);
    const double curvature = a.sum();
    return curvature > 0 ? b.lpNorm<1>() / curvature : 0.0;
  }
};

}  // namespace

Atoms box(double lo, double hi) {
  return std::make_shared<Box>(lo, hi);
}
Atoms signs() {
  return std::make_shared<Signs>();
}

}  // namespace pursuit
