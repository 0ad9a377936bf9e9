// Completion as people and scripts meet it.

#include "completion_cli_support.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(CompletionCli, DefaultReportsEverythingAndBeatsOffsets) {
  const json object = run_json("complete r.csv --holdout 0.2 --out m.npz --plot path.svg");
  for (const char* field : {"rank", "noise", "seconds", "peak_memory_bytes", "path", "test"})
    EXPECT_TRUE(object.contains(field)) << field;
  for (const char* field : {"rmse", "mae", "inside_50", "inside_80", "inside_95"})
    EXPECT_TRUE(object["test"].contains(field)) << field;
  const double offsets = run_json("complete r.csv --holdout 0.2 --rank 0")["test"]["rmse"];
  EXPECT_LT(object["test"]["rmse"].get<double>(), 0.95 * offsets);
  EXPECT_GT(object["rank"].get<int>(), 0);
  EXPECT_NEAR(object["test"]["inside_80"].get<double>(), 0.8, 0.1);
  EXPECT_THAT(read("path.svg"), HasSubstr("<svg"));
  EXPECT_THAT(run("inspect m.npz").out, AllOf(HasSubstr("120 x 80"), HasSubstr("noise")));
}

TEST_F(CompletionCli, HighEffortIsNoWorse) {
  const double means = run_json("complete r.csv --holdout 0.2")["test"]["rmse"];
  const json high = run_json("complete r.csv --holdout 0.2 --effort high --samples 300 --out m.npz");
  EXPECT_LT(high["test"]["rmse"].get<double>(), 1.01 * means);
  EXPECT_EQ(high["samples"].get<int>(), 16);
  EXPECT_EQ(load_completion(path("m.npz")).model.samples.size(), 16U);
}

TEST_F(CompletionCli, ZerosAndOnesGetProbabilities) {
  std::string answers;
  for (const auto& line : table(read("r.csv")))
    answers += fmt::format("{},{},{}\n", line[0], line[1], std::stod(line[2]) > 3.5 ? 1 : 0);
  write("b.csv", answers);
  const json object = run_json("complete b.csv --loss bernoulli --holdout 0.2 --out b.npz");
  EXPECT_EQ(object["loss"], "bernoulli");
  EXPECT_TRUE(object["noise"].is_null());
  for (const char* field : {"log_likelihood", "auc", "accuracy"})
    EXPECT_TRUE(object["test"].contains(field)) << field;
  EXPECT_GT(object["test"]["auc"].get<double>(), 0.6);
  EXPECT_TRUE(object["path"][0].contains("validation_log_loss"));
  write("pairs.csv", fmt::format("{},{}\n", table(answers)[0][0], table(answers)[0][1]));
  const double p = std::stod(table(run("predict b.npz pairs.csv").out)[0][2]);
  EXPECT_TRUE(p > 0 && p < 1);
  EXPECT_THAT(run("complete r.csv --loss bernoulli").err,
              AllOf(HasSubstr("is"), HasSubstr("bernoulli takes")));
  EXPECT_THAT(run("complete b.csv --loss logistic").err, HasSubstr("loss 'logistic'"));
  EXPECT_THAT(run("complete b.csv --loss bernoulli --effort high").err, HasSubstr("draws are of squares"));
  EXPECT_EQ(run("complete b.csv --loss bernoulli --left nonneg --rank 1").status, 0) << "with atom sets too";
}

TEST_F(CompletionCli, WeightsOfEntriesComeInAFile) {
  std::string weights, less;
  int k = 0;
  for (const auto& line : table(read("r.csv"))) {
    weights += fmt::format("{},{},{}\n", line[0], line[1], ++k % 3);
    if (k > 1) less += fmt::format("{},{},1\n", line[0], line[1]);
  }
  write("w.csv", weights);
  write("less.csv", less);
  write("negative.csv", "0,0,-1\n");
  const json object = run_json("complete r.csv --entry-weights w.csv --holdout 0.1");
  EXPECT_GT(object["rank"].get<int>(), 0);
  EXPECT_THAT(run("complete r.csv --entry-weights less.csv").err, HasSubstr("has an entry and no weight"));
  EXPECT_NE(run("complete r.csv --entry-weights nowhere.csv").status, 0);
}

