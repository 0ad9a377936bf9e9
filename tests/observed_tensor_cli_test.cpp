// The program on arrays with gaps, losses and weights.

#include <fstream>

#include "cli_support.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/observed_tensor_file.hpp"
#include "pursuit/io/tensor_file.hpp"
#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ObservedTensorCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    t = dense({random_factors({12, 10, 8}, 2, 1, true), Vector::Ones(2)});
    write_tensor(path("T.npy"), {random_factors({12, 10, 8}, 2, 1, true), Vector::Ones(2)});
    // A third of it is unknown, and known to a file of its own.
    PlainTensor seen = t, hidden = t;
    for (std::size_t e = 0; e < t.values.size(); ++e)
      (e % 3 == 1 ? seen : hidden).values[e] = std::numeric_limits<double>::quiet_NaN();
    save("gaps.npy", seen);
    save("hidden.npy", hidden);
  }

  /// As .npy, by the header of a file that is there.
  void save(const std::string& name, const PlainTensor& values) {
    std::ifstream from(path("T.npy"), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(from)), {});
    const std::size_t size = values.values.size() * sizeof(double);
    bytes.resize(bytes.size() - size);
    bytes.append(reinterpret_cast<const char*>(values.values.data()), size);
    write(name, bytes);
  }

  PlainTensor t{{1, 1}};
};

TEST_F(ObservedTensorCli, CompletesWhatIsNaN) {
  for (const char* more : {"", " --regularize none", " --rank 3 --regularize none"}) {
    const json object = run_json(
        "complete gaps.npy --modes nonneg,nonneg,nonneg --weights nonneg --test hidden.npy "
        "--out m.npz" +
        std::string(more));
    EXPECT_EQ(object["shape"], (std::vector<Index>{12, 10, 8}));
    EXPECT_EQ(object["entries"], 640);
    EXPECT_EQ(object["test"]["count"], 320);
    EXPECT_LT(object["test"]["rmse"].get<double>(), 0.05) << more;
    EXPECT_TRUE(object["places_without_entries"].empty());
  }
  ASSERT_EQ(run("reconstruct m.npz --out X.npy").status, 0);
  const ObservedTensor X = read_observed_tensor(path("X.npy"), Others::unknown);
  write("places.csv", "1,1,1\n12,10,8\n");
  const json predicted = run_json("predict m.npz places.csv");
  EXPECT_NEAR(predicted["predictions"][0]["value"].get<double>(), X.entries.value.front(), 1e-9);
  EXPECT_NEAR(predicted["predictions"][1]["value"].get<double>(), X.entries.value.back(), 1e-9);
  EXPECT_EQ(predicted["predictions"][1]["place"], (std::vector<Index>{12, 10, 8}));
  EXPECT_THAT(run("predict m.npz places.csv").out, HasSubstr("mode_0,mode_1,mode_2,value\n1,1,1,"));
  EXPECT_EQ(run_json("inspect m.npz")["shape"], (std::vector<Index>{12, 10, 8}));
}

TEST_F(ObservedTensorCli, WhatAListLeavesOutIsUnknown) {
  std::string text;
  for (std::size_t e = 0; e < t.values.size(); ++e) {
    if (e % 4 == 2) continue;
    const auto at = t.position(Index(e));
    text += fmt::format("{} {} {} {}\n", at[0] + 1, at[1] + 1, at[2] + 1, t.values[e]);
  }
  write("t.tns", text);
  const json object = run_json(
      "complete t.tns --modes nonneg,nonneg,nonneg --weights nonneg --regularize none --holdout 0.1 --rank "
      "2");
  EXPECT_EQ(object["entries"], 648);
  EXPECT_EQ(object["test"]["count"], 72);
  EXPECT_LT(object["test"]["rmse"].get<double>(), 0.05);
}

