// Vectors that rise to a peak and fall after it. For a peak between entries i and i + 1 the two sides are
// isotonic regressions that do not touch each other; the gains of all prefixes, and of all suffixes, come
// from one pass each (Stout 2008).

#include <algorithm>
#include <cmath>
#include <limits>

#include "atoms/cone_set.hpp"
#include "atoms/isotonic.hpp"
#include "atoms/restricted.hpp"
#include "atoms/simple_members.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

class Unimodal final : public ConeSet {
 public:
  explicit Unimodal(bool nonnegative)
      : ConeSet({.symmetric = false, .exact_fit = true}), nonnegative_(nonnegative) {}

  std::string spec() const override { return nonnegative_ ? "nonneg+unimodal" : "unimodal"; }

  bool contains(ConstVectorRef u, double tolerance) const override {
    if (!has_unit_norm(u, tolerance) || (nonnegative_ && u.minCoeff() < 0)) return false;
    Index i = 1;
    while (i < u.size() && u[i] >= u[i - 1]) ++i;
    while (i < u.size() && u[i] <= u[i - 1]) ++i;
    return i == u.size();
  }

  AtomSetPtr narrowed(const Constraint& constraint) const override {
    if (std::holds_alternative<Nonnegativity>(constraint)) return std::make_shared<Unimodal>(true);
    const auto* mask = std::get_if<Mask>(&constraint);
    return mask && nonnegative_ && is_one_stretch(*mask) ? restricted(*this, constraint) : nullptr;
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    thread_local IsotonicPrefixes prefixes;
    thread_local std::vector<double> before;  // gain of the first i entries, rising
    const Index n = b.size();
    const double floor = nonnegative_ ? 0.0 : std::numeric_limits<double>::lowest();
    before.assign(std::size_t(n + 1), 0.0);
    prefixes.restart(floor);
    for (Index i = 0; i < n; ++i) before[std::size_t(i + 1)] = prefixes.push(a[i], b[i]);
    prefixes.restart(floor);
    double best = before[std::size_t(n)];
    Index split = n;
    for (Index i = n - 1; i >= 0; --i)
      if (const double gain = prefixes.push(a[i], b[i]) + before[std::size_t(i)]; gain > best) {
        best = gain;
        split = i;
      }
    prefixes.restart(floor);
    for (Index i = 0; i < split; ++i) prefixes.push(a[i], b[i]);
    prefixes.write([&](Index i, double value) { x[i] = value; });
    prefixes.restart(floor);
    for (Index i = n - 1; i >= split; --i) prefixes.push(a[i], b[i]);
    prefixes.write([&](Index i, double value) { x[n - 1 - i] = value; });
    return best;
  }

  /// Constant vectors are members both ways, or, non-negative, single coordinates are.
  void least_bad(ConstVectorRef g, VectorRef u) const override {
    nonnegative_ ? best_coordinate(g, u) : constant_along(g, u);
  }

 private:
  /// A stretch of non-negative unimodal values stays one with zeros around it.
  static bool is_one_stretch(const Mask& mask) {
    const auto first = std::find(mask.inside.begin(), mask.inside.end(), 1),
               last = std::find(mask.inside.rbegin(), mask.inside.rend(), 1).base();
    return std::all_of(first, last, [](unsigned char inside) { return inside == 1; });
  }

  bool nonnegative_;
};

}  // namespace

Atoms unimodal() {
  return std::make_shared<Unimodal>(false);
}

}  // namespace pursuit
