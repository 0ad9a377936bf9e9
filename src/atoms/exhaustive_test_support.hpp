#pragma once
// What the tests of atom sets against exhaustive searches share: inputs with many ties and zeros, searches
// over all supports and over all partitions into stretches, and the comparison of both oracles with them.

#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "pursuit/atoms/atom_set.hpp"
#include "test_support.hpp"

namespace pursuit::exhaustive {

/// Small integers, so that ties and zeros are common, now and then of one sign or of many magnitudes.
inline Vector any_vector(Index n) {
  Vector g(n);
  const int kind = *rc::gen::inRange(0, 5);
  for (double& x : g) {
    x = kind == 0 ? *rc::gen::inRange(-3, 1) : *rc::gen::inRange(-3, 4);
    if (kind == 1) x = std::ldexp(x, *rc::gen::inRange(-12, 13));
  }
  return g;
}

/// Small integers, zeros among them.
inline Vector any_curvatures(Index n) {
  Vector a(n);
  for (double& x : a) x = *rc::gen::inRange(0, 4);
  return a;
}

inline Sign any_sign() {
  return *rc::gen::element(Sign::free, Sign::nonnegative);
}

/// sum a_i x_i^2 - 2 b_i x_i at x = t u.
inline double parabolas(const Vector& a, const Vector& b, double t, const Vector& u) {
  return t * t * a.dot(u.cwiseAbs2()) - 2 * t * b.dot(u);
}

/// The right answers, by another way than the set's own.
struct Reference {
  /// The largest <u, g>.
  std::function<double(const Vector& g)> product;
  /// The largest -parabolas over multiples t u, t >= 0.
  std::function<double(const Vector& a, const Vector& b)> gain;
  /// Whether u is a member, up to rounding.
  std::function<bool(const Vector& u)> member;
};

struct Demands {
  double tolerance = 1e-12;
  double share = 1;         // of the largest product
  bool unequal_fit = true;  // whether fit is exact for unequal curvatures too
  bool contains = true;     // whether contains() is certain
};

inline void check_maximize(const AtomSet& set, const Vector& g, const Reference& reference,
                           const Demands& demands = {}) {
  const double best = reference.product(g), slack = demands.tolerance * g.norm();
  Vector u(g.size());
  for (const double scale : {1.0, 1e-160, 1e150}) {
    u.setConstant(std::numeric_limits<double>::quiet_NaN());
    set.maximize(scale * g, u);
    RC_ASSERT(u.allFinite());
    RC_ASSERT(!demands.contains || set.contains(u, 1e-10));
    RC_ASSERT(reference.member(u));
    RC_ASSERT(g.dot(u) <= best + slack);
    RC_ASSERT(g.dot(u) >= (best > 0 ? demands.share * best : best) - slack);
  }
}

inline void check_one_fit(const AtomSet& set, const Vector& a, const Vector& b, Sign sign, double t,
                          const Vector& u, double best, const Demands& demands) {
  const double most = (a.array() > 0).select(b.array().square() / a.array(), 0.0).sum();
  RC_ASSERT(std::isfinite(t));
  RC_ASSERT(u.allFinite());
  RC_ASSERT(set.contains(u, 1e-10));
  RC_ASSERT(sign == Sign::free || t >= 0);
  RC_ASSERT(best > 0 || t == 0 || set.traits().symmetric || sign == Sign::free || std::abs(t) < 1e-6);
  RC_ASSERT(-parabolas(a, b, t, u) <= best + demands.tolerance * most);
  RC_ASSERT(-parabolas(a, b, t, u) >= demands.share * demands.share * best - demands.tolerance * most);
}

inline void check_fit(const AtomSet& set, const Vector& a, const Vector& linear, Sign sign,
                      const Reference& reference, const Demands& demands = {}) {
  const Vector b = (a.array() > 0).select(linear, 0.0);
  const auto gain = [&](const Vector& curvatures, const Vector& slopes) {
    const double up = reference.gain(curvatures, slopes);
    return sign == Sign::free ? std::max(up, reference.gain(curvatures, -slopes)) : up;
  };
  Vector u(b.size());
  if (demands.unequal_fit) {
    const double best = gain(a, b);
    for (const auto& [steeper, larger] : {std::pair{1.0, 1.0}, {1.0, 1e-160}, {1.0, 1e150}, {1e100, 1.0}}) {
      u.setConstant(std::numeric_limits<double>::quiet_NaN());
      const double t = set.fit(steeper * a, larger * b, sign, u) * (steeper / larger);
      RC_ASSERT(reference.member(u));
      check_one_fit(set, a, b, sign, t, u, best, demands);
    }
  }
  const Vector equal = Vector::Constant(b.size(), 0.5);
  const double best = gain(equal, linear);
  check_one_fit(set, equal, linear, sign, set.fit(0.5, linear, sign, u), u, best, demands);
  RC_ASSERT(reference.member(u));
  check_one_fit(set, equal, linear, sign, set.fit(equal, linear, sign, u), u, best, demands);
  RC_ASSERT(reference.member(u));
}

/// Both oracles at inputs of RapidCheck's choice.
inline void check_oracles(const AtomSet& set, Index n, const Reference& reference,
                          const Demands& demands = {}) {
  set.require_dimension(n);
  check_maximize(set, any_vector(n), reference, demands);
  check_fit(set, any_curvatures(n), any_vector(n), any_sign(), reference, demands);
}

// ---- unit vectors with a family of supports

inline bool in_support(unsigned mask, Index i) {
  return ((mask >> unsigned(i)) & 1U) != 0;
}

inline unsigned support_of(const Vector& u) {
  unsigned mask = 0;
  for (Index i = 0; i < u.size(); ++i)
    if (u[i] != 0) mask |= 1U << unsigned(i);
  return mask;
}

/// All subsets that a predicate accepts, by enumeration, and with them all that lie in one of those.
class Family {
 public:
  template <class Accepts>
  Family(Index n, const Accepts& accepts) : n_(n), allowed_(std::size_t(1) << unsigned(n), false) {
    for (unsigned mask = 0; mask < (1U << unsigned(n)); ++mask)
      if (accepts(mask)) widest_.push_back(mask);
    for (const unsigned widest : widest_)
      for (unsigned mask = widest;; mask = (mask - 1) & widest) {
        allowed_[mask] = true;
        if (mask == 0) break;
      }
  }

