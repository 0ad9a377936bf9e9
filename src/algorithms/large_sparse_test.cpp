// More entries than an int counts, on any machine: the rows of one block stand in memory once, and their
// pages are seen at as many places as there are blocks. Takes a minute, so that it runs only where
// PURSUIT_LARGE is set; files of that size are the matter of scripts/large.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {
namespace {

/// `copies` times the same bytes in a row, which take the memory of one.
class RepeatedMemory {
 public:
  RepeatedMemory(std::size_t bytes, std::size_t copies) : all_(bytes * copies) {
    const int file = ::memfd_create("rows", 0);
    EXPECT_EQ(::ftruncate(file, off_t(bytes)), 0);
    memory_ = static_cast<char*>(::mmap(nullptr, all_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (std::size_t copy = 0; copy < copies; ++copy)
      EXPECT_NE(
          ::mmap(memory_ + copy * bytes, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0),
          MAP_FAILED);
    ::close(file);
  }
  ~RepeatedMemory() { ::munmap(memory_, all_); }
  RepeatedMemory(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(const RepeatedMemory&) = delete;
  template <class Number>
  Number* numbers() const {
    return reinterpret_cast<Number*>(memory_);
  }

 private:
  std::size_t all_;
  char* memory_;
};

constexpr Index kCols = Index(1) << 16, kOfARow = kCols / 2;  // an entry in every other column
constexpr Index kBlockRows = 512, kBlocks = 129;

double u(Index i) {
  return 1 + double(i % kBlockRows % 7);
}
double v(Index j) {
  return j < kCols - kCols / 10 ? 1 + double(j % 5) : 2 * double(j % 5) + 2;
}

TEST(LargeSparse, MoreEntriesThanAnIntCounts) {
  if (!std::getenv("PURSUIT_LARGE"))
    GTEST_SKIP() << "takes a minute: set PURSUIT_LARGE";  // NOLINT(concurrency-mt-unsafe)
  constexpr Index kRows = kBlockRows * kBlocks, kEntries = kRows * kOfARow;
  static_assert(kEntries > std::numeric_limits<int>::max());
  const std::size_t of_block = std::size_t(kBlockRows * kOfARow);
  const RepeatedMemory index(of_block * sizeof(std::int64_t), kBlocks),
      value(of_block * sizeof(float), kBlocks);
  for (Index i = 0; i < kBlockRows; ++i)
    for (Index k = 0; k < kOfARow; ++k) {
      const Index j = 2 * k + i % 2;  // even and odd rows have no column in common
      index.numbers<std::int64_t>()[i * kOfARow + k] = j;
      value.numbers<float>()[i * kOfARow + k] = float(u(i) * v(j));
    }
  std::vector<std::int64_t> start;
  for (Index i = 0; i <= kRows; ++i) start.push_back(i * kOfARow);
  const DataMatrixPtr Y =
      data_matrix(SparseView<float, std::int64_t>{start.data(), index.numbers<std::int64_t>(),
                                                  value.numbers<float>(), kRows, kCols},
                  0);

  double row_squares[2] = {0, 0}, col_squares[2] = {0, 0};
  Matrix V(kCols, 2), U(kRows, 2), image[2] = {Matrix::Zero(1, 2), Matrix::Zero(1, 2)},
                                   back[2] = {image[0], image[0]};
  for (Index j = 0; j < kCols; ++j) {
    V.row(j) << std::sin(double(j)), 1;
    image[j % 2] += v(j) * V.row(j);
    col_squares[j % 2] += v(j) * v(j);
  }
  for (Index i = 0; i < kRows; ++i) {
    U.row(i) << std::cos(double(i)), 1;
    back[i % 2] += u(i) * U.row(i);
    row_squares[i % 2] += u(i) * u(i);
  }
  Matrix product;
  Y->apply(V, product);
  for (const Index i : {Index(0), Index(1), kRows / 2, kRows - 2, kRows - 1})
    EXPECT_LT((product.row(i) - u(i) * image[i % 2]).norm(), 1e-7 * image[i % 2].norm()) << "row " << i;
  Y->apply_transposed(U, product);
  for (const Index j : {Index(0), Index(1), kCols - 2, kCols - 1})
    EXPECT_LT((product.row(j) - v(j) * back[j % 2]).norm(), 1e-7 * v(j) * back[j % 2].norm())
        << "column " << j;
  const double norm = row_squares[0] * col_squares[0] + row_squares[1] * col_squares[1];
  EXPECT_NEAR(Y->squared_norm(), norm, 1e-9 * norm);
  EXPECT_EQ(Y->largest_magnitude(), 7 * 10);

  const FactorResult result = factor(Y, {.rank = 2});
  EXPECT_LT(result.relative_error, 1e-5) << "even and odd rows are one atom each";
  EXPECT_NEAR(result.model.weights.squaredNorm(), norm, 1e-9 * norm);
}

}  // namespace
}  // namespace pursuit