TEST_F(CompletionCli, WeightsOfEntriesMayBeAColumnOfTheRatings) {
  std::string weights, both = "trust,item,user,rating\n", numbered;
  int k = 0;
  for (const auto& line : table(read("r.csv"))) {
    weights += fmt::format("{},{},{}\n", line[0], line[1], ++k % 3);
    both += fmt::format("{},{},{},{}\n", k % 3, line[1], line[0], line[2]);
    numbered += fmt::format("{},{},{},{}\n", line[0], line[1], line[2], k % 3);
  }
  write("w.csv", weights);
  write("both.csv", both);
  write("numbered.csv", numbered);
  const json in_a_file = run_json("complete r.csv --entry-weights w.csv --holdout 0.1")["test"];
  EXPECT_EQ(run_json("complete both.csv --weight-column trust --holdout 0.1")["test"], in_a_file);
  EXPECT_EQ(run_json("complete numbered.csv --weight-column 4 --holdout 0.1")["test"], in_a_file);
  EXPECT_EQ(
      run_json("complete both.csv --columns user,item,rating --weight-column trust --holdout 0.1")["test"],
      in_a_file);
  const std::string atoms = " --left nonneg --right nonneg --rank 2 --holdout 0.1";
  EXPECT_EQ(run_json("complete both.csv --weight-column trust" + atoms)["test"],
            run_json("complete r.csv --entry-weights w.csv" + atoms)["test"]);
  expect_refused(
      {{"no column", "complete both.csv --weight-column doubt", 3, "doubt"},
       {"both", "complete both.csv --weight-column trust --entry-weights w.csv", 2, "choose one"}});
}

TEST_F(CompletionCli, WithoutRegularizationSweepsSettleOrSayThatTheyDidNot) {
  const std::string nmf =
      "complete r.csv --left nonneg --right nonneg --weights nonneg --regularize none --rank 3";
  const json settled = run_json(nmf);
  EXPECT_EQ(settled["stop"], "rank_reached");
  EXPECT_EQ(settled["converged"], true);
  const json not_settled = run_json(nmf + " --max-sweeps 2");
  EXPECT_EQ(not_settled["stop"], "not_converged");
  EXPECT_EQ(not_settled["converged"], false);
  EXPECT_THAT(run(nmf + " --max-sweeps 2").err, HasSubstr("did not settle"));
  EXPECT_THAT(run(nmf + " --max-sweeps 0").err, HasSubstr("max-sweeps"));
  EXPECT_THAT(run(nmf + " --tolerance -1").err, HasSubstr("polish_tolerance -1"));
}

TEST_F(CompletionCli, EveryCellOfTableOneRightColumn) {
  write("sym.txt", "a b 3\na c 1\nb c 2\na a 4\nb b 3\nc d 1\nb d 2\nd d 5\n");
  for (const std::string cell : {
           "r.csv --left sphere --right sphere",
           "r.csv --left sparse:0.7 --right sparse:0.7",
           "r.csv --left nonneg --right nonneg --weights nonneg",
           "r.csv --left nonneg+sparse:0.8 --right nonneg+sparse:60",
           "r.csv --left nonneg --right nonneg --regularize none",
           "r.csv --regularize 2 --offsets",
           "r.csv --regularize 0.1:count --offsets",
           "r.csv --preset or1mp",
           "r.csv --preset or1mp --weights economic",
           "r.csv --preset gmpr",
           "r.csv --preset gmpr-sparse",
           "sym.txt --symmetric sphere --rank 2 --validation 0",
           "sym.txt --symmetric sparse:2 --rank 2 --validation 0",
           "sym.txt --symmetric nonneg --rank 2 --validation 0 --weights nonneg",
           "sym.txt --symmetric nonneg+sparse:3 --rank 2 --validation 0",
       }) {
    const json object = run_json("complete " + cell + " --out m.npz");
    EXPECT_GE(object["rank"].get<int>(), 1) << cell;
    EXPECT_EQ(load_completion(path("m.npz")).model.atoms.rank(), object["rank"].get<Index>()) << cell;
  }
}

