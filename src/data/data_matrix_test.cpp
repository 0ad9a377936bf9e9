// Every kind of data matrix against the explicit matrix it stands for.

#include "pursuit/data/data_matrix.hpp"

#include <functional>

#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// An operator together with the matrix that it stands for.
struct Pair {
  std::string name;
  DataMatrixPtr op;
  Matrix explicit_matrix;
  double tolerance;  // of a product, relative to the sizes of its factors
};

/// Owns the data that operators refer to.
struct Data {
  Data(Index rows, Index cols, std::uint64_t seed)
      : dense(thinned(gaussian(rows, cols, seed), 0.4, seed + 1)),
        narrow(dense.cast<float>()),
        rowwise(dense),
        padded(Matrix::Constant(rows + 3, cols + 2, 1e30)),
        sparse(to_sparse(dense)),
        narrow_sparse(to_sparse<float>(dense)),
        by_columns(sparse),
        wide(sparse.cast<float>()),
        wide_by_columns(sparse) {
    padded.topLeftCorner(rows, cols) = dense;
  }

  /// With the matrices that the operators stand for.
  std::vector<Pair> pairs() const {
    const Matrix rounded = narrow.cast<double>(), middle = dense.rowwise() - dense.colwise().mean();
    const Matrix gram = 0.5 * dense.transpose() * dense;
    const Matrix covariance = middle.transpose() * middle / double(dense.rows());
    constexpr double kDouble = 1e-14, kFloat = 2e-6;  // a few roundings per entry of a sum
    std::vector<Pair> all;
    for (const auto& [name, op] : operators(1))
      all.push_back(name == "float" ? Pair{name, op, rounded, kFloat}
                    : name == "sparse float" || name == "float, 64-bit indices"
                        ? Pair{name, op, rounded, kDouble}
                    : name == "any"        ? Pair{name, op, Matrix(std::get<SparseMatrix>(any)), kDouble}
                    : name == "centred"    ? Pair{name, op, middle, kDouble}
                    : name == "gram"       ? Pair{name, op, gram, 20 * kDouble}
                    : name == "covariance" ? Pair{name, op, covariance, 20 * kDouble}
                                           : Pair{name, op, dense, kDouble});
    return all;
  }

  std::vector<std::pair<std::string, DataMatrixPtr>> operators(int threads) const {
    const Index n = dense.rows(), m = dense.cols();
    std::vector<std::pair<std::string, DataMatrixPtr>> all{
        {"dense", data_matrix(dense, threads)},
        {"float", data_matrix(narrow, threads)},
        {"row-major", data_matrix(DenseView<double>{rowwise.data(), n, m, m, true}, threads)},
        {"padded", data_matrix(DenseView<double>{padded.data(), n, m, padded.rows()}, threads)},
        {"sparse", data_matrix(sparse, threads)},
        {"sparse float", data_matrix(narrow_sparse, threads)},
        {"any", data_matrix(any, threads)},
        {"by columns", data_matrix(view_of(by_columns, true), threads)},
        {"float, 64-bit indices", data_matrix(view_of(wide, false), threads)},
        {"by columns, 64-bit indices", data_matrix(view_of(wide_by_columns, true), threads)}};
    for (const DataMatrixPtr& base : {all[0].second, all[4].second, all[7].second}) {
      all.emplace_back("centred", centered(base));
      all.emplace_back("gram", gram_matrix(base, 0.5));
      all.emplace_back("covariance", gram_matrix(centered(base), 1.0 / double(n)));
    }
    return all;
  }

  Matrix dense;
  Eigen::MatrixXf narrow;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rowwise;
  Matrix padded;
  SparseMatrixOf<double> sparse;
  SparseMatrixOf<float> narrow_sparse;
  Eigen::SparseMatrix<double, Eigen::ColMajor, int> by_columns;
  Eigen::SparseMatrix<float, Eigen::RowMajor, std::int64_t> wide;
  Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> wide_by_columns;
  AnyMatrix any = to_sparse(gaussian(5, 7, 3));

