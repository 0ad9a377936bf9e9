// Lists, likeness and reasons as people and scripts meet them.

#include <map>
#include <set>

#include "cli_support.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class RecommendCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(
        run("generate ratings --rows 90 --cols 50 --entries 1000 --rank 2 --noise 0.3 --seed 5 --out r.csv")
            .status,
        0);
    ASSERT_EQ(run("complete r.csv --rank 3 --out m.npz").status, 0);
  }
  json lists(const std::string& arguments) const { return run_json(arguments)["recommendations"]; }
  static std::vector<std::string> ids(const json& list, const char* side = "columns") {
    std::vector<std::string> result;
    const std::string member = std::string(side).substr(0, std::string(side).size() - 1);
    for (const json& each : list[side]) result.push_back(each[member]);
    return result;
  }
};

TEST_F(RecommendCli, ManyRowsGetTheListsOfEach) {
  write("rows.txt", "userId\n7\n3\n");
  const json many = lists("recommend m.npz --row 9 --rows rows.txt --top 4");
  ASSERT_EQ(many.size(), 3U);
  EXPECT_EQ(many[0]["row"], "9");
  EXPECT_EQ(many[1], lists("recommend m.npz --row 7 --top 4")[0]);
  EXPECT_EQ(many[2], lists("recommend m.npz --row 3 --top 4")[0]);
  EXPECT_THAT(run("recommend m.npz --rows rows.txt").err, HasSubstr("header"));
  EXPECT_EQ(lists("recommend --row 9 m.npz --top 4")[0], many[0]) << "an option takes one id";
  write("ids with blanks.txt", "not there at all\n");
  expect_refused({{"unknown", "recommend m.npz --rows 'ids with blanks.txt'", 3, "not"},
                  {"two ways", "recommend m.npz --rows rows.txt --all", 2, "--all"},
                  {"no file", "recommend m.npz --rows none.txt", 3, "none.txt"},
                  {"optimism", "recommend m.npz --all --optimism nan", 2, "optimism"},
                  {"seen twice", "recommend m.npz --all --exclude-seen --include-seen", 2, "choose one"},
                  {"explain", "recommend m.npz --all --explain -1", 2, "--explain -1"}});
}

TEST_F(RecommendCli, ListsAreChosenFromCandidatesAndBlockedOnes) {
  const auto all = ids(lists("recommend m.npz --row 7 --top 50")[0]);
  ASSERT_GE(all.size(), 8U);
  write("some.txt", fmt::format("{}\n{}\n{}\nunknown\n", all[6], all[2], all[4]));
  EXPECT_THAT(ids(lists("recommend m.npz --row 7 --candidates some.txt")[0]),
              ElementsAre(all[2], all[4], all[6]));
  EXPECT_THAT(run("recommend m.npz --row 7 --candidates some.txt").err, HasSubstr("1 of 4 ids"));
  write("block.csv", fmt::format("{}\n", all[0]));
  EXPECT_EQ(ids(lists("recommend m.npz --row 7 --top 1 --block block.csv")[0])[0], all[1]);
  write("pairs.csv", fmt::format("7,{}\n8,{}\n", all[0], all[1]));
  EXPECT_THAT(ids(lists("recommend m.npz --row 7 --top 2 --block pairs.csv")[0]),
              ElementsAre(all[1], all[2]));
  EXPECT_THAT(ids(lists("recommend m.npz --row 7 --candidates some.txt --block pairs.csv --top 1")[0]),
              ElementsAre(all[2]));
  write("strangers.txt", "x\ny\n");
  expect_refused({{"none known", "recommend m.npz --row 7 --candidates strangers.txt", 3, "none of its"}});
}

