#include "io/npy.hpp"

#include "io/npy_header.hpp"
#include "io/parse_matrix.hpp"
#include "io/test_fixtures.hpp"
#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A file with this header text; `version` also decides how the length of the text is stored.
std::string npy(const std::string& header, std::string_view data, char version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += {version, '\0', static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + header + std::string(data);
}

std::string described(const std::string& type, const std::string& shape, std::string_view data) {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }", data);
}

template <class Value>
std::vector<Value> values(const std::string& bytes) {
  return std::get<std::vector<Value>>(parse_npy(bytes, "a.npy").values);
}

std::string refused_array(const std::string& bytes) {
  return message_of<InvalidInput>([&] { parse_npy(bytes, "a.npy"); });
}

/// The matrix that a file of these bytes holds.
AnyMatrix npy_matrix(const std::string& bytes) {
  return parse_matrix(bytes, "a.npy").matrix;
}

std::string matrix_refusal(const std::string& bytes) {
  return message_of<InvalidInput>([&] { parse_npy_matrix({bytes, nullptr}, "a.npy"); });
}

TEST(Npy, ReadsIntegersOfEverySizeAndByteOrder) {
  using namespace std::string_view_literals;
  const auto one = ElementsAre(-2, 5);
  EXPECT_THAT(values<std::int64_t>(described("|i1", "(2,)", "\xFE\x05"sv)), one);
  EXPECT_THAT(values<std::int64_t>(described("<i2", "(2,)", "\xFE\xFF\x05\x00"sv)), one);
  EXPECT_THAT(values<std::int64_t>(described(">i2", "(2,)", "\xFF\xFE\x00\x05"sv)), one);
  EXPECT_THAT(values<std::int64_t>(described("<i4", "(2,)", "\xFE\xFF\xFF\xFF\x05\0\0\0"sv)), one);
  EXPECT_THAT(values<std::int64_t>(described(">i4", "(2,)", "\xFF\xFF\xFF\xFE\0\0\0\x05"sv)), one);
  EXPECT_THAT(values<std::int64_t>(described(">i8", "(1,)", "\0\0\0\0\0\0\x01\x02"sv)), ElementsAre(258));
  EXPECT_THAT(values<std::int64_t>(described("|u1", "(2,)", "\xFE\x05"sv)), ElementsAre(254, 5));
  EXPECT_THAT(values<std::int64_t>(described(">u2", "(1,)", "\xFF\xFE"sv)), ElementsAre(65534));
  EXPECT_THAT(values<std::int64_t>(described("<u4", "(1,)", "\xFE\xFF\xFF\xFF"sv)), ElementsAre(4294967294));
  EXPECT_THAT(values<std::int64_t>(described("<u8", "(1,)", "\x07\0\0\0\0\0\0\0"sv)), ElementsAre(7));
  EXPECT_THAT(values<std::int64_t>(described("|b1", "(3,)", "\0\x01\x02"sv)), ElementsAre(0, 1, 1));
}

TEST(Npy, HalfPrecisionBecomesSingle) {
  using namespace std::string_view_literals;
  const auto halves = ElementsAre(1.5F, -2.0F, 65504.0F);
  EXPECT_THAT(values<float>(described("<f2", "(3,)", "\x00\x3E\x00\xC0\xFF\x7B"sv)), halves);
  EXPECT_THAT(values<float>(described(">f2", "(3,)", "\x3E\x00\xC0\x00\x7B\xFF"sv)), halves);
  EXPECT_TRUE(std::holds_alternative<Eigen::MatrixXf>(npy_matrix(described("<f2", "(1,)", "\x00\x3E"sv))));
}

