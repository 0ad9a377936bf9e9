// Ratings from files that number their rows and columns: MatrixMarket, SciPy, NumPy.

#include <cmath>

#include "io/byte_source.hpp"
#include "io/npy.hpp"
#include "io/npz_entries.hpp"
#include "io/ratings_test_support.hpp"
#include "io/scipy_sparse.hpp"
#include "io/test_fixtures.hpp"

namespace pursuit::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kBanner = "%%MatrixMarket matrix coordinate real general\n";

std::string packed(const NpzArchive& archive) {
  std::map<std::string, NpyBytes> arrays;
  for (const auto& [name, array] : archive) arrays.emplace(name, npy_bytes(array));
  std::string bytes;
  pack_npz(
      arrays, [&](std::string_view piece) { bytes += piece; }, 1);
  return bytes;
}

NpzArchive coo(std::vector<std::int64_t> row, std::vector<std::int64_t> col, std::vector<double> data) {
  const auto count = static_cast<Index>(data.size());
  NpzArchive archive;
  archive["format"] = {{}, std::vector<std::string>{"coo"}};
  archive["shape"] = {{2}, std::vector<std::int64_t>{3, 2}};
  archive["row"] = {{count}, std::move(row)};
  archive["col"] = {{count}, std::move(col)};
  archive["data"] = {{count}, std::move(data)};
  return archive;
}

TEST(MarketRatings, HaveTheSizesOfTheHeader) {
  const std::string text = kBanner + "% a comment\n4 3 2\n3 1 2.5\n% another\n1 3 0\n";
  for (const std::string& content : {text, gzip(text)}) {
    const Ratings ratings = read_content(content);
    EXPECT_THAT(ratings.rows.names(), ElementsAre("1", "2", "3", "4"));
    EXPECT_THAT(ratings.cols.names(), ElementsAre("1", "2", "3"));
    EXPECT_EQ(by_id(ratings), (RatingsById{{{"3", "1"}, 2.5F}, {{"1", "3"}, 0.0F}}));
    EXPECT_EQ(ratings.entries.rows, 4);
    EXPECT_EQ(ratings.entries.cols, 3);
  }
}

TEST(MarketRatings, TakeTheIndicesOfKnownIds) {
  const IdTable rows({"3", "x"}), cols({"2"});
  const Ratings ratings = read_content(kBanner + "3 2 2\n3 1 4\n1 2 5\n", {}, &rows, &cols);
  EXPECT_THAT(ratings.rows.names(), ElementsAre("3", "x", "1", "2"));
  EXPECT_THAT(ratings.entries.row, ElementsAre(0, 2));
  EXPECT_THAT(ratings.entries.col, ElementsAre(1, 0));
}

TEST(MarketRatings, AreRefusedByLine) {
  EXPECT_THAT(refusal(kBanner + "2 2 2\n1 1 3\n1 1 4\n"),
              AllOf(StartsWith("line 4: "), HasSubstr("on line 3"), HasSubstr("--duplicates last")));
  EXPECT_EQ(by_id(read_content(kBanner + "2 2 2\n1 1 3\n1 1 4\n", kLast)), (RatingsById{{{"1", "1"}, 4.0F}}));
  EXPECT_THAT(refusal(kBanner + "2 2 1\n3 1 4\n"), AllOf(StartsWith("line 3: "), HasSubstr("row '3'")));
  EXPECT_THAT(refusal(kBanner + "2 2 1\n1 0 4\n"), AllOf(StartsWith("line 3: "), HasSubstr("column '0'")));
  EXPECT_THAT(refusal(kBanner + "2 2 1\n1 1 nan\n"), AllOf(StartsWith("line 3: "), HasSubstr("'nan'")));
  EXPECT_THAT(refusal(kBanner + "2 2 1\n1 1\n"),
              AllOf(StartsWith("line 3: "), HasSubstr("value at row 1, column 1 is missing")));
  EXPECT_THAT(refusal(kBanner + "2 2 1\n1 1 4 5\n"), AllOf(StartsWith("line 3: "), HasSubstr("'5'")));
  EXPECT_THAT(refusal(kBanner + "2 2 2\n1 1 4\n"),
              HasSubstr("promises 2 entries, but the file ends after 1"));
  EXPECT_THAT(refusal(kBanner + "2 2 1\n1 1 4\n1 2 4\n"),
              AllOf(StartsWith("line 4: "), HasSubstr("more entries")));
  EXPECT_THAT(refusal(kBanner + "2 x 1\n1 1 4\n"), AllOf(StartsWith("line 2: "), HasSubstr("'x'")));
  EXPECT_THAT(refusal(kBanner + "2 2147483648 1\n1 1 4\n"),
              AllOf(StartsWith("line 2: "), HasSubstr("2147483648")));
  EXPECT_THAT(refusal(kBanner + "2 2000000000 1\n1 1 4\n"),
              AllOf(StartsWith("line 2: "), HasSubstr("implausible")));
  EXPECT_THAT(refusal(kBanner), HasSubstr("before the line of sizes"));
  EXPECT_THAT(refusal(kBanner + "2 2 0\n"), HasSubstr("no entry"));
}

