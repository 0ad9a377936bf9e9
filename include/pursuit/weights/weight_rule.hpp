#pragma once
// Line 3 of Algorithm 1: the weights alpha of the atoms z_1 .. z_r.
//
//   free       every weight re-fitted: orthogonal projection on the span (OMP)
//   newest     only the newest weight (MP)
//   nonneg     every weight re-fitted, none negative
//   convex     every weight re-fitted, none negative, of sum at most `radius`: the convex hull of zero and
//              the atoms times `radius` (fully corrective Frank-Wolfe)
//   economic   two numbers: one scales all older weights, one is the newest (Wang et al. 2014)

#include <string>

namespace pursuit {

struct WeightRule {
  enum Kind { free, newest, nonneg, convex, economic };
  Kind kind;
  double radius;  // of convex only

  constexpr WeightRule(Kind rule = free, double convex_radius = 1) : kind(rule), radius(convex_radius) {}

  /// Whether a weight may be negative; decides if the oracle also looks along -z.
  bool allows_negative() const { return kind != nonneg && kind != convex; }

  std::string spec() const;  // "free", ..., "convex:RADIUS"
};

/// InvalidArgument for anything but the specs above; "convex" alone means radius 1.
WeightRule parse_weight_rule(const std::string& spec);

}  // namespace pursuit
