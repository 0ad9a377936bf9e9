// The program on arrays of three and more modes.

#include "cli_support.hpp"
#include "io/npy.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/tensor_file.hpp"
#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class TensorCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_tensor(path("T.npy"), {random_factors({9, 8, 7}, 3, 1, true), Vector::Ones(3)});
  }
};

TEST_F(TensorCli, FactorsAndReconstructsToTheErrorItClaims) {
  const json object =
      run_json("factor T.npy --rank 3 --modes nonneg,nonneg,nonneg+sparse:7 --weights nonneg --out m.npz");
  EXPECT_EQ(object["shape"], (std::vector<Index>{9, 8, 7}));
  EXPECT_LT(object["relative_error"].get<double>(), 0.1);
  ASSERT_EQ(run("reconstruct m.npz --out X.npy").status, 0);
  const auto model = std::get<ModelFile>(load_any_model(path("m.npz"))).model;
  const double distance_squared = *read_tensor(path("T.npy")).target->squared_distance(model);
  const double size = read_tensor(path("T.npy")).target->squared_norm();
  EXPECT_NEAR(std::sqrt(distance_squared / size), object["relative_error"].get<double>(), 1e-9);
  EXPECT_NEAR(*read_tensor(path("X.npy")).target->squared_distance(model), 0, 1e-18 * size);
}

TEST_F(TensorCli, MayStartWithAllAtomsAtOnce) {
  const json object =
      run_json("factor T.npy --rank 3 --modes nonneg,nonneg,nonneg --weights nonneg --start random");
  EXPECT_EQ(object["rank"], 3);
  EXPECT_LT(object["relative_error"].get<double>(), 0.1);
}

TEST_F(TensorCli, KnownFactorsOfAModeStay) {
  const Factors planted = random_factors({9, 8, 7}, 3, 1, true);
  write_matrix(path("known.csv"), {AnyMatrix(Matrix(planted[2].leftCols(2))), {}, {}});
  write_matrix(path("wrong.csv"), {AnyMatrix(Matrix(planted[1])), {}, {}});
  const json object = run_json(
      "factor --fix-mode 2 known.csv T.npy --rank 3 --modes nonneg,nonneg,nonneg --weights nonneg --out "
      "m.npz");
  EXPECT_LT(object["relative_error"].get<double>(), 0.1);
  const AnyModelFile any = load_any_model(path("m.npz"));
  EXPECT_LT(max_difference(std::get<ModelFile>(any).model.factors[2].leftCols(2), planted[2].leftCols(2)),
            1e-12);
  EXPECT_THAT(run("factor T.npy --fix-mode 2 wrong.csv").err,
              HasSubstr("wrong.csv: has 8 rows, but mode 2 has 7 indices"));
  EXPECT_THAT(run("factor T.npy --fix-mode 3 known.csv").err,
              HasSubstr("'3' is no mode; allowed are 0 to 2"));
  EXPECT_EQ(run("factor T.npy --fix-mode 2").status, 2);
}

TEST_F(TensorCli, SizesAreThoseOfAllModes) {
  const json object = run_json("factor T.npy --rank 2 --out m.npz");
  EXPECT_FALSE(object.contains("rows"));
  EXPECT_FALSE(object.contains("columns"));
  const json written = run_json("reconstruct m.npz --out X.npy");
  EXPECT_EQ(written["shape"], (std::vector<Index>{9, 8, 7}));
  EXPECT_FALSE(written.contains("rows"));
}

TEST_F(TensorCli, AtomsThatCancelAreSaidWithTheirCures) {
  PlainTensor border({2, 2, 2});
  border.values[1] = border.values[2] = border.values[4] = 1;
  write("border.npy", io::format_npy(NpyArray{border.shape, border.values}));
  const auto result = run("factor border.npy --rank 2 --json");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(json::parse(result.out)["degeneracy"]["degenerate"].get<bool>());
  EXPECT_THAT(result.err, HasSubstr("atoms 1 and 2 cancel each other"));
  EXPECT_THAT(result.err, HasSubstr("Cures: --ridge, nonneg"));
  const auto cured = run("factor border.npy --rank 2 --ridge 0.05 --json");
  EXPECT_FALSE(json::parse(cured.out)["degeneracy"]["degenerate"].get<bool>());
  EXPECT_THAT(cured.err, testing::Not(HasSubstr("cancel")));
}

TEST_F(TensorCli, NamesOfATableAreKeptAndShown) {
  write("t.csv", "station,day,hour,trips\nnorth,mon,8,5\nsouth,tue,9,2\nnorth,tue,9,1\n");
  const json object = run_json(
      "factor t.csv --rank 2 --modes nonneg,nonneg,nonneg+smooth:3 --weights nonneg --starts 2 --out m.npz");
  EXPECT_EQ(object["shape"], (std::vector<Index>{2, 2, 2}));
  const json inspected = run_json("inspect m.npz");
  EXPECT_EQ(inspected["names"][0], (std::vector<std::string>{"north", "south"}));
  EXPECT_EQ(inspected["metadata"]["labels"], "station,day,hour");
  EXPECT_THAT(run("inspect m.npz").out, HasSubstr("mode 0: north"));
}