 private:
  template <class Scalar, int order, class StoredIndex>
  static SparseView<Scalar, StoredIndex> view_of(const Eigen::SparseMatrix<Scalar, order, StoredIndex>& A,
                                                 bool by_columns) {
    return {A.outerIndexPtr(), A.innerIndexPtr(), A.valuePtr(), A.rows(), A.cols(), by_columns};
  }
};

const std::vector<std::pair<Index, Index>> kSizes{{1, 1}, {1, 9}, {9, 1}, {7, 5}, {300, 40}, {20, 1100}};

TEST(LinearOperator, ProductsAreThoseOfTheExplicitMatrix) {
  for (const auto& [n, m] : kSizes) {
    const Data data(n, m, 1);
    for (const auto& [name, op, A, tolerance] : data.pairs()) {
      SCOPED_TRACE(name + " " + std::to_string(n) + " x " + std::to_string(m));
      ASSERT_EQ(op->rows(), A.rows());
      ASSERT_EQ(op->cols(), A.cols());
      for (const Index width : {1, 3, 8, 37}) {
        const Matrix V = gaussian(A.cols(), width, 5), U = gaussian(A.rows(), width, 6);
        const double bound = tolerance * (1 + A.norm()) * (V.norm() + U.norm());
        Matrix out;
        op->apply(V, out);
        EXPECT_LT(max_difference(out, A * V), bound) << width << " columns";
        op->apply_transposed(U, out);
        EXPECT_LT(max_difference(out, A.transpose() * U), bound) << width << " columns";
        op->apply_gram(V, out);
        EXPECT_LT(max_difference(out, A.transpose() * (A * V)), 4 * bound * (1 + A.norm())) << width;
      }
    }
  }
}

TEST(LinearOperator, ProductsWithVectorsOfFewNonZerosAreTheSame) {
  const Data data(30, 1100, 5);
  for (const auto& [name, op, A, tolerance] : data.pairs()) {
    if (A.cols() != 1100) continue;
    Matrix V = Matrix::Zero(1100, 3), out;
    V(3, 0) = 1;
    V(1099, 0) = -2;
    V(500, 2) = 0.5;
    op->apply(V, out);
    EXPECT_LT(max_difference(out, A * V), tolerance * (1 + A.norm()) * V.norm()) << name;
  }
}

TEST(LinearOperator, ScalarsAreThoseOfTheExplicitMatrix) {
  for (const auto& [n, m] : kSizes) {
    const Data data(n, m, 2);
    for (const auto& [name, op, A, tolerance] : data.pairs()) {
      SCOPED_TRACE(name + " " + std::to_string(n) + " x " + std::to_string(m));
      const double scale = 3e-13 * (1 + A.squaredNorm());
      EXPECT_NEAR(op->squared_norm(), A.squaredNorm(), scale);
      EXPECT_LT(max_difference(op->column_means(), A.colwise().mean().transpose()), 1e-13 * (1 + A.norm()));
      const Vector shift = gaussian(A.cols(), 1, 8);
      EXPECT_NEAR(op->squared_norm_about(shift), (A.rowwise() - shift.transpose()).squaredNorm(),
                  scale + 1e-13 * double(A.rows()) * shift.squaredNorm());
      const Matrix L = gaussian(A.rows(), 2, 9), R = gaussian(A.cols(), 2, 10);
      const auto distance = op->squared_distance(L, R);
      EXPECT_EQ(distance.has_value(), name != "gram" && name != "covariance");
      EXPECT_NEAR(distance.value_or(0), distance ? (A - L * R.transpose()).squaredNorm() : 0.0,
                  1e-13 * distance.value_or(1));
      EXPECT_GE(op->product_work(), A.isZero(0) ? 0.0 : 1.0);
    }
  }
}