TEST(NpyMatrix, StaysWhereItLiesInTheFileWhereItCan) {
  const ScratchDirectory scratch;
  Matrix matrix(3, 2);
  matrix << 1, 2, 3, 4, 5, 6;
  ByteSource source(scratch.with("a.npy", format_npy(matrix)));
  const Bytes bytes = source.take_all();
  const StoredMatrix stored = parse_npy_matrix(bytes, "a.npy");
  const auto& view = std::get<DenseArray<double>>(stored).view;
  EXPECT_EQ(static_cast<const void*>(view.data), bytes.view.data() + bytes.view.size() - 48);
  EXPECT_FALSE(view.row_major);
  for (Index shift = 0; shift < 9; ++shift) {  // names of all lengths put the array of an archive anywhere
    NpzArchive archive;
    archive[std::string(std::size_t(shift + 1), 'x')] = {{3, 2}, std::vector<double>{1, 2, 3, 4, 5, 6}};
    write_npz(scratch / "a.npz", archive);
    EXPECT_EQ(std::get<Matrix>(read_matrix(scratch / "a.npz").matrix), matrix);
    const MatrixData data = read_data(scratch / "a.npz");
    Matrix product;
    data.matrix->apply(Matrix::Identity(2, 2), product);
    EXPECT_EQ(product, matrix);
  }
}

TEST(NpyMatrix, WholeNumbersAreMultipliedWhereTheyLieInTheFile) {
  using namespace std::string_view_literals;
  const ScratchDirectory scratch;
  const struct {
    const char *type, *shape;
    std::string_view data;
    bool stays;
  } files[] = {
      {"|i1", "(2, 2)", "\xFE\x05\x07\x80"sv, true},
      {"|u1", "(2, 2)", "\xFE\x05\x07\x80"sv, true},
      {"|b1", "(2, 2)", "\x00\x01\x01\x01"sv, true},
      {"|b1", "(2, 2)", "\x00\x01\x02\x01"sv, false},  // true all the same
      {"<i2", "(2,)", "\xFE\xFF\x05\x00"sv, true},
      {">i2", "(2,)", "\xFF\xFE\x00\x05"sv, false},
      {"<u4", "(1, 2)", "\xFE\xFF\xFF\xFF\x05\0\0\0"sv, true},
      {"<i8", "(2, 1)", "\x07\0\0\0\0\0\0\x40\x07\0\0\0\0\0\0\0"sv, true},
      {"<u8", "(1,)", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv, true},
      {"<f4", "(1,)", "\0\0\x80\x3F"sv, false},
  };
  for (const auto& file : files) {
    SCOPED_TRACE(file.type);
    const auto path = scratch.with("a.npy", described(file.type, file.shape, file.data));
    // Headers of these lengths leave numbers anywhere; NumPy's are multiples of 64.
    std::string bytes = content_of(path);
    const std::size_t head = bytes.size() - file.data.size();
    bytes.insert(head - 1, std::string((64 - head % 64) % 64, ' '));
    bytes[8] = static_cast<char>(bytes.size() - file.data.size() - 10);
    scratch.with("a.npy", bytes);
    ByteSource source(path);
    EXPECT_EQ(whole_number_matrix(source.take_all(), "a.npy", 1) != nullptr, file.stays);
    Matrix expected;
    std::visit([&](const auto& m) { expected = Matrix(m.template cast<double>()); },
               read_matrix(path).matrix);
    const MatrixData data = read_data(path);
    EXPECT_EQ(data.stored, expected.size());
    Matrix product;
    data.matrix->apply(Matrix::Identity(expected.cols(), expected.cols()), product);
    EXPECT_EQ(product, expected);
  }
  const auto cube = scratch.with("b.npy", described("|u1", "(1, 1, 1)", "x"sv));
  EXPECT_THAT(message_of<InvalidInput>([&] { read_data(cube); }), HasSubstr("3 dimensions"));
}

TEST(Npy, RefusesAnUnsignedIntegerBeyondSigned) {
  const std::string bytes = described("<u8", "(1,)", std::string(8, '\xFF'));
  EXPECT_THAT(refused_array(bytes), AllOf(HasSubstr("element 1"), HasSubstr("18446744073709551615")));
  EXPECT_EQ(std::get<Matrix>(npy_matrix(bytes))(0, 0), 18446744073709551615.0);
}

TEST(Npy, ReadsBigEndianFortranOrder) {
  const NpyArray array = parse_npy(kNumpyBigEndianFortran, "a.npy");
  EXPECT_THAT(array.shape, ElementsAre(2, 3));
  EXPECT_THAT(std::get<std::vector<float>>(array.values), ElementsAre(1.5f, 0, -2, 0, 3, 0.25f));
  EXPECT_EQ(std::get<Eigen::MatrixXf>(npy_matrix(kNumpyBigEndianFortran)), sample_matrix().cast<float>());
}