TEST_F(CompletionCli, ColumnsAreReadByTheirNamesOrAsAsked) {
  write("plain.csv", "user,item,rating\na,x,1\na,y,2\nb,x,3\nb,z,5\n");
  write("mixed.csv", "userId,movieId,timestamp,rating\na,x,900,1\na,y,901,2\nb,x,902,3\nb,z,903,5\n");
  write("other.csv", "how,when,who,what\n1,900,a,x\n2,901,a,y\n3,902,b,x\n5,903,b,z\n");
  write("bare.csv", "1,900,a,x\n2,901,a,y\n3,902,b,x\n5,903,b,z\n");
  const auto noise = [&](const std::string& what) { return run_json("complete " + what)["noise"]; };
  const json expected = noise("plain.csv");
  EXPECT_EQ(noise("mixed.csv"), expected);
  EXPECT_EQ(noise("other.csv --columns who,what,how"), expected);
  EXPECT_EQ(noise("bare.csv --columns 3,4,1"), expected);
  write("times.csv", "userId,movieId,timestamp\na,x,900\n");
  expect_refused({{"no such column", "complete mixed.csv --columns userId,movieId,stars", 3, "stars"},
                  {"too few", "complete mixed.csv --columns userId,rating", 3, "three"},
                  {"twice", "complete mixed.csv --columns userId,userId,rating", 3, "different"},
                  {"no header", "complete bare.csv --columns who,what,how", 3, "numbers from 1 to 4"},
                  {"a time for a value", "complete times.csv", 3, "timestamp"}});
}

TEST_F(CompletionCli, ValuesThatAreAllOneAreSpokenOf) {
  write("ones.csv", "u,i,1\nu,j,1\nv,i,1\n");
  EXPECT_THAT(run("complete ones.csv").err,
              AllOf(HasSubstr("every value is 1: this is implicit feedback"), HasSubstr("--implicit")));
  EXPECT_THAT(run("complete ones.csv --implicit").err, testing::Not(HasSubstr("every value is 1")));
  EXPECT_THAT(run("complete r.csv").err, testing::Not(HasSubstr("every value is 1")));
}

TEST_F(CompletionCli, ThreadsDoNotChangeABit) {
  // Enough entries that threads are used at all.
  ASSERT_EQ(run("generate ratings --rows 500 --cols 300 --entries 60000 --rank 3 --out many.csv").status, 0);
  for (const std::string how :
       {"--rank 15", "--rank 7 --samples 5", "--left nonneg --right sparse:0.5 --rank 3"}) {
    run_json(fmt::format("complete many.csv {} --threads 1 --out one.npz", how));
    for (const int threads : {2, 4}) {
      run_json(fmt::format("complete many.csv {} --threads {} --out many.npz", how, threads));
      const CompletionModel one = load_completion(path("one.npz")).model,
                            many = load_completion(path("many.npz")).model;
      EXPECT_EQ(one.rows.mean, many.rows.mean) << how;
      EXPECT_EQ(one.atoms.left(), many.atoms.left()) << how;
      for (std::size_t s = 0; s < one.samples.size(); ++s)
        EXPECT_EQ(one.samples[s].cols, many.samples[s].cols);
    }
  }
}

TEST_F(CompletionCli, EvaluateComparesMethodsOverSplitsAndFolds) {
  const json object = run_json("evaluate r.csv --repeat 2 --methods or1mp,gmpr,default --split 50/20/30");
  ASSERT_EQ(object["methods"].size(), 3U);
  for (const auto& method : object["methods"]) EXPECT_EQ(method["rmse_of_runs"].size(), 2U);
  EXPECT_LT(object["methods"][2]["rmse"].get<double>(), object["methods"][1]["rmse"].get<double>());
  EXPECT_LE(object["methods"][1]["rmse"].get<double>(), object["methods"][0]["rmse"].get<double>());
  EXPECT_EQ(run_json("evaluate r.csv --folds 3 --methods default")["methods"][0]["rmse_of_runs"].size(), 3U);
}

