// The atomic power method: what it finds, that its values rise, and that its two forms agree.

#include "pursuit/oracle/find_atom.hpp"

#include <rapidcheck/gtest.h>

#include "linalg/decompositions.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

const std::vector<Atoms> kSets{sphere(), sparse(3), nonneg(), nonneg() + sparse(3)};

Matrix symmetric_matrix(Index n, std::uint64_t seed) {
  const Matrix A = gaussian(n, n, seed);
  return A + A.transpose();
}

Vector maximized(const AtomSet& set, const Vector& g) {
  Vector u(g.size());
  set.maximize(g, u);
  return u;
}

/// An atom of a matrix, its factors by name.
struct RankOneAtom : FoundAtom {
  explicit RankOneAtom(FoundAtom found)
      : FoundAtom(std::move(found)), u(factors[0].col(0)), v(factors[1].col(0)) {}
  Vector u, v;
};

RankOneAtom find_rank_one(const LinearOperator& R, const Atoms& left, const Atoms& right,
                          const OracleOptions& options) {
  return RankOneAtom(find_atom(MatrixForm(R), AtomSets(left, right), 0, options));
}
RankOneAtom refine_rank_one(const LinearOperator& R, const Atoms& left, const Atoms& right,
                            const Matrix& starts, const OracleOptions& options) {
  return RankOneAtom(refine_atom(MatrixForm(R), AtomSets(left, right), 0,
                                 Factors(Panel(R.rows(), starts.cols()), starts), options));
}
RankOneAtom find_symmetric(const LinearOperator& R, const Atoms& set, const OracleOptions& options) {
  return RankOneAtom(find_atom(MatrixForm(R), AtomSets(set, set, true), 0, options));
}
RankOneAtom refine_symmetric(const LinearOperator& R, const Atoms& set, const Matrix& starts,
                             const OracleOptions& options) {
  return RankOneAtom(
      refine_atom(MatrixForm(R), AtomSets(set, set, true), 0, Factors::symmetric(starts), options));
}

double spread_of(const std::vector<double>& entries, const Matrix& starts) {
  const Matrix R = Eigen::Map<const Vector>(entries.data(), Index(entries.size())).asDiagonal();
  return refine_rank_one(*data_matrix(R), sparse(1), sparse(1), starts, {}).spread;
}

TEST(FindRankOne, IsTheTopSingularPairOnSpheres) {
  for (const auto& [n, m] : {std::pair<Index, Index>{30, 20}, {20, 30}, {1, 7}, {7, 1}, {1, 1}}) {
    const Matrix R = gaussian(n, m, std::uint64_t(n));
    const Vector v = symmetric_eigen(R.transpose() * R).vectors.col(m - 1), u = (R * v).normalized();
    for (const Sign sign : {Sign::free, Sign::nonnegative}) {
      const auto atom = find_rank_one(*data_matrix(R), sphere(), sphere(),
                                      {.max_iterations = 2000, .tolerance = 1e-14, .sign = sign});
      EXPECT_NEAR(std::abs(atom.value), (R * v).norm(), 1e-8) << n << " x " << m;
      EXPECT_NEAR(atom.value, atom.u.dot(R * atom.v), 1e-12);
      EXPECT_NEAR(std::abs(atom.u.dot(u)), 1, 1e-8);
      EXPECT_NEAR(std::abs(atom.v.dot(v)), 1, 1e-8);
      EXPECT_EQ(atom.restarts, 8);
      EXPECT_GE(atom.iterations, 1);
    }
  }
}

