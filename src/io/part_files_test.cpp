// Text that comes in several files.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/test_support.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/ratings_file.hpp"
#include "rank_teams.hpp"

namespace pursuit::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PartFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    folder_.with(name, text);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string message(const std::string& name, RatingsOptions options = {}) const {
    return message_of<InvalidInput>([&] { read_ratings(path(name), options); });
  }

  ScratchDirectory folder_;
};

TEST_F(PartFiles, AreReadInTheirOrderAsOne) {
  write("parts/r-1.csv", "user,item,rating\nb,x,1\na,x,2\n");
  write("parts/r-2.csv", "c,y,3\n");
  write("parts/r-3.csv", "user,item,rating\n");
  write("parts/_SUCCESS", "no ratings");
  write("parts/r-0.csv", "");
  for (const std::string name : {"parts", "parts/r-*.csv"}) {
    const Ratings ratings = read_ratings(path(name));
    EXPECT_THAT(ratings.rows.names(), ElementsAre("b", "a", "c"));
    EXPECT_THAT(ratings.cols.names(), ElementsAre("x", "y"));
    EXPECT_THAT(ratings.entries.value, ElementsAre(1, 2, 3));
  }
  const Ratings listed = read_ratings(path("parts/r-2.csv") + "," + path("parts/r-1.csv"));
  EXPECT_THAT(listed.entries.value, ElementsAre(3, 1, 2));
}

TEST_F(PartFiles, DefectsNameTheFileAndItsLine) {
  write("p/1.csv", "a,x,1\na,y,2\n");
  write("p/2.csv", "row,col,value\nb,x,1\n\na,y,2\n");
  EXPECT_THAT(message("p"),
              testing::AllOf(HasSubstr("2.csv, line 4"), HasSubstr("on line 2 of "), HasSubstr("1.csv;")));
  write("p/2.csv", "b,x,1\nc,x,one\n");
  EXPECT_THAT(message("p/*.csv"), HasSubstr("2.csv, line 2: the value 'one' is not a number"));
  write("p/2.csv", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n");
  EXPECT_THAT(message("p"), HasSubstr("several files are parts of one text"));
  EXPECT_THAT(message("p/*.dat"), HasSubstr("no file that is not empty matches"));
  EXPECT_THAT(message("none.csv"), HasSubstr("none.csv"));
  EXPECT_THAT(message("p/1.csv," + path("p/none.csv")), HasSubstr("none.csv"));
  std::filesystem::create_directories(path("empty"));
  EXPECT_THAT(message("empty"), HasSubstr("holds no file"));
}

/// What ranks read, or what they refuse.
std::pair<Ratings, std::string> read_on(int size, const std::string& path) {
  std::pair<Ratings, std::string> result;
  on_team_of(size, [&](RankTeam& team) {
    try {
      result.first = read_ratings(path, {.threads = 1, .times = true, .team = &team});
    } catch (const InvalidInput& error) {
      result.second = error.what();
    }
  });
  return result;
}

TEST_F(PartFiles, RanksReadThemAsOneProcessDoes) {
  std::string text = "user,item,rating,time\n", second;
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < 3; ++j)
      (i < 200 ? text : second) += fmt::format("u{},{},{},{}\n{}", (i * 7) % 300, (i + 31 * j) % 100, j + 1,
                                               1000 + i, i % 11 ? "" : "\n");
  write("p/1.csv", text);
  write("p/2.csv", second);
  const Ratings alone = read_ratings(path("p"), {.times = true});
  for (const int size : {1, 2, 3, 7}) {
    const auto [ratings, refusal] = read_on(size, path("p"));
    EXPECT_EQ(refusal, "");
    EXPECT_EQ(ratings.rows.names(), alone.rows.names());
    EXPECT_EQ(ratings.cols.names(), alone.cols.names());
    EXPECT_EQ(ratings.entries.row, alone.entries.row);
    EXPECT_EQ(ratings.entries.col, alone.entries.col);
    EXPECT_EQ(ratings.entries.value, alone.entries.value);
    EXPECT_EQ(ratings.time, alone.time);
  }

  // Defects in a range of another rank have the lines that they have in the file.
  for (const std::string& wrong :
       {std::string("u1,2,one,3\n"), std::string("\n\nu299,5,1,3\nu299,5,1,3\n")}) {
    write("p/2.csv", second + wrong);
    const std::string expected = message("p", {.times = true});
    for (const int size : {2, 5}) {
      const std::string said = read_on(size, path("p")).second;
      EXPECT_TRUE(said.starts_with(expected)) << said << "\nexpected " << expected;
    }
  }
}

TEST_F(PartFiles, FewerLinesThanRanks) {
  write("few.csv", "a,x,1,5\nb,y,2,6");
  const auto [ratings, refusal] = read_on(5, path("few.csv"));
  EXPECT_EQ(refusal, "");
  EXPECT_THAT(ratings.entries.value, ElementsAre(1, 2));
  write("head.csv", "user,item,rating,time\n");
  EXPECT_THAT(read_on(3, path("head.csv")).second, HasSubstr("has a header line, but no line with an entry"));
}

}  // namespace
}  // namespace pursuit::io
