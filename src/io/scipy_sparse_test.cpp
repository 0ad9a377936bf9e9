#include "io/scipy_sparse.hpp"

#include "io/parse_matrix.hpp"
#include "io/test_fixtures.hpp"
#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Integers = std::vector<std::int64_t>;
using Doubles = std::vector<double>;
using Texts = std::vector<std::string>;

NpyArray list(Integers values) {
  const auto size = static_cast<Index>(values.size());
  return {{size}, std::move(values)};
}

NpyArray list(Doubles values) {
  const auto size = static_cast<Index>(values.size());
  return {{size}, std::move(values)};
}

/// sample_matrix(), with entries out of order and one of them split in two.
NpzArchive csr() {
  return {{"format", {{}, Texts{"csr"}}},
          {"shape", list(Integers{2, 3})},
          {"indptr", list(Integers{0, 3, 5})},
          {"indices", list(Integers{2, 0, 2, 2, 1})},
          {"data", list(Doubles{-1.5, 1.5, -0.5, 0.25, 3})}};
}

NpzArchive with(NpzArchive archive, const std::string& field, NpyArray array) {
  archive[field] = std::move(array);
  return archive;
}

NpzArchive without(NpzArchive archive, const std::string& field) {
  archive.erase(field);
  return archive;
}

Matrix read(const NpzArchive& archive) {
  return Matrix(std::get<SparseMatrix>(sparse_from_npz(archive, "a.npz")));
}

std::string refused_sparse(const NpzArchive& archive) {
  return message_of<InvalidInput>([&] { sparse_from_npz(archive, "a.npz"); });
}

TEST(ScipySparse, ReadsWhatScipyWrote) {
  const AnyMatrix rows = parse_matrix(kScipyCsr, "a.npz").matrix;
  EXPECT_EQ(Matrix(std::get<SparseMatrix>(rows)), sample_matrix());
  const AnyMatrix columns = parse_matrix(kScipyCscFloat, "a.npz").matrix;
  EXPECT_EQ(Eigen::MatrixXf(std::get<SparseMatrixOf<float>>(columns)), sample_matrix().cast<float>());
}

TEST(ScipySparse, SumsEntriesOfTheSamePositionInEveryLayout) {
  EXPECT_EQ(read(csr()), sample_matrix());
  EXPECT_EQ(std::get<SparseMatrix>(sparse_from_npz(csr(), "a.npz")).nonZeros(), 4);
  NpzArchive csc = with(csr(), "format", {{}, Texts{"csc"}});
  csc["indptr"] = list(Integers{0, 1, 2, 5});
  csc["indices"] = list(Integers{0, 1, 1, 0, 0});
  csc["data"] = list(Doubles{1.5, 3, 0.25, -1.5, -0.5});
  EXPECT_EQ(read(csc), sample_matrix());
  NpzArchive coo = with(without(without(csr(), "indptr"), "indices"), "format", {{}, Texts{"coo"}});
  coo["row"] = list(Integers{0, 0, 0, 1, 1});
  coo["col"] = list(Integers{2, 0, 2, 2, 1});
  EXPECT_EQ(read(coo), sample_matrix());
}

TEST(ScipySparse, IntegersBecomeDoublesAndUnusedRoomIsIgnored) {
  EXPECT_EQ(read(with(csr(), "data", list(Integers{1, 2, 3, 4, 5})))(0, 2), 4);
  EXPECT_EQ(read(with(csr(), "indptr", list(Integers{0, 3, 4})))(1, 1), 0);
}

TEST(ScipySparse, ExtraArraysAreIgnored) {
  EXPECT_EQ(read(with(csr(), "_is_array", {{}, Integers{1}})), sample_matrix());
}

TEST(ScipySparse, RefusesOtherLayouts) {
  for (const char* layout : {"bsr", "dia", "", "CSR"}) {
    EXPECT_THAT(refused_sparse(with(csr(), "format", {{}, Texts{layout}})),
                AllOf(HasSubstr("array 'format'"), HasSubstr(layout), HasSubstr("csr, csc, coo")));
  }
}