TEST_F(ObservedTensorCli, OffsetsAndLossesComeBackWithTheModel) {
  PlainTensor clicks = t;
  const double middle = Eigen::Map<const Vector>(t.values.data(), t.count()).mean();
  for (std::size_t e = 0; e < t.values.size(); ++e)
    clicks.values[e] = e % 5 == 1             ? std::numeric_limits<double>::quiet_NaN()
                       : t.values[e] > middle ? 1.0
                                              : 0.0;
  save("clicks.npy", clicks);
  const json object = run_json("complete clicks.npy --loss bernoulli --offsets --rank 1 --out m.npz");
  EXPECT_EQ(object["loss"], "bernoulli");
  EXPECT_GT(object["deviance_explained"].get<double>(), 0.3);
  ASSERT_EQ(run("reconstruct m.npz --out X.npy").status, 0);
  const ObservedTensor X = read_observed_tensor(path("X.npy"), Others::unknown);
  for (const double p : X.entries.value) EXPECT_TRUE(p >= 0 && p <= 1);
  write("places.csv", "3,4,5\n1,10,2\n");
  const json predicted = run_json("predict m.npz places.csv");
  EXPECT_NEAR(predicted["predictions"][0]["value"].get<double>(), X.entries.value[(2 * 10 + 3) * 8 + 4],
              1e-9);
  EXPECT_NEAR(predicted["predictions"][1]["value"].get<double>(), X.entries.value[(0 * 10 + 9) * 8 + 1],
              1e-9);
}

TEST_F(ObservedTensorCli, FactorsCountsAndWeighsEntries) {
  PlainTensor counts = t, weights = t;
  for (std::size_t e = 0; e < t.values.size(); ++e) {
    counts.values[e] = std::floor(4 * t.values[e]);
    weights.values[e] = e % 3 == 1 ? 0.0 : 1.0;
  }
  save("counts.npy", counts);
  save("w.npy", weights);
  const std::string sets = " --modes nonneg,nonneg,nonneg --weights nonneg --loss poisson --rank 2 ";
  const json full = run_json("factor counts.npy" + sets);
  EXPECT_EQ(full["loss"], "poisson");
  EXPECT_GT(full["deviance_explained"].get<double>(), 0.5);
  // An entry of weight 0 is one that is not known.
  for (std::size_t e = 0; e < t.values.size(); ++e)
    if (e % 3 == 1) counts.values[e] = std::numeric_limits<double>::quiet_NaN();
  save("missing.npy", counts);
  const json weighted = run_json("factor counts.npy" + sets +
                                 "--entry-weights w.npy --polish 3000 --polish-tolerance 1e-12"),
             missing = run_json("complete missing.npy" + sets + "--max-sweeps 3000 --tolerance 1e-12");
  EXPECT_NEAR(weighted["objective"].get<double>(), missing["objective"].get<double>(),
              1e-4 * missing["objective"].get<double>());
}

/// Ids are those of the table wherever they are: in the model, in what is held against it, in weights, in
/// questions.
TEST_F(ObservedTensorCli, IdsOfATableAreKeptAndAskedFor) {
  const auto table = [&](const auto& wanted, const auto& value) {
    std::string text = "station,day of week,hour,trips\n";
    for (Index e = t.count(); e-- > 0;) {  // in an order of its own
      const auto at = t.position(e);
      if (wanted(e)) text += fmt::format("\"s {}\",d{},{},{}\n", at[0], at[1], at[2] + 6, value(e));
    }
    return text;
  };
  const auto own_value = [&](Index e) { return t.values[std::size_t(e)]; };
  write("known.csv", table([](Index e) { return e % 3 != 1; }, own_value));
  write("hidden.csv", table([](Index e) { return e % 3 == 1; }, own_value) + "nowhere,d1,7,3\n");
  write("weights.csv", table([](Index e) { return e % 3 == 0; }, [](Index) { return 2; }));
  const std::string sets =
      "complete known.csv --modes nonneg,nonneg,nonneg --weights nonneg --rank 2 --regularize none ";
  const auto result = run(sets + "--test hidden.csv --out m.npz --json");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("1 of 321 test entries have an id that the data do not have"));
  EXPECT_LT(json::parse(result.out)["test"]["rmse"].get<double>(), 0.05);
  EXPECT_EQ(run_json(sets + "--entry-weights weights.csv")["entries"], 640);
  const json inspected = run_json("inspect m.npz");
  EXPECT_EQ(inspected["names"][2][0], "6") << "numbers are in their order";
  EXPECT_EQ(inspected["metadata"]["labels"], "station,day of week,hour");
  EXPECT_THAT(run("inspect m.npz").out, HasSubstr("mode 0: s "));
  write("asked.csv", "station,day of week,hour\n\"s 3\",d2,7\n\"s 0\",d9,13\ns 99,d9,13\n");
  const json asked = run_json("predict m.npz asked.csv");
  EXPECT_EQ(asked["count"], 3);
  EXPECT_EQ(asked["unknown"], 1);
  EXPECT_NEAR(asked["predictions"][0]["value"].get<double>(), t.values[(3 * 10 + 2) * 8 + 1], 0.05);
  EXPECT_NEAR(asked["predictions"][1]["value"].get<double>(), t.values[(0 * 10 + 9) * 8 + 7], 0.05);
  EXPECT_EQ(asked["predictions"][1]["ids"], (std::vector<std::string>{"s 0", "d9", "13"}));
  EXPECT_EQ(asked["predictions"][2]["value"], 0.0);
  EXPECT_EQ(asked["predictions"][2]["known"], (std::vector<bool>{false, true, true}));
  const auto text = run("predict m.npz asked.csv");
  EXPECT_THAT(text.out, HasSubstr("station,day of week,hour,value,note\ns 3,d2,7,"));
  EXPECT_THAT(text.out, HasSubstr("s 99,d9,13,0,unknown station\n"));
  EXPECT_THAT(text.err, HasSubstr("1 of 3 entries have an id that the model has never seen"));
  // The table of the whole array is read back as it is, and predicts itself.
  ASSERT_EQ(run("reconstruct m.npz --out all.csv").status, 0);
  const TensorData all = read_tensor(path("all.csv"));
  EXPECT_EQ(all.stored, 960);
  EXPECT_EQ(all.labels, (std::vector<std::string>{"station", "day of week", "hour"}));
  const json again = run_json("predict m.npz all.csv");
  const SparseTensor entries = entries_of(*all.target).value();
  ASSERT_EQ(again["count"], 960);
  EXPECT_EQ(again["unknown"], 0);
  EXPECT_NEAR(again["predictions"][500]["value"].get<double>(), entries.value[500], 1e-9);
}

