#include "pursuit/io/completion_file.hpp"

#include <functional>

#include "completion/test_support.hpp"
#include "io/npz_archive.hpp"
#include "io/test_support.hpp"
#include "pursuit/base/version.hpp"
#include "pursuit/completion/complete_in_time.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/completion/new_rows.hpp"
#include "pursuit/completion/structured.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit::io {
namespace {

using testing::HasSubstr;

constexpr Index kRows = 30, kCols = 20;

const Planted& data() {
  static const Planted result = planted(kRows, kCols, 1, 0.3, 0.6, 131);
  return result;
}

CompletionFile file_of(CompletionResult result) {
  CompletionFile file;
  file.model = std::move(result.model);
  file.seen = std::move(result.seen);
  for (Index i = 0; i < kRows; ++i) file.rows.add("row " + std::to_string(i));
  for (Index j = 0; j < kCols; ++j) file.cols.add("c" + std::to_string(j));
  file.metadata = {{"command", "pursuit complete ratings.csv"}};
  return file;
}

TEST(CompletionFile, RemembersItsLoss) {
  const ScratchDirectory scratch;
  ObservedEntries answers = data().train;
  for (float& value : answers.value) value = value > 2 ? 1.0F : 0.0F;
  const CompletionFile file = file_of(complete(answers, {.loss = Loss::bernoulli}));
  save_completion(scratch / "m.npz", file);
  const CompletionFile read = load_completion(scratch / "m.npz");
  EXPECT_EQ(read.model.loss.kind, Loss::bernoulli);
  EXPECT_EQ(predict(read.model, {3, 4}).value, predict(file.model, {3, 4}).value);
}

TEST(CompletionFile, RemembersHowOffsetsDrift) {
  const ScratchDirectory scratch;
  CompletionFile file = file_of(complete(data().train));
  Drift& drift = file.model.drift;
  drift.newest = 9.5;
  drift.rows = {2, 3, {0, 1, 3}, {4, 5, 9.5}, {1, -2, 3}, {1, 2, 1}};
  drift.all = {7, 30, {0, 1}, {8}, {-1.5}, {40}};
  save_completion(scratch / "m.npz", file);
  const CompletionModel read = load_completion(scratch / "m.npz").model;
  EXPECT_EQ(read.drift.newest, 9.5);
  EXPECT_FALSE(read.drift.cols.is_on());
  for (const double time : {4.0, 9.0, 11.0})
    for (const int row : {0, 1, 2}) EXPECT_EQ(read.drift.at(row, 0, time), drift.at(row, 0, time));
  drift.rows.time[2] = 4.5;
  EXPECT_THROW(save_completion(scratch / "m.npz", file), InvalidInput) << "knots that go back in time";
}

TEST(CompletionFile, RemembersImplicitFeedback) {
  ObservedEntries clicks = data().train;
  for (float& value : clicks.value) value = std::abs(value) + 1;
  const CompletionFile file =
      file_of(complete_implicit(clicks, {.confidence = parse_confidence("log:2:0.5"), .max_rank = 5}));
  const ScratchDirectory scratch;
  save_completion(scratch / "m.npz", file);
  const CompletionModel read = load_completion(scratch / "m.npz").model;
  EXPECT_TRUE(read.is_implicit());
  EXPECT_EQ(read.implicit.zeros, file.model.implicit.zeros);
  EXPECT_EQ(read.implicit.ridge, file.model.implicit.ridge);
  EXPECT_EQ(read.implicit.confidence.spec(), "log:2:0.5");
  EXPECT_EQ(new_row_factors(read, file.seen), new_row_factors(file.model, file.seen));

  NpzArchive archive = read_npz(scratch / "m.npz");
  for (const std::vector<double>& wrong :
       {std::vector<double>{1, 1}, {1, 1, 7, 0, 1}, {1, 0, 0, 0, 1}, {-1, 1, 0, 0, 1}, {1, 1, 2, 0, 0}}) {
    archive["implicit"] = {{Index(wrong.size())}, wrong};
    write_npz(scratch / "wrong.npz", archive);
    EXPECT_THROW(load_completion(scratch / "wrong.npz"), InvalidInput);
  }
}

/// Self-tuned, with features and draws: every array of that kind.
const CompletionFile& sampled() {
  static const CompletionFile file = [] {
    const FeatureTable features = observed(data().row_factors, 1, 1);
    return file_of(complete(data().train, {.samples = 6, .stored_samples = 3, .row_features = &features}));
  }();
  return file;
}

const CompletionFile& structured(bool offsets) {
  static const CompletionFile files[2] = {
      file_of(complete_structured(data().train, {.right = sparse(8), .max_rank = 2})),
      file_of(complete_structured(data().train, {.right = sparse(8), .offsets = true, .max_rank = 2}))};
  return files[int(offsets)];
}

CompletionFile round_trip(const CompletionFile& file) {
  const ScratchDirectory scratch;
  save_completion(scratch / "m.npz", file);
  EXPECT_THAT(scratch.files(), testing::ElementsAre("m.npz"));
  EXPECT_TRUE(is_completion_file(scratch / "m.npz"));
  return load_completion(scratch / "m.npz");
}

std::vector<Prediction> all_predictions(const CompletionModel& model) {
  std::vector<Position> positions;
  for (int i = -1; i < kRows; ++i)
    for (int j = -1; j < kCols; ++j) positions.push_back({i, j});
  return predict(model, positions);
}

TEST(CompletionFile, RoundTripKeepsEverything) {
  for (const CompletionFile* file : {&sampled(), &structured(false), &structured(true)}) {
    const CompletionFile back = round_trip(*file);
    EXPECT_TRUE(same_predictions(all_predictions(back.model), all_predictions(file->model)));
    EXPECT_EQ(back.model.rank(), file->model.rank());
    EXPECT_EQ(back.model.noise(), file->model.noise());
    EXPECT_EQ(back.model.samples.size(), file->model.samples.size());
    EXPECT_EQ(back.model.rows.pattern, file->model.rows.pattern);
    EXPECT_EQ(back.model.rows.features, file->model.rows.features);
    EXPECT_EQ(back.model.cols.prior_variance, file->model.cols.prior_variance);
    EXPECT_EQ(back.rows.names(), file->rows.names());
    EXPECT_EQ(back.cols.names(), file->cols.names());
    EXPECT_EQ(back.seen.start, file->seen.start);
    EXPECT_EQ(back.seen.index, file->seen.index);
    EXPECT_EQ(back.seen.value, file->seen.value);
    EXPECT_EQ(back.metadata.at("command"), "pursuit complete ratings.csv");
    EXPECT_EQ(back.metadata.at("kind"), "completion");
    EXPECT_EQ(back.metadata.at("version"), version());
  }
}

TEST(CompletionFile, LoadedModelsCanBeRefined) {
  const CompletionFile back = round_trip(sampled());
  const auto values = [](const CompletionModel& start) {
    return values_of(all_predictions(complete(data().train, {.start = &start}).model));
  };
  EXPECT_EQ(values(back.model), values(sampled().model));
}

TEST(CompletionFile, IdsAreAnyText) {
  CompletionFile file = structured(false);
  file.rows = {};
  for (Index i = 0; i < kRows; ++i)
    file.rows.add(i == 0   ? "Lost, in \"Translation\""
                  : i == 1 ? "\u00c9l\u00e9phant \u6620\u753b \U0001F3AC"
                  : i == 2 ? "007"
                  : i == 3 ? "7"
                  : i == 4 ? " two  spaces "
                           : "r" + std::to_string(i));
  const CompletionFile back = round_trip(file);
  EXPECT_EQ(back.rows.names(), file.rows.names());
  EXPECT_EQ(back.rows.find("007"), 2);
  EXPECT_EQ(back.rows.find("7"), 3);
  EXPECT_EQ(back.rows.find("\u00c9l\u00e9phant \u6620\u753b \U0001F3AC"), 1);
}

/// The message that a file is refused with once its archive was changed.
template <class Change>
std::string refused_model(const CompletionFile& file, const Change& change) {
  const ScratchDirectory scratch;
  const auto path = scratch / "m.npz";
  save_completion(path, file);
  NpzArchive archive = read_npz(path);
  change(archive);
  write_npz(path, archive);
  const std::string message = message_of<InvalidInput>([&] { load_completion(path); });
  if (!message.empty()) {
    EXPECT_THAT(message, HasSubstr(path.string()));
  }
  return message;
}

TEST(CompletionFile, RefusesAnArchiveWithoutOneOfItsArrays) {
  for (const CompletionFile* file : {&sampled(), &structured(false)}) {
    const ScratchDirectory scratch;
    save_completion(scratch / "m.npz", *file);
    for (const auto& [name, array] : read_npz(scratch / "m.npz")) {
      if (name == "nonnegative") continue;  // models of earlier versions do not say
      SCOPED_TRACE(name);
      const std::string message =
          refused_model(*file, [&, missing = name](NpzArchive& a) { a.erase(missing); });
      EXPECT_THAT(message, HasSubstr("'" + name + "'"));
    }
  }
}

template <class T>
std::vector<T>& values_in(NpzArchive& archive, const std::string& name) {
  return std::get<std::vector<T>>(archive.at(name).values);
}

TEST(CompletionFile, RefusesSignsThatAtomsDoNotHave) {
  for (const double sign : {0.5, 2.0, -1.0})
    EXPECT_THAT(refused_model(structured(false),
                              [&](NpzArchive& a) { values_in<double>(a, "nonnegative").at(0) = sign; }),
                HasSubstr("'nonnegative'"));
  EXPECT_THAT(refused_model(structured(false),
                            [](NpzArchive& a) {
                              values_in<double>(a, "nonnegative").at(0) = 1;
                              values_in<double>(a, "left").at(0) = -1;
                            }),
              HasSubstr("'left'"));
}

TEST(CompletionFile, RefusesNumbersThatMakeNoSenseAndNamesTheArray) {
  const auto with = [](const std::string& name, auto value, std::size_t at = 0) {
    return refused_model(sampled(),
                         [&](NpzArchive& a) { values_in<decltype(value)>(a, name).at(at) = value; });
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                  kInf = std::numeric_limits<float>::infinity();
  for (const std::string side : {"row", "column"})
    for (const std::string part :
         {"_mean", "_variance", "_pattern", "_intercept", "_prior_variance", "_noise_weight"})
      for (const float value : {kNan, kInf})
        EXPECT_THAT(with(side + part, value), HasSubstr("'" + side + part + "'"));
  for (const std::string name : {"sample_rows", "sample_columns", "sample_row_noise_weight",
                                 "sample_column_noise_weight", "row_features", "seen_value"})
    EXPECT_THAT(with(name, kNan), HasSubstr("'" + name + "'"));
  for (const std::string name :
       {"row_noise_weight", "column_noise_weight", "sample_row_noise_weight", "sample_column_noise_weight"})
    for (const float value : {0.0F, -1.0F}) EXPECT_THAT(with(name, value), HasSubstr("'" + name + "'"));
  for (const std::string name : {"row_variance", "column_prior_variance"})
    EXPECT_THAT(with(name, -1.0F), HasSubstr("'" + name + "'"));
  for (const double value : {double(kNan), -1.0})
    EXPECT_THAT(with("sample_noise_variance", value), HasSubstr("'sample_noise_variance'"));
  for (std::size_t k = 0; k < 5; ++k)
    EXPECT_THAT(with("scaling", double(kNan), k), HasSubstr("'scaling'")) << "entry " << k;
  EXPECT_THAT(with("scaling", 0.0, 1), HasSubstr("'scaling'")) << "no scale";
  EXPECT_THAT(with("scaling", -1.0, 2), HasSubstr("'scaling'")) << "a negative variance";
  EXPECT_THAT(with("scaling", double(kInf), 2), HasSubstr("'scaling'")) << "an infinite variance";
  EXPECT_THAT(with("scaling", 1e9, 3), HasSubstr("'scaling'")) << "lowest above highest";
}

TEST(CompletionFile, RefusesArraysThatDoNotFitEachOther) {
  const auto resized = [](const std::string& name, std::vector<Index> shape, const CompletionFile& file) {
    return refused_model(file, [&](NpzArchive& a) {
      Index size = 1;
      for (const Index n : shape) size *= n;
      std::visit([&](auto& values) { values.resize(std::size_t(size)); }, a.at(name).values);
      a.at(name).shape = shape;
    });
  };
  const Index width = sampled().model.rows.mean.cols();
  for (const auto& [name, shape] :
       std::vector<std::pair<std::string, std::vector<Index>>>{{"row_mean", {kRows - 1, width}},
                                                               {"column_mean", {kCols + 1, width}},
                                                               {"row_variance", {kRows, width + 1}},
                                                               {"row_variance", {kRows * width}},
                                                               {"row_pattern", {kCols - 1, width}},
                                                               {"row_features", {1, width + 1}},
                                                               {"row_intercept", {width + 1}},
                                                               {"column_prior_variance", {width - 1}},
                                                               {"column_noise_weight", {kCols - 1}},
                                                               {"scaling", {4}},
                                                               {"sample_rows", {3, kRows - 1, 1}},
                                                               {"sample_column_noise_weight", {3, kCols + 1}},
                                                               {"seen_start", {kRows}},
                                                               {"seen_value", {1}}})
    EXPECT_THAT(resized(name, shape, sampled()), HasSubstr("'" + name + "'"));
  EXPECT_NE(resized("row_mean", {0, width}, sampled()), "") << "columns without rows";
  EXPECT_NE(resized("row_names", {kRows - 1}, sampled()), "");
  EXPECT_THAT(resized("left", {kRows - 1, structured(false).model.atoms.rank()}, structured(false)),
              HasSubstr("'left'"));
  EXPECT_THAT(resized("weights", {5}, structured(false)), HasSubstr("'left'"));
}

TEST(CompletionFile, RefusesSeenEntriesThatAreNotOnes) {
  const auto with = [](const std::string& name, std::size_t at, std::int64_t value) {
    return refused_model(sampled(), [&](NpzArchive& a) { values_in<std::int64_t>(a, name).at(at) = value; });
  };
  EXPECT_THAT(with("seen_start", 3, 100000), HasSubstr("'seen_start'"));
  EXPECT_THAT(with("seen_start", 3, 0), HasSubstr("'seen_start'")) << "not monotone";
  EXPECT_THAT(with("seen_start", 0, 1), HasSubstr("'seen_start'"));
  EXPECT_THAT(with("seen_start", kRows, 1), HasSubstr("'seen_start'"));
  EXPECT_THAT(with("seen_column", 2, kCols), HasSubstr("'seen_column' has an entry 20"));
  EXPECT_THAT(with("seen_column", 2, -1), HasSubstr("'seen_column' has an entry -1"));
  EXPECT_THAT(with("seen_column", 0, kCols - 1), HasSubstr("'seen_column'")) << "not ascending";
}

TEST(CompletionFile, RefusesArraysOfTheWrongType) {
  EXPECT_THAT(refused_model(sampled(), [](NpzArchive& a) { a["row_mean"] = a["row_names"]; }),
              HasSubstr("'row_mean'"));
  EXPECT_THAT(refused_model(sampled(),
                            [](NpzArchive& a) {
                              const auto& values = values_in<float>(a, "row_variance");
                              a["row_variance"].values = std::vector<double>(values.begin(), values.end());
                            }),
              HasSubstr("'row_variance' has the wrong type"));
}

TEST(CompletionFile, IsTellableFromAFactorizationAndFromAnythingElse) {
  const ScratchDirectory scratch;
  ModelFile factorization;
  factorization.model = {Matrix::Ones(3, 1), Matrix::Ones(2, 1), Vector::Ones(1), false};
  save_model(scratch / "f.npz", factorization);
  EXPECT_FALSE(is_completion_file(scratch / "f.npz"));
  EXPECT_THAT(message_of<InvalidInput>([&] { load_completion(scratch / "f.npz"); }),
              HasSubstr("a factorization, not a completed matrix"));
  const auto text = scratch.with("x.csv", "1,2\n3,4\n");
  EXPECT_THROW(is_completion_file(text), InvalidInput);
  EXPECT_THROW(load_completion(text), InvalidInput);
  EXPECT_THROW(load_completion(scratch / "missing.npz"), InvalidInput);
  EXPECT_THROW(save_completion(scratch / "no folder/m.npz", sampled()), OutputFailure);
}

TEST(CompletionFile, RefusesAFileThatWasCutShort) {
  const ScratchDirectory scratch;
  save_completion(scratch / "m.npz", sampled());
  const std::string whole = content_of(scratch / "m.npz");
  for (const double share : {0.0, 0.3, 0.7, 0.999}) {
    const auto path = scratch.with("cut.npz", whole.substr(0, std::size_t(share * double(whole.size()))));
    EXPECT_THROW(load_completion(path), InvalidInput) << share;
  }
}

TEST(CompletionFile, RefusesNumbersThatNoRunWouldFind) {
  const auto with = [](const CompletionFile& file, const std::string& name, auto value) {
    return refused_model(file, [&](NpzArchive& a) { values_in<decltype(value)>(a, name).at(0) = value; });
  };
  for (const std::string name :
       {"row_mean", "column_mean", "row_variance", "column_intercept", "sample_rows"})
    EXPECT_THAT(with(sampled(), name, 1e30F), HasSubstr("'" + name + "'"));
  EXPECT_THAT(with(sampled(), "scaling", 1e300), HasSubstr("'scaling'"));
  for (const std::string name : {"left", "right", "weights"})
    EXPECT_THAT(with(structured(false), name, 1e300), HasSubstr("'" + name + "'"));
}

TEST(CompletionFile, NeverWritesWhatIsNotFinite) {
  const ScratchDirectory scratch;
  for (const auto& damage : std::vector<std::function<void(CompletionModel&)>>{
           [](CompletionModel& m) { m.rows.mean(0, 0) = std::nanf(""); },
           [](CompletionModel& m) { m.cols.variance(1, 0) = -1; },
           [](CompletionModel& m) { m.samples[1].rows(2, 0) = INFINITY; },
           [](CompletionModel& m) { m.scale = 0; },
           [](CompletionModel& m) { m.cols.noise_weight.pop_back(); }}) {
    CompletionFile file = sampled();
    damage(file.model);
    EXPECT_THROW(save_completion(scratch / "m.npz", file), InvalidInput);
    EXPECT_TRUE(scratch.files().empty());
  }
}

TEST(CompletionFile, ThoseOfEarlyVersionsWithoutSidesAreRead) {
  const ScratchDirectory scratch;
  const auto path = scratch / "m.npz";
  save_completion(path, structured(false));
  NpzArchive archive = read_npz(path);
  for (auto& [name, array] : archive)
    if ((name.starts_with("row_") || name.starts_with("column_")) && !name.ends_with("_names"))
      array = {array.shape.size() == 2 ? std::vector<Index>{0, 0} : std::vector<Index>{0},
               std::vector<float>{}};
  write_npz(path, archive);
  EXPECT_TRUE(same_predictions(all_predictions(load_completion(path).model),
                               all_predictions(structured(false).model)));
}

TEST(CompletionFile, MetadataIsBoundedInDepthAndSize) {
  const auto with = [](std::string text) {
    return refused_model(
        sampled(), [&](NpzArchive& a) { values_in<std::string>(a, "metadata").at(0) = std::move(text); });
  };
  EXPECT_THAT(with(std::string(100000, '[')), HasSubstr("nested more than"));
  EXPECT_THAT(
      with("{\"kind\": \"completion\", \"x\": " + std::string(100000, '[') + std::string(100000, ']') + "}"),
      HasSubstr("nested more than"));
  EXPECT_THAT(with("{\"kind\": \"completion\", \"x\": \"" + std::string(5000000, 'a') + "\"}"),
              HasSubstr("its metadata has 50000"));
  CompletionFile nested = sampled();
  nested.metadata["x"] = "[[[1, 2], 3], {\"y\": 4}]";
  EXPECT_EQ(round_trip(nested).metadata.at("x"), nested.metadata.at("x")) << "text is no depth";
}

TEST(AnyModelFile, IsReadOnceWhateverItIs) {
  const ScratchDirectory scratch;
  ModelFile factorization;
  factorization.model = {Matrix::Ones(3, 1), Matrix::Ones(2, 1), Vector::Ones(1), false};
  save_model(scratch / "f.npz", factorization);
  save_completion(scratch / "c.npz", sampled());
  EXPECT_EQ(std::get<ModelFile>(load_any_model(scratch / "f.npz")).model.left(), factorization.model.left());
  EXPECT_EQ(std::get<CompletionFile>(load_any_model(scratch / "c.npz")).rows.names(), sampled().rows.names());
}

}  // namespace
}  // namespace pursuit::io