RC_GTEST_PROP(FindRankOne, CannotBeImprovedByEitherSideAlone, ()) {
  const Index n = *rc::gen::inRange<Index>(3, 12), m = *rc::gen::inRange<Index>(3, 12);
  const Matrix R = gaussian(n, m, *rc::gen::inRange<std::uint64_t>(0, 100000));
  const Atoms left = *rc::gen::elementOf(kSets), right = *rc::gen::elementOf(kSets);
  const Sign sign = *rc::gen::element(Sign::free, Sign::nonnegative);
  const auto atom =
      find_rank_one(*data_matrix(R), left, right, {.max_iterations = 3000, .tolerance = 1e-13, .sign = sign});
  RC_ASSERT(left->contains(atom.u));
  RC_ASSERT(right->contains(atom.v));
  RC_ASSERT(std::abs(atom.value - atom.u.dot(R * atom.v)) < 1e-12 * R.norm());
  Vector best(n), best_right(m);
  const double scale = left->fit(1.0, R * atom.v, sign, best),
               scale_right = right->fit(1.0, R.transpose() * atom.u, sign, best_right);
  const double reached = sign == Sign::free ? std::abs(atom.value) : std::max(atom.value, 0.0);
  RC_ASSERT(std::abs(scale) <= reached + 1e-6 * R.norm());
  RC_ASSERT(std::abs(scale_right) <= reached + 1e-6 * R.norm());
}

TEST(FindRankOne, LooksAlongTheNegativeWhereTheSignIsFree) {
  const Vector a = uniform(6, 1, 1), b = uniform(5, 1, 2);
  const Matrix R = -a * b.transpose();
  const auto atom = find_rank_one(*data_matrix(R), nonneg(), nonneg(), {});
  EXPECT_NEAR(atom.value, -a.norm() * b.norm(), 1e-10);
  EXPECT_LT(max_difference(atom.u, a.normalized()), 1e-7);
  const auto upward = find_rank_one(*data_matrix(R), nonneg(), nonneg(), {.sign = Sign::nonnegative});
  EXPECT_NEAR(upward.value, R.maxCoeff(), 1e-12) << "nothing helps: the least bad pair of coordinates";
}

TEST(FindRankOne, ClimbsOutOfNegativeValues) {
  // From v = e_1 the first turn ends at a value of -0.5; only the second one sees the 4.
  const Matrix R = (Matrix(2, 2) << -1, -0.5, -3, 4).finished();
  const auto atom =
      refine_rank_one(*data_matrix(R), nonneg(), nonneg(), Vector::Unit(2, 0), {.sign = Sign::nonnegative});
  EXPECT_NEAR(atom.value, 4, 1e-12);
}

TEST(FindRankOne, TakesAZeroMatrix) {
  const Matrix zero = Matrix::Zero(5, 4);
  for (const Atoms& left : kSets)
    for (const Atoms& right : kSets) {
      const auto atom = find_rank_one(*data_matrix(zero), left, right, {});
      EXPECT_EQ(atom.value, 0);
      EXPECT_EQ(atom.spread, 0);
      EXPECT_TRUE(left->contains(atom.u) && right->contains(atom.v));
    }
}

TEST(FindRankOne, SpreadSaysHowMuchTheStartMattered) {
  const Matrix two_good = (Matrix(3, 3) << 1, 0, 0, 0, 1, 0, 0, 0, 1).finished();
  EXPECT_NEAR(spread_of({1, 0.5, 0.25}, two_good), 0.5, 1e-12) << "values 1, 0.5 and 0.25";
  EXPECT_NEAR(spread_of({1, 1, 0.25}, two_good), 0, 1e-12);
  const Matrix rank_one = gaussian(9, 1, 1) * gaussian(8, 1, 2).transpose();
  EXPECT_NEAR(find_rank_one(*data_matrix(rank_one), sphere(), sphere(), {}).spread, 0, 1e-6);
}

TEST(FindRankOne, KeepsTheBestOfItsStarts) {
  // The worse half goes after the second step; whoever leads then stays, and rises.
  const Matrix R = gaussian(15, 12, 1), starts = gaussian(12, 9, 2);
  const auto run = [&](const Matrix& from, int steps) {
    return std::abs(refine_rank_one(*data_matrix(R), sparse(3), sparse(2), from,
                                    {.max_iterations = steps, .tolerance = 1e-12})
                        .value);
  };
  double early = 0, late = 0;
  for (Index s = 0; s < starts.cols(); ++s) {
    early = std::max(early, run(starts.col(s), 2));
    late = std::max(late, run(starts.col(s), 500));
  }
  EXPECT_GE(run(starts, 500), early - 1e-12);
  EXPECT_LE(run(starts, 500), late + 1e-12);
}