TEST_F(CompletionCli, EvaluateSplitsByTimeAndMembers) {
  std::string timed = "user,item,rating,timestamp\n";
  for (int e = 0; e < 400; ++e)
    timed += fmt::format("u{},i{},{},{}\n", e / 10, (7 * e + e / 10) % 31, 1 + e * 3 % 5, e * 37 % 400);
  write("timed.csv", timed);
  for (const char* split : {"--split-by-time", "--split-by-time --per-row", "--leave-one-out", "--cold-rows",
                            "--cold-columns --repeat 2"}) {
    const json object = run_json(fmt::format("evaluate timed.csv {} --split 80/20 --top 5", split));
    ASSERT_EQ(object["methods"].size(), 4U) << split;
    EXPECT_EQ(object["methods"][0]["method"], "popularity");
    EXPECT_TRUE(object["methods"][0]["rmse"].is_null());
    EXPECT_TRUE(object["methods"][2]["log_likelihood"].is_number());
    for (const auto& method : object["methods"])
      for (const char* figure : {"ndcg", "recall", "map", "coverage"}) {
        EXPECT_GE(method[figure].get<double>(), 0) << split << figure;
        EXPECT_LE(method[figure].get<double>(), 1) << split << figure;
      }
    EXPECT_EQ(object["places"], 5);
    EXPECT_EQ(object["relevant"], 4);
  }
  const json repeated = run_json("evaluate timed.csv --leave-one-out --repeat 3 --methods implicit");
  EXPECT_TRUE(repeated["methods"][0]["ndcg_error"].is_number());
  expect_refused({{"no times", "evaluate r.csv --split-by-time", 3, "times are needed"},
                  {"two kinds", "evaluate timed.csv --leave-one-out --cold-rows", 2, "choose one"},
                  {"of rows", "evaluate timed.csv --per-row", 2, "--split-by-time"},
                  {"repeated time", "evaluate timed.csv --split-by-time --repeat 2", 2, "only one split"},
                  {"no list", "evaluate timed.csv --top 0", 2, "places 0"}});
}

TEST_F(CompletionCli, ALogOfClicksIsWhatItsCountsAre) {
  std::string log, counts = "user,item,count\n";
  for (int i = 0; i < 30; ++i)
    for (int j = i % 3; j < 18; j += 3) {
      for (int times = 0; times <= j % 2; ++times) log += fmt::format("u{},i{}\n", i, j);
      counts += fmt::format("u{},i{},{}\n", i, j, 1 + j % 2);
    }
  write("log.csv", log);
  write("counts.csv", counts);
  for (const char* file : {"log", "counts"})
    ASSERT_EQ(
        run(fmt::format("complete {0}.csv --implicit --confidence linear:2 --out {0}.npz", file)).status, 0);
  EXPECT_EQ(run("recommend log.npz --all --top 5").out, run("recommend counts.npz --all --top 5").out);
  write("newcomer.csv", "x,i1\nx,i4\nx,i4\n");
  for (const auto& line : table(run("recommend log.npz --for newcomer.csv --top 3").out))
    EXPECT_EQ(std::stoi(line[2].substr(1)) % 3, 1) << line[2];
  const json judged = run_json("evaluate log.csv --leave-one-out --methods popularity,implicit");
  EXPECT_EQ(judged["relevant"], 0) << "who came once came";
  EXPECT_EQ(run_json("evaluate counts.csv --leave-one-out --methods popularity,implicit")["relevant"], 0);
  expect_refused(
      {{"as ratings", "complete log.csv", 3, "--implicit"},
       {"to methods for values", "evaluate log.csv --methods popularity,default", 3, "row, column and value"},
       {"once", "complete log.csv --implicit --duplicates refuse", 3, "already given"}});
}