TEST(Npy, PutsThreeDimensionsInCOrder) {
  const std::string bytes = npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2, 2), }",
                                std::string_view("\0\4\2\6\1\5\3\7", 8));
  EXPECT_THAT(values<std::int64_t>(bytes), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Npy, ReadsText) {
  EXPECT_THAT(values<std::string>(kNumpyBigEndianText), ElementsAre("\u00e9", "\U0001d11e", "ab"));
  EXPECT_THAT(values<std::string>(described("|S3", "(2,)", std::string_view("csrab\0", 6))),
              ElementsAre("csr", "ab"));
  EXPECT_THAT(refused_array(described("<U1", "(1,)", std::string_view("\0\xD8\0\0", 4))),
              AllOf(HasSubstr("element 1"), HasSubstr("0xd800")));
  EXPECT_THAT(refused_array(described("|S1", "(1,)", "\xFF")), HasSubstr("not UTF-8"));
}

TEST(Npy, ReadsEveryVersionAndAnyHeaderStyle) {
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }   \n";
  for (const char version : {1, 2, 3})
    EXPECT_THAT(values<std::int64_t>(npy(header, "\7", version)), ElementsAre(7));
  EXPECT_THAT(values<std::int64_t>(npy("{\"shape\":(1L,),\"descr\":\"u1\",\"fortran_order\":True}", "\7")),
              ElementsAre(7));
  const NpyArray scalar = parse_npy(described("|u1", "()", "\7"), "a.npy");
  EXPECT_TRUE(scalar.shape.empty());
}

TEST(Npy, RefusesTypesThatAreNoNumbersAndSaysWhatToDo) {
  EXPECT_THAT(refused_array(described("|O", "(1,)", "x")),
              AllOf(HasSubstr("'|O'"), HasSubstr("Python objects"), HasSubstr("astype('float64')")));
  EXPECT_THAT(refused_array(described("<c16", "(1,)", "x")),
              AllOf(HasSubstr("'<c16'"), HasSubstr("complex")));
  EXPECT_THAT(refused_array(described("|V8", "(1,)", "x")), HasSubstr("records or raw bytes"));
  EXPECT_THAT(refused_array(described("<M8[s]", "(1,)", "x")), HasSubstr("dates"));
  EXPECT_THAT(refused_array(described("<f16", "(1,)", "xx")), HasSubstr("astype('float32')"));
  EXPECT_THAT(refused_array(described("<i3", "(1,)", "xxx")), HasSubstr("'<i3' is unknown"));
  EXPECT_THAT(refused_array(described("", "(1,)", "x")), HasSubstr("'' is unknown"));
  EXPECT_THAT(refused_array(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "x")),
              HasSubstr("named fields"));
}

TEST(Npy, RefusesMalformedHeaders) {
  EXPECT_THAT(refused_array("not at all"), AllOf(HasSubstr("a.npy"), HasSubstr("not a .npy array")));
  EXPECT_THAT(refused_array(npy("", "", 4)), HasSubstr("version 4"));
  EXPECT_THAT(refused_array(npy("", "")), HasSubstr("'{' expected"));
  EXPECT_THAT(refused_array(npy("{'descr': '<f8', 'shape': (1,)}", "")), HasSubstr("lacks 'fortran_order'"));
  EXPECT_THAT(refused_array(npy("{'descr': '<f8', 'descr': '<f8'}", "")), HasSubstr("repeated key 'descr'"));
  EXPECT_THAT(refused_array(npy("{'what': 1}", "")), HasSubstr("'what'"));
  EXPECT_THAT(refused_array(npy("{'descr: 1", "")), HasSubstr("closing quote"));
  EXPECT_THAT(refused_array(npy("{'fortran_order': 0}", "")), HasSubstr("True or False expected"));
  EXPECT_THAT(refused_array(npy("{'shape': (-1,)}", "")), HasSubstr("found '-1"));
  EXPECT_THAT(refused_array(npy("{'shape': (99999999999999999999,)}", "")), HasSubstr("extent"));
  EXPECT_THAT(refused_array(npy("{'shape': (1 2)}", "")), HasSubstr("',' or ')' expected"));
  EXPECT_THAT(refused_array(npy("{} x", "")), HasSubstr("end of the header expected"));
}

