// Unimodal vectors against all partitions into stretches.

#include "atoms/exhaustive_test_support.hpp"
#include "pursuit/atoms/structures.hpp"

namespace pursuit {
namespace {

/// No entry is below others on both of its sides.
bool has_one_peak(const Vector& x) {
  for (Index i = 0; i < x.size(); ++i)
    for (Index j = i + 1; j < x.size(); ++j)
      for (Index k = j + 1; k < x.size(); ++k)
        if (x[j] < x[i] && x[j] < x[k]) return false;
  return true;
}

RC_GTEST_PROP(Unimodal, IsTheBestOfAllPartitions, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  const bool nonnegative = *rc::gen::arbitrary<bool>();
  const Atoms set = nonnegative ? nonneg() + unimodal() : unimodal();
  exhaustive::check_oracles(*set, n, exhaustive::over_partitions(has_one_peak, nonnegative));
}

RC_GTEST_PROP(Unimodal, KnowsItsMembers, ()) {
  const Vector x = exhaustive::any_vector(*rc::gen::inRange<Index>(1, 9));
  RC_PRE(x.norm() > 0);
  RC_ASSERT(unimodal()->contains(x.normalized()) == has_one_peak(x));
  RC_ASSERT((nonneg() + unimodal())->contains(x.normalized()) == (has_one_peak(x) && x.minCoeff() >= 0));
}

}  // namespace
}  // namespace pursuit
