#include "io/delimited.hpp"

#include "io/matrix_test_support.hpp"
#include "io/parse_matrix.hpp"
#include "io/table_layout.hpp"
#include "io/test_support.hpp"
#include "io/utf8.hpp"

namespace pursuit::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Names = std::vector<std::string>;

NamedMatrix table(const std::string& text) {
  return parse_matrix(text, "a.csv");
}

std::string refused_table(const std::string& text) {
  return message_of<InvalidInput>([&] { parse_matrix(text, "a.csv"); });
}

const Matrix kSquare = (Matrix(2, 2) << 1, 2, 3, 4).finished();

void expect_square(const std::string& text, const Names& row_names, const Names& column_names) {
  const NamedMatrix read = table(text);
  EXPECT_EQ(std::get<Matrix>(read.matrix), kSquare) << text;
  EXPECT_EQ(read.row_names, row_names) << text;
  EXPECT_EQ(read.column_names, column_names) << text;
}

TEST(Delimited, FindsTheSeparator) {
  for (const char* text : {"1,2\n3,4\n", "1\t2\n3\t4\n", "1;2\n3;4\n", "1 2\n3 4\n", "  1   2 \n 3\t 4\t\n",
                           "1, 2\n3 , 4\n", "\"1\",\"2\"\n\"3\",\"4\"\n"}) {
    expect_square(text, {}, {});
  }
}

TEST(Delimited, ASeparatorInsideANameIsNotTheSeparator) {
  expect_square("gene,s1,s2\na;b,1,2\nc;d,3,4\n", {"a;b", "c;d"}, {"s1", "s2"});
  expect_square("gene\ts1,a\ts2\nx, y\t1\t2\nz\t3\t4\n", {"x, y", "z"}, {"s1,a", "s2"});
  expect_square("\"a,b\" \"c;d\"\n1 2\n3 4\n", {}, {"a,b", "c;d"});
}

TEST(Delimited, AcceptsEveryLineEndingAByteOrderMarkAndBlankLines) {
  expect_square("1,2\r\n3,4\r\n", {}, {});
  expect_square("1,2\n3,4", {}, {});
  expect_square(
      "\xEF\xBB\xBF"
      "1,2\n3,4\n",
      {}, {});
  expect_square("\n  \n1,2\r\n\r\n3,4\n\n\n", {}, {});
  expect_square(
      "\xEF\xBB\xBF"
      "a,b\r\n1,2\r\n3,4",
      {}, {"a", "b"});
}

TEST(Delimited, FindsColumnNames) {
  expect_square("a,b\n1,2\n3,4\n", {}, {"a", "b"});
  expect_square("\"7\",b\n1,2\n3,4\n", {}, {"7", "b"});
  expect_square("\"2001\",\"2002\"\n1,2\n3,4\n", {}, {"2001", "2002"});
}

TEST(Delimited, FindsRowNames) {
  expect_square("x,1,2\ny,3,4\n", {"x", "y"}, {});
  expect_square("\"7\",1,2\n\"8\",3,4\n", {"7", "8"}, {});
  expect_square("name,a,b\nx,1,2\ny,3,4\n", {"x", "y"}, {"a", "b"});
}

TEST(Delimited, AFirstLineThatCouldBeEitherIsRefusedWithTheWayToSay) {
  for (const char* text : {"1,x\n1,2\n3,4\n", "id,2001\n1,2\n", "a,b,7\nr,1,2\ns,3,4\n"})
    EXPECT_THAT(
        refused_table(text),
        AllOf(HasSubstr("a.csv, line 1: the line may be column names or numbers"), HasSubstr("--header yes")))
        << text;
  EXPECT_THAT(refused_table("# from the lab\n1,2\n3,4\n"), AllOf(HasSubstr("line 1"), HasSubstr("remark")));
  const NamedMatrix forced = parse_matrix("7,b\n1,2\n3,4\n", "a.csv", {Header::yes});
  EXPECT_EQ(std::get<Matrix>(forced.matrix), kSquare);
  EXPECT_THAT(forced.column_names, ElementsAre("7", "b"));
  const NamedMatrix years = parse_matrix("2001,2002\n1,2\n3,4\n", "a.csv", {Header::yes});
  EXPECT_THAT(years.column_names, ElementsAre("2001", "2002"));
  EXPECT_THAT(message_of<InvalidInput>([] { parse_matrix("a,b\n1,2\n", "a.csv", {Header::no}); }),
              HasSubstr("line 1, column 1: 'a' is not a finite number"));
}