TEST(LinearOperator, AsymmetryIsTheLargestDifferenceAcrossTheDiagonal) {
  for (const bool symmetric : {true, false}) {
    Data data(6, 6, 3);
    Matrix& A = data.dense;
    A = A + A.transpose().eval();
    if (!symmetric) A(4, 1) += 0.25;
    data.narrow = A.cast<float>();
    data.rowwise = A;
    data.sparse = to_sparse(A);
    data.narrow_sparse = to_sparse<float>(A);
    data.by_columns = data.sparse;
    data.wide = data.sparse.cast<float>();
    data.wide_by_columns = data.sparse;
    data.padded.topLeftCorner(6, 6) = A;
    for (const auto& [name, op, explicit_matrix, tolerance] : data.pairs()) {
      if (name == "any") continue;  // not square
      EXPECT_NEAR(op->asymmetry(), max_difference(explicit_matrix, explicit_matrix.transpose()), 1e-12)
          << name;
    }
  }
}

TEST(LinearOperator, GivesTheSameBitsForAnyNumberOfThreads) {
  using Product = std::function<void(const DataMatrix&, Matrix&)>;
  for (const auto& [n, m] : {std::pair<Index, Index>{700, 60}, {90, 1100}}) {  // several blocks of each kind
    const Data data(n, m, 4);
    const auto one = data.operators(1);
    for (const int threads : {2, 4}) {
      const auto many = data.operators(threads);
      for (std::size_t k = 0; k < one.size(); ++k)
        for (const Index width : {1, 11}) {
          const auto& [name, op] = one[k];
          const Matrix V = gaussian(op->cols(), width, 5), U = gaussian(op->rows(), width, 6);
          for (const Product& product :
               {Product([&](const DataMatrix&A, Matrix&out) { A.apply(V, out); }),
                Product([&](const DataMatrix&A, Matrix&out) { A.apply_transposed(U, out); }),
                Product([&](const DataMatrix&A, Matrix&out) { A.apply_gram(V, out); })}) {
            Matrix expected, out;
            product(*op, expected);
            product(*many[k].second, out);
            EXPECT_TRUE(same_bits(out, expected))
                << name << ", " << width << " columns, " << threads << " threads";
          }
        }
    }
  }
}

TEST(DenseMatrix, SumsOverEntriesAreTheSameBitsForAnyNumberOfThreads) {
  const Matrix dense = gaussian(1501, 703, 1);
  const Matrix L = gaussian(1501, 5, 2), R = gaussian(703, 5, 3);
  const Vector shift = gaussian(703, 1, 4);
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rowwise = dense;
  const Matrix shifted = dense.rowwise() - shift.transpose();
  for (const bool row_major : {false, true}) {
    const DenseView<double> view{row_major ? rowwise.data() : dense.data(), 1501, 703,
                                 row_major ? Index(703) : Index(1501), row_major};
    const auto one = data_matrix(view, 1);
    EXPECT_NEAR(one->squared_norm(), dense.squaredNorm(), 1e-12 * dense.squaredNorm());
    EXPECT_NEAR(one->squared_norm_about(shift), shifted.squaredNorm(), 1e-12 * shifted.squaredNorm());
    EXPECT_LT(max_difference(one->column_means(), dense.colwise().mean().transpose()), 1e-14);
    const double distance = (dense - L * R.transpose()).squaredNorm();
    EXPECT_NEAR(*one->squared_distance(L, R), distance, 1e-12 * distance);
    EXPECT_EQ(one->largest_magnitude(), dense.cwiseAbs().maxCoeff());
    EXPECT_EQ(one->negative_part()->count, (dense.array() < 0).count());
    EXPECT_EQ(one->negative_part()->lowest, dense.minCoeff());
    EXPECT_NEAR(one->negative_part()->squares, dense.cwiseMin(0).squaredNorm(), 1e-12 * dense.squaredNorm());
    for (const int threads : {2, 3, 16}) {
      const auto many = data_matrix(view, threads);
      EXPECT_EQ(many->squared_norm(), one->squared_norm()) << threads;
      EXPECT_EQ(many->squared_norm_about(shift), one->squared_norm_about(shift)) << threads;
      EXPECT_EQ(many->column_means(), one->column_means()) << threads;
      EXPECT_EQ(*many->squared_distance(L, R), *one->squared_distance(L, R)) << threads;
      EXPECT_EQ(many->largest_magnitude(), one->largest_magnitude()) << threads;
      EXPECT_EQ(many->negative_part()->squares, one->negative_part()->squares) << threads;
    }
  }
}

