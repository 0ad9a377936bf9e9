#include "completion/entry_sums.hpp"

#include "completion/test_support.hpp"

namespace pursuit {
namespace {

TEST(EntrySums, AreThoseOfADenseProductForAnyNumberOfThreads) {
  // A row without entries, rows with one and with all of an odd number, and one of more than a segment.
  constexpr Index kCols = 9001;
  ObservedEntries entries{37, kCols, {}, {}, {}};
  for (int j = 0; j < kCols; ++j) append(entries, 5, j, float(j % 5) - 2);
  append(entries, 3, kCols - 1, 2.5F);
  for (int i = 6; i < 37; ++i)
    for (int k = 0; k < 3 * i; ++k) append(entries, i, (k * 97 + i) % kCols, 0.25F * float(k % 9) - 1);
  const ObservedMatrix data(entries);
  for (const int width : {8, 16, 24, 32, 40, 48, 64}) {
    const Matrix table = gaussian(kCols, width, std::uint64_t(width));
    AlignedVector<float> rows;
    for (Index j = 0; j < kCols; ++j)
      for (Index c = 0; c < width; ++c) rows.push_back(float(table(j, c)));
    for (const bool times_values : {false, true}) {
      Matrix want = Matrix::Zero(37, width);
      for (std::size_t e = 0; e < entries.value.size(); ++e)
        want.row(entries.row[e]) += (times_values ? entries.value[e] : 1.0F) * table.row(entries.col[e]);
      SharedNumbers<float> one, many;
      sum_over_entries(EntryTasks(data.by_row()), rows, width, times_values, 1, one);
      ASSERT_EQ(one.size(), std::size_t(37 * width));
      for (Index i = 0; i < 37; ++i)
        for (Index c = 0; c < width; ++c)
          EXPECT_NEAR(one[std::size_t(i * width + c)], want(i, c), 2e-3) << i << " " << c;
      for (const int threads : {2, 3, 16}) {
        sum_over_entries(EntryTasks(data.by_row()), rows, width, times_values, threads, many);
        EXPECT_EQ(many, one) << threads;
      }
    }
  }
}

}  // namespace
}  // namespace pursuit