TEST_F(ObservedTensorCli, NumbersOfATableArePlacesOfAnArrayWithoutNames) {
  write("one.csv", "9,10,8,1.5\n12,3,1,0.5\n");  // places, not the first two ids of a mode
  const json object = run_json(
      "complete gaps.npy --modes nonneg,nonneg,nonneg --weights nonneg --regularize none --rank 2 --test "
      "one.csv "
      "--out m.npz");
  EXPECT_EQ(object["test"]["count"], 2);
  write("places.csv", "9,10,8\n12,3,1\n");
  const json asked = run_json("predict m.npz places.csv")["predictions"];
  const double mae =
      (std::abs(asked[0]["value"].get<double>() - 1.5) + std::abs(asked[1]["value"].get<double>() - 0.5)) / 2;
  EXPECT_NEAR(object["test"]["mae"].get<double>(), mae, 1e-6);
}

TEST_F(ObservedTensorCli, ModesMayShareTheirFactors) {
  const Factors planted(std::vector<Panel>{uniform(9, 2, 1), uniform(7, 2, 2)}, {0, 0, 1});
  const PlainTensor symmetric = dense({planted, Vector::Constant(2, 3.0)});
  std::string text, counts;
  for (Index e = 0; e < symmetric.count(); ++e) {
    const auto at = symmetric.position(e);
    const double y = symmetric.values[std::size_t(e)];
    if (e % 3 != 1) text += fmt::format("{} {} {} {}\n", at[0] + 1, at[1] + 1, at[2] + 1, y);
    if (std::floor(y) > 0)
      counts += fmt::format("{} {} {} {}\n", at[0] + 1, at[1] + 1, at[2] + 1, std::floor(y));
  }
  write("s.tns", text);
  write("c.tns", counts);
  const std::string sets = " --modes nonneg,nonneg,nonneg --weights nonneg --symmetric-modes 0,1 --rank 2 ";
  const json gaps = run_json("complete s.tns --holdout 0.1 --out m.npz" + sets);
  EXPECT_LT(gaps["test"]["rmse"].get<double>(), 0.05);
  const AnyModelFile any = load_any_model(path("m.npz"));
  EXPECT_EQ(std::get<ModelFile>(any).model.factors.panels(), 2);
  EXPECT_GT(run_json("factor c.tns --loss poisson" + sets)["deviance_explained"].get<double>(), 0.7);
  EXPECT_THAT(run("complete s.tns --regularize auto" + sets).err, HasSubstr("these take none, or a number"));
}

TEST_F(ObservedTensorCli, ASliceOfWhichNothingIsKnownIsNamed) {
  PlainTensor seen = t;
  for (Index e = 0; e < t.count(); ++e)
    if (t.position(e)[1] == 4) seen.values[std::size_t(e)] = std::numeric_limits<double>::quiet_NaN();
  save("slice.npy", seen);
  const auto result = run("complete slice.npy --modes nonneg,nonneg,nonneg --weights nonneg --rank 2 --json");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("mode 1: no entry is known of 1 of 10 places (counted from 1: 5)"));
  EXPECT_EQ(json::parse(result.out)["places_without_entries"]["1"], (std::vector<Index>{5}));
}