  Index entries() const { return n_; }
  bool allows(unsigned mask) const { return allowed_[mask]; }
  const std::vector<unsigned>& widest() const { return widest_; }

 private:
  Index n_;
  std::vector<bool> allowed_;
  std::vector<unsigned> widest_;
};

inline Reference over_supports(const Family& family, bool nonnegative) {
  const auto product = [family, nonnegative](const Vector& g) {
    double best = -std::numeric_limits<double>::infinity();
    for (const unsigned mask : family.widest()) {
      double squared = 0;
      for (Index i = 0; i < g.size(); ++i) {
        if (!in_support(mask, i)) continue;
        best = std::max(best, g[i]);
        if (!nonnegative || g[i] > 0) squared += g[i] * g[i];
      }
      if (squared > 0) best = std::max(best, std::sqrt(squared));
    }
    return best;
  };
  const auto gain = [family, nonnegative](const Vector& a, const Vector& b) {
    double best = 0;
    for (const unsigned mask : family.widest()) {
      double sum = 0;
      for (Index i = 0; i < b.size(); ++i)
        if (in_support(mask, i) && a[i] > 0 && (!nonnegative || b[i] > 0)) sum += b[i] * b[i] / a[i];
      best = std::max(best, sum);
    }
    return best;
  };
  const auto member = [family, nonnegative](const Vector& u) {
    return std::abs(u.norm() - 1) < 1e-12 && family.allows(support_of(u)) &&
           (!nonnegative || u.minCoeff() >= 0);
  };
  return {product, gain, member};
}

/// contains() agrees with the family on every subset.
inline void check_members(const AtomSet& set, const Family& family) {
  for (unsigned mask = 1; mask < (1U << unsigned(family.entries())); ++mask) {
    Vector u(family.entries());
    for (Index i = 0; i < u.size(); ++i) u[i] = in_support(mask, i) ? 1 : 0;
    RC_ASSERT(set.contains(u.normalized(), 1e-9) == family.allows(mask));
  }
}

// ---- vectors that are constant on stretches

/// Calls visit(x) for the best vector of every partition into stretches, levels clipped where they may not be
/// negative. Stretches without curvature are passed over: the same values are found with one of their
/// neighbours.
template <class Visit>
void for_each_partition(const Vector& a, const Vector& b, bool nonnegative, const Visit& visit) {
  const Index n = b.size();
  Vector x(n);
  for (unsigned cuts = 0; cuts < (1U << unsigned(n - 1)); ++cuts) {
    bool determined = true;
    for (Index first = 0, last = 0; first < n; first = last) {
      double slope = 0, curvature = 0;
      do {
        slope += b[last];
        curvature += a[last];
        ++last;
      } while (last < n && !in_support(cuts, last - 1));
      determined = determined && curvature > 0;
      const double level = curvature > 0 ? slope / curvature : 0.0;
      x.segment(first, last - first).setConstant(nonnegative ? std::max(level, 0.0) : level);
    }
    if (determined) visit(x);
  }
}

/// Unit vectors of a shape that only the order of neighbours, or their equality, decides.
inline Reference over_partitions(const std::function<bool(const Vector&)>& has_shape, bool nonnegative) {
  const auto product = [=](const Vector& g) {
    const Index n = g.size();
    double best = -std::numeric_limits<double>::infinity();
    const auto visit = [&](const Vector& x) {
      if (has_shape(x) && x.norm() > 0) best = std::max(best, g.dot(x) / x.norm());
    };
    for_each_partition(Vector::Ones(n), g, nonnegative, visit);
    // Where nothing gains, an extreme ray is best, and these are indicators.
    for (unsigned mask = 1; mask < (1U << unsigned(n)); ++mask) {
      Vector x(n);
      for (Index i = 0; i < n; ++i) x[i] = in_support(mask, i) ? 1 : 0;
      visit(x);
      if (!nonnegative) visit(-x);
    }
    return best;
  };
  const auto gain = [=](const Vector& a, const Vector& b) {
    double best = 0;
    for_each_partition(a, b, nonnegative, [&](const Vector& x) {
      if (has_shape(x)) best = std::max(best, -parabolas(a, b, 1, x));
    });
    return best;
  };
  const auto member = [=](const Vector& u) {
    return std::abs(u.norm() - 1) < 1e-12 && has_shape(u) && (!nonnegative || u.minCoeff() >= 0);
  };
  return {product, gain, member};
}

}  // namespace pursuit::exhaustive
