// `pursuit consensus` from the outside.

#include "cli_support.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

class ConsensusCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    Random random(4);
    const Matrix left = random.gaussian_matrix(60, 3).array().square().square(),
                 right = random.gaussian_matrix(40, 3).array().square().square();
    const Matrix Y = (5 * left * right.transpose()).array().floor();
    std::vector<std::string> genes, cells;
    for (Index j = 0; j < Y.cols(); ++j) genes.push_back(fmt::format("gene{}", j));
    for (Index i = 0; i < Y.rows(); ++i) cells.push_back(fmt::format("cell{}", i));
    write_matrix(path("counts.csv"), {Y, cells, genes});
  }

  Index columns_of(const std::string& file) { return cols_of(read_matrix(path(file)).matrix); }
  Index rows_in(const std::string& file) { return rows_of(read_matrix(path(file)).matrix); }
};

TEST_F(ConsensusCli, WritesUsagesAndSpectraInOneCommand) {
  const auto answer = run_json(
      "consensus counts.csv --rank 3 --seeds 10 --columns 20 --unit-variance --usages u.csv --spectra s.csv "
      "--profiles p.csv --scores z.csv --out m.npz");
  EXPECT_EQ(answer["rank"], 3);
  EXPECT_GT(answer["silhouette"], 0.8);
  ASSERT_EQ(answer["parts"].size(), 3U);
  EXPECT_THAT(std::string(answer["parts"][0]["top"][0]), HasSubstr("gene"));
  EXPECT_EQ(rows_in("u.csv"), 60);
  EXPECT_EQ(columns_of("u.csv"), 3);
  EXPECT_EQ(rows_in("s.csv"), 20);
  EXPECT_EQ(rows_in("p.csv"), 40) << "over all columns of the input";
  EXPECT_EQ(rows_in("z.csv"), 40);
  EXPECT_THAT(read("u.csv"), HasSubstr("cell0"));
  EXPECT_THAT(read("s.csv"), HasSubstr("gene"));
  EXPECT_EQ(run("inspect m.npz").status, 0);
  EXPECT_EQ(run("report m.npz --out page.html").status, 0);
}

TEST_F(ConsensusCli, ComparesRanks) {
  const auto answer = run_json("consensus counts.csv --ranks 2-5 --seeds 8 --plot ranks.svg");
  EXPECT_EQ(answer["rank"], 3) << answer["reason"];
  EXPECT_EQ(answer["ranks"].size(), 4U);
  EXPECT_THAT(read("ranks.svg"), HasSubstr("3 is recommended"));
  const Finished words = run("consensus counts.csv --rank 2,3 --seeds 8 --loss poisson");
  EXPECT_EQ(words.status, 0);
  EXPECT_THAT(words.out, HasSubstr("silhouette"));
  EXPECT_THAT(words.out, HasSubstr("gene"));
}

TEST_F(ConsensusCli, RefusesWhatMakesNoSense) {
  write("negative.csv", "1,2\n-1,3\n2,2\n");
  write("constant.csv", "a,b,c\n1,2,7\n1,3,7\n1,2,7\n");
  expect_refused({
      {"a word", "consensus counts.csv --rank two", 2, "'two'"},
      {"one seed", "consensus counts.csv --rank 2 --seeds 1", 2, "seeds 1"},
      {"no density", "consensus counts.csv --rank 2 --density 0", 2, "density 0"},
      {"another loss", "consensus counts.csv --rank 2 --loss huber:1", 2, "loss huber"},
      {"negative", "consensus negative.csv --rank 1", 3, "1 entries are negative"},
      {"constant", "consensus constant.csv --rank 1 --unit-variance", 3, "a, c"},
      {"too many columns", "consensus counts.csv --rank 2 --columns 41", 2, "columns 41"},
      {"columns below zero", "consensus counts.csv --rank 2 --columns -1", 2, "--columns -1"},
      {"an unknown format", "consensus counts.csv --rank 2 --usages u.xyz", 2, "u.xyz"},
      {"nowhere", "consensus counts.csv --rank 2 --usages nowhere/u.csv", 4, "nowhere"},
  });
}

}  // namespace
}  // namespace pursuit