TEST_F(CompletionCli, ImplicitFeedbackFromClicksToLists) {
  std::string clicks = "user,item,count\n";
  for (int i = 0; i < 60; ++i)
    for (int j = 0; j < 30; ++j)
      if (i % 3 == j % 3 && (i * 7 + j * 5) % 4 != 0)
        clicks += fmt::format("u{},i{},{}\n", i, j, 1 + (i + j) % 4);
  write("clicks.csv", clicks);
  const json object =
      run_json("complete clicks.csv --implicit --confidence linear:0.5 --holdout 0.1 --out m.npz");
  for (const char* figure : {"ndcg", "recall", "map", "coverage"})
    EXPECT_TRUE(object["test"][figure].is_number()) << figure;
  EXPECT_GT(object["test"]["recall"].get<double>(), 0.7);
  EXPECT_GT(object["implicit"]["zeros"].get<double>(), 0);
  EXPECT_EQ(object["implicit"]["confidence"], "linear:0.5");
  EXPECT_TRUE(object["path"][0]["validation_ndcg"].is_number());
  for (const auto& line : table(run("recommend m.npz --row u4 --top 3").out))
    EXPECT_EQ(std::stoi(line[2].substr(1)) % 3, 1) << line[2];
  write("pairs.csv", "u4,i1\nu4,i2\n");
  const auto predicted = table(run("predict m.npz pairs.csv").out);
  EXPECT_GT(std::stod(predicted[0][2]), 0.5);
  EXPECT_LT(std::stod(predicted[1][2]), 0.3);
  EXPECT_EQ(run("inspect m.npz").status, 0);
  write("more.csv", "user,item,count\nnew,i0,2\nnew,i3,1\nnew,i6,1\n");
  ASSERT_EQ(run("complete more.csv --implicit --update m.npz --out newer.npz").status, 0);
  for (const auto& line : table(run("recommend newer.npz --row new --top 3 --exclude-seen").out))
    EXPECT_EQ(std::stoi(line[2].substr(1)) % 3, 0) << line[2];
  std::string kinds = "user,kind\n";
  for (int i = 0; i < 66; ++i) kinds += fmt::format("u{},k{}\n", i, i % 3);  // the last six have no clicks
  write("kinds.csv", kinds);
  ASSERT_EQ(run("complete clicks.csv --implicit --row-features kinds.csv --out known.npz").status, 0);
  ASSERT_EQ(run("complete more.csv --implicit --update known.npz --out known_newer.npz").status, 0);
  for (const char* model : {"known.npz", "known_newer.npz"})
    for (const auto& line : table(run(fmt::format("recommend {} --row u61 --top 3", model)).out))
      EXPECT_EQ(std::stoi(line[2].substr(1)) % 3, 1) << line[2];
  const json parts = run_json(
      "complete clicks.csv --implicit --left nonneg --right nonneg --weights nonneg --rank 5 --holdout 0.1 "
      "--out parts.npz");
  EXPECT_GE(parts["rank"].get<int>(), 3);
  EXPECT_GT(parts["test"]["recall"].get<double>(), 0.7);
  for (const char* list :
       {"recommend parts.npz --row u4 --top 3", "recommend parts.npz --for u1.csv --top 3"}) {
    write("u1.csv", "user,item,count\nx,i1,1\nx,i4,1\n");
    for (const auto& line : table(run(list).out)) EXPECT_EQ(std::stoi(line[2].substr(1)) % 3, 1) << line[2];
  }
  write("negative.csv", "u,i,1\nv,j,-2\n");
  expect_refused({{"no implicit", "complete clicks.csv --confidence linear:1", 2, "--implicit"},
                  {"no confidence", "complete clicks.csv --implicit --confidence much", 2, "linear:A"},
                  {"a price", "complete clicks.csv --implicit --left nonneg --regularize 1", 2, "--implicit"},
                  {"offsets", "complete clicks.csv --implicit --left nonneg --offsets", 2, "--offsets"},
                  {"draws", "complete clicks.csv --implicit --effort high", 2, "--effort high"},
                  {"negative", "complete negative.csv --implicit", 3, "-2"},
                  {"of atoms", "complete more.csv --implicit --update parts.npz", 3, "structured atoms"},
                  {"of ratings", "complete more.csv --update m.npz", 3, "say --implicit"}});
}

