// Sets whose members need not have unit norm: balls of p-norms and the simplex. Multiples of their members
// fill everything, or everything non-negative, so that fit is one step per coordinate.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "atoms/restricted.hpp"
#include "atoms/scratch.hpp"
#include "atoms/simple_members.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// Members are u = x / size(x) for any x, or any non-negative x.
class ScaledVectors : public AtomSet {
 public:
  explicit ScaledVectors(bool nonnegative)
      : AtomSet({.symmetric = !nonnegative, .unit_norm = false, .exact_fit = true}) {}

 protected:
  bool one_sided() const { return !traits().symmetric; }
  virtual double size(ConstVectorRef x) const = 0;

  double fit_uniform_impl(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const override {
    Scratch equal(b.size());
    equal.setConstant(curvature);
    return fit_impl(equal, b, sign, u);
  }

  double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const override {
    u = (a.array() > 0).select(b.array() / a.array(), 0.0);
    double largest = u.cwiseAbs().maxCoeff(), direction = 1;
    if (largest > 0) u /= largest;  // squares can then neither overflow nor vanish
    if (one_sided()) {
      const auto gains = a.array() * u.array().square();
      const double up = (u.array() > 0).select(gains, 0.0).sum(),
                   down = (u.array() < 0).select(gains, 0.0).sum();
      if (sign == Sign::free && down > up) direction = -1;
      u = (direction * u).cwiseMax(0.0);
      const double left = u.maxCoeff();
      if (left > 0) u /= left;
      largest *= left;
    }
    if (!(largest > std::numeric_limits<double>::min())) {
      maximize(b, u);
      return 0;
    }
    const double scale = size(u);
    u /= scale;
    return direction * scale * largest;
  }
};

/// sum |u_i|^p <= 1.
class PowerBall final : public ScaledVectors {
 public:
  PowerBall(double p, bool nonnegative) : ScaledVectors(nonnegative), p_(p) {
    if (!(p >= 1)) throw InvalidArgument(fmt::format("lp:{}: a norm needs p of at least 1, or inf", p));
  }

  std::string spec() const override { return fmt::format("{}lp:{}", one_sided() ? "nonneg+" : "", p_); }

  bool contains(ConstVectorRef u, double tolerance) const override {
    return u.size() > 0 && u.allFinite() && size(u) <= 1 + tolerance && !(one_sided() && u.minCoeff() < 0);
  }

  AtomSetPtr narrowed(const Constraint& constraint) const override {
    if (std::holds_alternative<Nonnegativity>(constraint)) return std::make_shared<PowerBall>(p_, true);
    return restricted(*this, constraint);
  }

 private:
  double size(ConstVectorRef x) const override {
    const double largest = x.cwiseAbs().maxCoeff();
    if (largest == 0 || std::isinf(p_)) return largest;
    return largest * std::pow((x.array().abs() / largest).pow(p_).sum(), 1 / p_);
  }

  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    if (one_sided())
      u = g.cwiseMax(0.0);
    else
      u = g;
    Index best = 0;
    const double largest = u.cwiseAbs().maxCoeff(&best);
    if (largest == 0 || p_ == 1) {
      if (largest == 0 && g.maxCoeff(&best) < 0) return;  // nothing is better than the zero vector
      const double end = u[best] < 0 ? -1 : 1;
      u.setZero();
      u[best] = end;
      return;
    }
    // Equality in Hoelder's inequality: u_i ~ |g_i|^(q - 1), 1/p + 1/q = 1.
    const double power = std::isinf(p_) ? 0.0 : 1 / (p_ - 1);
    u = (u.array() == 0).select(0.0, u.array().sign() * (u.array().abs() / largest).pow(power));
    u /= size(u);
  }

  double p_;
};

/// u_i >= 0, sum u_i = 1.
class Simplex final : public ScaledVectors {
 public:
  Simplex() : ScaledVectors(true) {}

  std::string spec() const override { return "simplex"; }
  AtomSetPtr narrowed(const Constraint& constraint) const override { return restricted(*this, constraint); }
  bool contains(ConstVectorRef u, double tolerance) const override {
    return u.size() > 0 && u.minCoeff() >= 0 && std::abs(u.sum() - 1) <= tolerance;
  }

 private:
  double size(ConstVectorRef x) const override { return x.sum(); }
  void maximize_impl(ConstVectorRef g, VectorRef u) const override { best_coordinate(g, u); }
};

}  // namespace

Atoms lp(double p) {
  return std::make_shared<PowerBall>(p, false);
}
Atoms simplex() {
  return std::make_shared<Simplex>();
}

}  // namespace pursuit