TEST(FindRankOne, StopsAtItsIterationLimit) {
  const Matrix R = gaussian(40, 40, 1);
  const auto atom = find_rank_one(*data_matrix(R), sphere(), sphere(), {.max_iterations = 3, .tolerance = 0});
  EXPECT_EQ(atom.iterations, 3);
}

TEST(FindSymmetric, FindsTheLeadingEigenvectorOfEitherSign) {
  // The eigenvalue of largest magnitude is negative: a plain power step along +R would run into it.
  const Matrix Q = symmetric_eigen(symmetric_matrix(12, 1)).vectors;
  Vector values = Vector::LinSpaced(12, -0.5, 0.5);
  values[0] = -10;
  values[11] = 1;
  const Matrix C = Q * values.asDiagonal() * Q.transpose();
  const OracleOptions options{.max_iterations = 3000, .tolerance = 1e-13};
  const auto free = find_symmetric(*data_matrix(C), sphere(), options);
  EXPECT_NEAR(free.value, -10, 1e-8);
  EXPECT_NEAR(std::abs(free.u.dot(Q.col(0))), 1, 1e-8);
  EXPECT_EQ(free.u, free.v);
  OracleOptions upward = options;
  upward.sign = Sign::nonnegative;
  const auto positive = find_symmetric(*data_matrix(C), sphere(), upward);
  EXPECT_NEAR(positive.value, 1, 1e-6);
  EXPECT_NEAR(std::abs(positive.u.dot(Q.col(11))), 1, 1e-4);
}

TEST(FindSymmetric, ValuesNeverFallOnIndefiniteMatrices) {
  for (const Atoms& set : kSets)
    for (std::uint64_t seed = 0; seed < 4; ++seed)
      for (const Sign sign : {Sign::free, Sign::nonnegative}) {
        const Matrix C = symmetric_matrix(10, seed);
        const Matrix start = gaussian(10, 1, seed + 10);
        double before = -std::numeric_limits<double>::infinity();
        for (int steps = 1; steps < 25; ++steps) {
          const auto atom = refine_symmetric(*data_matrix(C), set, start,
                                             {.max_iterations = steps, .tolerance = 1e-15, .sign = sign});
          ASSERT_TRUE(set->contains(atom.u));
          ASSERT_NEAR(atom.value, atom.u.dot(C * atom.u), 1e-12 * C.norm());
          const double value = sign == Sign::free ? std::abs(atom.value) : atom.value;
          ASSERT_GE(value, before - 1e-13 * C.norm()) << set->spec() << ", step " << steps;
          before = value;
        }
        const Vector first = maximized(*set, start);
        EXPECT_GT(before, first.dot(C * first)) << "it does rise above its start";
      }
}

TEST(FindSymmetric, EndsWhereTheShiftedStepStandsStill) {
  // At the end u is the best member along C u + kappa u for some kappa: a stationary point of u^T C u.
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Matrix C = symmetric_matrix(9, seed);
    const auto atom = find_symmetric(*data_matrix(C), nonneg(),
                                     {.max_iterations = 5000, .tolerance = 1e-14, .sign = Sign::nonnegative});
    const Vector gradient = C * atom.u - atom.value * atom.u;
    for (Index i = 0; i < 9; ++i)
      EXPECT_LT(atom.u[i] > 1e-6 ? std::abs(gradient[i]) : gradient[i], 1e-4) << i;
  }
}