TEST_F(RecommendCli, NamesAndReasonsStandBesideTheIds) {
  std::string names = "movieId,title,genres\n";
  for (int j = 1; j <= 50; ++j) names += fmt::format("{},\"Film, the {}th\",Drama|War\n", j, j);
  write("movies.csv", names);
  const json list =
      lists("recommend m.npz --row 7 --top 3 --names movies.csv:title --explain 2")[0]["columns"];
  for (const json& each : list) {
    EXPECT_EQ(each["name"], fmt::format("Film, the {}th", each["column"].get<std::string>()));
    ASSERT_EQ(each["reasons"].size(), 2U);
    for (const json& reason : each["reasons"]) {
      EXPECT_THAT(reason["name"].get<std::string>(), StartsWith("Film, the"));
      EXPECT_NE(reason["effect"].get<double>(), 0);
    }
  }
  const std::string csv = run("recommend m.npz --row 7 --top 3 --names movies.csv:2 --explain 2").out;
  EXPECT_THAT(csv, AllOf(StartsWith("row,place,column,value,sd,name,reasons\n"), HasSubstr("\"Film, the "),
                         HasSubstr("th +"), HasSubstr("; ")));
  EXPECT_EQ(run("recommend m.npz --row 7 --names movies.csv").out,
            run("recommend m.npz --row 7 --names movies.csv:title").out);
  expect_refused(
      {{"no column", "recommend m.npz --row 7 --names movies.csv:name", 3, "movieId, title, genres"},
       {"no file", "recommend m.npz --row 7 --names none.csv:title", 3, "none.csv"}});
}

/// A reason is one of the row's own entries, and all effects together are the prediction.
TEST_F(RecommendCli, ReasonsAddUp) {
  std::set<std::string> rated;
  std::istringstream lines(read("r.csv"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("7,")) rated.insert(line.substr(2, line.find(',', 2) - 2));
  const json best = lists("recommend m.npz --row 7 --top 1 --explain 1000")[0]["columns"][0];
  EXPECT_EQ(best["reasons"].size(), rated.size());
  double sum = best["expected"];
  for (const json& reason : best["reasons"]) {
    EXPECT_TRUE(rated.contains(reason["column"])) << reason["column"];
    sum += reason["effect"].get<double>();
  }
  EXPECT_NEAR(sum, best["value"].get<double>(), 0.1);
}

TEST_F(RecommendCli, OptimismGivesAChanceToWhatIsNotKnownWell) {
  const json plain = lists("recommend m.npz --row 7 --top 50")[0]["columns"];
  const json bold = lists("recommend m.npz --row 7 --top 50 --optimism 3")[0]["columns"];
  ASSERT_EQ(plain.size(), bold.size());
  for (std::size_t k = 1; k < bold.size(); ++k)
    EXPECT_GE(bold[k - 1]["value"].get<double>() + 3 * bold[k - 1]["sd"].get<double>() + 1e-9,
              bold[k]["value"].get<double>() + 3 * bold[k]["sd"].get<double>());
}

TEST_F(RecommendCli, NewcomersOfBothSidesGetLists) {
  write("row.csv", "user,item,rating\nnew one,3,5\nnew one,4,1\nanother,9,2\n");
  const json rows = lists("recommend m.npz --for row.csv --top 5 --explain 2");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["row"], "new one");
  for (const std::string& id : ids(rows[0])) EXPECT_TRUE(id != "3" && id != "4") << "seen is left out";
  EXPECT_EQ(rows[1]["columns"][0]["reasons"][0]["column"], "9");
  write("col.csv", "3,new film,5\n4,new film,1\n");
  const json cols = lists("recommend m.npz --for col.csv --top 5");
  ASSERT_EQ(cols.size(), 1U);
  EXPECT_EQ(cols[0]["column"], "new film");
  EXPECT_EQ(cols[0]["rows"].size(), 5U);
  const json known = lists("recommend m.npz --column 9 --top 90 --include-seen");
  EXPECT_EQ(known[0]["rows"].size(), 90U);
  const json there = lists("recommend m.npz --row 9 --top 50 --include-seen")[0]["columns"];
  for (const json& row : known[0]["rows"])
    if (row["row"] == "9")
      for (const json& col : there)
        if (col["column"] == "9") {
          EXPECT_NEAR(row["value"], col["value"].get<double>(), 1e-9);
        }
  write("both.csv", "new,3,5\n4,new film,1\n");
  write("more.csv", "7,3,5\n");
  EXPECT_EQ(lists("recommend m.npz --for more.csv")[0]["row"], "7") << "one that the model has, with more";
  expect_refused({{"both new", "recommend m.npz --for both.csv", 3, "both rows and columns"},
                  {"and all", "recommend m.npz --for row.csv --all", 2, "--all"}});
}