TEST(Delimited, NumbersWithUnitsAreNoNames) {
  for (const char* text :
       {"1%,2%\n3,4\n", "1%,2%\n3%,4%\n", "$1,$2\n3,4\n", "(1),2\n3,4\n", "-$1,2 %\n3,4\n", "<1,2\n3,4\n"})
    EXPECT_THAT(refused_table(text), AllOf(HasSubstr("line 1, column 1"), HasSubstr("not"))) << text;
  expect_square("1st,3cm\n1,2\n3,4\n", {}, {"1st", "3cm"});
  expect_square("day,1/22/20,2020-01-23\nx,1,2\ny,3,4\n", {"x", "y"}, {"1/22/20", "2020-01-23"});
}

TEST(Delimited, ReadsTablesAsRWritesThem) {
  expect_square("\"\",\"V1\",\"V2\"\n\"1\",1,2\n\"2\",3,4\n", {"1", "2"}, {"V1", "V2"});
  expect_square("\"V1\" \"V2\"\n\"1\" 1 2\n\"2\" 3 4\n", {"1", "2"}, {"V1", "V2"});
  expect_square("V1\tV2\nx\t1\t2\ny\t3\t4\n", {"x", "y"}, {"V1", "V2"});
}

TEST(Delimited, ReadsTablesAsPandasWritesThem) {
  expect_square(",a,b\n0,1,2\n1,3,4\n", {"0", "1"}, {"a", "b"});
  expect_square(",0,1\n0,1,2\n1,3,4\n", {"0", "1"}, {"0", "1"});
  expect_square(",2001,2002\nx,1,2\ny,3,4\n", {"x", "y"}, {"2001", "2002"});
}

TEST(Delimited, ReadsASingleLineAndASingleColumn) {
  EXPECT_EQ(std::get<Matrix>(table("1,2,3").matrix), (Matrix(1, 3) << 1, 2, 3).finished());
  EXPECT_EQ(std::get<Matrix>(table("1\n2\n").matrix), (Matrix(2, 1) << 1, 2).finished());
  const NamedMatrix column = table("weight\n1\n2\n");
  EXPECT_EQ(std::get<Matrix>(column.matrix), (Matrix(2, 1) << 1, 2).finished());
  EXPECT_THAT(column.column_names, ElementsAre("weight"));
  const NamedMatrix row = table("x,1,2\n");
  EXPECT_THAT(row.row_names, ElementsAre("x"));
  EXPECT_THAT(row.column_names, IsEmpty());
}

TEST(Delimited, ReadsQuotedCells) {
  expect_square("\"a \"\"b\"\"\",\"c\nd\"\n1,2\n3,4\n", {}, {"a \"b\"", "c\nd"});
  EXPECT_THAT(refused_table("a,b\n1,\"2\n3,4\n"),
              AllOf(HasSubstr("a.csv, line 2, column 2"), HasSubstr("never closed")));
  EXPECT_THAT(refused_table("\"a\"x,b\n1,2\n"),
              AllOf(HasSubstr("line 1, column 1"), HasSubstr("'x,b' follows")));
  EXPECT_THAT(refused_table("\"a\nb\",c\n1,2\n1,z\n"),
              HasSubstr("line 4, column 2"));  // the name takes two lines
}

