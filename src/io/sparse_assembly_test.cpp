#include "io/sparse_assembly.hpp"

#include "io/matrix_test_support.hpp"
#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

TEST(SparseAssembly, FindsADuplicateOnlyWhereThereIsOne) {
  Entries<double> entries;
  entries.add(1, 2, 1);
  entries.add(0, 2, 1);
  entries.add(1, 0, 1);
  EXPECT_FALSE(find_duplicate(assemble(2, 3, entries)));
  entries.add(1, 2, 1);
  EXPECT_EQ(find_duplicate(assemble(2, 3, entries)), std::pair(1, 2));
}

TEST(SparseAssembly, IsTheSameForAnyNumberOfThreads) {
  constexpr int kHeight = 5000, kColumns = 400, kCount = 300000;
  for (const bool sorted : {true, false}) {
    Entries<double> entries;
    for (int k = 0; k < kCount; ++k) {
      const int i = sorted ? int(std::int64_t(k) * (kHeight - 20) / kCount) + 7
                           : int(std::int64_t(k) * 7919 % (kHeight - 20)) + 7;
      entries.add(i, (k * 31) % kColumns, k);
    }
    std::vector<int> start(kHeight + 1, 0);
    for (const int i : entries.row) ++start[std::size_t(i) + 1];
    for (int i = 0; i < kHeight; ++i) start[std::size_t(i) + 1] += start[std::size_t(i)];
    const SparseMatrix one = assemble(kHeight, kColumns, entries);
    EXPECT_TRUE(std::equal(start.begin(), start.end(), one.outerIndexPtr()));
    for (const int threads : {2, 3, 16}) {
      const SparseMatrix many = assemble(kHeight, kColumns, entries, threads);
      EXPECT_TRUE(std::equal(start.begin(), start.end(), many.outerIndexPtr())) << threads;
      EXPECT_TRUE(std::equal(one.innerIndexPtr(), one.innerIndexPtr() + kCount, many.innerIndexPtr()));
      EXPECT_TRUE(std::equal(one.valuePtr(), one.valuePtr() + kCount, many.valuePtr())) << threads;
      EXPECT_EQ(find_duplicate(many, threads), find_duplicate(one));
    }
  }
}

RC_GTEST_PROP(SparseAssembly, SumsEntriesInAnyOrderAsEigenDoes, ()) {
  const auto rows = *rc::gen::inRange(1, 10), columns = *rc::gen::inRange(1, 10),
             count = *rc::gen::inRange(0, 60);
  Entries<double> entries;
  std::vector<Eigen::Triplet<double>> triplets;
  for (int k = 0; k < count; ++k) {
    const int i = *rc::gen::inRange(0, rows), j = *rc::gen::inRange(0, columns),
              value = *rc::gen::inRange(-9, 9);
    entries.add(i, j, value);
    triplets.emplace_back(i, j, value);
  }
  SparseMatrix expected(rows, columns);
  expected.setFromTriplets(triplets.begin(), triplets.end());
  SparseMatrix matrix = assemble(rows, columns, entries);
  sum_duplicates(matrix);
  RC_ASSERT(broken_invariant_of(matrix).empty());
  RC_ASSERT(matrix.nonZeros() == expected.nonZeros());
  RC_ASSERT(Matrix(matrix) == Matrix(expected));
}

}  // namespace
}  // namespace pursuit::io
