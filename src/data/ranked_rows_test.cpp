#include "data/ranked_rows.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "data/matrix_over_ranks.hpp"
#include "rank_threads.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

struct Answers {
  Matrix image, back, gram;
  double norm = 0, about = 0, distance = 0, largest = 0, asymmetry = 0;
  Vector means, centred_back;
  double scaled_norm = 0, centred_norm = 0;
};

/// What is asked of a matrix, with its factors.
Answers asked(const DataMatrixPtr& A, const Matrix& V, const Matrix& U) {
  Answers p;
  A->apply(V, p.image);
  A->apply_transposed(U, p.back);
  A->apply_gram(V, p.gram);
  p.norm = A->squared_norm();
  p.means = A->column_means();
  p.about = A->squared_norm_about(p.means);
  p.distance = A->squared_distance(U, V).value_or(-1);
  p.largest = A->largest_magnitude();
  if (A->rows() == A->cols()) p.asymmetry = A->asymmetry();
  p.scaled_norm = A->scaled(0.25)->squared_norm();
  const DataMatrixPtr C = centered(A);
  p.centred_norm = C->squared_norm();
  Matrix back;
  C->apply_transposed(U, back);
  p.centred_back = back.col(0);
  return p;
}

Answers over_ranks(const AnyMatrix& whole, int size, int threads, const Matrix& V, const Matrix& U,
                   int per_machine = 1) {
  Answers result;
  const auto work = [&](Ranks& ranks) {
    const auto* sparse = std::get_if<SparseMatrix>(&whole);
    const Index rows = rows_of(whole), cols = cols_of(whole);
    RowCuts cuts = sparse ? RowCuts::by_entries(std::span(sparse->outerIndexPtr(), std::size_t(rows) + 1))
                          : RowCuts::of_dense(rows);
    std::vector<DataMatrixPtr> own;
    for (Index b = cuts.first_block(ranks.rank(), size); b < cuts.first_block(ranks.rank() + 1, size); ++b) {
      if (cuts.length(b) == 0)
        own.push_back(nullptr);
      else if (sparse)
        own.push_back(data_matrix(SparseMatrix(sparse->middleRows(cuts.first(b), cuts.length(b))), threads));
      else
        own.push_back(
            data_matrix(Matrix(std::get<Matrix>(whole).middleRows(cuts.first(b), cuts.length(b))), threads));
    }
    RankedRows rows_here(ranks, cuts, cols, std::move(own));
    if (ranks.leads()) {
      RankTeam team(ranks);
      result = asked(matrix_over_ranks(team, team.fresh_number(), rows_here, {1, 1e-16, threads}), V, U);
      team.dismiss(0);
      return;
    }
    RankedMatrices matrices;
    matrices.keep(1, rows_here);
    while (true) {
      Job job{};
      ranks.broadcast(&job, sizeof job);
      if (job.order == Order::end) return;
      matrices.perform(job);
    }
  };
  on_ranks(size, work, per_machine);
  return result;
}

void expect_same_bits(const Answers& a, const Answers& b, const std::string& what) {
  EXPECT_TRUE(same_bits(a.image, b.image)) << what;
  EXPECT_TRUE(same_bits(a.back, b.back)) << what;
  EXPECT_TRUE(same_bits(a.gram, b.gram)) << what;
  EXPECT_TRUE(same_bits(a.means, b.means)) << what;
  EXPECT_TRUE(same_bits(a.centred_back, b.centred_back)) << what;
  EXPECT_EQ(a.norm, b.norm) << what;
  EXPECT_EQ(a.about, b.about) << what;
  EXPECT_EQ(a.distance, b.distance) << what;
  EXPECT_EQ(a.largest, b.largest) << what;
  EXPECT_EQ(a.asymmetry, b.asymmetry) << what;
  EXPECT_EQ(a.scaled_norm, b.scaled_norm) << what;
  EXPECT_EQ(a.centred_norm, b.centred_norm) << what;
}

