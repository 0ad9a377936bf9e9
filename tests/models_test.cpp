// Models that the last version wrote (tests/models) are read, and mean what they meant.

#include "cli_support.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/matrix_file.hpp"

namespace pursuit {
namespace {

namespace fs = std::filesystem;

const fs::path kModels = fs::path(PURSUIT_SOURCE_DIR) / "tests/models";
const std::vector<std::string> kFactorizations{"factor",   "symmetric", "fixed",
                                               "per_atom", "pca",       "sparse_pca"};
const std::vector<std::string> kCompletions{"completion", "features", "no_ids", "structured"};

std::string model(const std::string& name) {
  return (kModels / (name + ".npz")).string();
}

Matrix matrix_of(const fs::path& path) {
  return std::get<Matrix>(read_matrix(path).matrix);
}

struct PredictedLine {
  std::string row, col;
  double value, deviation;
};

std::vector<PredictedLine> predicted_lines(const std::string& csv) {
  std::vector<PredictedLine> lines;
  std::istringstream text(csv);
  std::string line, value, deviation;
  for (std::getline(text, line); std::getline(text, line);) {
    std::istringstream cells(line);
    PredictedLine& each = lines.emplace_back();
    std::getline(std::getline(cells, each.row, ','), each.col, ',');
    std::getline(std::getline(cells, value, ','), deviation, ',');
    each.value = std::stod(value);
    each.deviation = std::stod(deviation);
  }
  return lines;
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<PredictedLine> expected_of(const std::string& name) {
  return predicted_lines(text_of(kModels / (name + ".predictions.csv")));
}

/// All that `expected` has; what a later version adds is no matter.
void expect_within(const nlohmann::json& expected, const nlohmann::json& found, const std::string& where) {
  if (expected.is_number_float()) {
    ASSERT_TRUE(found.is_number()) << where;
    EXPECT_NEAR(found.get<double>(), expected.get<double>(), 1e-9 * std::abs(expected.get<double>()))
        << where;
  } else if (expected.is_structured()) {
    for (const auto& [key, value] : expected.items()) {
      const std::string place = where + "/" + key;
      if (expected.is_object()) {
        ASSERT_TRUE(found.contains(key)) << place;
        expect_within(value, found[key], place);
      } else {
        ASSERT_GT(found.size(), std::stoul(key)) << place;
        expect_within(value, found[std::stoul(key)], place);
      }
    }
  } else {
    EXPECT_EQ(found, expected) << where;
  }
}

TEST(ModelsOfTheLastVersion, FactorizationsAreReadAsTheMatricesTheyWere) {
  for (const std::string& name : kFactorizations) {
    SCOPED_TRACE(name);
    const ModelFile file = load_model(model(name));
    const Matrix expected = matrix_of(kModels / (name + ".matrix.csv"));
    EXPECT_LT((file.model.scaled_left() * file.model.right().transpose() - expected).norm(),
              1e-12 * expected.norm());
    EXPECT_EQ(file.model.symmetric(), name == "symmetric");
    EXPECT_FALSE(is_completion_file(model(name)));
  }
}

TEST(ModelsOfTheLastVersion, CompletionsPredictWhatTheyDid) {
  for (const std::string& name : kCompletions) {
    SCOPED_TRACE(name);
    const CompletionFile file = load_completion(model(name));
    EXPECT_TRUE(is_completion_file(model(name)));
    const std::vector<PredictedLine> lines = expected_of(name);
    ASSERT_GE(lines.size(), 4U);
    for (const PredictedLine& line : lines) {
      const Prediction made = predict(file.model, {file.rows.find(line.row), file.cols.find(line.col)});
      EXPECT_NEAR(made.value, line.value, 1e-5) << line.row << ", " << line.col;
      EXPECT_NEAR(made.deviation, line.deviation, 1e-5) << line.row << ", " << line.col;
    }
  }
}

using ModelsOfTheLastVersionCli = ProgramTest;

TEST_F(ModelsOfTheLastVersionCli, ArePredictedWith) {
  for (const std::string& name : kCompletions) {
    SCOPED_TRACE(name);
    const fs::path pairs = kModels / (name == "no_ids" ? "positions.csv" : "pairs.csv");
    const Finished finished = run(fmt::format("predict '{}' '{}'", model(name), pairs.string()));
    ASSERT_EQ(finished.status, 0) << finished.err;
    const auto made = predicted_lines(finished.out), expected = expected_of(name);
    ASSERT_EQ(made.size(), expected.size());
    for (std::size_t k = 0; k < made.size(); ++k) {
      EXPECT_EQ(made[k].row, expected[k].row);
      EXPECT_EQ(made[k].col, expected[k].col);
      EXPECT_NEAR(made[k].value, expected[k].value, 1e-5);
      EXPECT_NEAR(made[k].deviation, expected[k].deviation, 1e-5);
    }
  }
}

TEST_F(ModelsOfTheLastVersionCli, AreReconstructed) {
  for (const std::string& name : kFactorizations) {
    SCOPED_TRACE(name);
    const Finished finished = run(fmt::format("reconstruct '{}' --out {}.csv", model(name), name));
    ASSERT_EQ(finished.status, 0) << finished.err;
    const Matrix expected = matrix_of(kModels / (name + ".matrix.csv"));
    EXPECT_LT((matrix_of(path(name + ".csv")) - expected).norm(), 1e-12 * expected.norm());
  }
}

TEST_F(ModelsOfTheLastVersionCli, AreInspected) {
  for (const auto& names : {kFactorizations, kCompletions})
    for (const std::string& name : names)
      expect_within(nlohmann::json::parse(text_of(kModels / (name + ".inspect.json"))),
                    run_json(fmt::format("inspect '{}'", model(name))), name);
}

TEST_F(ModelsOfTheLastVersionCli, AreGoneOnFrom) {
  const std::string table = (kModels / "table.csv").string(), ratings = (kModels / "ratings.csv").string();
  const auto more = run_json(fmt::format(
      "factor '{}' --rank 4 --left nonneg --right nonneg+sparse:4 --weights nonneg --start '{}' --out a.npz",
      table, model("factor")));
  EXPECT_EQ(more["rank"], 4);
  EXPECT_LT(more["relative_error"], load_model(model("factor")).trace.back().relative_error);
  write("new.csv", "row,col,value\nu0,film 99,4\nnew,film 0,2\n");
  run_json(fmt::format("complete new.csv --update '{}' --out b.npz", model("completion")));
  EXPECT_EQ(load_completion(path("b.npz")).model.row_count(), 26);
  const Finished best = run(fmt::format("recommend '{}' --row u0 --top 3", model("structured")));
  EXPECT_EQ(best.status, 0) << best.err;
}

TEST_F(ModelsOfTheLastVersionCli, CodesOfSignalsAreMatricesStill) {
  const Finished finished = run(fmt::format("convert '{}' codes.csv", model("codes")));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(matrix_of(path("codes.csv")), matrix_of(kModels / "codes.matrix.csv"));
}

}  // namespace
}  // namespace pursuit
