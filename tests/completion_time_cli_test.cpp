// Entries with times, from the shell: offsets that drift, and a model asked at a time.

#include <cmath>

#include "completion_cli_support.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class CompletionInTimeCli : public CompletionCli {
 protected:
  void SetUp() override {
    CompletionCli::SetUp();
    Random random(3);
    std::string moody = "user,item,rating,timestamp\n", steady = moody;
    const Matrix u = random.gaussian_matrix(60, 1), v = random.gaussian_matrix(100, 1);
    for (int i = 0; i < 60; ++i)
      for (int j = 0; j < 100; ++j) {
        const double t = 1000 * random.uniform(), value = u(i, 0) * v(j, 0) + 0.2 * random.gaussian();
        if (random.uniform() < 0.3) continue;
        moody += fmt::format("u{},i{},{},{}\n", i, j, value + std::sin(t / 80 + i), t);
        steady += fmt::format("u{},i{},{},{}\n", i, j, value, t);
      }
    write("moody.csv", moody);
    write("steady.csv", steady);
  }
};

TEST_F(CompletionInTimeCli, OffsetsDriftWhereItPays) {
  const json plain = run_json("complete moody.csv --holdout 0.1");
  const json drifting = run_json("complete moody.csv --time --holdout 0.1 --out m.npz");
  EXPECT_LT(drifting["test"]["rmse"].get<double>(), 0.8 * plain["test"]["rmse"].get<double>());
  EXPECT_GT(drifting["drift"]["rows"]["reach"].get<double>(), 0);
  EXPECT_TRUE(run_json("complete steady.csv --time")["drift"]["rows"].is_null());
  EXPECT_FALSE(plain.contains("drift"));
  EXPECT_EQ(run_json("complete moody.csv --columns user,item,rating,timestamp --holdout 0.1")["test"],
            drifting["test"]);
}

TEST_F(CompletionInTimeCli, AModelIsAskedAtATime) {
  const double newest = run_json("complete moody.csv --time --out m.npz")["drift"]["newest"];
  write("pairs.csv", "u1,i1\nu1,i2\nu2,i1\n");
  const auto values = [&](const std::string& more) { return run("predict m.npz pairs.csv" + more).out; };
  EXPECT_EQ(values(""), values(fmt::format(" --time {}", newest)));
  EXPECT_NE(values(""), values(" --time 500"));
  EXPECT_EQ(values(" --time 1e9"), values(" --time 2100-01-01")) << "far from any entry";
  const auto lists = [&](const std::string& more) {
    return run("recommend m.npz --row u1 --row u2 --top 3" + more).out;
  };
  EXPECT_EQ(lists(""), lists(fmt::format(" --time {}", newest)));
  EXPECT_NE(lists(""), lists(" --time 500"));
  ASSERT_EQ(run("complete moody.csv --update m.npz --duplicates last --out next.npz").status, 0);
  EXPECT_EQ(run("predict next.npz pairs.csv --time 500").out, values(" --time 500"));
}

TEST_F(CompletionInTimeCli, EvaluateKnowsDrift) {
  const json table = run_json("evaluate moody.csv --split 80/20 --methods default,drift");
  EXPECT_LT(table["methods"][1]["rmse"].get<double>(), 0.9 * table["methods"][0]["rmse"].get<double>());
  const json later = run_json("evaluate steady.csv --split-by-time --split 80/20 --methods default,drift");
  EXPECT_EQ(later["methods"][1]["rmse"], later["methods"][0]["rmse"]);
}

TEST_F(CompletionInTimeCli, TimesThatMakeNoSenseAreRefused) {
  ASSERT_EQ(run("complete moody.csv --time --out m.npz").status, 0);
  write("pairs.csv", "u1,i1\n");
  write("never.csv", "user,item,rating,timestamp\na,b,1,soon\n");
  expect_refused({{"clicks", "complete moody.csv --implicit --time", 2, "--implicit"},
                  {"update", "complete moody.csv --update m.npz --time", 2, "keeps the drift"},
                  {"no column", "complete r.csv --time", 3, "time"},
                  {"no time", "complete never.csv --time", 3, "soon"},
                  {"asked at no time", "predict m.npz pairs.csv --time soon", 3, "soon"},
                  {"not of entries", "evaluate r.csv --methods drift", 3, "time"}});
}

}  // namespace
}  // namespace pursuit
