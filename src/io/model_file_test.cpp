#include "pursuit/io/model_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "io/npz_archive.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/base/version.hpp"
#include "pursuit/objective/loss.hpp"

namespace pursuit {
namespace {

class ModelFileTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static ModelFile example() {
    Random random(1);
    ModelFile file;
    file.model = {random.gaussian_matrix(4, 2), random.gaussian_matrix(3, 2), Vector::LinSpaced(2, 1, 2),
                  false};
    file.trace.resize(2);
    file.trace[1] = {2, 0.5, 0.25, 1.5, 0.125, 0.75, 17, 3, 0.01, 8, 6, 0.3};
    file.column_means = Vector::LinSpaced(3, -1, 1);
    file.row_names = {"a", "b", "c", "\u00e9"};
    file.metadata = {{"command", "pursuit factor x --rank 2"}, {"stop", "rank_reached"}};
    return file;
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("pursuit_model_test_{}", ::getpid());
};

TEST_F(ModelFileTest, RoundTripKeepsEverything) {
  const ModelFile file = example();
  save_model(path("m.npz"), file);
  const ModelFile back = load_model(path("m.npz"));
  EXPECT_EQ(back.model.left(), file.model.left());
  EXPECT_EQ(back.model.right(), file.model.right());
  EXPECT_EQ(back.model.weights, file.model.weights);
  EXPECT_FALSE(back.model.symmetric());
  EXPECT_EQ(back.row_names, file.row_names);
  EXPECT_TRUE(back.column_names.empty());
  EXPECT_EQ(back.metadata.at("command"), file.metadata.at("command"));
  EXPECT_EQ(back.metadata.at("version"), version());
  ASSERT_EQ(back.trace.size(), 2u);
  EXPECT_EQ(back.trace[1].iterations, 17);
  EXPECT_EQ(back.trace[1].sweeps, 3);
  EXPECT_EQ(back.trace[1].gain, 0.125);
  EXPECT_EQ(back.trace[1].right_support, 6);
  EXPECT_EQ(back.trace[1].last_sweep, 0.3);
  EXPECT_EQ(back.column_means, file.column_means);
  EXPECT_EQ(back.column_deviations.size(), 0);
}

TEST_F(ModelFileTest, FilesWithoutSupportsAreStillRead) {
  save_model(path("m.npz"), example());
  NpzArchive archive = read_npz(path("m.npz"));
  archive.erase("trace_left_support");
  archive.erase("trace_right_support");
  write_npz(path("m.npz"), archive);
  EXPECT_EQ(load_model(path("m.npz")).trace[1].right_support, 0);
}

TEST_F(ModelFileTest, EmptyModelRoundTrips) {
  ModelFile file;
  file.model = {Matrix(5, 0), Matrix(4, 0), Vector(0), false};
  save_model(path("m.npz"), file);
  EXPECT_EQ(load_model(path("m.npz")).model.left().rows(), 5);
}

TEST_F(ModelFileTest, DefectsAreNamed) {
  const auto refused = [&](const std::string& array, const auto& change) {
    save_model(path("m.npz"), example());
    NpzArchive archive = read_npz(path("m.npz"));
    change(archive);
    write_npz(path("m.npz"), archive);
    try {
      load_model(path("m.npz"));
      ADD_FAILURE() << "accepted a model with a bad " << array;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(array));
    }
  };
  refused("left", [](NpzArchive& a) { a.erase("left"); });
  refused("column_means", [](NpzArchive& a) { a["column_means"] = {{1}, std::vector<double>{1}}; });
  refused("weights", [](NpzArchive& a) { a["weights"] = {{1}, std::vector<double>{1}}; });
  refused("trace_gain", [](NpzArchive& a) { a["trace_gain"] = {{1}, std::vector<double>{1}}; });
  refused("row_names", [](NpzArchive& a) { a["row_names"] = {{1}, std::vector<std::string>{"x"}}; });
  refused("metadata", [](NpzArchive& a) { a["metadata"] = {{}, std::vector<std::string>{"[1, 2"}}; });
  refused("right", [](NpzArchive& a) { a["right"] = {{3, 2}, std::vector<std::string>(6, "x")}; });
  refused("left", [](NpzArchive& a) { std::get<std::vector<double>>(a["left"].values)[0] = std::nan(""); });
}

TEST_F(ModelFileTest, NumbersThatNoRunWritesAreRefused) {
  const auto refused = [&](const std::string& loss, const std::string& array, std::vector<double> numbers) {
    ModelFile file = example();
    file.loss = parse_loss(loss);
    if (file.loss.kind == Loss::ordinal) {
      file.own_terms.grades = Vector::LinSpaced(3, 1, 3);
      file.own_terms.thresholds = Vector::LinSpaced(2, -1, 1);
    }
    file.own_terms.size = file.loss.kind == Loss::negative_binomial ? 2.0 : 0.0;
    save_model(path("m.npz"), file);
    EXPECT_NO_THROW(load_model(path("m.npz"))) << loss;
    NpzArchive archive = read_npz(path("m.npz"));
    const auto count = Index(numbers.size());
    archive[array] = {{count}, std::move(numbers)};
    write_npz(path("m.npz"), archive);
    try {
      load_model(path("m.npz"));
      ADD_FAILURE() << "accepted a model with a bad " << array;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(array));
    }
  };
  refused("squares", "column_deviations", {1, 0, 1});
  refused("squares", "column_deviations", {1, -1, 1});
  refused("poisson", "row_scale", {1, 1, -1, 1});
  refused("negative-binomial", "size", {0});
  refused("negative-binomial", "size", {-3});
  refused("ordinal", "grades", {3, 2, 1});
  refused("ordinal", "thresholds", {1, -1});
}

TEST_F(ModelFileTest, AMatrixFileIsNotAModel) {
  std::ofstream(path("x.csv")) << "1,2\n3,4\n";
  EXPECT_THROW(load_model(path("x.csv")), InvalidInput);
  EXPECT_THROW(load_model(path("missing.npz")), InvalidInput);
}

}  // namespace
}  // namespace pursuit
