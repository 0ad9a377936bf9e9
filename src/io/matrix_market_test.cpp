#include "io/matrix_market.hpp"

#include "io/matrix_test_support.hpp"
#include "io/parse_matrix.hpp"
#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kCoordinate = "%%MatrixMarket matrix coordinate real general\n";
const std::string kArray = "%%MatrixMarket matrix array real general\n";

SparseMatrix sparse(const std::string& text) {
  return std::get<SparseMatrix>(parse_matrix(text, "a.mtx").matrix);
}

Matrix dense(const std::string& text) {
  return std::get<Matrix>(parse_matrix(text, "a.mtx").matrix);
}

std::string refused_market(const std::string& text) {
  return message_of<InvalidInput>([&] { parse_matrix(text, "a.mtx"); });
}

TEST(MatrixMarket, ReadsCoordinateEntriesInAnyOrder) {
  const SparseMatrix matrix = sparse(kCoordinate + "2 3 4\n2 3 0.25\n1 3 -2\n2 2 3e0\n1 1 +1.5\n");
  EXPECT_EQ(Matrix(matrix), sample_matrix());
  EXPECT_EQ(matrix.nonZeros(), 4);
  EXPECT_TRUE(matrix.isCompressed());
}

/// A hundred entries; `line(i, j, value)` writes one.
template <class Line>
std::string hundred_entries(const Line& line) {
  std::string text = kCoordinate + "10 20 100\n";
  for (int k = 0; k < 100; ++k)
    text += line(1 + k / 10, 1 + 2 * (k % 10), std::to_string(k % 3 - 1) + "." + std::to_string(1000 + k));
  return text;
}
std::string plain_line(int i, int j, const std::string& value) {
  return std::to_string(i) + " " + std::to_string(j) + " " + value + "\n";
}

TEST(MatrixMarket, ReadsEntriesAlikeHoweverTheyAreSpaced) {
  const Matrix expected(sparse(hundred_entries(plain_line)));
  EXPECT_EQ(expected(3, 4), 1.1032);
  for (const auto& [between, end] :
       {std::pair("  ", "\n"), {"\t", "\n"}, {" ", "\r\n"}, {" ", " \n"}, {" ", "\n\n"}})
    EXPECT_EQ(Matrix(sparse(hundred_entries([&](int i, int j, const std::string& value) {
                return std::to_string(i) + between + std::to_string(j) + between + value + end;
              }))),
              expected)
        << between << end;
}

TEST(MatrixMarket, NamesABadEntryAmongPlainOnes) {
  for (const std::string bad : {"0 1 1", "11 1 1", "1 21 1", "1 -1 1", "1 2147483648 1", "1 12345678901234 1",
                                "1 1 inf", "1 1 nan", "1 1 1 1", "1 1", "1 1 1x", "1 1 1,5", "1 1.5 1"}) {
    int line = 2;
    const std::string text = hundred_entries([&](int i, int j, const std::string& value) {
      return ++line == 52 ? bad + "\n" : plain_line(i, j, value);
    });
    EXPECT_THAT(refused_market(text), HasSubstr("a.mtx, line 52:")) << bad;
  }
}

TEST(MatrixMarket, KeepsExplicitZerosAndAllowsNoEntries) {
  EXPECT_EQ(sparse(kCoordinate + "2 2 1\n1 1 0\n").nonZeros(), 1);
  EXPECT_EQ(sparse(kCoordinate + "2 2 0\n").nonZeros(), 0);
}

TEST(MatrixMarket, AcceptsCommentsBlankLinesCrlfAndAnyCase) {
  const std::string text =
      "%%matrixmarket MATRIX Coordinate REAL General\r\n% a comment\r\n\r\n%\r\n  2\t3   4 \r\n"
      "1 1 1.5\r\n\r\n% between\r\n 1 3 -2 \r\n2 2 3\r\n2 3 0.25";
  EXPECT_EQ(Matrix(sparse(text)), sample_matrix());
}

TEST(MatrixMarket, ReadsPatternAndIntegerEntries) {
  const Matrix expected = (Matrix(2, 2) << 0, 1, 1, 0).finished();
  EXPECT_EQ(Matrix(sparse("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n")), expected);
  EXPECT_EQ(Matrix(sparse("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 1\n2 1 1\n")),
            expected);
  EXPECT_EQ(dense("%%MatrixMarket matrix array unsigned-integer general\n2 2\n0\n1\n1\n0\n"), expected);
}