TEST(DenseMatrix, NamesTheFirstLineThatIsNotFiniteForAnyNumberOfThreads) {
  Matrix dense = gaussian(1501, 703, 1);
  dense(1400, 17) = dense(3, 602) = NAN;
  for (const int threads : {1, 2, 16})
    EXPECT_THAT([&] { data_matrix(dense, threads); },
                testing::ThrowsMessage<InvalidInput>(testing::HasSubstr("entry (1401, 18)")))
        << threads;
}

TEST(LinearOperator, SparseProductsHoldOverManyRangesOfColumns) {
  const Matrix dense = thinned(gaussian(12, 9000, 1), 0.3, 2);
  const SparseMatrix sparse = to_sparse(dense);
  const Matrix V = gaussian(9000, 3, 3), U = gaussian(12, 3, 4);
  Matrix out, one;
  for (const int threads : {1, 2, 4}) {
    const auto A = data_matrix(sparse, threads);
    A->apply(V, out);
    EXPECT_LT(max_difference(out, dense * V), 1e-10);
    A->apply_transposed(U, out);
    EXPECT_LT(max_difference(out, dense.transpose() * U), 1e-12);
    A->apply_gram(V, out);
    EXPECT_LT(max_difference(out, dense.transpose() * (dense * V)), 1e-9);
    if (threads == 1) one = out;
    EXPECT_TRUE(same_bits(out, one)) << threads;
  }
}

TEST(LinearOperator, CentringLosesNoDigitsToALargeMean) {
  // Every entry is 1e8 plus noise of size one; a sum of squares would keep no digit of the noise.
  const Matrix A = Matrix::Constant(50, 4, 1e8) + gaussian(50, 4, 1);
  const double expected = (A.rowwise() - A.colwise().mean()).squaredNorm();
  const SparseMatrix S = to_sparse(A);
  const Eigen::SparseMatrix<double> T(S);
  const SparseView<double, int> by_columns{T.outerIndexPtr(), T.innerIndexPtr(), T.valuePtr(), 50, 4, true};
  EXPECT_NEAR(centered(data_matrix(by_columns))->squared_norm(), expected, 1e-6 * expected);
  EXPECT_NEAR(centered(data_matrix(A))->squared_norm(), expected, 1e-6 * expected);
  EXPECT_NEAR(centered(data_matrix(S))->squared_norm(), expected, 1e-6 * expected);
}

TEST(DataMatrix, RefusesEmptyMatrices) {
  const Matrix no_rows(0, 3), no_columns(3, 0);
  EXPECT_THAT(message_of<InvalidInput>([&] { data_matrix(no_rows); }), HasSubstr("empty (0 x 3)"));
  EXPECT_THAT(message_of<InvalidInput>([&] { data_matrix(no_columns); }), HasSubstr("empty (3 x 0)"));
  const SparseMatrix sparse(0, 3);
  EXPECT_THAT(message_of<InvalidInput>([&] { data_matrix(sparse); }), HasSubstr("empty (0 x 3)"));
}