TEST(ScipySparse, RefusesMissingOrMistypedArrays) {
  for (const char* field : {"format", "shape", "data", "indices", "indptr"}) {
    EXPECT_THAT(refused_sparse(without(csr(), field)),
                AllOf(HasSubstr("a.npz"), HasSubstr(std::string("'") + field)));
  }
  EXPECT_THAT(refused_sparse(with(csr(), "format", list(Integers{1}))), HasSubstr("one text"));
  EXPECT_THAT(refused_sparse(with(csr(), "indices", list(Doubles{1}))), HasSubstr("integers"));
  EXPECT_THAT(refused_sparse(with(csr(), "data", {{1}, Texts{"x"}})), HasSubstr("text, not numbers"));
  EXPECT_THAT(refused_sparse(with(csr(), "data", {{5, 1}, Doubles{1, 2, 3, 4, 5}})),
              HasSubstr("one dimension, not 2"));
  EXPECT_THAT(refused_sparse(with(csr(), "shape", list(Integers{2, 3, 4}))), HasSubstr("2 extents, not 3"));
}

TEST(ScipySparse, RefusesInconsistentArrays) {
  EXPECT_THAT(refused_sparse(with(csr(), "indices", list(Integers{2, 0, 2, 3, 1}))),
              AllOf(HasSubstr("'indices'"), HasSubstr("element 3 is 3"), HasSubstr("0 to 2")));
  EXPECT_THAT(refused_sparse(with(csr(), "indices", list(Integers{2, 0, 2, -1, 1}))), HasSubstr("is -1"));
  EXPECT_THAT(refused_sparse(with(csr(), "indices", list(Integers{2, 0}))),
              HasSubstr("2 elements, but 'data' has 5"));
  EXPECT_THAT(refused_sparse(with(csr(), "indptr", list(Integers{0, 5}))),
              HasSubstr("2 elements instead of 3"));
  EXPECT_THAT(refused_sparse(with(csr(), "indptr", list(Integers{1, 3, 5}))), HasSubstr("starts with 1"));
  EXPECT_THAT(refused_sparse(with(csr(), "indptr", list(Integers{0, 6, 5}))), HasSubstr("only 5 elements"));
  EXPECT_THAT(refused_sparse(with(csr(), "indptr", list(Integers{0, 3, 2}))),
              HasSubstr("less than the 3 before"));
}

TEST(ScipySparse, RefusesAbsurdShapes) {
  EXPECT_THAT(refused_sparse(with(csr(), "shape", list(Integers{0, 3}))), HasSubstr("empty matrix (0 x 3)"));
  EXPECT_THAT(refused_sparse(with(csr(), "shape", list(Integers{-1, 3}))), HasSubstr("negative"));
  EXPECT_THAT(refused_sparse(with(csr(), "shape", list(Integers{2, std::int64_t{1} << 40}))),
              HasSubstr("too large"));
  EXPECT_THAT(refused_sparse(with(csr(), "shape", list(Integers{2'000'000'000, 3}))),
              HasSubstr("implausible"));
  EXPECT_THAT(refused_sparse(with(csr(), "shape", list(Integers{2, 2'147'483'647}))),
              HasSubstr("2147483647 columns are implausible"));
}

RC_GTEST_PROP(ScipySparse, RoundTripInBothPrecisions, ()) {
  const SparseMatrix wide = any_sparse<double>();
  const auto wide_back = std::get<SparseMatrix>(sparse_from_npz(sparse_to_npz(wide), "a.npz"));
  RC_ASSERT(wide_back.nonZeros() == wide.nonZeros());
  RC_ASSERT(same_bits(wide_back, wide));
  const SparseMatrixOf<float> narrow = any_sparse<float>();
  RC_ASSERT(
      same_bits(std::get<SparseMatrixOf<float>>(sparse_from_npz(sparse_to_npz(narrow), "a.npz")), narrow));
}

TEST(ScipySparse, WritesAMatrixThatIsNotCompressed) {
  SparseMatrix matrix(2, 3);
  matrix.reserve(Eigen::VectorXi::Constant(2, 3));
  matrix.insert(1, 2) = 5;
  matrix.insert(0, 0) = 4;
  ASSERT_FALSE(matrix.isCompressed());
  EXPECT_EQ(read(sparse_to_npz(matrix)), Matrix(matrix));
}

}  // namespace
}  // namespace pursuit::io