TEST(MarketRatings, AreNeitherDenseNorPatternNorMirrored) {
  const auto problem = [](const std::string& kind) {
    return refusal("%%MatrixMarket matrix " + kind + "\n2 2 1\n2 1 1\n");
  };
  EXPECT_THAT(problem("array real general"), AllOf(StartsWith("line 1: "), HasSubstr("'array'")));
  EXPECT_THAT(problem("coordinate pattern general"), AllOf(StartsWith("line 1: "), HasSubstr("'pattern'")));
  EXPECT_THAT(problem("\"a \"\"quoted\"\" word, longer than any small buffer\" real general"),
              AllOf(StartsWith("line 1: "), HasSubstr("'a \"quoted\" word")));
  EXPECT_THAT(problem("coordinate real symmetric"), AllOf(StartsWith("line 1: "), HasSubstr("'symmetric'")));
}

TEST(SparseRatings, AreWhatIsStored) {
  const RatingsById expected = {
      {{"0", "0"}, 1.5F}, {{"0", "2"}, -2.0F}, {{"1", "1"}, 3.0F}, {{"1", "2"}, 0.25F}};
  EXPECT_EQ(by_id(read_content(kScipyCsr)), expected);
  EXPECT_EQ(by_id(read_content(kScipyCscFloat)), expected);
  EXPECT_EQ(by_id(read_content(gzip(kScipyCsr))), expected);
  const Ratings ratings = read_content(packed(coo({2, 0}, {1, 1}, {0, 4})));
  EXPECT_EQ(by_id(ratings), (RatingsById{{{"2", "1"}, 0.0F}, {{"0", "1"}, 4.0F}})) << "a zero is observed";
  EXPECT_THAT(ratings.rows.names(), ElementsAre("0", "1", "2"));
}

TEST(SparseRatings, AreNotSummed) {
  const std::string twice = packed(coo({2, 0, 2}, {1, 1, 1}, {1, 4, 5}));
  EXPECT_EQ(by_id(read_content(twice, kLast)), (RatingsById{{{"2", "1"}, 5.0F}, {{"0", "1"}, 4.0F}}));
  EXPECT_THAT(refusal(twice), AllOf(StartsWith("stored entry 3: "), HasSubstr("row '2', column '1'"),
                                    HasSubstr("by stored entry 1"), HasSubstr("--duplicates last")));
}

TEST(SparseRatings, AreRefusedWhereTheArraysAreWrong) {
  EXPECT_THAT(refusal(packed(coo({3}, {0}, {1}))), AllOf(HasSubstr("'row'"), HasSubstr("not from 0 to 2")));
  EXPECT_THAT(refusal(packed(coo({1}, {0}, {NAN}))), AllOf(HasSubstr("element 0"), HasSubstr("'nan'")));
  EXPECT_THAT(refusal(packed(coo({1}, {0}, {1e300}))), HasSubstr("too large"));
  EXPECT_THAT(refusal(packed(coo({}, {}, {}))), HasSubstr("no entry"));
  NpzArchive text = coo({1}, {0}, {1});
  text["data"] = {{1}, std::vector<std::string>{"x"}};
  EXPECT_THAT(refusal(packed(text)), HasSubstr("text"));
  text.erase("data");
  EXPECT_THAT(refusal(packed(text)), HasSubstr("'data'"));
  EXPECT_THAT(refusal(kNumpyDense), HasSubstr("no SciPy sparse matrix"));
}

TEST(DenseRatings, AreWhatIsNotNan) {
  Matrix matrix(2, 3);
  matrix << 1.5, NAN, -2, NAN, 0, NAN;
  const RatingsById expected = {{{"0", "0"}, 1.5F}, {{"0", "2"}, -2.0F}, {{"1", "1"}, 0.0F}};
  EXPECT_EQ(by_id(read_content(format_npy(matrix))), expected);
  EXPECT_EQ(by_id(read_content(format_npy(Eigen::MatrixXf(matrix.cast<float>())))), expected);
  EXPECT_THAT(read_content(format_npy(matrix)).cols.names(), ElementsAre("0", "1", "2"));
}

TEST(DenseRatings, AreRefusedWhereNothingIsUnknownOrKnown) {
  EXPECT_THAT(refusal(format_npy(sample_matrix())), HasSubstr("no entry of the dense array is NaN"));
  EXPECT_THAT(refusal(format_npy(Matrix(Matrix::Constant(2, 2, NAN)))), HasSubstr("nothing is observed"));
  Matrix infinite = Matrix::Constant(2, 2, NAN);
  infinite(1, 0) = INFINITY;
  EXPECT_THAT(refusal(format_npy(infinite)), AllOf(StartsWith("row 1, column 0"), HasSubstr("'inf'")));
}

}  // namespace
}  // namespace pursuit::io