TEST(MatrixMarket, MirrorsSymmetricAndSkewSymmetricFiles) {
  const Matrix symmetric = (Matrix(2, 2) << 1, 2, 2, 5).finished();
  const Matrix skew = (Matrix(2, 2) << 0, -2, 2, 0).finished();
  EXPECT_EQ(Matrix(sparse("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 2 5\n")),
            symmetric);
  EXPECT_EQ(Matrix(sparse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 2\n")), skew);
  EXPECT_EQ(dense("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n5\n"), symmetric);
  EXPECT_EQ(dense("%%MatrixMarket matrix array real skew-symmetric\n2 2\n2\n"), skew);
}

TEST(MatrixMarket, ReadsArraysDownTheColumns) {
  EXPECT_EQ(dense(kArray + "2 3\n1.5\n0\n0\n3\n-2\n0.25\n"), sample_matrix());
}

TEST(MatrixMarket, RefusesOtherKindsOfFiles) {
  EXPECT_THAT(refused_market("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n"),
              AllOf(HasSubstr("a.mtx, line 1"), HasSubstr("'complex'"), HasSubstr("real, integer")));
  EXPECT_THAT(refused_market("%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n"),
              HasSubstr("'hermitian'"));
  EXPECT_THAT(refused_market("%%MatrixMarket vector coordinate real general\n1 1 1\n1 1 1\n"),
              HasSubstr("'vector'"));
  EXPECT_THAT(refused_market("%%MatrixMarket matrix list real general\n"), HasSubstr("'list'"));
  EXPECT_THAT(refused_market("%%MatrixMarket matrix array pattern general\n1 1\n1\n"),
              HasSubstr("'pattern'"));
  EXPECT_THAT(refused_market("%%MatrixMarket matrix coordinate real general extra\n"), HasSubstr("'extra'"));
  EXPECT_THAT(refused_market("%%MatrixMarket\n"), HasSubstr("object ''"));
  EXPECT_THAT(refused_market("%%SomethingElse matrix\n"), HasSubstr("'%%SomethingElse'"));
}

TEST(MatrixMarket, RefusesAbsurdSizesBeforeAllocating) {
  const std::string entry = "1 1 1\n";
  EXPECT_THAT(refused_market(kCoordinate + "2 2 1152921504606846976\n" + entry),
              AllOf(HasSubstr("line 2"), HasSubstr("1152921504606846976"), HasSubstr("2147483647")));
  EXPECT_THAT(refused_market(kCoordinate + "2 2 99999999999999999999999\n" + entry), HasSubstr("too many"));
  EXPECT_THAT(refused_market(kCoordinate + "3000000000 2 1\n" + entry),
              HasSubstr("3000000000 x 2 is too large"));
  EXPECT_THAT(refused_market(kCoordinate + "2 3000000000 1\n" + entry),
              HasSubstr("2 x 3000000000 is too large"));
  EXPECT_THAT(refused_market(kCoordinate + "2000000000 2 1\n" + entry), HasSubstr("implausible"));
  EXPECT_THAT(refused_market(kCoordinate + "8 2147483647 1\n" + entry),
              HasSubstr("2147483647 columns are implausible"));
  EXPECT_THAT(refused_market(kCoordinate + "1000 1000 900000\n" + entry),
              AllOf(HasSubstr("a.mtx, line 2"), HasSubstr("900000 entries"), HasSubstr("6 bytes")));
  EXPECT_THAT(refused_market(kArray + "2000000000 2000000000\n1\n"),
              HasSubstr("4000000000000000000 entries"));
  EXPECT_THAT(refused_market("%%MatrixMarket matrix array real symmetric\n2000000000 2000000000\n1\n"),
              HasSubstr("more than the remaining 2 bytes can hold"));
  EXPECT_THAT(refused_market(kCoordinate + "-2 2 1\n" + entry), HasSubstr("negative size -2 x 2"));
  EXPECT_THAT(refused_market(kCoordinate + "2 2 -1\n" + entry), HasSubstr("negative number of entries"));
}

TEST(MatrixMarket, RefusesEmptyMatrices) {
  EXPECT_THAT(refused_market(kCoordinate + "0 5 0\n"), HasSubstr("empty matrix (0 x 5)"));
  EXPECT_THAT(refused_market(kArray + "5 0\n"), HasSubstr("empty matrix (5 x 0)"));
}

TEST(MatrixMarket, RefusesAMalformedLineOfSizes) {
  EXPECT_THAT(refused_market(kCoordinate), HasSubstr("ends before the line of sizes"));
  EXPECT_THAT(refused_market(kCoordinate + "2 2\n1 1 1\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("entries ''")));
  EXPECT_THAT(refused_market(kCoordinate + "2 x 1\n1 1 1\n"), HasSubstr("columns 'x'"));
  EXPECT_THAT(refused_market(kCoordinate + "2 2 1 9\n1 1 1\n"), HasSubstr("unexpected '9'"));
  EXPECT_THAT(refused_market("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n"),
              HasSubstr("not 2 x 3"));
}

TEST(MatrixMarket, RefusesPositionsOutsideTheMatrix) {
  EXPECT_THAT(refused_market(kCoordinate + "2 3 2\n1 1 1\n3 1 1\n"),
              AllOf(HasSubstr("a.mtx, line 4"), HasSubstr("row '3'"), HasSubstr("1 to 2")));
  EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n1 4 1\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("column '4'")));
  EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n0 1 1\n"), HasSubstr("row '0'"));
  EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n1 -1 1\n"), HasSubstr("column '-1'"));
  EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n1 99999999999 1\n"), HasSubstr("column '99999999999'"));
}

TEST(MatrixMarket, RefusesWhatIsNoNumber) {
  EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n1.0 1 1\n"), HasSubstr("row '1.0'"));
  EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n1 1 abc\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("'abc' at row 1, column 1")));
  EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n1 1 1.5x\n"), HasSubstr("'1.5x'"));
  EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n1   1     \n"),
              HasSubstr("value at row 1, column 1 is missing"));
  EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n1 1 1 1\n"), HasSubstr("unexpected '1' after the end"));
  EXPECT_THAT(refused_market("%%MatrixMarket matrix coordinate integer general\n2 3 1\n1 2 1.5\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("1.5"), HasSubstr("not an integer")));
}

TEST(MatrixMarket, RefusesNanAndInfinityByPosition) {
  for (const char* value : {"nan", "inf", "-inf", "1e999"}) {
    EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n2 1 " + value + "\n"),
                AllOf(HasSubstr("line 3"), HasSubstr(value), HasSubstr("row 2, column 1")));
    EXPECT_THAT(refused_market(kArray + "2 1\n1\n" + value + "\n"), HasSubstr("row 2, column 1"));
  }
}

