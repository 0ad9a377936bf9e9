#include "pursuit/io/matrix_file.hpp"

#include "io/byte_source.hpp"
#include "io/npy.hpp"
#include "io/parse_matrix.hpp"
#include "io/test_fixtures.hpp"
#include "io/test_support.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit {
namespace {

namespace fs = std::filesystem;
using io::content_of;
using io::message_of;
using io::sample_matrix;
using io::ScratchDirectory;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string refused_matrix(const std::string& bytes) {
  return message_of<InvalidInput>([&] { io::parse_matrix(bytes, "a.dat"); });
}

/// The matrix in full and in double precision, whatever it was read as.
Matrix in_full(const AnyMatrix& matrix) {
  return std::visit([](const auto& stored) { return Matrix(stored.template cast<double>()); }, matrix);
}

TEST(ReadMatrix, DetectsTheFormatFromTheContentWhateverTheName) {
  const ScratchDirectory scratch;
  const std::string mtx = "%%MatrixMarket matrix array real general\n2 3\n1.5\n0\n0\n3\n-2\n0.25\n";
  const std::string csv = "1.5,0,-2\n0,3,0.25\n", npy = io::format_npy(sample_matrix());
  for (const std::string& plain : {mtx, csv, npy, io::kNumpyDense, io::kScipyCsr}) {
    EXPECT_EQ(in_full(read_matrix(scratch.with("a.dat", plain)).matrix), sample_matrix());
    EXPECT_EQ(in_full(read_matrix(scratch.with("a.csv", io::gzip(plain))).matrix), sample_matrix());
  }
}

TEST(ReadMatrix, KeepsSinglePrecision) {
  EXPECT_TRUE(
      std::holds_alternative<Eigen::MatrixXf>(io::parse_matrix(io::kNumpyBigEndianFortran, "a").matrix));
  EXPECT_TRUE(
      std::holds_alternative<SparseMatrixOf<float>>(io::parse_matrix(io::kScipyCscFloat, "a").matrix));
  EXPECT_TRUE(std::holds_alternative<Matrix>(io::parse_matrix(io::kNumpyDense, "a").matrix));
  EXPECT_TRUE(std::holds_alternative<SparseMatrix>(io::parse_matrix(io::kScipyCsr, "a").matrix));
}

TEST(ReadMatrix, NamesTheFileAsItWasGiven) {
  const ScratchDirectory scratch;
  const fs::path path = scratch.with("bad.csv", "1,2\n3\n");
  EXPECT_THAT(message_of<InvalidInput>([&] { read_matrix(path); }), StartsWith(path.string() + ", line 2: "));
  EXPECT_THAT(message_of<InvalidInput>([&] { read_matrix(scratch / "none"); }), HasSubstr("No such file"));
}

TEST(ReadMatrix, RefusesNanAndInfinityByPosition) {
  Matrix matrix = sample_matrix();
  matrix(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refused_matrix(io::format_npy(matrix)),
              AllOf(StartsWith("a.dat"), HasSubstr("row 2, column 3"), HasSubstr("nan")));
  Eigen::MatrixXf narrow = sample_matrix().cast<float>();
  narrow(0, 1) = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(refused_matrix(io::format_npy(narrow)), AllOf(HasSubstr("row 1, column 2"), HasSubstr("-inf")));

  const ScratchDirectory scratch;
  SparseMatrix sparse = sample_matrix().sparseView();
  sparse.coeffRef(1, 1) = std::numeric_limits<double>::infinity();
  write_matrix(scratch / "a.npz", {sparse, {}, {}});
  EXPECT_THAT(message_of<InvalidInput>([&] { read_matrix(scratch / "a.npz"); }),
              HasSubstr("row 2, column 2"));
}

TEST(ReadMatrix, RefusesArchivesOfNoneOrSeveralArrays) {
  const std::string array = io::format_npy(sample_matrix());
  EXPECT_THAT(refused_matrix(io::zip({{"u.npy", array}, {"v.npy", array}})),
              AllOf(HasSubstr("2 arrays"), HasSubstr("'u', 'v'")));
  EXPECT_THAT(refused_matrix(io::zip({})), HasSubstr("no array"));
}

TEST(ReadMatrix, RefusesEmptyAndDoublyPackedFiles) {
  EXPECT_THAT(refused_matrix(""), HasSubstr("is empty"));
  EXPECT_THAT(refused_matrix(io::gzip("")), HasSubstr("is empty"));
  EXPECT_THAT(refused_matrix(io::gzip(io::gzip("1,2\n"))), HasSubstr("twice"));
}

TEST(WriteMatrix, ChoosesTheFormatByExtension) {
  const ScratchDirectory scratch;
  const NamedMatrix named{sample_matrix(), {"x", "y"}, {"a", "b", "c"}};
  const auto written = [&](const std::string& file) {
    write_matrix(scratch / file, named);
    return content_of(scratch / file);
  };
  EXPECT_THAT(written("a.mtx"), StartsWith("%%MatrixMarket matrix array"));
  EXPECT_THAT(written("a.mtx.gz"), StartsWith("\x1F\x8B"));
  EXPECT_THAT(written("a.npy"), StartsWith("\x93NUMPY"));
  EXPECT_THAT(written("a.npz"), StartsWith("PK"));
  EXPECT_THAT(written("a.csv"), StartsWith(",a,b,c\nx,1.5,0,-2\n"));
  EXPECT_THAT(written("A.TSV"), StartsWith("\ta\tb\tc\n"));
}

TEST(WriteMatrix, RefusesUnknownExtensions) {
  const ScratchDirectory scratch;
  for (const char* file : {"a.xlsx", "a", "a.gz", "a.csv.gz"}) {
    EXPECT_THAT(message_of<InvalidArgument>([&] {
                  write_matrix(scratch / file, {sample_matrix(), {}, {}});
                }),
                AllOf(HasSubstr(file), HasSubstr(".mtx, .mtx.gz, .npy, .npz, .csv, .tsv")));
  }
  EXPECT_TRUE(scratch.files().empty());
}

TEST(WriteMatrix, RefusesNamesThatDoNotFit) {
  EXPECT_THAT(message_of<InvalidArgument>([] {
                write_matrix("a.csv", {sample_matrix(), {"x"}, {}});
              }),
              AllOf(HasSubstr("2 rows"), HasSubstr("1 row names")));
  EXPECT_THAT(message_of<InvalidArgument>([] {
                write_matrix("a.csv", {sample_matrix(), {}, {"x"}});
              }),
              HasSubstr("3 columns"));
}

TEST(WriteMatrix, SaysWhyItCannot) {
  const ScratchDirectory scratch;
  const auto failure = [](const fs::path& path) {
    return message_of<OutputFailure>([&] { write_matrix(path, {sample_matrix(), {}, {}}); });
  };
  EXPECT_THAT(failure(scratch / "none/a.csv"),
              AllOf(HasSubstr("none/a.csv"), HasSubstr("No such file or directory")));
  fs::create_directory(scratch / "dir.npy");
  EXPECT_THAT(failure(scratch / "dir.npy"), HasSubstr("Is a directory"));
  fs::create_symlink("/dev/full", scratch / "full.mtx");
  EXPECT_THAT(failure(scratch / "full.mtx"), HasSubstr("No space left on device"));
}

RC_GTEST_PROP(WriteMatrix, EveryKindOfMatrixComesBackFromEveryFormat, ()) {
  const ScratchDirectory scratch;
  const AnyMatrix original =
      *rc::gen::oneOf(rc::gen::exec([] { return AnyMatrix(io::any_dense<double>()); }),
                      rc::gen::exec([] { return AnyMatrix(io::any_dense<float>()); }),
                      rc::gen::exec([] { return AnyMatrix(io::any_sparse<double>()); }),
                      rc::gen::exec([] { return AnyMatrix(io::any_sparse<float>()); }));
  const std::string extension =
      *rc::gen::element<std::string>(".mtx", ".mtx.gz", ".npy", ".npz", ".csv", ".tsv");
  const fs::path path = scratch / ("a" + extension);
  write_matrix(path, {original, {}, {}});
  const AnyMatrix back = read_matrix(path).matrix;
  RC_ASSERT(scratch.files().size() == 1u);
  if (extension == ".npz") RC_ASSERT(back.index() == original.index());
  // Text is read in double precision, where the shortest text of a float need not be that float.
  const bool single = original.index() % 2 == 1;
  const bool equal = single ? in_full(back).cast<float>() == in_full(original).cast<float>()
                            : in_full(back) == in_full(original);
  RC_ASSERT(equal);
}

TEST(WriteMatrix, EqualMatricesGiveEqualFiles) {
  const ScratchDirectory scratch;
  for (const std::string extension : {".mtx.gz", ".npz"}) {
    write_matrix(scratch / ("a" + extension), {sample_matrix(), {}, {}});
    write_matrix(scratch / ("b" + extension), {sample_matrix(), {}, {}});
    EXPECT_EQ(content_of(scratch / ("a" + extension)), content_of(scratch / ("b" + extension)));
  }
}

}  // namespace
}  // namespace pursuit
