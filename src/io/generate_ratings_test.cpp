#include "pursuit/data/generate_ratings.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "io/ratings_test_support.hpp"

namespace pursuit {
namespace {

using io::content_of;
using io::message_of;
using io::ScratchDirectory;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Index> counts_of(const std::vector<int>& positions, Index count) {
  std::vector<Index> counts(static_cast<std::size_t>(count), 0);
  for (const int position : positions) ++counts.at(static_cast<std::size_t>(position));
  return counts;
}

/// The part of all entries that the fullest `part` of the rows hold.
double share_of_fullest(std::vector<Index> counts, double part) {
  std::sort(counts.rbegin(), counts.rend());
  const auto top = counts.begin() + std::lround(part * static_cast<double>(counts.size()));
  return static_cast<double>(std::accumulate(counts.begin(), top, Index{0})) /
         static_cast<double>(std::accumulate(counts.begin(), counts.end(), Index{0}));
}

RC_GTEST_PROP(GenerateRatings, KeepsItsPromises, ()) {
  RatingsShape shape;
  shape.rows = *rc::gen::inRange<Index>(1, 40);
  shape.cols = *rc::gen::inRange<Index>(1, 40);
  shape.entries = *rc::gen::inRange<Index>(1, shape.rows * shape.cols + 1);
  shape.seed = *rc::gen::arbitrary<std::uint64_t>();
  shape.rank = *rc::gen::inRange<Index>(0, 4);
  const ObservedEntries entries = generate_ratings(shape);
  RC_ASSERT(entries.rows == shape.rows);
  RC_ASSERT(entries.cols == shape.cols);
  RC_ASSERT(entries.size() == shape.entries);
  RC_ASSERT(entries.row.size() == entries.value.size());
  RC_ASSERT(entries.col.size() == entries.value.size());
  std::set<std::pair<int, int>> pairs;
  for (std::size_t k = 0; k < entries.value.size(); ++k) {
    pairs.emplace(entries.row[k], entries.col[k]);
    const float halves = 2 * entries.value[k];
    RC_ASSERT(halves >= 1 && halves <= 10 && halves == std::round(halves));
  }
  RC_ASSERT(pairs.size() == entries.value.size());
  const auto rows = counts_of(entries.row, shape.rows), cols = counts_of(entries.col, shape.cols);
  const auto empty = [](const std::vector<Index>& counts) {
    return std::count(counts.begin(), counts.end(), 0);
  };
  if (shape.entries >= shape.rows) RC_ASSERT(empty(rows) == 0);
  if (shape.entries >= shape.cols) RC_ASSERT(empty(cols) == 0);
}

TEST(GenerateRatings, DependsOnTheSeedAlone) {
  const RatingsShape shape{.rows = 50, .cols = 40, .entries = 600, .seed = 3};
  const ObservedEntries first = generate_ratings(shape), second = generate_ratings(shape);
  EXPECT_EQ(first.row, second.row);
  EXPECT_EQ(first.col, second.col);
  EXPECT_EQ(first.value, second.value);
  RatingsShape other = shape;
  other.seed = 4;
  EXPECT_NE(generate_ratings(other).col, first.col);
}

TEST(GenerateRatings, LooksLikeMovieLens) {
  const ObservedEntries entries =
      generate_ratings({.rows = 3000, .cols = 1000, .entries = 100000, .seed = 1});
  const double rows = share_of_fullest(counts_of(entries.row, 3000), 0.01);
  const double cols = share_of_fullest(counts_of(entries.col, 1000), 0.01);
  EXPECT_GT(rows, 0.07) << "a hundredth of the rows holds about a tenth";
  EXPECT_LT(rows, 0.2);
  EXPECT_GT(cols, 0.1) << "a hundredth of the columns holds about a fifth";
  EXPECT_LT(cols, 0.4);
  double sum = 0, squares = 0;
  for (const float value : entries.value) {
    sum += value;
    squares += value * value;
  }
  const double mean = sum / 1e5;
  EXPECT_NEAR(mean, 3.5, 0.2);
  EXPECT_NEAR(std::sqrt(squares / 1e5 - mean * mean), 1.06, 0.15) << "that of MovieLens 10M";
}

/// How much rows disagree about the difference between the first two columns, at most.
double disagreement(double noise, Index rank) {
  constexpr std::size_t kRows = 60, kCols = 8;
  const ObservedEntries entries = generate_ratings(
      {.rows = kRows, .cols = kCols, .entries = kRows * kCols, .seed = 5, .rank = rank, .noise = noise});
  double least = INFINITY, most = -INFINITY;
  for (std::size_t k = 0; k < entries.value.size(); k += kCols) {
    const float first = entries.value[k], second = entries.value[k + 1];
    if (std::min(first, second) < 1 || std::max(first, second) > 4.5F) continue;  // at an end of the scale
    least = std::min<double>(least, first - second);
    most = std::max<double>(most, first - second);
  }
  return most - least;
}

TEST(GenerateRatings, OffsetsTastesAndNoiseAddUp) {
  EXPECT_LE(disagreement(0, 0), 1) << "offsets alone make equal differences, up to half stars";
  EXPECT_GT(disagreement(2, 0), 1);
  EXPECT_GT(disagreement(0, 3), 1);
}

TEST(GenerateRatings, RefusesShapesThatCannotBe) {
  const auto problem = [](const RatingsShape& shape) {
    return message_of<InvalidArgument>([&] { generate_ratings(shape); });
  };
  EXPECT_THAT(problem({.rows = 0, .cols = 3, .entries = 1}), HasSubstr("number of rows is 0"));
  EXPECT_THAT(problem({.rows = 3, .cols = -1, .entries = 1}), HasSubstr("number of columns is -1"));
  EXPECT_THAT(problem({.rows = 3, .cols = Index{1} << 31, .entries = 1}), HasSubstr("1 to 2147483647"));
  EXPECT_THAT(problem({.rows = 2, .cols = 3, .entries = 7}),
              AllOf(HasSubstr("entries is 7"), HasSubstr("1 to 6")));
  EXPECT_THAT(problem({.rows = 2, .cols = 3, .entries = 0}), HasSubstr("entries is 0"));
  EXPECT_THAT(problem({.rows = 2, .cols = 3, .entries = 1, .rank = -1}), HasSubstr("rank is -1"));
  EXPECT_THAT(problem({.rows = 2, .cols = 3, .entries = 1, .noise = NAN}), HasSubstr("noise is nan"));
}

TEST(WriteRatings, WritesTheFormatOfTheExtension) {
  const ScratchDirectory scratch;
  const ObservedEntries entries{2, 3, {0, 1}, {2, 0}, {4.5F, 1.0F}};
  write_ratings(scratch / "r.dat", entries);
  EXPECT_EQ(content_of(scratch / "r.dat"), "1::3::4.5::0\n2::1::1::0\n");
  write_ratings(scratch / "r.CSV", entries);
  EXPECT_EQ(content_of(scratch / "r.CSV"), "row,col,value\n1,3,4.5\n2,1,1\n");
  EXPECT_THAT(message_of<InvalidArgument>([&] { write_ratings(scratch / "r.txt", entries); }),
              AllOf(HasSubstr("r.txt"), HasSubstr(".dat, .csv")));
  EXPECT_NO_THROW(require_ratings_extension("a.csv"));
  EXPECT_THROW(require_ratings_extension("a.csv.gz"), InvalidArgument);
}

TEST(WriteRatings, IsReadBackAsItWas) {
  const ScratchDirectory scratch;
  // More than a block of text.
  const ObservedEntries entries = generate_ratings({.rows = 900, .cols = 700, .entries = 120000, .seed = 2});
  for (const char* name : {"r.dat", "r.csv"}) {
    write_ratings(scratch / name, entries);
    ASSERT_GT(std::filesystem::file_size(scratch / name), std::size_t{1} << 20);
    const Ratings ratings = read_ratings(scratch / name);
    ASSERT_EQ(ratings.entries.size(), entries.size());
    EXPECT_EQ(ratings.entries.rows, 900);
    EXPECT_EQ(ratings.entries.cols, 700);
    for (std::size_t k = 0; k < entries.value.size(); ++k) {
      ASSERT_EQ(ratings.rows.name(ratings.entries.row[k]), std::to_string(entries.row[k] + 1));
      ASSERT_EQ(ratings.cols.name(ratings.entries.col[k]), std::to_string(entries.col[k] + 1));
      ASSERT_EQ(ratings.entries.value[k], entries.value[k]);
    }
  }
}

TEST(WriteRatings, LeavesNothingWhereItCannotWrite) {
  const ScratchDirectory scratch;
  const ObservedEntries entries{1, 1, {0}, {0}, {4.0F}};
  EXPECT_THAT(message_of<OutputFailure>([&] { write_ratings(scratch / "no/r.dat", entries); }),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(scratch.files(), IsEmpty());
}

}  // namespace
}  // namespace pursuit