TEST(DataMatrix, NamesTheEntryThatIsNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    Data data(4, 5, 1);
    data.dense(2, 3) = bad;
    data.narrow(2, 3) = float(bad);
    data.rowwise(2, 3) = bad;
    data.sparse.coeffRef(2, 3) = bad;
    data.sparse.makeCompressed();
    const auto place = AllOf(HasSubstr("entry (3, 4)"), HasSubstr(std::isnan(bad) ? "nan" : "-inf"));
    EXPECT_THAT(message_of<InvalidInput>([&] { data_matrix(data.dense); }), place);
    EXPECT_THAT(message_of<InvalidInput>([&] { data_matrix(data.narrow); }), place);
    EXPECT_THAT(message_of<InvalidInput>([&] { data_matrix(data.sparse); }), place);
    EXPECT_THAT(message_of<InvalidInput>([&] {
                  data_matrix(DenseView<double>{data.rowwise.data(), 4, 5, 5, true});
                }),
                place);
  }
}

TEST(DataMatrix, RefusesSparseMatricesThatAreNotInOrder) {
  SparseMatrix A = to_sparse(Matrix::Ones(3, 4));
  std::swap(A.innerIndexPtr()[5], A.innerIndexPtr()[6]);
  EXPECT_THAT(message_of<InvalidInput>([&] { data_matrix(A); }), HasSubstr("row 2 of the sparse matrix"));
  A = to_sparse(Matrix::Ones(3, 4));
  A.innerIndexPtr()[9] = A.innerIndexPtr()[8];
  EXPECT_THAT(message_of<InvalidInput>([&] { data_matrix(A); }), HasSubstr("duplicate"));
  SparseMatrix loose(3, 4);
  loose.insert(1, 1) = 1;
  loose.uncompress();
  EXPECT_THAT(message_of<InvalidArgument>([&] { data_matrix(loose); }), HasSubstr("makeCompressed()"));
}

/// The entries of every row of a sparse matrix the other way round.
template <class Scalar, int order, class StoredIndex>
Eigen::SparseMatrix<Scalar, order, StoredIndex> backwards(Eigen::SparseMatrix<Scalar, order, StoredIndex> A) {
  for (Index i = 0; i < A.outerSize(); ++i) {
    const auto first = A.outerIndexPtr()[i], last = A.outerIndexPtr()[i + 1];
    std::reverse(A.innerIndexPtr() + first, A.innerIndexPtr() + last);
    std::reverse(A.valuePtr() + first, A.valuePtr() + last);
  }
  return A;
}

void expect_same_matrix(const DataMatrixPtr& A, const DataMatrixPtr& B) {
  const Matrix V = gaussian(A->cols(), 11, 1), U = gaussian(A->rows(), 11, 2);
  const Vector shift = gaussian(A->cols(), 1, 3);
  Matrix a, b;
  A->apply(V, a), B->apply(V, b);
  EXPECT_LE(max_difference(a, b), 1e-12 * (1 + b.norm()));
  A->apply_transposed(U, a), B->apply_transposed(U, b);
  EXPECT_LE(max_difference(a, b), 1e-12 * (1 + b.norm()));
  const auto near = [](double x, double y) { EXPECT_NEAR(x, y, 1e-12 * (1 + std::abs(y))); };
  near(A->squared_norm(), B->squared_norm());
  near(A->squared_norm_about(shift), B->squared_norm_about(shift));
  EXPECT_LE(max_difference(A->column_means(), B->column_means()), 1e-12 * (1 + B->column_means().norm()));
  near(*A->squared_distance(U, V), *B->squared_distance(U, V));
  EXPECT_EQ(A->largest_magnitude(), B->largest_magnitude());
  EXPECT_EQ(A->negative_part()->count, B->negative_part()->count);
  EXPECT_EQ(A->negative_part()->lowest, B->negative_part()->lowest);
  if (A->rows() == A->cols()) {
    EXPECT_EQ(A->asymmetry(), B->asymmetry());
  }
  const StoredEntries ours = *A->stored_entries(), theirs = *B->stored_entries();
  EXPECT_EQ(ours.start, theirs.start);
  EXPECT_EQ(ours.index, theirs.index);
  EXPECT_EQ(ours.value, theirs.value);
  A->scaled(4)->apply(V, a), B->scaled(4)->apply(V, b);
  EXPECT_LE(max_difference(a, b), 1e-12 * (1 + b.norm()));
}

