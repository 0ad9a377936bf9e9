
#include "linalg/decompositions.hpp"
#include "pursuit/oracle/find_atom.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

/// Starts for the right factors of a matrix.
Matrix starting_block(const LinearOperator& R, int count, std::uint64_t seed) {
  return starting_block(MatrixForm(R), AtomSets(sphere(), sphere()), count, seed)[1];
}

TEST(StartingBlock, DependsOnTheSeedAlone) {
  const Matrix R = gaussian(300, 200, 1);
  EXPECT_TRUE(
      same_bits(starting_block(*data_matrix(R, 1), 20, 7), starting_block(*data_matrix(R, 2), 20, 7)));
  EXPECT_GT(max_difference(starting_block(*data_matrix(R), 20, 7), starting_block(*data_matrix(R), 20, 8)),
            1e-3);
}

TEST(StartingBlock, LeadsWithTheSingularDirectionBothWays) {
  // A matrix of rank 3 is seen whole by the sketch.
  const Matrix R = gaussian(40, 3, 1) * gaussian(30, 3, 2).transpose();
  const Vector top = symmetric_eigen(R.transpose() * R).vectors.col(29);
  const Matrix starts = starting_block(*data_matrix(R), 8, 0);
  EXPECT_NEAR(std::abs(starts.col(0).dot(top)), 1, 1e-10);
  EXPECT_LT(max_difference(starts.col(1), -starts.col(0)), 1e-14);
}

TEST(StartingBlock, LooksAtHeavyRowsAndColumns) {
  Matrix R = 0.01 * gaussian(20, 15, 1);
  R(12, 4) = 5;
  const Matrix starts = starting_block(*data_matrix(R), 8, 0);
  EXPECT_LT(max_difference(starts.col(2), R.row(12).transpose()), 1e-12);
  EXPECT_EQ(starts.col(3), Vector::Unit(15, 4));
}

TEST(StartingBlock, IsFiniteAndNeverZero) {
  for (const auto& [n, m] : {std::pair<Index, Index>{1, 1}, {1, 20}, {20, 1}, {3, 50}, {50, 3}})
    for (const bool zero : {false, true}) {
      const Matrix R = zero ? Matrix::Zero(n, m) : gaussian(n, m, 1);
      for (const int count : {1, 8, 33}) {
        const Matrix starts = starting_block(*data_matrix(R), count, 3);
        ASSERT_EQ(starts.rows(), m);
        ASSERT_EQ(starts.cols(), count);
        EXPECT_TRUE(starts.allFinite());
        EXPECT_GT(starts.colwise().norm().minCoeff(), 0);
      }
    }
}

}  // namespace
}  // namespace pursuit
