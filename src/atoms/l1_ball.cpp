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
#include "atoms/simple_members.hpp"
#include "atoms/unit_vectors.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

class L1Ball final : public AtomSet {
 public:
  L1Ball(double c, bool nonnegative) : c_(c), nonnegative_(nonnegative) {
    if (!(c >= 1) || !std::isfinite(c))
      throw InvalidArgument(fmt::format(
          "l1ball:{}: a unit vector has sum |u_i| of at least 1, so that c must be 1 or more", c));
  }

  std::string spec() const override { return fmt::format("{}l1ball:{}", nonnegative_ ? "nonneg+" : "", c_); }
  bool symmetric() const override { return !nonnegative_; }
  bool ignores_zeros(const Marks&) const override { return true; }

  bool contains(ConstVectorRef u, double tolerance) const override {
    return has_unit_norm(u, tolerance) && !(nonnegative_ && u.minCoeff() < 0) &&
           u.lpNorm<1>() <= c_ * (1 + tolerance);
  }

  Atoms intersect(const AtomSet& other) const override {
    const auto* vectors = dynamic_cast<const UnitVectors*>(&other);
    if (!vectors || vectors->symmetric() || vectors->supports()) return nullptr;
    return std::make_shared<L1Ball>(c_, true);
  }

 private:
  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    u = nonnegative_ ? Vector(g.cwiseMax(0.0)) : Vector(g);
    const double largest = u.cwiseAbs().maxCoeff();
    if (largest == 0) return best_coordinate(g, u);
    u /= largest;
    if (u.lpNorm<1>() > c_ * u.norm()) shrink(u);
    u /= u.norm();
  }

  void shrink(VectorRef u) const {
    thread_local std::vector<double> sizes;
    sizes.assign(std::size_t(u.size()), 0.0);
    for (Index i = 0; i < u.size(); ++i) sizes[std::size_t(i)] = std::abs(u[i]);
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    // With m entries left, of mean s and squared deviations V, norms (m d, sqrt(V + m d^2)) after shrinking
    // to a mean of d = s - Delta have the ratio c where d = c sqrt(V / (m (m - c^2))).
    double mean = 0, deviations = 0;
    for (std::size_t m = 1; m <= sizes.size(); ++m) {
      const double size = sizes[m - 1], count = double(m), off = size - mean;
      mean += off / count;
      deviations += off * (size - mean);
      if (!(count > c_ * c_)) continue;
      const double delta = mean - c_ * std::sqrt(deviations / (count * (count - c_ * c_)));
      const double next = m < sizes.size() ? sizes[m] : 0.0;
      if (delta >= next && delta < size) {
        for (double& x : u) x = std::copysign(std::max(std::abs(x) - delta, 0.0), x);
        return;
      }
    }
    share_among_ties(sizes.front(), u);
  }

  /// Too many entries tie for the largest: the first of them takes p, the others q, p + (m - 1) q = c.
  void share_among_ties(double largest, VectorRef u) const {
    constexpr double kTie = 1 - 1e-12;
    const auto m = double((u.array().abs() >= kTie * largest).count());
    const double p = (c_ + std::sqrt(std::max((m - 1) * (m - c_ * c_), 0.0))) / m;
    const double q = m > 1 ? std::max((c_ - p) / (m - 1), 0.0) : 0.0;
    bool first = true;
    for (double& x : u) {
      const bool tied = std::abs(x) >= kTie * largest;
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