TEST_F(ObservedTensorCli, BadInputHasOneClearError) {
  PlainTensor infinite = t, nothing = t;
  infinite.values[7] = std::numeric_limits<double>::infinity();
  nothing.values.assign(nothing.values.size(), std::numeric_limits<double>::quiet_NaN());
  save("infinite.npy", infinite);
  save("nothing.npy", nothing);
  write("ragged.tns", "1 1 1 2\n2 1 3\n");
  write("twice.tns", "1 1 1 2\n2 1 3 1\n1 1 1 2\n");
  write("few.tns", "1 1 1 2\n2 1 3 1\n");
  write("elsewhere.tns", "1 1 2 1\n");  // which is unknown
  write("places.csv", "1,1,9\n");
  write("pairs.csv", "1,1\n");
  write("nothing.csv", "who,what,when\n");
  write("names.csv", "who,what,when,value\na,x,1,2\nb,y,1,3\na,y,2,1\n");
  write("strangers.csv", "c,x,1,2\nd,y,1,3\n");
  ASSERT_EQ(run("complete gaps.npy --rank 1 --out m.npz").status, 0);
  ASSERT_EQ(run("complete names.csv --modes nonneg,nonneg,nonneg --rank 1 --out named.npz").status, 0);
  for (const auto& [arguments, status, message] :
       {std::tuple("complete gaps.npy --modes nonneg,nonneg", 2, "2 sets for an array of 3 modes"),
        std::tuple("complete gaps.npy --modes nonneg,nonneg,round", 2, "round"),
        std::tuple("complete gaps.npy --left nonneg", 2, "--left: for matrices"),
        std::tuple("complete gaps.npy --effort high", 2, "--effort high: for matrices"),
        std::tuple("complete gaps.npy --rank 0", 2, "at least one atom"),
        std::tuple("complete gaps.npy --validation 0", 2, "the rank has to be given"),
        std::tuple("complete gaps.npy --loss poisson", 2, "weights must be nonneg"),
        std::tuple("complete gaps.npy --loss bernoulli --regularize 0.1", 2, "of squares alone"),
        std::tuple("complete gaps.npy --test hidden.npy --holdout 0.1", 2, "choose one"),
        std::tuple("complete gaps.npy --rank 1 --entry-weights elsewhere.tns", 3, "no entry has a weight"),
        std::tuple("complete infinite.npy", 3, "is inf, not a finite number"),
        std::tuple("complete nothing.npy", 3, "no entry is known"),
        std::tuple("complete ragged.tns", 3, "ragged.tns, line 2: the value is missing"),
        std::tuple("complete twice.tns", 3, "line 3: this place was already given on line 1"),
        std::tuple("complete few.tns", 3, "too few"),
        std::tuple("factor gaps.npy --loss huber:1", 3, "'complete' takes it as unknown"),
        std::tuple("factor T.npy --loss huber:1 --symmetric-modes 0,1", 2, "have sizes 12 and 10"),
        std::tuple("complete gaps.npy --symmetric-modes 0,1", 2, "have sizes 12 and 10"),
        std::tuple("complete gaps.npy --symmetric-modes 0,3", 2, "'3' is no mode; allowed are 0 to 2"),
        std::tuple("factor T.npy --loss huber:1 --ridge 1", 2, "full arrays only"),
        std::tuple("factor T.npy --loss huber:1 --row-weights w.csv", 2, "for matrices"),
        std::tuple("predict m.npz places.csv", 3,
                   "index 9 of mode 2 in row 1 is not a whole number from 1 to 8"),
        std::tuple("predict m.npz pairs.csv", 3, "2 columns; the indices of an entry of this model are 3"),
        std::tuple("predict named.npz pairs.csv", 3, "line 1: 2 cells; an entry of this model has 3 ids"),
        std::tuple("predict named.npz gaps.npy", 3, "the 3 ids of an entry are text"),
        std::tuple("predict named.npz nothing.csv", 3, "no entry is asked for"),
        std::tuple("complete names.csv --modes nonneg,nonneg,nonneg --rank 1 --test strangers.csv", 3,
                   "no entry has ids that are all among those of the data")}) {
    const auto result = run(arguments);
    EXPECT_EQ(result.status, status) << arguments << '\n' << result.err;
    EXPECT_THAT(result.err, HasSubstr(message)) << arguments;
  }
}

}  // namespace
}  // namespace pursuit
