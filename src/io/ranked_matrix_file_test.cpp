#include "pursuit/io/ranked_matrix_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "io/test_support.hpp"
#include "rank_threads.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

/// A V of the matrix in a file, and what else there is to know of it.
struct ReadByRanks {
  Matrix image;
  Index stored = 0;
  bool dealt = false;
  std::vector<std::string> column_names;
};

ReadByRanks read_by(int size, const std::string& path, Index cols) {
  ReadByRanks result;
  on_ranks(size, [&](Ranks& ranks) {
    if (!ranks.leads()) {
      EXPECT_EQ(follow(ranks), 5);
      return;
    }
    RankTeam team(ranks);
    {
      const RankedMatrixData read = read_data(path, {Header::find, 1}, team);
      read.data.matrix->apply(gaussian(cols, 2, 9), result.image);
      result.stored = read.data.stored;
      result.dealt = read.dealt;
      result.column_names = read.data.column_names;
    }
    team.dismiss(5);
  });
  return result;
}

class RankedMatrixFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("pursuit_ranked_" + std::to_string(::getpid()));
};

TEST_F(RankedMatrixFile, EveryFormatGivesEveryRankItsRows) {
  const Matrix dense = thinned(gaussian(211, 13, 1), 0.6, 2);
  const Matrix expected = dense * gaussian(13, 2, 9);
  write_matrix(path("a.npy"), {dense, {}, {}});
  write_matrix(path("f.npy"), {Eigen::MatrixXf(dense.cast<float>()), {}, {}});
  write_matrix(path("d.npz"), {dense, {}, {}});
  write_matrix(path("s.npz"), {to_sparse(dense), {}, {}});
  write_matrix(path("s.mtx"), {to_sparse(dense), {}, {}});
  write_matrix(path("s.mtx.gz"), {to_sparse(dense), {}, {}});
  std::vector<std::string> names;
  for (int j = 0; j < 13; ++j) names.push_back("c" + std::to_string(j));
  write_matrix(path("t.csv"), {dense, {}, names});
  for (const std::string name : {"a.npy", "f.npy", "d.npz", "s.npz", "s.mtx", "s.mtx.gz", "t.csv"}) {
    const ReadByRanks one = read_by(1, path(name), 13);
    EXPECT_LT(max_difference(one.image, expected), name == "f.npy" ? 1e-5 : 1e-12) << name;
    EXPECT_EQ(one.dealt, !name.ends_with(".npy")) << name << ": numbers that can be mapped are";
    EXPECT_EQ(one.column_names.size(), name == "t.csv" ? 13u : 0u);
    for (const int size : {2, 3, 7, 16}) {
      const ReadByRanks several = read_by(size, path(name), 13);
      EXPECT_TRUE(same_bits(several.image, one.image)) << name << ", ranks " << size;
      EXPECT_EQ(several.stored, one.stored);
    }
  }
}

TEST_F(RankedMatrixFile, ABadEntryIsRefusedByItsPlaceInTheWhole) {
  Matrix dense = gaussian(211, 13, 1);
  dense(200, 4) = std::numeric_limits<double>::quiet_NaN();
  write_matrix(path("bad.npy"), {dense, {}, {}});
  for (const int size : {1, 3}) {
    const std::string told = message_of<InvalidInput>([&] {
      on_ranks(size, [&](Ranks& ranks) {
        if (!ranks.leads()) {
          EXPECT_EQ(follow(ranks), 3);
          return;
        }
        RankTeam team(ranks);
        try {
          read_data(path("bad.npy"), {}, team);
        } catch (const InvalidInput&) {
          EXPECT_FALSE(team.broken());
          team.dismiss(3);
          throw;
        }
      });
    });
    EXPECT_THAT(told, testing::HasSubstr("the entry at row 201, column 5 (counted from 1) is nan"));
  }
}

}  // namespace
}  // namespace pursuit