TEST(Npy, RefusesShapesThatTheDataCannotHold) {
  EXPECT_THAT(refused_array(described("<f8", "(3,)", std::string(23, '\0'))),
              AllOf(HasSubstr("truncated"), HasSubstr("(3,)"), HasSubstr("23 bytes")));
  EXPECT_THAT(refused_array(described("<f8", "(3,)", std::string(25, '\0'))),
              HasSubstr("needs 24 bytes, but 25 follow"));
  EXPECT_THAT(refused_array(described("<f8", "(1152921504606846976, 64)", "x")), HasSubstr("truncated"));
  EXPECT_THAT(refused_array(described("<f8", "(2305843009213693952,)", "x")), HasSubstr("truncated"));
  EXPECT_THAT(refused_array(described("<U0", "(1152921504606846976,)", "")), HasSubstr("text must be 1 to"));
  EXPECT_THAT(refused_array(described("<U4611686018427387905", "(1,)", "1234")),
              HasSubstr("text must be 1 to"));
  std::string many = "(";
  for (int d = 0; d < 65; ++d) many += "1,";
  EXPECT_THAT(refused_array(described("|u1", many + ")", "x")), HasSubstr("more than 64 dimensions"));
}

TEST(NpyMatrix, OneDimensionIsAColumnAndMoreThanTwoAreRefused) {
  EXPECT_EQ(std::get<Matrix>(npy_matrix(described("|u1", "(2,)", "\1\2"))),
            (Matrix(2, 1) << 1, 2).finished());
  EXPECT_THAT(matrix_refusal(described("|u1", "(1, 1, 2)", "\1\2")),
              AllOf(HasSubstr("3 dimensions"), HasSubstr("(1, 1, 2)")));
  EXPECT_THAT(matrix_refusal(described("|u1", "()", "\1")), HasSubstr("0 dimensions"));
  EXPECT_THAT(matrix_refusal(described("|u1", "(0, 3)", "")), HasSubstr("empty matrix (0 x 3)"));
  EXPECT_THAT(matrix_refusal(described("|S1", "(1,)", "x")), HasSubstr("text"));
}

RC_GTEST_PROP(NpyMatrix, RoundTripInBothPrecisions, ()) {
  const Matrix wide = any_dense<double>();
  RC_ASSERT(same_bits(std::get<Matrix>(npy_matrix(format_npy(wide))), wide));
  const Eigen::MatrixXf narrow = any_dense<float>();
  RC_ASSERT(same_bits(std::get<Eigen::MatrixXf>(npy_matrix(format_npy(narrow))), narrow));
}

RC_GTEST_PROP(NpyMatrix, COrderAgreesWithFortranOrder, ()) {
  const Matrix matrix = any_dense<double>();
  NpyArray array{{matrix.rows(), matrix.cols()}, std::vector<double>()};
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j)
      std::get<std::vector<double>>(array.values).push_back(matrix(i, j));
  }
  RC_ASSERT(same_bits(std::get<Matrix>(npy_matrix(format_npy(array))), matrix));
  RC_ASSERT(parse_npy(format_npy(matrix), "a.npy").values == array.values);
}

TEST(NpyFormat, PadsTheHeaderToWholeLines) {
  for (Index extent = 1; extent < 1'000'000; extent *= 10) {
    EXPECT_EQ(format_npy_header("<f8", false, {extent, extent}).size() % 64, 0u);
  }
}

TEST(NpyFormat, RefusesValuesThatDoNotFillTheShape) {
  EXPECT_THAT(message_of<InvalidArgument>([] {
                format_npy({{2, 2}, std::vector<double>{1}});
              }),
              AllOf(HasSubstr("(2, 2)"), HasSubstr("1 values")));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                format_npy({{1}, std::vector<std::string>{"\xFF"}});
              }),
              HasSubstr("not UTF-8"));
}

}  // namespace
}  // namespace pursuit::io
