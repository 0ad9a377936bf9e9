// The program with losses beyond squares.

#include <nlohmann/json.hpp>

#include "cli_support.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/model_file.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

class LossCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const Matrix x = gaussian(40, 2, 1) * gaussian(2, 25, 2);
    const Matrix noise = uniform(40, 25, 3);
    write_matrix(path("binary.npy"),
                 {Matrix(((-x).array().exp() < (1 / noise.array() - 1)).cast<double>()), {}, {}});
    counts_ = (0.6 * x).array().exp().floor();
    write_matrix(path("counts.npy"), {counts_, {}, {}});
    write_matrix(path("scale.csv"), {Matrix(counts_.rowwise().sum().array() + 1), {}, {}});
    write_matrix(path("weights.npy"), {noise, {}, {}});
  }
  Matrix read_dense(const std::string& name) const {
    return std::get<Matrix>(read_matrix(path(name)).matrix);
  }

  Matrix counts_;
};

TEST_F(LossCli, EveryLossGivesADevianceAndModelsThatMeanSomething) {
  for (const std::string loss : {"huber:0.5", "absolute", "quantile:0.7", "poisson-log",
                                 "negative-binomial:2", "negative-binomial:auto"}) {
    SCOPED_TRACE(loss);
    const auto object =
        run_json("factor counts.npy --rank 2 --offsets --loss " + loss + " --out m.npz --plot p.svg");
    EXPECT_EQ(object["loss"], loss);
    EXPECT_NEAR(object["path"].back()["deviance_explained"].get<double>(),
                object["deviance_explained"].get<double>(), 1e-9);
    EXPECT_GT(object["deviance_explained"].get<double>(), 0);
    EXPECT_NEAR(object["deviance"].get<double>(), 2 * object["objective"].get<double>(), 1e-9);
    EXPECT_NEAR(1 - std::pow(object["relative_error"].get<double>(), 2),
                object["deviance_explained"].get<double>(), 1e-9);
    const ModelFile model = load_model(path("m.npz"));
    EXPECT_EQ(model.loss.spec(), loss);
    EXPECT_EQ(model.own_terms.row_offsets.size(), 40);
    EXPECT_EQ(run_json("inspect m.npz")["loss"], loss);
    EXPECT_EQ(run("reconstruct m.npz --out means.npy").status, 0);
    EXPECT_TRUE(read_dense("means.npy").allFinite());
  }
}

TEST_F(LossCli, GradesHaveThresholds) {
  write("grades.csv", "1,2,5\n2,2,4\n5,4,1\n1,1,5\n");
  const auto object = run_json("factor grades.csv --rank 1 --loss ordinal --out m.npz");
  EXPECT_EQ(object["thresholds"].size(), 3U) << "between 1, 2, 4 and 5";
  EXPECT_EQ(load_model(path("m.npz")).own_terms.grades.size(), 4);
  ASSERT_EQ(run("reconstruct m.npz --out means.npy").status, 0);
  const Matrix mean = read_dense("means.npy");
  EXPECT_GE(mean.minCoeff(), 1);
  EXPECT_LE(mean.maxCoeff(), 5);
}

TEST_F(LossCli, ReconstructWritesMeans) {
  const auto object =
      run_json("factor counts.npy --rank 2 --loss poisson-log --row-scale scale.csv --out m.npz");
  ASSERT_EQ(run("reconstruct m.npz --out means.npy").status, 0);
  const Matrix mean = read_dense("means.npy");
  double deviance = 0;
  for (Index e = 0; e < mean.size(); ++e) {
    const double y = counts_.reshaped()[e], m = mean.reshaped()[e];
    deviance += 2 * ((y > 0 ? y * std::log(y / m) : 0) - y + m);
  }
  EXPECT_NEAR(object["deviance"].get<double>(), deviance, 1e-8 * deviance);
  EXPECT_THAT(run("inspect m.npz").out, testing::HasSubstr("row scale * exp(X)"));
}

TEST_F(LossCli, ShowsTheShareOfTheDevianceByRank) {
  const Finished finished = run("factor binary.npy --rank 3 --loss bernoulli --offsets");
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out, testing::HasSubstr("explained"));
  EXPECT_THAT(finished.out, testing::HasSubstr("of the deviance explained"));
  EXPECT_THAT(run("factor binary.npy --rank 3").out, testing::HasSubstr("relative error"));
  const auto squares = run_json("factor binary.npy --rank 3");
  EXPECT_EQ(squares["loss"], "squares");
  EXPECT_NEAR(squares["deviance_explained"].get<double>(),
              1 - std::pow(squares["relative_error"].get<double>(), 2), 1e-12);
}

