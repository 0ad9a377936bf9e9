// Fits to what is left of a column against fits to all of it: the same bits.

#include "atoms/thinned_column.hpp"

#include <gtest/gtest.h>

#include "pursuit/atoms/structures.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

struct Thinned {
  double t = 0;
  Vector u;
  std::size_t entries = 0;  // that were looked at
};

/// As ranks whose parts end at these places find it.
std::optional<Thinned> thinned_fit(const Vector& b, const SparseFit& fit, double curvature,
                                   const std::vector<Index>& ends) {
  const Index n = b.size();
  const Sampling sampling(n);
  Vector sample(sampling.size);
  for (Index s = 0; s < sampling.size; ++s) sample[s] = b[sampling.place(s)];
  const auto bounds = likely_bounds(sample, n, fit);
  if (!bounds) return std::nullopt;
  Blocks blocks;
  Index first = 0;
  for (const Index end : ends) {
    Blocks part;
    part.add(b.segment(first, end - first), first, *bounds);
    blocks.append(part);
    first = end;
  }
  Vector own;
  const auto t = fit_thinned(n, sample, *bounds, blocks, b.cwiseMin(0.0).squaredNorm(), fit, curvature, own);
  if (!t) return std::nullopt;
  Thinned result{*t, Vector::Zero(n), blocks.entries.size()};
  for (Index i = 0; i < own.size(); ++i)
    if (own[i] != 0) result.u[blocks.place(i)] = own[i];
  return result;
}

void expect_same_fit(const Vector& b, const Atoms& set, Sign sign, const std::vector<Index>& ends,
                     const std::string& what) {
  const double curvature = 0.7;
  const auto fit = sparse_fit(*set, sign, b.size());
  ASSERT_TRUE(fit) << what;
  const auto thinned = thinned_fit(b, *fit, curvature, ends);
  ASSERT_TRUE(thinned) << what;
  Vector u(b.size());
  const double t = set->fit(curvature, b, sign, u);
  EXPECT_EQ(thinned->t, t) << what;
  EXPECT_EQ(thinned->u, u) << what;
  EXPECT_LT(thinned->entries, std::size_t(b.size())) << what;
}

const std::vector<Atoms> kSets{sparse(3), sparse(40), sparse_fraction(0.01), nonneg() + sparse(40)};

TEST(ThinnedColumn, HasTheFitsOfTheWholeColumnToTheBit) {
  for (const Index n : {4097, 5003, 17000, 70001})
    for (const Atoms& set : kSets)
      for (const Sign sign : {Sign::free, Sign::nonnegative})
        for (const double mean : {0.0, 0.8, -0.8}) {
          const Vector b = gaussian(n, 1, std::uint64_t(n)).array() + mean;
          const std::string what = fmt::format("n {}, {}, mean {}", n, set.spec(), mean);
          expect_same_fit(b, set, sign, {n}, what);
          expect_same_fit(b, set, sign, {7, 7, 8, n / 3, n / 2, n - 1, n, n}, what);
        }
}

TEST(ThinnedColumn, TakesTheFirstOfEqualEntries) {
  const Index n = 9000;
  for (const Atoms& set : kSets) {
    const Vector b = (4 * gaussian(n, 1, 3)).array().round();
    expect_same_fit(b, set, Sign::free, {100, 4501, n}, set.spec());
  }
}

TEST(ThinnedColumn, LeavesOutASideThatCannotWin) {
  const Index n = 20000;
  const Vector b = uniform(n, 1, 5);  // no entry is below zero, so that all are equal there
  expect_same_fit(b, nonneg() + sparse(30), Sign::free, {n / 2, n}, "above zero");
  const SparseFit fit = *sparse_fit(*(nonneg() + sparse(30)), Sign::free, n);
  EXPECT_FALSE(thinned_fit(-b, fit, 1, {n})) << "all entries below zero have to be seen";
  Vector few = b;
  few[77] = -1e6;
  EXPECT_FALSE(thinned_fit(few, fit, 1, {n})) << "one entry that was left out wins";
}

TEST(ThinnedColumn, AsksForTheWholeColumnWhereItIsUnusual) {
  const Index n = 6000;
  const Vector usual = gaussian(n, 1, 7);
  const auto asks = [&](const Vector& b) {
    return !thinned_fit(b, *sparse_fit(*sparse(40), Sign::free, n), 1, {n / 2, n});
  };
  EXPECT_FALSE(asks(usual));
  EXPECT_TRUE(asks(Vector::Zero(n)));
  EXPECT_TRUE(asks(Vector::Unit(n, 17))) << "fewer non-zeros than wanted";
  EXPECT_TRUE(asks(1e200 * usual)) << "squares overflow";
  EXPECT_TRUE(asks(1e-200 * usual)) << "squares vanish";
  Vector infinite = usual;
  infinite[n - 1] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(asks(infinite));
  infinite[Sampling(n).place(9)] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(asks(infinite));
}

TEST(ThinnedColumn, IsNotMisledByASample) {
  const Index n = 9000;
  const Sampling sampling(n);
  const SparseFit few = *sparse_fit(*sparse(40), Sign::free, n),
                  many = *sparse_fit(*sparse(500), Sign::free, n);
  Vector low = gaussian(n, 1, 11), high = low;
  for (Index s = 0; s < sampling.size; ++s) {
    low[sampling.place(s)] *= 1e-3;
    high[sampling.place(s)] *= 1e3;
  }
  EXPECT_FALSE(thinned_fit(low, many, 1, {n})) << "more entries than wanted are above all that was sampled";
  EXPECT_FALSE(thinned_fit(high, few, 1, {n})) << "fewer than wanted are where the sample leads to";
  Vector spikes = Vector::Zero(n);
  for (Index s = 0; s < 50; ++s) spikes[sampling.place(s * 20)] = double(s + 1);
  expect_same_fit(spikes, sparse(3), Sign::free, {n / 2, n}, "all that is not zero was sampled");
}

TEST(ThinnedColumn, IsForSparseSetsAndLongColumns) {
  EXPECT_FALSE(sparse_fit(*sphere(), Sign::free, 100000));
  EXPECT_FALSE(sparse_fit(*nonneg(), Sign::free, 100000));
  EXPECT_FALSE(sparse_fit(*group({{0, 0, 1}}, 1), Sign::free, 100000));
  EXPECT_FALSE(sparse_fit(*sparse(40), Sign::free, 4096)) << "no sample";
  EXPECT_FALSE(sparse_fit(*sparse_fraction(0.2), Sign::free, 100000)) << "hardly anything is left out";
  EXPECT_EQ(sparse_fit(*sparse_fraction(0.01), Sign::free, 100000)->most, 1000);
  EXPECT_TRUE(sparse_fit(*(nonneg() + sparse(9)), Sign::nonnegative, 100000)->nonnegative);
}

TEST(ThinnedColumn, SamplesHaveTheirPlaces) {
  for (const Index n : {4097, 16385, 65537, 70001}) {
    const Sampling sampling(n);
    Index before = 0;
    for (Index i = 0; i <= n; ++i) {
      ASSERT_EQ(sampling.before(i), before) << n << ", " << i;
      if (before < sampling.size && sampling.place(before) == i) ++before;
    }
    EXPECT_EQ(before, sampling.size) << n;
  }
}

}  // namespace
}  // namespace pursuit