TEST_F(CompletionCli, StrangeButSoundInputWorks) {
  write(
      "windows.csv",
      "\xEF\xBB\xBFuserId,movieId,rating,timestamp\r\n\"1\",\"10\",\"4.5\",99\r\n1,20,3,98\r\n2,10,4,97\r\n");
  EXPECT_EQ(run("complete windows.csv --out m.npz").status, 0);
  write("equal.txt", "1 1 3\n1 2 3\n2 1 3\n2 2 3\n");
  write("pair.txt", "2 2\n");
  ASSERT_EQ(run("complete equal.txt --out m.npz").status, 0);
  EXPECT_EQ(table(run("predict m.npz pair.txt").out)[0][2], "3");
  write("line.txt", "1 1 3\n1 2 4\n1 3 5\n");
  EXPECT_EQ(run("complete line.txt").status, 0);
  write("gaps.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 5 3\n1 1 2\n2 3 4\n4 5 1\n");  // row 3 has no entry
  const json object = run_json("complete gaps.mtx --out m.npz");
  EXPECT_EQ(object["rows"].get<int>(), 4);
  EXPECT_EQ(object["columns"].get<int>(), 5);
  write("twice.txt", "1 1 3\n1 2 1\n1 1 5\n2 2 2\n");
  ASSERT_EQ(run("complete twice.txt --duplicates last --out m.npz").status, 0);
  EXPECT_EQ(load_completion(path("m.npz")).seen.value[0], 5.0F);
}

TEST_F(CompletionCli, TestEntriesThatOverlapOrAreUnknownAreNamed) {
  write("train.txt", "1 1 3\n1 2 4\n2 1 5\n2 2 1\n3 1 2\n");
  write("test.txt", "1 1 3\n9 1 4\n3 2 2\n");
  const Finished finished = run("complete train.txt --test test.txt --json");
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("1 of 3 test entries are training entries"),
                                  HasSubstr("1 of 3 test entries have a row or column")));
  EXPECT_EQ(json::parse(finished.out)["test"]["unknown"].get<int>(), 1);
}

TEST_F(CompletionCli, EqualAndExtremeValuesAreCompletedWithEveryEffort) {
  const auto ratings = [](const std::string& a, const std::string& b) {
    std::string text;
    for (int i = 0; i < 12; ++i)
      for (int j = i % 3; j < 8; j += 1 + i % 2)
        text += fmt::format("u{},i{},{}\n", i, j, (i + j) % 2 ? a : b);
    return text;
  };
  write("equal.csv", ratings("5", "5"));
  write("zeros.csv", ratings("0", "0"));
  write("huge.csv", ratings("3e38", "-3e38"));
  write("tiny.csv", ratings("1e-40", "3e-40"));
  write("pair.csv", "u3,i7\nnobody,i1\n");
  for (const std::string data : {"equal", "zeros", "huge", "tiny"})
    for (const std::string how :
         {"", "--effort high --samples 30", "--left sphere", "--left nonneg --offsets"}) {
      const std::string what = data + " " + how;
      run_json("complete " + data + ".csv " + how + " --out m.npz");
      const auto predicted = table(run("predict m.npz pair.csv").out);
      ASSERT_EQ(predicted.size(), 2U) << what;
      for (const auto& line : predicted) {
        const double value = std::stod(line[2]), deviation = std::stod(line[3]);
        EXPECT_TRUE(std::isfinite(value) && std::isfinite(deviation)) << what;
        if (data == "equal") {
          EXPECT_EQ(value, 5) << what;
        }
        if (data == "zeros") {
          EXPECT_EQ(value, 0) << what;
        }
      }
    }
}

TEST_F(CompletionCli, TheReasonForTheEndIsTold) {
  const json object = run_json("complete r.csv --out m.npz");
  EXPECT_EQ(object["stop"], "no_gain");
  EXPECT_EQ(run_json("inspect m.npz")["stop"], "no_gain");
  EXPECT_THAT(run("inspect m.npz").out, HasSubstr("no_gain"));
  EXPECT_EQ(run_json("complete r.csv --time-limit 1e-9")["stop"], "time_limit");
  EXPECT_EQ(run_json("complete r.csv --left nonneg --rank 1 --out m.npz")["stop"], "rank_reached");
  EXPECT_EQ(run_json("inspect m.npz")["stop"], "rank_reached");
  EXPECT_THAT(run("complete r.csv").err, HasSubstr("more atoms did not predict"));
}