/// Proposition "monotonic convergence": with C positive semi-definite no shift is needed, the values g(u)
/// rise by at least I(t) = max over u of <C u_t, u - u_t>, and I(t) tends to 0.
TEST(FindSymmetric, ConvergesMonotonicallyOnPositiveMatrices) {
  for (const Atoms& set : kSets) {
    SCOPED_TRACE(set->spec());
    const Matrix A = gaussian(20, 10, 3), C = A.transpose() * A;
    const Matrix start = gaussian(10, 1, 4);
    Vector u = maximized(*set, start);
    double last_gap = 0;
    for (int t = 1; t <= 200; ++t) {
      const Vector next = maximized(*set, C * u);
      last_gap = (C * u).dot(next - u);
      EXPECT_GE(last_gap, -1e-12 * C.norm());
      EXPECT_GE(next.dot(C * next), u.dot(C * u) + last_gap - 1e-12 * C.norm()) << "step " << t;
      u = next;
      if (t > 12) continue;
      const auto atom = refine_symmetric(*data_matrix(C), set, start,
                                         {.max_iterations = t, .tolerance = 0, .sign = Sign::nonnegative});
      EXPECT_LT(atom.iterations == t ? max_difference(atom.u, u) : 0.0, 1e-9)
          << "kappa stays 0 in step " << t;
    }
    EXPECT_LT(last_gap, 1e-9 * C.norm());
  }
}

TEST(FindSymmetric, TakesZeroAndOneByOne) {
  const Matrix zero = Matrix::Zero(4, 4), number = Matrix::Constant(1, 1, -2.5);
  for (const Atoms& set : kSets) {
    const auto atom = find_symmetric(*data_matrix(zero), set, {});
    EXPECT_EQ(atom.value, 0);
    EXPECT_TRUE(set->contains(atom.u));
  }
  EXPECT_EQ(find_symmetric(*data_matrix(number), nonneg(), {}).value, -2.5);
}

/// Pairs (u, v) / sqrt(2), u from one set and v from another: the atoms of the lifted problem.
class ProductSet final : public AtomSet {
 public:
  ProductSet(Atoms first, Atoms second, Index split)
      : AtomSet(common_traits(first.traits(), second.traits())),
        first_(std::move(first)),
        second_(std::move(second)),
        split_(split) {}

  bool contains(ConstVectorRef t, double tolerance) const override {
    return first_->contains(std::sqrt(2) * t.head(split_), tolerance) &&
           second_->contains(std::sqrt(2) * t.tail(t.size() - split_), tolerance);
  }
  std::string spec() const override { return "custom:product"; }

 private:
  void maximize_impl(ConstVectorRef g, VectorRef t) const override {
    first_->maximize(g.head(split_), t.head(split_));
    second_->maximize(g.tail(g.size() - split_), t.tail(g.size() - split_));
    t /= std::sqrt(2);
  }

  Atoms first_, second_;
  Index split_;
};

/// End of section 4.1: the symmetric method on [0 R; R^T 0] with pairs as atoms is the alternating method.
/// Started with u already the best answer to v, its steps are the turns of the alternation, one at a time.
TEST(FindSymmetric, OnTheLiftedMatrixIsTheAlternatingMethod) {
  const Index n = 9, m = 7;
  for (const Atoms& left : kSets)
    for (const Atoms& right : kSets) {
      SCOPED_TRACE(left->spec() + " x " + right->spec());
      const Matrix R = gaussian(n, m, 5);
      Matrix T = Matrix::Zero(n + m, n + m);
      T.topRightCorner(n, m) = R;
      T.bottomLeftCorner(m, n) = R.transpose();
      const Vector v = maximized(*right, gaussian(m, 1, 6)), u = maximized(*left, R * v);
      Vector start(n + m);
      start << u, v;
      const OracleOptions options{.max_iterations = 4000, .tolerance = 1e-15, .sign = Sign::nonnegative};
      const Atoms pairs = std::make_shared<ProductSet>(left, right, n);
      const auto alternating = refine_rank_one(*data_matrix(R), left, right, v, options);
      const auto lifted = refine_symmetric(*data_matrix(T), pairs, start, options);
      EXPECT_TRUE(pairs->contains(lifted.u, 1e-12));
      EXPECT_NEAR(lifted.value, alternating.value, 1e-10);
      EXPECT_LT(max_difference(std::sqrt(2) * lifted.u.head(n), alternating.u), 1e-5);
      EXPECT_LT(max_difference(std::sqrt(2) * lifted.u.tail(m), alternating.v), 1e-5);
    }
}

}  // namespace
}  // namespace pursuit
