#include "pursuit/atoms/atom_set.hpp"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

#include "atoms/passes.hpp"
#include "atoms/scratch.hpp"
#include "atoms/uniform_fit.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// Value of the parabolas at x = t u.
double parabolas(ConstVectorRef a, ConstVectorRef b, double t, ConstVectorRef u) {
  return t * t * (a.array() * u.array().square()).sum() - 2 * t * b.dot(u);
}

/// Best scale for a given member.
double best_scale(ConstVectorRef a, ConstVectorRef b, Sign sign, ConstVectorRef u) {
  const double curvature = (a.array() * u.array().square()).sum();
  const double t = curvature > 0 ? b.dot(u) / curvature : 0.0;
  return sign == Sign::nonnegative ? std::max(t, 0.0) : t;
}

/// Throws InvalidArgument unless all sizes are the same and above 0.
void require_sizes(const AtomSet& set, std::initializer_list<Index> sizes) {
  const Index n = *sizes.begin();
  if (n == 0)
    throw InvalidArgument(
        fmt::format("the oracle of atom set '{}' was asked about a vector without entries", set.spec()));
  for (const Index size : sizes)
    if (size != n)
      throw InvalidArgument(fmt::format(
          "the oracle of atom set '{}' was asked about vectors of {} and {} entries", set.spec(), n, size));
}

}  // namespace

void AtomSet::refuse_not_finite(ConstVectorRef x) const {
  Index i = 0;
  while (std::isfinite(x[i])) ++i;
  throw InvalidArgument(fmt::format(
      "the oracle of atom set '{}' was asked about a vector whose entry {} is {}", spec(), i + 1, x[i]));
}

void AtomSet::maximize(ConstVectorRef g, VectorRef u) const {
  require_sizes(*this, {g.size(), u.size()});
  if (finiteness_ == Finiteness::checked && !passes::all_finite(g)) refuse_not_finite(g);
  maximize_impl(g, u);
}

double AtomSet::fit(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const {
  require_sizes(*this, {b.size(), a.size(), u.size()});
  if (finiteness_ == Finiteness::checked) {
    if (!passes::all_finite(a)) refuse_not_finite(a);
    if (!passes::all_finite(b)) refuse_not_finite(b);
  }
  return fit_impl(a, b, sign, u);
}

double AtomSet::fit(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const {
  require_sizes(*this, {b.size(), u.size()});
  if (finiteness_ == Finiteness::checked && !passes::all_finite(b)) refuse_not_finite(b);
  return fit_uniform_impl(curvature, b, sign, u);
}

void AtomSet::require_dimension(Index) const {}

double AtomSet::fit_uniform_impl(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const {
  return uniform_fit([&](int, ConstVectorRef g, VectorRef member) { maximize_impl(g, member); },
                     traits().symmetric, curvature, b, sign, u);
}

double AtomSet::fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const {
  const double steepest = a.maxCoeff();
  if (!(steepest > 0)) {
    maximize_impl(b, u);
    return 0;
  }
  // sum a x^2 - 2 b x <= sum steepest x^2 - 2 (b + (steepest - a) x0) x + const, with equality at x0.
  fit_uniform_impl(steepest, b, sign, u);
  double t = best_scale(a, b, sign, u);
  double value = parabolas(a, b, t, u);
  Scratch candidate(b.size()), linear(b.size());
  for (int round = 0; round < 50; ++round) {
    linear = b.array() + (steepest - a.array()) * (t * u.array());
    fit_uniform_impl(steepest, linear, sign, candidate);
    const double scale = best_scale(a, b, sign, candidate);
    const double next = parabolas(a, b, scale, candidate);
    if (!(next < value - 1e-12 * std::abs(value))) break;
    u = candidate;
    t = scale;
    value = next;
  }
  return t;
}

}  // namespace pursuit
