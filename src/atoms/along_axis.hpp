#pragma once
// The oracles of a set for vectors along an axis. A set sees whole vectors: where an axis has several owners
// everybody gathers the vector, asks, and keeps the own part.

#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/linalg/axis.hpp"

namespace pursuit {

/// u = argmax over the set of <u, g>.
inline void maximize(const Axis& axis, const AtomSet& set, ConstVectorRef g, VectorRef u) {
  if (axis.is_whole()) return set.maximize(g, u);
  Vector member(axis.size());
  set.maximize(axis.gather(g), member);
  u = member.segment(axis.first(), axis.own());
}

/// x = t u, u from the set, with the least sum a_i x_i^2 - 2 b_i x_i; returns t. `a` is one number or a
/// vector.
template <class Curvature>
double fit(const Axis& axis, const AtomSet& set, const Curvature& a, ConstVectorRef b, Sign sign,
           VectorRef u) {
  if (axis.is_whole()) return set.fit(a, b, sign, u);
  Vector member(axis.size());
  double scale = 0;
  if constexpr (std::is_arithmetic_v<Curvature>)
    scale = set.fit(a, axis.gather(b), sign, member);
  else
    scale = set.fit(axis.gather(a), axis.gather(b), sign, member);
  u = member.segment(axis.first(), axis.own());
  return scale;
}

}  // namespace pursuit