TEST_F(LossCli, CountsByKullbackLeibler) {
  const auto object = run_json(
      "factor counts.npy --rank 3 --loss poisson --left nonneg --right nonneg --weights nonneg --out m.npz");
  EXPECT_GT(object["deviance_explained"].get<double>(), 0.3);
  ASSERT_EQ(run("reconstruct m.npz --out means.npy").status, 0);
  const Matrix mean = read_dense("means.npy");
  double deviance = 0;
  for (Index e = 0; e < mean.size(); ++e) {
    const double y = counts_.reshaped()[e], m = mean.reshaped()[e];
    deviance += 2 * ((y > 0 ? y * std::log(y / m) : 0) - y + m);
  }
  EXPECT_NEAR(object["deviance"].get<double>(), deviance, 1e-8 * deviance);
}

TEST_F(LossCli, SparseCountsAreNeverDense) {
  constexpr int kRows = 100000, kColumns = 20000, kCounts = 200000;
  std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(kRows) + " " +
                     std::to_string(kColumns) + " " + std::to_string(kCounts) + "\n";
  for (int e = 0; e < kCounts; ++e)  // two counts a row, columns of very different sizes
    text += std::to_string(e / 2 + 1) + " " +
            std::to_string(1 + (e % 2) * (kColumns / 2) + int(std::int64_t(e) * e % 9973)) + " " +
            std::to_string(1 + e % 3) + "\n";
  write("wide.mtx", text);
  const auto object = run_json(
      "factor wide.mtx --rank 2 --loss poisson --left nonneg --right nonneg --weights nonneg --polish 2 "
      "--threads 2");
  EXPECT_GT(object["deviance_explained"].get<double>(), 0.05);
  EXPECT_LT(object["peak_memory_bytes"].get<double>(), 1e9) << "a dense matrix would have 16 GB";
}

TEST_F(LossCli, WeightsOfEntriesRowsAndColumns) {
  write("ones.csv", [] {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "1\n";
    return text;
  }());
  const auto plain = run_json("factor binary.npy --rank 2 --loss bernoulli");
  const auto ones = run_json("factor binary.npy --rank 2 --loss bernoulli --row-weights ones.csv");
  EXPECT_EQ(plain["objective"], ones["objective"]);
  const auto weighted = run_json("factor binary.npy --rank 2 --loss bernoulli --entry-weights weights.npy");
  EXPECT_LT(weighted["objective"].get<double>(), plain["objective"].get<double>());
}

/// Entries of a matrix as lines of row, column and value, every third one left out.
std::string triplets_of(const Matrix& Y) {
  std::string text = "row,column,value\n";
  for (Index i = 0; i < Y.rows(); ++i)
    for (Index j = 0; j < Y.cols(); ++j)
      if ((i + 2 * j) % 3 != 0)
        text += "r" + std::to_string(i) + ",c" + std::to_string(j) + "," + std::to_string(Y(i, j)) + "\n";
  return text;
}

TEST_F(LossCli, StructuredCompletionTakesAnyLoss) {
  write("counts.csv", triplets_of(counts_));
  write("grades.csv", triplets_of(counts_.cwiseMin(4.0)));
  write("pairs.csv", "row,column\nr0,c0\nr3,c3\nnobody,c1\n");
  for (const auto& [file, loss, sets, error] :
       {std::tuple("counts.csv", "poisson", "nonneg", "deviance"),
        {"counts.csv", "poisson-log", "sphere --offsets", "deviance"},
        {"counts.csv", "negative-binomial:auto", "sphere --offsets", "deviance"},
        {"grades.csv", "ordinal", "sphere", "log_loss"},
        {"counts.csv", "huber:1", "sphere --offsets", "loss"},
        {"counts.csv", "quantile:0.8", "sphere --offsets", "loss"}}) {
    SCOPED_TRACE(loss);
    const std::string set = std::string(sets).substr(0, 6);
    const auto object = run_json(std::string("complete ") + file + " --rank 2 --holdout 0.1 --loss " + loss +
                                 " --left " + sets + " --right " + set + " --weights nonneg --out m.npz");
    EXPECT_EQ(object["loss"], loss);
    EXPECT_TRUE(object["test"][error].is_number()) << object["test"];
    EXPECT_TRUE(object["path"][0][std::string("validation_") + error].is_number());
    const Finished predicted = run("predict m.npz pairs.csv");
    EXPECT_EQ(predicted.status, 0) << predicted.err;
    EXPECT_EQ(predicted.out.find("nan"), std::string::npos) << predicted.out;
  }
  const auto scores = run_json("evaluate counts.csv --loss poisson-log --split 70/10/20");
  EXPECT_EQ(scores["loss"], "poisson-log");
  EXPECT_GT(scores["methods"][0]["explained"].get<double>(), 0.2);
  write("binary.csv", triplets_of(counts_.cwiseMin(1.0)));
  const auto binary = run_json("evaluate binary.csv --loss bernoulli --split 80/20");
  ASSERT_EQ(binary["methods"].size(), 2U);
  EXPECT_LT(binary["methods"][0]["calibration_error_of_runs"][0].get<double>(), 0.2);
  EXPECT_GT(binary["methods"][1]["auc_of_runs"][0].get<double>(), 0.6);
}

