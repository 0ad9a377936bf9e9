// `pursuit choose` from the outside.

#include "cli_support.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;

class ChooseCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    Random random(4);
    const Matrix left = random.gaussian_matrix(40, 3).array().square(),
                 right = random.gaussian_matrix(30, 3).array().square();
    const Matrix Y = left * right.transpose() + 0.1 * random.gaussian_matrix(40, 30);
    write_matrix(path("Y.npy"), {Matrix(Y.cwiseMax(0)), {}, {}});
  }
};

constexpr const char* kParts = "--left nonneg --right nonneg --weights nonneg";

TEST_F(ChooseCli, RecommendsARankWithItsReason) {
  const auto answer = run_json(fmt::format("choose Y.npy --ranks 1-6 {} --plot ranks.svg", kParts));
  EXPECT_EQ(answer["rank"], 3) << answer["reason"];
  ASSERT_EQ(answer["ranks"].size(), 6U);
  EXPECT_EQ(answer["ranks"][2]["rank"], 3);
  EXPECT_EQ(answer["ranks"][2]["errors"].size(), 5U);
  EXPECT_EQ(answer["interrupted"], false);
  EXPECT_LT(answer["ranks"][2]["error"], answer["ranks"][1]["error"]);
  const std::string picture = read("ranks.svg");
  EXPECT_THAT(picture, HasSubstr("Rank 3 is recommended"));
  EXPECT_THAT(picture, HasSubstr("error-bars"));
  const Finished words = run(fmt::format("choose Y.npy --ranks 1,2,3-4 --folds 3 {}", kParts));
  EXPECT_EQ(words.status, 0);
  EXPECT_THAT(words.out, HasSubstr("rank 3: 3 atoms predict"));
  EXPECT_THAT(words.out, HasSubstr("stability"));
}

TEST_F(ChooseCli, TellsOfNegativeEntriesThatPartsDoNotReach) {
  Random random(5);
  write_matrix(path("signed.npy"), {Matrix(random.gaussian_matrix(12, 9)), {}, {}});
  const Finished warned = run(fmt::format("choose signed.npy --ranks 1 --folds 2 {}", kParts));
  EXPECT_EQ(warned.status, 0);
  EXPECT_THAT(warned.err, HasSubstr("entries are negative"));
  EXPECT_THAT(warned.out, HasSubstr("1 atom predicts"));
  EXPECT_THAT(run("choose signed.npy --ranks 1 --folds 2").err, testing::Not(HasSubstr("negative")));
}

TEST_F(ChooseCli, ComparesRanksOfArrays) {
  Random random(9);
  const Matrix A = random.gaussian_matrix(12, 2).cwiseAbs(), B = random.gaussian_matrix(10, 2).cwiseAbs(),
               C = random.gaussian_matrix(8, 2).cwiseAbs();
  std::string table = "station,day,hour,trips\n";
  for (Index i = 0; i < 12; ++i)
    for (Index j = 0; j < 10; ++j)
      for (Index k = 0; k < 8; ++k)
        table += fmt::format("s{},d{},h{},{}\n", i, j, k,
                             std::round(20 * (A.row(i).array() * B.row(j).array() * C.row(k).array()).sum() +
                                        random.gaussian()));
  write("trips.csv", table);
  const auto found =
      run_json("choose trips.csv --ranks 1-4 --modes nonneg,nonneg,nonneg --weights nonneg --plot r.svg");
  EXPECT_EQ(found["rank"], 2);
  EXPECT_EQ(found["input"]["shape"], (std::vector<int>{12, 10, 8}));
  EXPECT_THAT(read("r.svg"), HasSubstr("Rank 2 is recommended"));
  expect_refused(
      {{"sides", "choose trips.csv --modes nonneg,nonneg,nonneg --left nonneg", 2, "--left: for matrices"},
       {"too few sets", "choose trips.csv --modes nonneg,nonneg", 2, "2 sets"},
       {"too many atoms", "choose trips.csv --modes nonneg,nonneg,nonneg --ranks 1-40", 3, "too few"}});
}

TEST_F(ChooseCli, RefusesRanksThatMakeNoSense) {
  write("gaps.csv", "1,2,3\n4,nan,6\n");
  expect_refused({
      {"words", "choose Y.npy --ranks two", 2, "'two'"},
      {"backwards", "choose Y.npy --ranks 5-2", 2, "2 is below 5"},
      {"nothing", "choose Y.npy --ranks 0-2", 2, "'0'"},
      {"an end", "choose Y.npy --ranks 2-", 2, "''"},
      {"more than there is room for", "choose Y.npy --ranks 1-31", 2, "at most 30"},
      {"more than entries tell", "choose Y.npy --ranks 29", 3, "too few entries"},
      {"one fold", "choose Y.npy --folds 1", 2, "folds"},
      {"missing values", "choose gaps.csv", 3, "pursuit complete"},
      {"a picture nowhere", "choose Y.npy --plot nowhere/x.svg", 4, "nowhere"},
      {"weights of entries", "choose Y.npy --row-weights w.csv", 3, "w.csv"},
  });
}

}  // namespace
}  // namespace pursuit
