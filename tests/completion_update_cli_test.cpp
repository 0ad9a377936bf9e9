// Models that go on, and what is known beside entries, from the shell.

#include "completion_cli_support.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(CompletionCli, UpdateTakesNewRowsAndColumns) {
  ASSERT_EQ(run("complete r.csv --out m.npz").status, 0);
  write("new.csv", "row,column,value\nnewcomer,1,5\nnewcomer,2,5\nnewcomer,newitem,5\n1,newitem,4.5\n");
  ASSERT_EQ(run("complete new.csv --update m.npz --out m2.npz").status, 0);
  const CompletionFile before = load_completion(path("m.npz")), after = load_completion(path("m2.npz"));
  EXPECT_EQ(after.rows.size(), before.rows.size() + 1);
  EXPECT_EQ(after.cols.size(), before.cols.size() + 1);
  EXPECT_EQ(after.seen.index.size(), before.seen.index.size() + 4);
  const int newcomer = after.rows.find("newcomer");
  ASSERT_GE(newcomer, 0);
  for (const char* id : {"5", "17"})  // what is known of others hardly moves
    EXPECT_NEAR(predict(after.model, {after.rows.find(id), 3}).value,
                predict(before.model, {before.rows.find(id), 3}).value, 0.4);
  double generous = 0, typical = 0;
  for (int j = 0; j < before.cols.size(); ++j) {
    generous += predict(after.model, {newcomer, j}).value;
    typical += predict(after.model, {-1, j}).value;
  }
  EXPECT_GT(generous, typical);
}

TEST_F(CompletionCli, SideInformationReachesRowsNeverSeen) {
  std::string ratings = "row,column,value\n", features = "id,likes\n";
  for (int i = 0; i < 60; ++i) {
    const bool likes = i % 2 == 0;
    features += fmt::format("u{},{}\n", i, likes ? 1 : -1);
    if (i < 50)
      for (int j = i % 3; j < 20; j += 2)
        ratings += fmt::format("u{},i{},{}\n", i, j, likes == (j < 10) ? 5 : 1);
  }
  write("rated.csv", ratings);
  write("users.csv", features);
  ASSERT_EQ(run("complete rated.csv --row-features users.csv --out m.npz").status, 0);
  const CompletionFile file = load_completion(path("m.npz"));
  EXPECT_GT(predict(file.model, {file.rows.find("u58"), file.cols.find("i3")}).value, 4);
  EXPECT_LT(predict(file.model, {file.rows.find("u59"), file.cols.find("i3")}).value, 2);
}

TEST_F(CompletionCli, AnUpdateKeepsSideInformationAndTakesMore) {
  std::string ratings = "row,column,value\n", features = "id,taste\n";
  for (int i = 0; i < 60; ++i) {
    const bool likes = i % 2 == 0;
    features += fmt::format("u{},{}\n", i, likes ? "sweet|warm" : "salty");
    if (i < 50)
      for (int j = i % 3; j < 20; j += 2)
        ratings += fmt::format("u{},i{},{}\n", i, j, likes == (j < 10) ? 5 : 1);
  }
  write("rated.csv", ratings);
  write("users.csv", features);
  write("more.csv", "row,column,value\nu0,i1,5\n");
  write("late.csv", "id,taste\nlate,salty\nother,new\nthird,new\n");
  ASSERT_EQ(run("complete rated.csv --row-features users.csv --out m.npz").status, 0);
  const Finished updated = run("complete more.csv --update m.npz --row-features late.csv --out n.npz");
  ASSERT_EQ(updated.status, 0) << updated.err;
  EXPECT_THAT(updated.err,
              HasSubstr("4 features of 63 rows: taste=sweet, taste=warm, taste=salty, taste=new"));
  const CompletionFile file = load_completion(path("n.npz"));
  const auto value = [&](const char* row) {
    return predict(file.model, {file.rows.find(row), file.cols.find("i3")}).value;
  };
  EXPECT_GT(value("u58"), 4);
  EXPECT_LT(value("u59"), 2);
  EXPECT_LT(value("late"), 2);
  CompletionFile early = load_completion(path("m.npz"));
  early.row_features.reset();
  save_completion(path("early.npz"), early);
  expect_refused({{"features that are lost", "complete more.csv --update early.npz", 3, "--row-features"}});
}

TEST_F(CompletionCli, AnUpdateWithNothingNewPredictsTheSame) {
  for (const std::string effort : {"", " --effort high --samples 8"}) {
    ASSERT_EQ(run("complete r.csv --out m.npz" + effort).status, 0);
    ASSERT_EQ(run("complete r.csv --update m.npz --out n.npz").status, 0);
    const CompletionFile before = load_completion(path("m.npz")), after = load_completion(path("n.npz"));
    EXPECT_EQ(after.model.samples.size(), before.model.samples.size());
    for (int i = 0; i < before.rows.size(); i += 5)
      for (int j = 0; j < before.cols.size(); j += 3) {
        const Prediction old = predict(before.model, {i, j}), now = predict(after.model, {i, j});
        EXPECT_NEAR(now.value, old.value, 1e-3 * old.deviation) << i << " " << j << effort;
      }
  }
}

TEST_F(CompletionCli, WhatFeaturesWereUnderstoodAsIsTold) {
  write("table.csv", "id,age,male\n1,24,1\n2,30,0\n");
  write("lines.csv", "1,Comedy,1\n2,Drama,1\n");
  const Finished finished = run("complete r.csv --row-features table.csv --col-features lines.csv --json");
  EXPECT_THAT(
      finished.err,
      AllOf(
          HasSubstr("row features, a table: 2 features of 2 rows: age, male"),
          HasSubstr("column features, lines of id, feature, value: 2 features of 2 columns: Comedy, Drama")));
  const json object = json::parse(finished.out);
  EXPECT_EQ(object["row_features"]["kind"], "table");
  EXPECT_EQ(object["row_features"]["features"].size(), 2U);
  EXPECT_EQ(object["column_features"]["kind"], "lines");
  write("gap.csv", "id,age,male\n1,24,1\n2,NA,0\n");
  expect_refused({{"NA in a table", "complete r.csv --row-features gap.csv", 3, "line 3"}});
}

}  // namespace
}  // namespace pursuit