void expect_close(const Answers& a, const Answers& b, const std::string& what) {
  EXPECT_LT(max_difference(a.image, b.image), 1e-11) << what;
  EXPECT_LT(max_difference(a.back, b.back), 1e-11) << what;
  EXPECT_LT(max_difference(a.gram, b.gram), 1e-9) << what;
  EXPECT_LT(max_difference(a.means, b.means), 1e-13) << what;
  EXPECT_LT(max_difference(a.centred_back, b.centred_back), 1e-10) << what;
  EXPECT_NEAR(a.norm, b.norm, 1e-12 * b.norm) << what;
  EXPECT_NEAR(a.about, b.about, 1e-12 * b.norm) << what;
  EXPECT_NEAR(a.distance, b.distance, 1e-12 * std::abs(b.distance)) << what;
  EXPECT_EQ(a.largest, b.largest) << what;
  EXPECT_EQ(a.asymmetry, b.asymmetry) << what;
  EXPECT_EQ(a.scaled_norm, a.norm / 16) << what;
  EXPECT_NEAR(a.centred_norm, b.centred_norm, 1e-12 * b.norm) << what;
}

TEST(RankedRows, AnyNumberOfRanksAndThreadsGivesTheSameBits) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 1}, {5, 7}, {37, 37}, {131, 40}, {700, 90}}) {
    const Matrix dense = gaussian(rows, cols, 1) + Matrix::Constant(rows, cols, 0.3);
    const Matrix V = gaussian(cols, 5, 2);
    Matrix U = gaussian(rows, 5, 3);
    U.topRows(rows / 2).setZero();  // whole blocks of nothing
    for (const bool sparse : {false, true}) {
      const AnyMatrix whole = sparse ? AnyMatrix(to_sparse(thinned(dense, 0.2, 4))) : AnyMatrix(dense);
      const Answers one = over_ranks(whole, 1, 1, V, U);
      const std::string what =
          std::to_string(rows) + " x " + std::to_string(cols) + (sparse ? ", sparse" : ", dense");
      expect_close(one, asked(data_matrix(whole), V, U), what);
      for (const int size : {2, 3, 4, 7, 16})
        for (const int per_machine : {1, 3, size})
          expect_same_bits(over_ranks(whole, size, size % 3 + 1, V, U, per_machine), one,
                           what + ", ranks " + std::to_string(size) +
                               ", so many on a machine: " + std::to_string(per_machine));
    }
  }
}

TEST(RankedRows, SparseProductsAreTheBitsOfOneProcess) {  // every number has one owner
  const AnyMatrix whole = to_sparse(thinned(gaussian(700, 300, 1), 0.1, 4));
  const Matrix V = gaussian(300, 5, 2), U = gaussian(700, 5, 3);
  const Answers alone = asked(data_matrix(whole), V, U), shared = over_ranks(whole, 3, 1, V, U, 2);
  EXPECT_TRUE(same_bits(shared.image, alone.image));
  EXPECT_TRUE(same_bits(shared.back, alone.back));
  EXPECT_TRUE(same_bits(shared.gram, alone.gram));
}

TEST(RowCuts, ArePowersOfTwoThatCoverAllRows) {
  for (const Index rows : {1, 15, 16, 33, 1000, 100000}) {
    const RowCuts dense = RowCuts::of_dense(rows);
    std::vector<int> before{0};  // one row holds nearly everything
    for (Index i = 0; i < rows; ++i) before.push_back(before.back() + (i == rows / 2 ? 100000 : 1));
    const RowCuts sparse = RowCuts::by_entries(std::span<const int>(before));
    for (const RowCuts* cuts : {&dense, &sparse}) {
      EXPECT_EQ(cuts->blocks() & (cuts->blocks() - 1), 0);
      EXPECT_EQ(cuts->first(0), 0);
      EXPECT_EQ(cuts->rows(), rows);
      for (Index b = 0; b < cuts->blocks(); ++b) EXPECT_GE(cuts->length(b), 0);
    }
  }
}

}  // namespace
}  // namespace pursuit
