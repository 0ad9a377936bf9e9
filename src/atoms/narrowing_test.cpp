// What sets make of a constraint, against all members on a grid that keep it.

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

constexpr Index kEntries = 4;

std::vector<Atoms> catalogue_of_small_sets() {
  const Groups pairs{{0, 1, 0, 1}};
  const Tree chain{{-1, 0, 1, 1}};
  const Graph path{4, {{0, 1}, {1, 2}, {2, 3}}}, ring{4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
  const Dictionary columns{.columns = Matrix(Matrix::Identity(4, 3))};
  return {sphere(),
          nonneg(),
          sparse(2),
          sparse_fraction(0.5),
          nonneg() + sparse(2),
          onehot(),
          block(2),
          blocks(1, 2),
          support({1, 0, 1, 1}),
          support({1, 0, 1, 1}) + sparse(2),
          group(pairs, 1),
          group(pairs, 2, 1),
          group(pairs, 2) + sparse(3),
          tree(chain, 2),
          graph(path, 2),
          graph(ring, 3),
          monotone(),
          monotone(Direction::up),
          monotone(Direction::down),
          unimodal(),
          nonneg() + unimodal(),
          shape(Curve::convex),
          smooth(0.5),
          fused(2),
          l1ball(1.5),
          lp(1),
          lp(3),
          lp(std::numeric_limits<double>::infinity()),
          simplex(),
          box(-1, 2),
          box(0, 1),
          box(1, 2),
          signs(),
          binary(),
          dictionary(columns),
          span(columns),
          sparse_in(columns, 2),
          product({{0, 1, sphere()}, {2, -1, monotone()}}),
          custom({.name = "own", .maximize = [](ConstVectorRef g) -> Vector { return g.normalized(); }})};
}

/// Members of a set among the vectors of small integers, scaled in every way that some set asks for.
std::vector<Vector> members_on_grid(const AtomSet& set) {
  std::vector<Vector> members;
  const int span = 2, steps = 2 * span + 1;
  for (int code = 0; code < steps * steps * steps * steps; ++code) {
    Vector x(kEntries);
    for (Index i = 0, rest = code; i < kEntries; ++i, rest /= steps) x[i] = double(rest % steps) - span;
    if (x.isZero(0)) continue;
    for (const double size : {x.norm(), x.lpNorm<1>(), x.cwiseAbs().maxCoeff(), 1.0,
                              std::cbrt(x.cwiseAbs().array().cube().sum())})
      if (const Vector u = x / size; set.contains(u, 1e-12)) members.push_back(u);
  }
  return members;
}

bool keeps(const Constraint& constraint, const Vector& u) {
  if (const auto* mask = std::get_if<Mask>(&constraint)) {
    for (Index i = 0; i < u.size(); ++i)
      if (u[i] != 0 && !mask->inside[std::size_t(i)]) return false;
    return true;
  }
  return u.minCoeff() >= 0;
}

/// The narrowed set holds exactly the members that keep the constraint, and its oracles miss no better one.
void expect_members_of_both(const AtomSet& set, const Constraint& constraint, const AtomSet& narrowed) {
  SCOPED_TRACE(set.spec() + " narrowed to " + narrowed.spec());
  ASSERT_NO_THROW(narrowed.require_dimension(kEntries));
  const double share = narrowed.traits().oracle_factor;
  std::vector<Vector> both;
  for (const Vector& u : members_on_grid(set)) {
    EXPECT_EQ(narrowed.contains(u, 1e-12), keeps(constraint, u)) << u.transpose();
    if (keeps(constraint, u)) both.push_back(u);
  }
  EXPECT_FALSE(both.empty());
  Random random(1);
  Vector u(kEntries);
  for (int trial = 0; trial < 30; ++trial) {
    Vector g = random.gaussian_matrix(kEntries, 1), a(kEntries);
    if (trial % 3 == 1) g = -g.cwiseAbs();
    if (trial % 3 == 2) g = g.array().round();
    for (double& x : a) x = 0.1 + random.uniform();
    narrowed.maximize(g, u);
    EXPECT_TRUE(set.contains(u, 1e-9) && keeps(constraint, u)) << u.transpose();
    for (const Vector& other : both)
      if (share > 0) {
        EXPECT_LE((g.dot(other) > 0 ? share : 1.0) * g.dot(other), g.dot(u) + 1e-9) << other.transpose();
      }
    if (!narrowed.traits().exact_fit) continue;
    const double t = narrowed.fit(a, g, Sign::nonnegative, u);
    EXPECT_TRUE(set.contains(u, 1e-9) && keeps(constraint, u)) << u.transpose();
    for (const Vector& other : both) {
      const double scale = std::max(g.dot(other), 0.0) / a.dot(other.cwiseAbs2());
      EXPECT_LE(exhaustive::parabolas(a, g, t, u), exhaustive::parabolas(a, g, scale, other) + 1e-9);
    }
  }
}

/// Which sets of the catalogue answer, by spec.
std::vector<std::string> narrowed_by(const Constraint& constraint) {
  std::vector<std::string> specs;
  for (const Atoms& set : catalogue_of_small_sets()) {
    set->require_dimension(kEntries);
    const AtomSetPtr narrowed = set->narrowed(constraint);
    if (!narrowed) continue;
    expect_members_of_both(*set, constraint, *narrowed);
    specs.push_back(set->spec());
  }
  return specs;
}

TEST(Narrowing, WithoutNegativeEntriesIsTheIntersection) {
  const auto specs = narrowed_by(Nonnegativity{});
  EXPECT_THAT(specs,
              testing::IsSupersetOf({"sphere", "nonneg", "sparse:2", "block:2", "monotone", "unimodal",
                                     "fused:2", "l1ball:1.5", "lp:3", "smooth:0.5", "custom:support"}));
  for (const char* spec : {"convex-shape", "sign", "box:-1:2", "simplex", "binary", "custom:dictionary",
                           "custom:span", "custom:own"})
    EXPECT_THAT(specs, testing::Not(testing::Contains(spec)));
}

TEST(Narrowing, WithinAMaskIsTheIntersection) {
  const auto specs = narrowed_by(Mask{{1, 1, 1, 0}});
  EXPECT_THAT(specs,
              testing::IsSupersetOf({"sphere", "nonneg", "sparse:2", "block:2", "nonneg+unimodal",
                                     "l1ball:1.5", "lp:3", "simplex", "binary", "box:-1:2", "box:0:1"}));
  for (const char* spec : {"smooth:0.5", "convex-shape", "sign", "box:1:2", "unimodal", "monotone", "fused:2",
                           "custom:dictionary", "custom:span", "custom:own"})
    EXPECT_THAT(specs, testing::Not(testing::Contains(spec)));
  EXPECT_THAT(narrowed_by(Mask{{1, 0, 1, 1}}), testing::Not(testing::Contains("nonneg+unimodal")))
      << "a hole in the mask";
}

TEST(Narrowing, RefusesMasksThatAllowNothing) {
  for (const Atoms& set : {sphere(), lp(3), binary()})
    EXPECT_THAT(message_of<InvalidArgument>([&] {
                  set->within({{0, 0, 0, 0}});
                }),
                testing::HasSubstr("allows no entry at all"));
}

}  // namespace
}  // namespace pursuit
