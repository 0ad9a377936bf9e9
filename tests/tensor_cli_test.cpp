// The program on arrays of three and more modes.

#include "cli_support.hpp"
#include "pursuit/io/completion_file.hpp"
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
