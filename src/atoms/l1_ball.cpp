// Unit vectors with sum |u_i| <= c, the set of the penalized matrix decomposition (Witten, Tibshirani and
// Hastie 2009).
//
// The best one along g is g shrunk towards zero by some Delta and scaled to unit norm. The ratio of the two
// norms falls as Delta grows, and between two neighbours of the sorted |g_i| the equation ratio = c is
// quadratic: no search, O(n log n). Its other oracle has no closed form for unequal curvatures; it is the
// default of AtomSet, which is exact for equal ones.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "atoms/cone_set.hpp"
#include "atoms/restricted.hpp"
#include "atoms/simple_members.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

class L1Ball final : public AtomSet {
 public:
  L1Ball(double c, bool nonnegative)
      : AtomSet({.symmetric = !nonnegative}), c_(c), nonnegative_(nonnegative) {
    if (!(c >= 1) || !std::isfinite(c))
      throw InvalidArgument(fmt::format(
          "l1ball:{}: a unit vector has sum |u_i| of at least 1, so that c must be 1 or more", c));
  }

  std::string spec() const override { return fmt::format("{}l1ball:{}", nonnegative_ ? "nonneg+" : "", c_); }

  bool contains(ConstVectorRef u, double tolerance) const override {
    return has_unit_norm(u, tolerance) && !(nonnegative_ && u.minCoeff() < 0) &&
           u.lpNorm<1>() <= c_ * (1 + tolerance);
  }

  AtomSetPtr narrowed(const Constraint& constraint) const override {
    if (std::holds_alternative<Nonnegativity>(constraint)) return std::make_shared<L1Ball>(c_, true);
    return restricted(*this, constraint);
  }

 private:
  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    if (nonnegative_)
      u = g.cwiseMax(0.0);
    else
      u = g;
    const double largest = u.cwiseAbs().maxCoeff();
    if (largest == 0) return best_coordinate(g, u);
    u /= largest;
    if (u.lpNorm<1>() > c_ * u.norm()) shrink(u);
    u /= u.norm();
  }

  /// Needs a largest entry of size 1. Works with what is missing to 1, which is exact for entries that almost
  /// tie for the largest: of these only differences are left.
  void shrink(VectorRef u) const {
    thread_local std::vector<double> gaps;
    gaps.resize(std::size_t(u.size()));
    for (Index i = 0; i < u.size(); ++i) gaps[std::size_t(i)] = 1 - std::abs(u[i]);
    std::sort(gaps.begin(), gaps.end());
    // With m entries left, their gaps of mean s and squared deviations V, norms (m d, sqrt(V + m d^2)) after
    // shrinking to a mean of d = reach - s have the ratio c where d = c sqrt(V / (m (m - c^2))).
    double mean = 0, deviations = 0, reach = 1;
    for (std::size_t m = 1; m <= gaps.size(); ++m) {
      const double gap = gaps[m - 1], count = double(m), off = gap - mean;
      mean += off / count;
      deviations += off * (gap - mean);
      if (!(count > c_ * c_)) continue;
      reach = mean + c_ * std::sqrt(deviations / (count * (count - c_ * c_)));
      if (m == gaps.size() || reach <= gaps[m]) break;  // the next entry is shrunk to nothing
    }
    if (!(reach > 0)) return share_among_ties(u);
    for (double& x : u) x = std::copysign(std::max(reach - (1 - std::abs(x)), 0.0), x);
  }

  /// Too many entries tie for the largest: the first of them takes p, the others q, p + (m - 1) q = c.
  void share_among_ties(VectorRef u) const {
    const auto m = double((u.array().abs() == 1).count());
    const double p = (c_ + std::sqrt(std::max((m - 1) * (m - c_ * c_), 0.0))) / m;
    const double q = m > 1 ? std::max((c_ - p) / (m - 1), 0.0) : 0.0;
    bool first = true;
    for (double& x : u) {
      const bool tied = std::abs(x) == 1;
      x = tied ? std::copysign(first ? p : q, x) : 0.0;
      first = first && !tied;
    }
  }

  double c_;
  bool nonnegative_;
};

}  // namespace

Atoms l1ball(double c) {
  return std::make_shared<L1Ball>(c, false);
}

}  // namespace pursuit