/// A newcomer with the entries of a row is recommended what that row is.
TEST_F(RecommendCli, ANewcomerWithTheSameEntriesGetsTheSame) {
  std::string twin = "user,item,rating\n";
  std::istringstream lines_of(read("r.csv"));
  for (std::string line; std::getline(lines_of, line);)
    if (line.starts_with("7,")) twin += "twin" + line.substr(1) + "\n";
  write("twin.csv", twin);
  const json own = lists("recommend m.npz --row 7 --top 5")[0]["columns"];
  const json other = lists("recommend m.npz --for twin.csv --top 5")[0]["columns"];
  std::map<std::string, double> values;
  for (const json& each : own) values[each["column"]] = each["value"];
  int shared = 0;
  for (const json& each : other)
    if (const auto found = values.find(each["column"]); found != values.end()) {
      ++shared;
      EXPECT_NEAR(each["value"].get<double>(), found->second, 0.15);
    }
  EXPECT_GE(shared, 3);
}

TEST_F(RecommendCli, SimilarColumnsAndRows) {
  const json columns = run_json("similar m.npz --column 3 --column 4 --top 6")["lists"];
  ASSERT_EQ(columns.size(), 2U);
  ASSERT_EQ(columns[0]["similar"].size(), 6U);
  double before = 1.0001;
  for (const json& each : columns[0]["similar"]) {
    EXPECT_NE(each["column"], "3");
    EXPECT_LE(each["similarity"].get<double>(), before);
    before = each["similarity"];
  }
  EXPECT_THAT(run("similar m.npz --all-rows --top 1 --out s.csv").err, "");
  EXPECT_THAT(read("s.csv"), StartsWith("row,place,similar,similarity\n"));
  const std::string text = read("s.csv");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 91);
  ASSERT_EQ(run("complete r.csv --rank 0 --out flat.npz").status, 0);
  expect_refused({{"unknown", "similar m.npz --column none", 3, "none"},
                  {"nothing", "similar m.npz", 2, "--column"},
                  {"two", "similar m.npz --column 3 --all-rows", 2, "either"},
                  {"offsets", "similar flat.npz --column 3", 3, "offsets alone"}});
}

TEST_F(RecommendCli, FactorizationsAnswerToo) {
  Matrix values = (Matrix(4, 3) << 5, 1, 0, 4, 1, 0, 0, 1, 4, 1, 0, 5).finished();
  write_matrix(path("a.csv"), {values, {"ann", "bob", "cid", "dan"}, {"tea", "jam", "rye"}});
  ASSERT_EQ(run("factor a.csv --rank 2 --left nonneg --right nonneg --weights nonneg --out f.npz").status, 0);
  const json list = lists("recommend f.npz --row bob --top 3")[0]["columns"];
  EXPECT_EQ(list[0]["column"], "tea");
  ASSERT_EQ(run("reconstruct f.npz --out x.npy").status, 0);
  const Matrix x = std::get<Matrix>(read_matrix(path("x.npy"), {}).matrix);
  EXPECT_NEAR(list[0]["value"].get<double>(), x(1, 0), 1e-9);
  EXPECT_GT(list[0]["sd"].get<double>(), 0);
  write("pairs.csv", "cid,rye\n");
  EXPECT_NEAR(run_json("predict f.npz pairs.csv")["predictions"][0]["value"].get<double>(), x(2, 2), 1e-9);
  const json similar = run_json("similar f.npz --row ann --top 1")["lists"];
  EXPECT_EQ(similar[0]["similar"][0]["row"], "bob");
  ASSERT_EQ(run("pca a.csv --components 1 --out p.npz").status, 0);
  const double mean = values.col(0).mean();
  double sum = 0;
  for (const json& row : lists("recommend p.npz --all --top 3"))
    for (const json& each : row["columns"])
      if (each["column"] == "tea") sum += each["value"].get<double>();
  EXPECT_NEAR(sum / 4, mean, 1e-5) << "centred data come with their means";
  expect_refused({{"seen", "recommend f.npz --all --exclude-seen", 3, "factorization"},
                  {"explain", "recommend f.npz --all --explain 2", 3, "factorization"}});
}

TEST_F(RecommendCli, ListsInAFileAreThoseOnTheScreen) {
  ASSERT_EQ(run("recommend m.npz --all --top 4 --explain 1 --threads 1 --out one.csv").status, 0);
  ASSERT_EQ(run("recommend m.npz --all --top 4 --explain 1 --threads 3 --out three.csv").status, 0);
  EXPECT_EQ(read("one.csv"), read("three.csv"));
  EXPECT_EQ(read("one.csv"), run("recommend m.npz --all --top 4 --explain 1").out);
}

}  // namespace
}  // namespace pursuit
