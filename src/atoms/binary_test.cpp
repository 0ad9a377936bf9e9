// Indicators, and single coordinates, against all of them.

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

/// Scaled indicators of the non-empty subsets of at most `most` entries.
exhaustive::Reference indicators(Index most) {
  const auto over_all = [=](Index n, const auto& visit) {
    for (unsigned mask = 1; mask < (1U << unsigned(n)); ++mask) {
      if (std::popcount(mask) > int(most)) continue;
      Vector u(n);
      for (Index i = 0; i < n; ++i) u[i] = exhaustive::in_support(mask, i) ? 1 : 0;
      visit(Vector(u.normalized()));
    }
  };
  return {[=](const Vector& g) {
            double best = -std::numeric_limits<double>::infinity();
            over_all(g.size(), [&](const Vector& u) { best = std::max(best, g.dot(u)); });
            return best;
          },
          [=](const Vector& a, const Vector& b) {
            double best = 0;
            over_all(b.size(), [&](const Vector& u) {
              const double slope = b.dot(u), curvature = a.dot(u.cwiseAbs2());
              if (slope > 0) best = std::max(best, slope * slope / curvature);
            });
            return best;
          },
          [=](const Vector& u) {
            const double level = u.maxCoeff();
            const Index count = (u.array() != 0).count();
            return std::abs(u.norm() - 1) < 1e-12 && count <= most &&
                   (u.array() == 0 || (u.array() - level).abs() < 1e-12).all() && u.minCoeff() >= 0;
          }};
}

RC_GTEST_PROP(Binary, IsTheBestOfAllIndicators, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  exhaustive::check_oracles(*binary(), n, indicators(n));
}

RC_GTEST_PROP(OneHot, IsTheBestOfAllCoordinates, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  exhaustive::check_oracles(*onehot(), n, indicators(1));
}

TEST(Binary, TakesTheLowestOfEqualCoordinates) {
  Vector u(4);
  binary()->maximize((Vector(4) << -2, -1, -1, -3).finished(), u);
  EXPECT_EQ(u, Vector::Unit(4, 1));
  onehot()->maximize((Vector(4) << 1, 3, 3, 0).finished(), u);
  EXPECT_EQ(u, Vector::Unit(4, 1));
}

}  // namespace
}  // namespace pursuit
