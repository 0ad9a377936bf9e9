#pragma once
// Unit vectors of a closed cone K, known by the weighted projection onto it,
//
//   x = argmin over K of sum_i a_i x_i^2 - 2 b_i x_i .
//
// Both oracles follow from it. The best unit vector along g is the projection of g (a = 1) scaled to unit
// norm, since the gain of the best multiple of a unit vector u is <u, g>^2. A cone in which every x has
// <x, g> <= 0 projects g to 0; its best unit vector is then an extreme ray, and the set says which.

#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

class ConeSet : public AtomSet {
 public:
  /// x = the projection; returns what it gains, sum b_i x_i >= 0. Needs a_i >= 0, and b_i = 0 where a_i = 0.
  /// Free of overflow where the entries of b / a are about 1.
  virtual double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const = 0;

  /// u = a member with the largest <u, g>, given that no member has <u, g> > 0.
  virtual void least_bad(ConstVectorRef g, VectorRef u) const = 0;

  const ConeSet* cone() const final { return this; }

 protected:
  using AtomSet::AtomSet;
  void maximize_impl(ConstVectorRef g, VectorRef u) const override;
  double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const override;
};

/// For the `contains` of such sets.
bool has_unit_norm(ConstVectorRef u, double tolerance);

}  // namespace pursuit
