// Indicators of entries, scaled to unit norm. With S the chosen entries the gain is (sum_S b)^2 / sum_S a; at
// the best level t an entry is worth choosing if it gains there, b_i / a_i > t / 2, so that the best S is a
// prefix in the order of b_i / a_i. O(n log n).

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "atoms/cone_set.hpp"
#include "atoms/restricted.hpp"
#include "atoms/simple_members.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

class Binary final : public ConeSet {
 public:
  Binary() : ConeSet({.symmetric = false, .exact_fit = true}) {}

  std::string spec() const override { return "binary"; }
  AtomSetPtr narrowed(const Constraint& constraint) const override { return restricted(*this, constraint); }

  bool contains(ConstVectorRef u, double tolerance) const override {
    if (!has_unit_norm(u, tolerance)) return false;
    const double level = u.maxCoeff();
    return (u.array() == 0 || (u.array() - level).abs() <= tolerance * level).all();
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    thread_local std::vector<std::pair<double, Index>> order;
    order.clear();
    for (Index i = 0; i < b.size(); ++i)
      if (a[i] > 0 && b[i] > 0) order.emplace_back(-b[i] / a[i], i);
    std::sort(order.begin(), order.end());
    double slope = 0, curvature = 0, best = 0, level = 0;
    std::size_t chosen = 0;
    for (std::size_t m = 0; m < order.size(); ++m) {
      slope += b[order[m].second];
      curvature += a[order[m].second];
      if (const double gain = slope * slope / curvature; gain > best) {
        best = gain;
        level = slope / curvature;
        chosen = m + 1;
      }
    }
    x.setZero();
    for (std::size_t m = 0; m < chosen; ++m) x[order[m].second] = level;
    return best;
  }

  void least_bad(ConstVectorRef g, VectorRef u) const override { best_coordinate(g, u); }
};

}  // namespace

Atoms binary() {
  return std::make_shared<Binary>();
}

}  // namespace pursuit