TEST(Delimited, MissingValuesAreRefusedByPlace) {
  for (const char* mark : {"", "NA", "nan", "NaN", "N/A", "null", "?", "\"\""}) {
    const std::string message = refused_table(std::string("a,b\n1,2\n3,") + mark + "\n");
    EXPECT_THAT(message, AllOf(HasSubstr("a.csv, line 3, column 2 ('b')"), HasSubstr("missing value"),
                               HasSubstr("`pursuit complete`")));
  }
  EXPECT_THAT(refused_table("NA,2\n3,4\n"), AllOf(HasSubstr("line 1, column 1"), HasSubstr("'NA'")));
  EXPECT_THAT(refused_table(",2\n3,4\n"), AllOf(HasSubstr("line 1, column 1"), HasSubstr("missing")));
  EXPECT_THAT(refused_table("a,b\nNA,2\n"), AllOf(HasSubstr("line 2, column 1 ('a')"), HasSubstr("'NA'")));
  EXPECT_THAT(refused_table("1\t\t2\n3\t4\t5\n"), AllOf(HasSubstr("line 1, column 2"), HasSubstr("missing")));
  EXPECT_THAT(refused_table("1,2,\n3,4,\n"), AllOf(HasSubstr("line 1, column 3"), HasSubstr("missing")));
}

TEST(Delimited, WhatIsNoFiniteNumberIsRefusedByPlace) {
  EXPECT_THAT(refused_table("1,2\n3,4x\n"), AllOf(HasSubstr("a.csv, line 2, column 2"), HasSubstr("'4x'")));
  EXPECT_THAT(refused_table("n,a,b\nx,1,2\ny,3,oops\n"),
              AllOf(HasSubstr("line 3, column 3 ('b')"), HasSubstr("'oops'")));
  EXPECT_THAT(refused_table("1,2\nfoo,4\n"), AllOf(HasSubstr("line 2, column 1"), HasSubstr("'foo'")));
  EXPECT_THAT(refused_table("1,2\n3,inf\n"), AllOf(HasSubstr("line 2, column 2"), HasSubstr("'inf'")));
  EXPECT_THAT(refused_table("1,2\n3,1e999\n"), AllOf(HasSubstr("line 2, column 2"), HasSubstr("finite")));
  EXPECT_THAT(refused_table("a;b\n1,5;2\n2,5;3\n"),
              AllOf(HasSubstr("line 2, column 1"), HasSubstr("decimal comma")));
}

