#include "pursuit/io/ranked_matrix_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "io/ranked_test_support.hpp"
#include "io/test_support.hpp"

namespace pursuit {
namespace {

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
    const ReadByRanks one = read_by(1, path(name));
    EXPECT_LT(max_difference(one.image, expected), name == "f.npy" ? 1e-5 : 1e-12) << name;
    EXPECT_EQ(one.dealt, name.ends_with(".npz") || name.ends_with(".gz")) << name << ": what is packed is";
    EXPECT_EQ(one.column_names.size(), name == "t.csv" ? 13u : 0u);
    for (const int size : {2, 3, 7, 16}) {
      const ReadByRanks several = read_by(size, path(name));
      EXPECT_TRUE(same_bits(several.image, one.image)) << name << ", ranks " << size;
      EXPECT_EQ(several.stored, one.stored);
    }
  }
}

TEST_F(RankedMatrixFile, ABadEntryIsRefusedByItsPlaceInTheWhole) {
  Matrix dense = gaussian(211, 13, 1);
  dense(200, 4) = std::numeric_limits<double>::quiet_NaN();
  write_matrix(path("bad.npy"), {dense, {}, {}});
  for (const int size : {1, 3})
    EXPECT_THAT(read_by(size, path("bad.npy")).refusal,
                testing::HasSubstr("the entry at row 201, column 5 (counted from 1) is nan"));
}

}  // namespace
}  // namespace pursuit