TEST(MatrixMarket, NamesBothLinesOfADuplicate) {
  EXPECT_THAT(refused_market(kCoordinate + "2 3 4\n1 2 1\n2 1 7\n% comment\n1 3 1\n1 2 1\n"),
              AllOf(HasSubstr("a.mtx, line 7"), HasSubstr("entry (1, 2)"), HasSubstr("line 3")));
  EXPECT_THAT(refused_market("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n1 2 1\n"),
              AllOf(HasSubstr("line 4"), HasSubstr("entry (1, 2) or its mirror image"), HasSubstr("line 3")));
  EXPECT_THAT(refused_market("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n2 2\n2 2\n"),
              AllOf(HasSubstr("line 4"), HasSubstr("entry (2, 2)")));
}

TEST(MatrixMarket, RefusesADiagonalEntryOfASkewSymmetricFile) {
  EXPECT_THAT(refused_market("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("(2, 2)"), HasSubstr("diagonal")));
}

TEST(MatrixMarket, RefusesTooFewAndTooManyEntries) {
  EXPECT_THAT(refused_market(kCoordinate + "2 3 2\n1 1 1.0000000000\n"),
              AllOf(HasSubstr("promises 2 entries"), HasSubstr("after 1")));
  EXPECT_THAT(refused_market(kCoordinate + "2 3 1\n1 1 1\n2 2 2\n"),
              AllOf(HasSubstr("line 4"), HasSubstr("than the 1")));
  EXPECT_THAT(refused_market(kArray + "2 1\n1.0000\n"), AllOf(HasSubstr("promises 2"), HasSubstr("after 1")));
  EXPECT_THAT(refused_market(kArray + "1 1\n1\n2\n"), AllOf(HasSubstr("line 4"), HasSubstr("more entries")));
}

RC_GTEST_PROP(MatrixMarket, SparseRoundTrip, ()) {
  const SparseMatrix matrix = any_sparse<double>();
  const SparseMatrix back = sparse(format_matrix_market(matrix));
  RC_ASSERT(back.nonZeros() == matrix.nonZeros());
  RC_ASSERT(same_bits(back, matrix));
}

RC_GTEST_PROP(MatrixMarket, DenseRoundTrip, ()) {
  const Matrix matrix = any_dense<double>();
  RC_ASSERT(same_bits(dense(format_matrix_market(matrix)), matrix));
}

RC_GTEST_PROP(MatrixMarket, SinglePrecisionRoundTrip, ()) {
  const Eigen::MatrixXf matrix = any_dense<float>();
  RC_ASSERT(same_bits(dense(format_matrix_market(matrix)).cast<float>(), matrix));
  const SparseMatrixOf<float> few = any_sparse<float>();
  RC_ASSERT(same_bits(SparseMatrixOf<float>(sparse(format_matrix_market(few)).cast<float>()), few));
}

}  // namespace
}  // namespace pursuit::io