TEST(DataMatrix, ColumnsThatAreScaledAreThoseOfTheScaledMatrix) {
  const Matrix A = gaussian(11, 6, 3), U = gaussian(11, 2, 4), V = gaussian(6, 2, 5);
  const Vector scale = gaussian(6, 1, 6);
  const Matrix scaled = A * scale.asDiagonal();
  const DataMatrixPtr op = column_scaled(data_matrix(A), scale);
  Matrix out;
  op->apply(V, out);
  EXPECT_LT(max_difference(out, scaled * V), 1e-13);
  op->apply_transposed(U, out);
  EXPECT_LT(max_difference(out, scaled.transpose() * U), 1e-13);
  EXPECT_NEAR(op->squared_norm(), scaled.squaredNorm(), 1e-12 * scaled.squaredNorm());
}

TEST(DataMatrix, CentredInManyPiecesIsCentredEverywhere) {
  const Matrix A = (gaussian(9001, 3, 3).array() + 2).matrix(), V = gaussian(3, 2, 5);
  Matrix out;
  centered(data_matrix(A))->apply(V, out);
  EXPECT_LT(max_difference(out, (A.rowwise() - A.colwise().mean()) * V), 1e-11);
}

TEST(DataMatrix, RowsInAnyOrderAreTheSameMatrix) {
  for (const auto& [n, m] :
       std::vector<std::pair<Index, Index>>{{1, 9}, {9, 1}, {30, 30}, {300, 40}, {20, 9000}})
    for (const int threads : {1, 3}) {
      const SparseMatrix sorted = to_sparse(thinned(gaussian(n, m, 1), 0.6, 2)), A = backwards(sorted);
      expect_same_matrix(data_matrix(SparseView<double, int>{A.outerIndexPtr(), A.innerIndexPtr(),
                                                             A.valuePtr(), n, m, false, false},
                                     threads),
                         data_matrix(sorted, threads));
      const Eigen::SparseMatrix<double, Eigen::ColMajor, std::int64_t> columns(sorted),
          C = backwards(columns);
      expect_same_matrix(data_matrix(SparseView<double, std::int64_t>{C.outerIndexPtr(), C.innerIndexPtr(),
                                                                      C.valuePtr(), n, m, true, false},
                                     threads),
                         data_matrix(sorted, threads));
    }
}

TEST(DataMatrix, RowsInAnyOrderMustNotRepeatAColumn) {
  const std::vector<double> values{1, 2, 3, 4, 5};
  const auto view = [&](const std::vector<int>& start, const std::vector<int>& index) {
    return SparseView<double, int>{start.data(), index.data(), values.data(), 2, 4, false, false};
  };
  const std::vector<int> start{0, 2, 5}, good{3, 0, 2, 1, 0}, twice{3, 0, 2, 0, 2}, beyond{3, 0, 2, 4, 1},
      below{3, 0, 2, -1, 1};
  EXPECT_FALSE(has_duplicates(view(start, good)));
  EXPECT_TRUE(has_duplicates(view(start, twice)));
  EXPECT_NO_THROW(data_matrix(view(start, good)));
  EXPECT_THAT(message_of<InvalidInput>([&] { data_matrix(view(start, twice)); }),
              HasSubstr("row 2 of the sparse matrix has duplicate entries"));
  EXPECT_THAT(message_of<InvalidInput>([&] { data_matrix(view(start, beyond)); }),
              HasSubstr("column 5 of 4"));
  EXPECT_THAT(message_of<InvalidInput>([&] { has_duplicates(view(start, below)); }),
              HasSubstr("column -1 of 4"));
}

