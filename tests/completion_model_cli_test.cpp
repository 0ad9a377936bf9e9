// What a model file answers from the shell.

#include <set>

#include "completion_cli_support.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(CompletionCli, PredictsAndRecommendsByIds) {
  write("named.csv",
        "user,item,rating\n\"Smith, J\",tea,5\n\"Smith, "
        "J\",milk,1\nLee,tea,4\nLee,jam,2\nZoë,jam,1\nZoë,milk,2\n");
  ASSERT_EQ(run("complete named.csv --out m.npz").status, 0);
  write("pairs.csv", "\"Smith, J\",jam\nnobody,tea\nLee,coffee\n");
  const Finished predicted = run("predict m.npz pairs.csv");
  EXPECT_EQ(predicted.status, 0);
  EXPECT_THAT(predicted.out,
              AllOf(HasSubstr("\"Smith, J\",jam,"), HasSubstr("unknown row"), HasSubstr("unknown column")));
  EXPECT_THAT(predicted.err, HasSubstr("2 of 3 pairs"));
  const auto list = table(run("recommend m.npz --row Lee --top 5 --exclude-seen").out);
  ASSERT_EQ(list.size(), 1U);  // of three items Lee has rated two
  EXPECT_EQ(list[0][2], "milk");
  EXPECT_EQ(run("recommend m.npz --row Lee --top 5").out,
            run("recommend m.npz --row Lee --top 5 --exclude-seen").out);
  EXPECT_EQ(table(run("recommend m.npz --all --top 2 --include-seen").out).size(), 6U);
}

TEST_F(CompletionCli, StoredModelPredictsWhatTheRunReported) {
  const json object = run_json("complete r.csv --holdout 0.1 --seed 4 --out m.npz");
  const Ratings ratings = read_ratings(path("r.csv"));
  const CompletionFile file = load_completion(path("m.npz"));
  double sum = 0;
  int count = 0;
  for (std::size_t e = 0; e < ratings.entries.row.size(); ++e) {
    const int i = file.rows.find(ratings.rows.name(ratings.entries.row[e]));
    const int j = file.cols.find(ratings.cols.name(ratings.entries.col[e]));
    const auto first = file.seen.index.begin() + file.seen.start[i],
               last = file.seen.index.begin() + file.seen.start[i + 1];
    if (std::binary_search(first, last, j)) continue;
    sum += std::pow(predict(file.model, {i, j}).value - ratings.entries.value[e], 2);
    ++count;
  }
  EXPECT_EQ(count, 480);
  EXPECT_NEAR(std::sqrt(sum / count), object["test"]["rmse"].get<double>(), 1e-6);
}

TEST_F(CompletionCli, EntriesHeldOutAreKnownAsSeen) {
  ASSERT_EQ(run("complete r.csv --holdout 0.3 --out m.npz").status, 0);
  const Ratings all = read_ratings(path("r.csv"));
  const CompletionFile file = load_completion(path("m.npz"));
  EXPECT_LT(file.seen.index.size(), all.entries.value.size());
  std::set<std::pair<std::string, std::string>> rated;
  for (std::size_t e = 0; e < all.entries.row.size(); ++e)
    rated.emplace(all.rows.name(all.entries.row[e]), all.cols.name(all.entries.col[e]));
  for (const auto& line : table(run("recommend m.npz --all --top 500 --exclude-seen").out))
    EXPECT_FALSE(rated.contains({line[0], line[2]})) << line[0] << " " << line[2];
}

TEST_F(CompletionCli, ModelsWithoutEntriesPredictAndSayWhatTheyCannot) {
  ASSERT_EQ(run("complete r.csv --out with.npz").status, 0);
  ASSERT_EQ(run("complete r.csv --no-store-entries --out without.npz").status, 0);
  write("some.csv", "1 1\n2 3\nnobody 1\n");
  EXPECT_EQ(run("predict with.npz some.csv").out, run("predict without.npz some.csv").out);
  EXPECT_LT(std::filesystem::file_size(path("without.npz")), std::filesystem::file_size(path("with.npz")));
  EXPECT_EQ(run("recommend without.npz --all --top 2").status, 0);
  expect_refused(
      {{"seen is not known", "recommend without.npz --all --exclude-seen", 3, "--no-store-entries"},
       {"nothing to update", "complete r.csv --update without.npz", 3, "--no-store-entries"}});
}

TEST_F(CompletionCli, InspectReadsAPipeOnceAndPrintsNoCommandsToTheTerminal) {
  CompletionFile file;
  file.model.rows = file.model.cols = plain_side(1);
  file.rows.add("a");
  file.cols.add("b");
  file.seen = {{0, 1}, {0}, {1.0F}};
  file.metadata = {{"command", "evil \x1b]0;title\x07 \xC2\x9b 31m"}, {"\x1b[2Jkey", "x"}};
  save_completion(path("m.npz"), file);
  EXPECT_THAT(run("inspect m.npz").out,
              AllOf(HasSubstr("\\x1b]0;title\\x07"), HasSubstr("\\x9b"), testing::Not(HasSubstr("\x1b"))));
  // A second reading would wait for ever.
  const Finished through = run(
      "--version > /dev/null; mkfifo pipe; cat m.npz > pipe & timeout 20 '" PURSUIT_PROGRAM "' inspect pipe");
  EXPECT_EQ(through.status, 0) << through.err;
  EXPECT_THAT(through.out, HasSubstr("completed matrix, 1 x 1"));
}

TEST_F(CompletionCli, RecommendsToAllRowsWhatItRecommendsToEach) {
  ASSERT_EQ(run("complete r.csv --out m.npz").status, 0);
  ASSERT_EQ(run("recommend m.npz --all --top 4 --exclude-seen --out lists.csv").status, 0);
  const auto all = table(read("lists.csv"));
  for (const std::string row : {"1", "17", "120"}) {
    std::vector<std::vector<std::string>> of_row;
    std::copy_if(all.begin(), all.end(), std::back_inserter(of_row),
                 [&](const auto& line) { return line[0] == row; });
    EXPECT_EQ(of_row, table(run("recommend m.npz --top 4 --exclude-seen --row " + row).out)) << row;
  }
}

}  // namespace
}  // namespace pursuit