TEST_F(CompletionCli, BadInputGetsOneClearErrorAndNothingIsWritten) {
  write("few.txt", "1 1 3\n1 2\n");
  write("word.txt", "1 1 3\n1 2 good\n");
  write("nan.txt", "1 1 3\n1 2 nan\n");
  write("twice.txt", "1 1 3\n1 2 1\n1 1 5\n");
  write("empty.txt", "");
  write("header.csv", "user,item,rating\n");
  write("skew.txt", "a b 3\nb a 4\n");
  write("words.csv", "id,colour\nu1,red\n");
  write("pairs.txt", "1\n");
  ASSERT_EQ(run("complete r.csv --out m.npz").status, 0);
  ASSERT_EQ(run("complete r.csv --left nonneg --rank 2 --out atoms.npz").status, 0);
  expect_refused({
      {"missing file", "complete none.dat", 3, "none.dat"},
      {"too few fields", "complete few.txt", 3, "line 2"},
      {"not a number", "complete word.txt", 3, "line 2"},
      {"NaN", "complete nan.txt", 3, "line 2"},
      {"duplicate pair", "complete twice.txt", 3, "line 3"},
      {"empty file", "complete empty.txt", 3, "empty.txt"},
      {"header only", "complete header.csv", 3, "header.csv"},
      {"holdout takes all", "complete r.csv --holdout 0.99999", 3, "--holdout 0.99999"},
      {"holdout above one", "complete r.csv --holdout 1.5", 2, "--holdout 1.5"},
      {"test and holdout", "complete r.csv --holdout 0.1 --test r.csv", 2, "choose one"},
      {"clip", "complete r.csv --clip 5:1", 2, "--clip 5:1"},
      {"draws beyond counting", "complete r.csv --samples 2147483647", 2, "2147483647"},
      {"regularization", "complete r.csv --regularize -1", 2, "-1"},
      {"preset and sets", "complete r.csv --preset gmpr --left nonneg", 2, "--preset"},
      {"unknown preset", "complete r.csv --preset best", 2, "best"},
      {"effort of structured", "complete r.csv --left nonneg --effort high", 2, "--effort high"},
      {"features of structured", "complete r.csv --left nonneg --row-features r.csv", 2, "--row-features"},
      {"update of structured", "complete r.csv --update atoms.npz --out x.npz", 3, "atoms.npz"},
      {"update of a missing model", "complete r.csv --update none.npz --out x.npz", 3, "none.npz"},
      {"set too large", "complete r.csv --left sparse:500", 2, "sparse:500"},
      {"not symmetric", "complete skew.txt --symmetric sphere --validation 0", 3, "not symmetric"},
      {"features that are words", "complete r.csv --row-features words.csv", 3, "words.csv"},
      {"threads", "complete r.csv --threads -2", 2, "threads -2"},
      {"validation", "complete r.csv --validation 1", 2, "validation 1"},
      {"pairs with one id", "predict m.npz pairs.txt", 3, "line 1"},
      {"not a model", "predict r.csv r.csv", 3, "r.csv"},
      {"row unknown", "recommend m.npz --row 9999", 3, "9999"},
      {"row and all", "recommend m.npz --row 1 --all", 2, "--all"},
      {"neither row nor all", "recommend m.npz", 2, "--row"},
      {"top", "recommend m.npz --row 1 --top 0", 2, "--top 0"},
      {"split", "evaluate r.csv --split 50/50/50", 2, "split"},
      {"split of words", "evaluate r.csv --split half", 2, "--split half"},
      {"method", "evaluate r.csv --methods best", 2, "best"},
      {"folds", "evaluate r.csv --folds 1", 2, "folds 1"},
      {"output folder missing", "complete r.csv --out none/m.npz", 4, "none/m.npz"},
  });
}

}  // namespace
}  // namespace pursuit