TEST(Delimited, RaggedLinesAreRefusedWithBothCounts) {
  EXPECT_THAT(refused_table("1,2,3\n4,5,6\n7,8\n"),
              AllOf(HasSubstr("a.csv, line 3"), HasSubstr("2 cells"), HasSubstr("has 3")));
  EXPECT_THAT(refused_table("1,2\n3,4\n5,6,7\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("3 cells"), HasSubstr("has 2")));
  EXPECT_THAT(refused_table("1,2,3\n4\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("1 cell,"), HasSubstr("line 1 has 3")));
  EXPECT_THAT(refused_table("1,2\n3,4,5\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("3 cells"), HasSubstr("line 1 has 2")));
  EXPECT_THAT(refused_table("a,b\nx,1,2\ny,3\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("2 cells"), HasSubstr("line 2 has 3")));
}

TEST(Delimited, RefusesWhatIsNoTable) {
  EXPECT_THAT(refused_table(std::string("PK\0 x\n1 2\n", 10)), HasSubstr("byte 2 is zero"));
  EXPECT_THAT(refused_table("a,b,c\n"), HasSubstr("no line of numbers"));
  EXPECT_THAT(refused_table(" \n\n"), HasSubstr("blank lines"));
  EXPECT_THAT(refused_table(std::string("1,2\n3,\0\n", 8)),
              AllOf(HasSubstr("byte 6"), HasSubstr("neither text")));
  EXPECT_THAT(refused_table("\xFF\xFE"
                            "1"),
              HasSubstr("UTF-16"));
  EXPECT_THAT(refused_table("caf\xE9,b\n1,2\n"),
              AllOf(HasSubstr("line 1, column 1"), HasSubstr("not UTF-8")));
  EXPECT_THAT(refused_table("n,b\ncaf\xE9,2\n"),
              AllOf(HasSubstr("line 2, column 1"), HasSubstr("not UTF-8")));
}

TEST(Delimited, WritesShortestNumbersAndQuotesOnlyWhereNeeded) {
  const Matrix matrix = (Matrix(2, 2) << 0.1, -2, 1e100, 0).finished();
  EXPECT_EQ(format_delimited({matrix, {}, {}}, ','), "0.1,-2\n1e+100,0\n");
  EXPECT_EQ(format_delimited({matrix, {"x", "7"}, {"a", "b,c"}}, '\t'),
            "\ta\t\"b,c\"\nx\t0.1\t-2\n\"7\"\t1e+100\t0\n");
  EXPECT_EQ(format_delimited({Eigen::MatrixXf(matrix.cast<float>().leftCols(1)), {}, {"NA"}}, ','),
            "\"NA\"\n0.1\ninf\n");
  EXPECT_EQ(format_delimited({matrix, {}, {"", ""}}, ','), "unnamed,\"\"\n0.1,-2\n1e+100,0\n");
}

TEST(Delimited, WritesSparseMatricesInFull) {
  EXPECT_EQ(format_delimited({SparseMatrix(sample_matrix().sparseView()), {}, {}}, ','),
            "1.5,0,-2\n0,3,0.25\n");
}

rc::Gen<std::string> any_name() {
  const auto letters = rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("abcAZ019.,;:\"' \t\n\r+-_%#?naNA\xC3\xA9")));
  const auto words =
      rc::gen::elementOf(Names{"NA", "nan", "inf", "1", "1e5", "1,5", "\xEF\xBB\xBFx", "%%MatrixMarket",
                               "a b", "\xC3\xA9t\xC3\xA9", "PK\x03\x04", "x"});
  return rc::gen::suchThat(rc::gen::oneOf(letters, words),
                           [](const std::string& name) { return !name.empty() && decode_utf8(name); });
}

TEST(Delimited, SeparatorsBehindALineEndInsideQuotesAreNone) {
  const NamedMatrix read = table(",\"\n;N\"\n\"1,5\",7\n");
  EXPECT_EQ(read.column_names, Names{"\n;N"});
  EXPECT_EQ(read.row_names, Names{"1,5"});
}

TEST(Delimited, SeparatorsInsideQuotesAreNone) {
  for (const std::string text :
       {"\"ax\";\"\t\"\n-5;-6\n", "\"a,b\"\t\"c\"\n-5\t-6\n", "\"a;b;c\",\"d;\"\n-5,-6\n"}) {
    const NamedMatrix read = table(text);
    EXPECT_EQ(std::get<Matrix>(read.matrix), (Matrix(1, 2) << -5, -6).finished()) << text;
    EXPECT_EQ(read.column_names.size(), 2U) << text;
  }
}

RC_GTEST_PROP(Delimited, RoundTripWithAnyNames, ()) {
  NamedMatrix original{any_dense<double>(), {}, {}};
  const auto names = [](Index count) {
    return *rc::gen::container<Names>(static_cast<std::size_t>(count), any_name());
  };
  if (*rc::gen::arbitrary<bool>()) original.row_names = names(rows_of(original.matrix));
  if (*rc::gen::arbitrary<bool>()) original.column_names = names(cols_of(original.matrix));
  const char separator = *rc::gen::element(',', '\t', ';');
  const NamedMatrix back = table(format_delimited(original, separator));
  RC_ASSERT(same_bits(std::get<Matrix>(back.matrix), std::get<Matrix>(original.matrix)));
  RC_ASSERT(back.row_names == original.row_names);
  RC_ASSERT(back.column_names == original.column_names);
}

}  // namespace
}  // namespace pursuit::io