TEST_F(TensorCli, FilesOfSetsMayNameTheIndicesOfAMode) {
  write("t.csv",
        "station,day,hour,trips\nnorth,mon,8,5\nsouth,tue,9,2\nnorth,tue,9,1\neast,mon,9,4\neast,tue,8,3\n");
  write("seen.txt", "east\nsouth\n");
  write("unseen.txt", "west\n");
  const std::string modes = " --modes support:" + path("seen.txt") + ",sphere,sphere";
  for (const std::string command :
       {"factor t.csv --rank 1 --starts 0", "complete t.csv --rank 1 --regularize none"}) {
    ASSERT_EQ(run(command + modes + " --out m.npz").status, 0) << command;
    const Factors factors = std::get<ModelFile>(load_any_model(path("m.npz"))).model.factors;
    EXPECT_EQ(factors[0](0, 0), 0) << "north is not among them";
    EXPECT_NE(factors[0](1, 0), 0);
    EXPECT_NE(factors[0](2, 0), 0);
  }
  EXPECT_THAT(run("factor t.csv --rank 1 --modes support:" + path("unseen.txt") + ",sphere,sphere").err,
              HasSubstr("'west' is not the name"));
  EXPECT_THAT(run("factor T.npy --rank 1" + modes).err, HasSubstr("'south' is not a finite number"));
}

TEST_F(TensorCli, InspectShowsEveryMode) {
  ASSERT_EQ(run("factor T.npy --rank 2 --out m.npz").status, 0);
  const json object = run_json("inspect m.npz");
  EXPECT_EQ(object["shape"], (std::vector<Index>{9, 8, 7}));
  EXPECT_EQ(object["atoms"][0]["supports"], (std::vector<Index>{9, 8, 7}));
  EXPECT_THAT(run("inspect m.npz").out, HasSubstr("9 x 8 x 7, 2 atoms"));
}

TEST_F(TensorCli, ReadsListsOfEntries) {
  write("t.tns", "1 1 1 2\n2 1 3 1\n3 2 2 4\n");
  const json object = run_json("factor t.tns --rank 3");
  EXPECT_EQ(object["shape"], (std::vector<Index>{3, 2, 3}));
  EXPECT_EQ(object["stored"], 3);
  EXPECT_LT(object["relative_error"].get<double>(), 1e-6);
}

/// Sizes whose product no whole number holds: a sparse array never asks for it, what would be dense says so.
TEST_F(TensorCli, SizesMayHaveAProductThatOverflows) {
  std::string text;
  for (int e = 0; e < 4000; ++e)
    text += fmt::format("{} {} {} {} {}\n", 1 + e * 240, 1 + e * 241, 1 + e * 242, 1 + e * 243, 1 + e % 7);
  write("huge.tns", text);  // 10^24 places
  const json object = run_json("factor huge.tns --rank 1 --start random --polish 2 --out m.npz");
  EXPECT_EQ(object["stored"], 4000);
  EXPECT_TRUE(std::isfinite(object["relative_error"].get<double>()));
  const auto result = run("reconstruct m.npz --out X.npy");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.err, HasSubstr("would have"));
  const auto looked_at = run("factor huge.tns --rank 1 --loss huber:1");
  EXPECT_EQ(looked_at.status, 3);
  EXPECT_THAT(looked_at.err, HasSubstr("looks at every one of"));
}

TEST_F(TensorCli, BadInputHasOneClearError) {
  write("bad.tns", "1 1 1 2\n2 1 3\n");
  for (const auto& [arguments, status, message] :
       {std::tuple("factor T.npy --modes nonneg,nonneg", 2, "2 sets for an array of 3 modes"),
        std::tuple("factor T.npy --modes nonneg,nonneg,round", 2, "round"),
        std::tuple("factor T.npy --symmetric-modes 0,1", 2, "have sizes 9 and 8"),
        std::tuple("factor T.npy --symmetric-modes 0,5", 2, "'5' is no mode; allowed are 0 to 2"),
        std::tuple("factor T.npy --symmetric-modes 1", 2, "two modes or more"),
        std::tuple("factor T.npy --left nonneg", 2, "--left: for matrices"),
        std::tuple("factor T.npy --loss poisson", 2, "weights must be nonneg or convex, not free"),
        std::tuple("factor T.npy --start model.npz", 2, "start greedy, leading or random"),
        std::tuple("factor T.npy --ridge -1", 2, "--ridge"),
        std::tuple("factor T.npy --starts -3", 2, "--starts"),
        std::tuple("factor bad.tns", 3, "bad.tns, line 2: the value is missing"),
        std::tuple("pca T.npy", 3, "3 dimensions")}) {
    const auto result = run(arguments);
    EXPECT_EQ(result.status, status) << arguments;
    EXPECT_THAT(result.err, HasSubstr(message)) << arguments;
  }
  ASSERT_EQ(run("factor T.npy --rank 1 --out m.npz").status, 0);
  EXPECT_THAT(run("reconstruct m.npz --out X.csv").err, HasSubstr("written as .npy"));
}

}  // namespace
}  // namespace pursuit