template <class Whole>
void expect_whole_numbers_as_they_lie(Index n, Index m, bool row_major) {
  const Matrix scattered = 40 * gaussian(n, m, 1);
  Eigen::Matrix<Whole, Eigen::Dynamic, Eigen::Dynamic> stored =
      (std::is_signed_v<Whole> ? scattered : scattered.cwiseAbs())
          .array()
          .round()
          .cwiseMin(120)
          .cwiseMax(-120)
          .matrix()
          .template cast<Whole>();
  stored(0, 0) = std::numeric_limits<Whole>::min();
  const Matrix doubles = stored.template cast<double>();
  const bool rows = row_major;
  const DenseView<Whole> view{stored.data(), rows ? m : n, rows ? n : m, n, rows};
  const DenseView<double> same{doubles.data(), rows ? m : n, rows ? n : m, n, rows};
  for (const int threads : {1, 3}) {
    expect_same_matrix(data_matrix(view, threads), data_matrix(same, threads));
    Matrix one, other;
    const Matrix V = gaussian(view.cols, 7, 4);
    data_matrix(view, threads)->apply(V, one);
    data_matrix(same, 1)->apply(V, other);
    EXPECT_TRUE(same_bits(one, other));
    EXPECT_EQ(data_matrix(view)->rounding(), data_matrix(same)->rounding());
    const double expected = centered(data_matrix(same))->squared_norm();
    EXPECT_NEAR(centered(data_matrix(view, threads))->squared_norm(), expected, 1e-13 * expected);
  }
}

TEST(DataMatrix, WholeNumbersAreTheMatrixOfTheSameDoubles) {
  for (const bool row_major : {false, true})
    for (const auto& [n, m] :
         std::vector<std::pair<Index, Index>>{{1, 1}, {1, 9}, {31, 31}, {700, 40}, {20, 1100}}) {
      expect_whole_numbers_as_they_lie<std::int8_t>(n, m, row_major);
      expect_whole_numbers_as_they_lie<std::uint8_t>(n, m, row_major);
      expect_whole_numbers_as_they_lie<std::int16_t>(n, m, row_major);
      expect_whole_numbers_as_they_lie<std::uint32_t>(n, m, row_major);
      expect_whole_numbers_as_they_lie<std::int64_t>(n, m, row_major);
    }
}

TEST(DataMatrix, RefusesSparseIndicesThatLeadOutside) {
  const std::vector<double> values{1, 2, 3};
  const auto refusal = [&](std::vector<std::int64_t> start, std::vector<std::int64_t> index) {
    return message_of<InvalidInput>([&] {
      data_matrix(SparseView<double, std::int64_t>{start.data(), index.data(), values.data(), 2, 4});
    });
  };
  EXPECT_THAT(refusal({0, 2, 3}, {0, 4, 1}),
              HasSubstr("row 1 of the sparse matrix has an entry in column 5 of 4"));
  EXPECT_THAT(refusal({0, 2, 3}, {-1, 2, 1}), HasSubstr("column -1 of 4"));
  EXPECT_THAT(refusal({0, 3, 2}, {0, 1, 2}), HasSubstr("row 2 of the sparse matrix ends before it begins"));
  EXPECT_THAT(refusal({1, 2, 3}, {0, 1, 2}), HasSubstr("begin at entry 0"));
}

TEST(DataMatrix, TakesASparseMatrixWithoutEntries) {
  const SparseMatrix nothing(30, 20);
  const auto A = data_matrix(nothing);
  Matrix out;
  A->apply(Matrix::Ones(20, 2), out);
  EXPECT_EQ(out, Matrix::Zero(30, 2));
  EXPECT_EQ(A->squared_norm(), 0);
}

TEST(DataMatrix, DoesNotFormALargeSparseMatrixToMeasureADistance) {
  SparseMatrix A(3000, 3000);
  A.insert(5, 7) = 1;
  A.makeCompressed();
  EXPECT_FALSE(data_matrix(A)->squared_distance(Matrix::Zero(3000, 1), Matrix::Zero(3000, 1)).has_value());
}

}  // namespace
}  // namespace pursuit
