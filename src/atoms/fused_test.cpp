// Piecewise constant vectors against all partitions into stretches.

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Index pieces_of(const Vector& x) {
  Index count = 1;
  for (Index i = 1; i < x.size(); ++i) count += x[i] != x[i - 1];
  return count;
}

RC_GTEST_PROP(Fused, IsTheBestOfAllPartitions, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9), pieces = *rc::gen::inRange<Index>(1, n + 1);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Atoms set = nonnegative ? nonneg() + fused(pieces) : fused(pieces);
  const auto few = [=](const Vector& x) { return pieces_of(x) <= pieces; };
  exhaustive::check_oracles(*set, n, exhaustive::over_partitions(few, nonnegative));
}

RC_GTEST_PROP(Fused, KnowsItsMembers, ()) {
  const Vector x = exhaustive::any_vector(*rc::gen::inRange<Index>(1, 9));
  const Index pieces = *rc::gen::inRange<Index>(1, x.size() + 1);
  RC_PRE(x.norm() > 0);
  RC_ASSERT(fused(pieces)->contains(x.normalized()) == (pieces_of(x) <= pieces));
}

/// The best sum of squares of few pieces by the textbook program over (entries, pieces).
double segment_gain(const Vector& a, const Vector& b, Index pieces) {
  const Index n = b.size();
  Matrix best = Matrix::Zero(pieces + 1, n + 1);
  for (Index j = 1; j <= pieces; ++j)
    for (Index end = 1; end <= n; ++end) {
      double slope = 0, curvature = 0, most = 0;
      for (Index start = end - 1; start >= 0; --start) {
        slope += b[start];
        curvature += a[start];
        const double here = curvature > 0 ? slope * slope / curvature : 0.0;
        if (j > 1 || start == 0) most = std::max(most, best(j - 1, start) + here);
      }
      best(j, end) = most;
    }
  return best(pieces, n);
}

TEST(Fused, IsTheBestOfLongVectorsToo) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Index n = 60, pieces = 1 + Index(seed % 8);
    Vector b = gaussian(n, 1, seed), a = uniform(n, 1, seed + 100).array() + 0.1, u(n);
    if (seed % 3 == 0) b = b.array().round();  // ties
    for (Index i = 0; i < n; i += 7) a[i] = b[i] = 0;
    const double t = fused(pieces)->fit(a, b, Sign::free, u), best = segment_gain(a, b, pieces);
    EXPECT_NEAR(-exhaustive::parabolas(a, b, t, u), best, 1e-11 * best) << "seed " << seed;
  }
}

TEST(Fused, RefusesMorePiecesThanEntries) {
  EXPECT_THAT(message_of<InvalidArgument>([] { fused(0); }), HasSubstr("fused:0: at least 1 piece"));
  EXPECT_THAT(message_of<InvalidArgument>([] { fused(5)->require_dimension(4); }),
              AllOf(HasSubstr("fused:5: 5 pieces"), HasSubstr("allowed are 1..4")));
  EXPECT_NO_THROW(fused(4)->require_dimension(4));
}

}  // namespace
}  // namespace pursuit