TEST_F(LossCli, SymmetricAtomsOfANetworkAndStartsThatRace) {
  const Matrix binary = read_dense("binary.npy").topLeftCorner(25, 25);
  write_matrix(path("network.npy"), {Matrix(binary.cwiseMax(binary.transpose())), {}, {}});
  const auto object = run_json("factor network.npy --symmetric sphere --rank 2 --loss bernoulli --out m.npz");
  EXPECT_GT(object["deviance_explained"].get<double>(), 0);
  EXPECT_EQ(run("reconstruct m.npz --out means.npy").status, 0);
  const Matrix means = read_dense("means.npy");
  EXPECT_LT(max_difference(means, Matrix(means.transpose())), 1e-12);
  EXPECT_GE(means.minCoeff(), 0);
  EXPECT_LE(means.maxCoeff(), 1);
  const std::string job = "factor binary.npy --rank 3 --loss bernoulli";
  const double several = run_json(job)["objective"].get<double>(),
               alone = run_json(job + " --starts 0")["objective"].get<double>();
  EXPECT_LE(several, alone * 1.001);
}

TEST_F(LossCli, BadInputGetsOneClearError) {
  write("negative.csv", "1,2,3\n4,-2,1\n0,1,1\n");
  write("three.csv", "1\n2\n3\n");
  write("zero.csv", "1,2,3\n0,0,0\n0,1,1\n");
  expect_refused({
      {"unknown loss", "factor counts.npy --loss cauchy", 2, "allowed are squares, huber:DELTA"},
      {"no parameter", "factor counts.npy --loss huber", 2, "huber:DELTA must be a number above 0"},
      {"domain", "factor negative.csv --rank 1 --loss poisson-log", 3, "entry (2, 2) of the matrix is -2"},
      {"who takes it", "factor negative.csv --rank 1 --loss bernoulli", 3, "would take it"},
      {"signed sets", "factor counts.npy --loss poisson", 2, "poisson-log"},
      {"rows", "factor counts.npy --loss poisson-log --row-weights three.csv", 3, "each of the 40 rows"},
      {"scale", "factor counts.npy --row-scale sum", 2, "has no such scale"},
      {"empty row", "factor zero.csv --rank 1 --loss poisson-log --row-scale sum", 3,
       "the sum of row 2 is 0"},
      {"start", "factor counts.npy --loss poisson-log --start leading", 2, "start greedy"},
      {"crooked", "factor negative.csv --rank 1 --symmetric sphere --loss absolute", 3, "not symmetric"},
      {"symmetric", "factor negative.csv --rank 1 --symmetric sphere --loss absolute --offsets", 2,
       "u u^T go without weights of entries, offsets"},
      {"covariance", "factor counts.npy --rank 1 --symmetric sphere --covariance --loss absolute", 2,
       "a covariance goes with squares only"},
      {"starts", "factor counts.npy --rank 2 --starts 3", 2,
       "starts 3: starts of a matrix race under losses"},
      {"no race", "factor counts.npy --rank 2 --loss huber:1 --offsets --starts 3", 2,
       "nothing is fitted beside the atoms"},
      {"pca", "pca counts.npy --loss poisson-log", 2,
       "pursuit factor counts.npy --loss poisson-log --offsets"},
      {"missing file", "factor counts.npy --entry-weights nowhere.npy", 3, "nowhere.npy"},
  });
}

}  // namespace
}  // namespace pursuit
