#include "pursuit/io/completion_file.hpp"

#include <cmath>
#include <exception>
#include <limits>
#include <span>
#include <string>

#include "completion/entry_pool.hpp"
#include "data/ranked_rows.hpp"
#include "io/archive_reader.hpp"
#include "io/completion_share.hpp"
#include "io/model_archive.hpp"
#include "io/npz_over_ranks.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit {
namespace {

NpyArray array_of_floats(const FactorMatrix& m) {
  return {{m.rows(), m.cols()}, std::vector<float>(m.data(), m.data() + m.size())};
}

NpyArray array_of_floats(const Eigen::VectorXf& v) {
  return {{v.size()}, std::vector<float>(v.begin(), v.end())};
}

NpyArray array_of_vector(const Vector& v) {
  return array_of(std::vector<double>(v.begin(), v.end()));
}

/// Calls visit(name, member) for every part of a side: one list for writing and reading.
template <class Visit>
void for_each_part(const std::string& prefix, const Visit& visit) {
  visit(prefix + "_mean", &CompletionSide::mean);
  visit(prefix + "_variance", &CompletionSide::variance);
  visit(prefix + "_pattern", &CompletionSide::pattern);
  visit(prefix + "_features", &CompletionSide::features);
  visit(prefix + "_intercept", &CompletionSide::intercept);
  visit(prefix + "_prior_variance", &CompletionSide::prior_variance);
  visit(prefix + "_pattern_variance", &CompletionSide::pattern_variance);
  visit(prefix + "_features_variance", &CompletionSide::features_variance);
  visit(prefix + "_base_intercept", &CompletionSide::base_intercept);
  visit(prefix + "_base_variance", &CompletionSide::base_variance);
  visit(prefix + "_selection", &CompletionSide::selection);
  visit(prefix + "_noise_weight", &CompletionSide::noise_weight);
}

/// Parts that models of earlier versions have not.
bool is_recent(const std::string& name) {
  return name.ends_with("_pattern_variance") || name.ends_with("_features_variance") ||
         name.ends_with("_base_intercept") || name.ends_with("_base_variance") ||
         name.ends_with("_selection");
}

void write_samples(const std::vector<CompletionSample>& samples, NpzArchive& archive) {
  if (samples.empty()) return;
  const auto count = Index(samples.size());
  std::vector<float> rows, cols, row_weights, col_weights;
  std::vector<double> noise;
  for (const CompletionSample& sample : samples) {
    rows.insert(rows.end(), sample.rows.data(), sample.rows.data() + sample.rows.size());
    cols.insert(cols.end(), sample.cols.data(), sample.cols.data() + sample.cols.size());
    row_weights.insert(row_weights.end(), sample.row_noise_weight.begin(), sample.row_noise_weight.end());
    col_weights.insert(col_weights.end(), sample.col_noise_weight.begin(), sample.col_noise_weight.end());
    noise.push_back(sample.noise_variance);
  }
  const CompletionSample& first = samples.front();
  archive["sample_rows"] = {{count, first.rows.rows(), first.rows.cols()}, std::move(rows)};
  archive["sample_columns"] = {{count, first.cols.rows(), first.cols.cols()}, std::move(cols)};
  archive["sample_row_noise_weight"] = {{count, first.rows.rows()}, std::move(row_weights)};
  archive["sample_column_noise_weight"] = {{count, first.cols.rows()}, std::move(col_weights)};
  archive["sample_noise_variance"] = array_of(std::move(noise));
}

/// Calls visit(prefix, part) for every kind of drift.
template <class Model, class Visit>
void for_each_drift(Model& model, const Visit& visit) {
  visit(std::string("drift"), model.drift.all);
  visit(std::string("drift_row"), model.drift.rows);
  visit(std::string("drift_column"), model.drift.cols);
}

void write_drift(const CompletionModel& model, NpzArchive& archive) {
  if (!model.drift.is_on()) return;
  archive["drift_newest"] = array_of(std::vector<double>{model.drift.newest});
  for_each_drift(model, [&](const std::string& name, const DriftOf& part) {
    if (!part.is_on()) return;
    archive[name + "_prior"] = array_of(std::vector<double>{part.reach, part.ridge});
    archive[name + "_start"] = array_of(part.start);
    archive[name + "_time"] = array_of(part.time);
    archive[name + "_sum"] = array_of(part.sum);
    archive[name + "_count"] = array_of(part.count);
  });
}

/// The arrays of an archive as the parts of a model, whose numbers require_sound() looks at.
class CompletionReader {
 public:
  explicit CompletionReader(const ArchiveReader& reader) : reader_(reader) {}

  /// A shape of -1 is any.
  const std::vector<float>& floats(const std::string& name, const std::vector<Index>& shape) const {
    const NpyArray& array = reader_.array(name, shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] >= 0 && array.shape[d] != shape[d])
        reader_.refuse(fmt::format("array '{}' has {} entries along axis {} instead of {}", name,
                                   array.shape[d], d, shape[d]));
    return reader_.values<float>(array, name);
  }

  void read(const std::string& name, FactorMatrix& matrix) const {
    const auto& values = floats(name, {-1, -1});
    const auto& shape = reader_.array(name, 2).shape;
    matrix = Eigen::Map<const FactorMatrix>(values.data(), shape[0], shape[1]);
  }
  void read(const std::string& name, Eigen::VectorXf& vector) const {
    const auto& values = floats(name, {-1});
    vector = Eigen::Map<const Eigen::VectorXf>(values.data(), Index(values.size()));
  }
  void read(const std::string& name, std::vector<float>& list) const { list = floats(name, {-1}); }

  CompletionSide side(const std::string& prefix, Index size) const {
    CompletionSide side;
    read(prefix + "_mean", side.mean);
    if (side.mean.rows() == 0 && side.mean.cols() == 0)
      return plain_side(size);  // as early versions wrote it
    if (side.mean.rows() != size)
      reader_.refuse(fmt::format("array '{}_mean' has {} rows for {} ids", prefix, side.mean.rows(), size));
    bool recent = reader_.has_any({(prefix + "_noise_shape").c_str()});
    for_each_part(prefix, [&](const std::string& name, auto) {
      recent = recent || (is_recent(name) && reader_.has_any({name.c_str()}));
    });
    for_each_part(prefix, [&](const std::string& name, auto part) {
      if (recent || !is_recent(name)) read(name, side.*part);
    });
    if (!recent) return side;
    const auto shape = reader_.list<double>(prefix + "_noise_shape");
    if (shape.size() != 1) reader_.refuse(fmt::format("array '{}_noise_shape' must have 1 entry", prefix));
    side.noise_shape = shape[0];
    return side;
  }

  std::vector<CompletionSample> samples(Index rows, Index cols) const {
    if (!reader_.has_any({"sample_rows", "sample_columns", "sample_row_noise_weight",
                          "sample_column_noise_weight", "sample_noise_variance"}))
      return {};
    const auto noise = reader_.list<double>("sample_noise_variance");
    const auto count = Index(noise.size());
    const auto& u = floats("sample_rows", {count, rows, -1});
    const Index width = reader_.array("sample_rows", 3).shape[2];
    const auto &v = floats("sample_columns", {count, cols, width}),
               &wu = floats("sample_row_noise_weight", {count, rows}),
               &wv = floats("sample_column_noise_weight", {count, cols});
    std::vector<CompletionSample> result;
    for (Index s = 0; s < count; ++s)
      result.push_back({Eigen::Map<const FactorMatrix>(u.data() + s * rows * width, rows, width),
                        Eigen::Map<const FactorMatrix>(v.data() + s * cols * width, cols, width),
                        {wu.begin() + s * rows, wu.begin() + (s + 1) * rows},
                        {wv.begin() + s * cols, wv.begin() + (s + 1) * cols},
                        noise[std::size_t(s)]});
    return result;
  }

  void drift(CompletionModel& model) const {
    if (!reader_.has_any({"drift_newest"})) return;
    const auto newest = reader_.list<double>("drift_newest");
    if (newest.size() != 1) reader_.refuse("array 'drift_newest' must have 1 entry");
    model.drift.newest = newest[0];
    for_each_drift(model, [&](const std::string& name, DriftOf& part) {
      if (!reader_.has_any({(name + "_prior").c_str()})) return;
      const auto prior = reader_.list<double>(name + "_prior");
      if (prior.size() != 2) reader_.refuse(fmt::format("array '{}_prior' must have 2 entries", name));
      part.reach = prior[0], part.ridge = prior[1];
      part.start = reader_.list<std::int64_t>(name + "_start");
      part.time = reader_.list<double>(name + "_time");
      read(name + "_sum", part.sum);
      read(name + "_count", part.count);
    });
  }

  std::vector<int> places(const std::string& name, Index size) const {
    std::vector<int> result;
    for (const std::int64_t place : reader_.list<std::int64_t>(name)) {
      if (place < 0 || place >= size) reader_.refuse(fmt::format("array '{}' has an entry {}", name, place));
      result.push_back(int(place));
    }
    return result;
  }

  std::vector<float> finite(const std::string& name, std::size_t count) const {
    std::vector<float> result = floats(name, {Index(count)});
    for (const float value : result)
      if (!std::isfinite(value))
        reader_.refuse(fmt::format("array '{}' has an entry that is not finite", name));
    return result;
  }

  GroupedEntries entries(const std::string& prefix, Index rows, Index cols) const {
    GroupedEntries seen;
    seen.start = reader_.list<std::int64_t>(prefix + "_start");
    seen.index = places(prefix + "_column", cols);
    seen.value = finite(prefix + "_value", seen.index.size());
    bool fits = Index(seen.start.size()) == rows + 1 && seen.start.front() == 0 &&
                seen.start.back() == std::int64_t(seen.index.size());
    for (std::size_t i = 1; fits && i < seen.start.size(); ++i) fits = seen.start[i] >= seen.start[i - 1];
    if (!fits)
      reader_.refuse(fmt::format("array '{}_start' does not divide the entries among the rows", prefix));
    for (Index i = 0; i < rows; ++i)
      for (std::int64_t e = seen.start[i] + 1; e < seen.start[i + 1]; ++e)
        if (seen.index[e] <= seen.index[e - 1])
          reader_.refuse(fmt::format("array '{}_column' does not ascend within row {}", prefix, i));
    return seen;
  }

  std::optional<FeatureFile> features(const std::string& prefix, Index members) const {
    if (!reader_.has_any({(prefix + "_feature_names").c_str()})) return std::nullopt;
    FeatureFile result;
    result.names = reader_.list<std::string>(prefix + "_feature_names");
    FeatureTable& table = result.table;
    table.rows = members;
    table.cols = Index(result.names.size());
    table.row = places(prefix + "_feature_member", table.rows);
    table.col = places(prefix + "_feature_index", table.cols);
    table.value = finite(prefix + "_feature_value", table.row.size());
    if (table.col.size() != table.row.size())
      reader_.refuse(
          fmt::format("arrays '{0}_feature_member' and '{0}_feature_index' differ in length", prefix));
    return result;
  }

 private:
  const ArchiveReader& reader_;
};

NpzArchive archive_of(const CompletionFile& file) {
  const CompletionModel& model = file.model;
  require_sound(model);
  NpzArchive archive;
  archive["scaling"] = array_of(
      std::vector<double>{model.mean, model.scale, model.noise_variance, model.lowest, model.highest});
  for (const auto& [prefix, side] :
       {std::pair(std::string("row"), &model.rows), std::pair(std::string("column"), &model.cols)}) {
    archive[prefix + "_noise_shape"] = array_of(std::vector<double>{side->noise_shape});
    for_each_part(prefix, [&, side = side](const std::string& name, auto part) {
      if constexpr (std::is_same_v<decltype(part), std::vector<float> CompletionSide::*>)
        archive[name] = array_of(side->*part);
      else
        archive[name] = array_of_floats(side->*part);
    });
  }
  if (model.atoms.rank() > 0) {
    archive["left"] = array_of(model.atoms.left());
    archive["right"] = array_of(model.atoms.right());
    archive["weights"] = array_of_vector(model.atoms.weights);
    archive["nonnegative"] =
        array_of(std::vector<double>{double(model.rows.nonnegative), double(model.cols.nonnegative)});
  }
  if (model.is_implicit()) {
    const Confidence& confidence = model.implicit.confidence;
    archive["implicit"] = array_of(std::vector<double>{model.implicit.zeros, model.implicit.ridge,
                                                       double(confidence.kind), confidence.a, confidence.b});
  }
  if (model.own_terms.grades.size() > 0) {
    archive["grades"] = array_of_vector(model.own_terms.grades);
    archive["thresholds"] = array_of_vector(model.own_terms.thresholds);
  }
  if (model.own_terms.size > 0) archive["size"] = array_of(std::vector<double>{model.own_terms.size});
  write_samples(model.samples, archive);
  write_drift(model, archive);
  if (model.average_rows.size() > 0) {
    archive["average_rows"] = array_of_floats(model.average_rows);
    archive["average_columns"] = array_of_floats(model.average_cols);
  }
  const auto wide = [](const std::vector<int>& places) {
    return array_of(std::vector<std::int64_t>(places.begin(), places.end()));
  };
  const auto write_entries = [&](const std::string& prefix, const GroupedEntries& entries) {
    archive[prefix + "_start"] = array_of(entries.start);
    archive[prefix + "_column"] = wide(entries.index);
    archive[prefix + "_value"] = array_of(entries.value);
  };
  if (file.keeps_entries) {
    write_entries("seen", file.seen);
    if (!file.held_out.index.empty()) write_entries("held_out", file.held_out);
  } else {
    archive["row_unseen"] = wide(model.rows.unseen);
    archive["column_unseen"] = wide(model.cols.unseen);
  }
  for (const auto& [prefix, features] :
       {std::pair(std::string("row"), &file.row_features), {"column", &file.col_features}})
    if (*features) {
      archive[prefix + "_feature_names"] = array_of((*features)->names);
      archive[prefix + "_feature_member"] = wide((*features)->table.row);
      archive[prefix + "_feature_index"] = wide((*features)->table.col);
      archive[prefix + "_feature_value"] = array_of((*features)->table.value);
    }
  archive["row_names"] = array_of(file.rows.names());
  archive["column_names"] = array_of(file.cols.names());
  auto metadata = file.metadata;
  metadata["kind"] = "completion";
  metadata.erase("loss");
  if (model.loss.kind != Loss::squares) metadata["loss"] = model.loss.spec();
  archive["metadata"] = array_of_metadata(std::move(metadata));
  return archive;
}

/// All ranks call it; path and archive are those of rank 0.
void write_with_seen(Ranks& ranks, const std::filesystem::path& path, const NpzArchive& archive,
                     const EntryPool& seen) {
  if (first_that_differs(ranks, std::to_string(seen.number())) >= 0)
    throw InvalidArgument("the entries of this completion are gone: its team has made another one since");
  const GroupedEntries& own = seen.by_row()->entries();
  write_npz_over_ranks(
      ranks, path, archive,
      {{"seen_column", std::span<const int>(own.index)}, {"seen_value", std::span<const float>(own.value)}},
      seen.threads());
}

}  // namespace

void save_completion(const std::filesystem::path& path, const CompletionFile& file) {
  write_npz(path, archive_of(file));
}

void save_completion(const std::filesystem::path& path, const CompletionFile& file, const EntryPool& seen,
                     RankTeam& team) {
  NpzArchive archive = archive_of(file);
  if (!file.keeps_entries) return write_npz(path, archive);
  archive["seen_start"] = array_of(seen.by_row()->start_of_all());
  archive.erase("seen_column");
  archive.erase("seen_value");
  std::exception_ptr refusal;  // all ranks know of it, and are ready for the next job
  team.ask({.order = Order::store}, [&] {
    try {
      write_with_seen(team.ranks(), path, archive, seen);
    } catch (const Error&) {
      refusal = std::current_exception();
    }
  });
  if (refusal) std::rethrow_exception(refusal);
}

void io::store_seen_share(Ranks& ranks, const EntryPool& seen) {
  write_with_seen(ranks, {}, {}, seen);
}

namespace {

bool holds_completion(const ArchiveReader& reader) {
  const auto metadata = reader.metadata();
  const auto kind = metadata.find("kind");
  return kind != metadata.end() && kind->second == "completion";
}

/// Models of earlier versions do not say; new rows of implicit feedback took their signs from those there
/// are.
void read_signs(const ArchiveReader& reader, CompletionModel& model) {
  if (!reader.has_any({"nonnegative"})) {
    model.rows.nonnegative = model.is_implicit() && !(model.atoms.left().array() < 0).any() &&
                             !(model.atoms.weights.array() < 0).any();
    return;
  }
  const auto sides = reader.list<double>("nonnegative");
  if (sides.size() != 2) reader.refuse("array 'nonnegative' must have 2 entries");
  for (const double side : sides)
    if (side != 0 && side != 1)
      reader.refuse(fmt::format("array 'nonnegative' has an entry {}; allowed are 0 and 1", side));
  model.rows.nonnegative = sides[0] == 1;
  model.cols.nonnegative = sides[1] == 1;
}

CompletionFile completion_from(const ArchiveReader& reader) {
  const CompletionReader parts(reader);
  CompletionFile file;
  file.metadata = reader.metadata();
  file.rows = IdTable(reader.list<std::string>("row_names"));
  file.cols = IdTable(reader.list<std::string>("column_names"));
  const Index rows = file.rows.size(), cols = file.cols.size();
  CompletionModel& model = file.model;
  try {
    if (const auto loss = file.metadata.find("loss"); loss != file.metadata.end())
      model.loss = parse_loss(loss->second);
  } catch (const InvalidArgument& defect) {
    reader.refuse(defect.what());
  }
  const auto vector = [&](const char* name) -> Vector {
    const auto numbers = reader.list<double>(name);
    return Eigen::Map<const Vector>(numbers.data(), Index(numbers.size()));
  };
  const auto scaling = reader.list<double>("scaling");
  if (scaling.size() != 5) reader.refuse("array 'scaling' must have 5 entries");
  model.mean = scaling[0], model.scale = scaling[1], model.noise_variance = scaling[2];
  model.lowest = scaling[3], model.highest = scaling[4];
  model.rows = parts.side("row", rows);
  model.cols = parts.side("column", cols);
  model.samples = parts.samples(rows, cols);
  parts.drift(model);
  if (reader.has_any({"implicit"})) {
    const auto numbers = reader.list<double>("implicit");
    if (numbers.size() != 5) reader.refuse("array 'implicit' must have 5 entries");
    if (numbers[2] != 0 && numbers[2] != 1 && numbers[2] != 2)
      reader.refuse(
          fmt::format("array 'implicit' has a confidence of kind {}; allowed are 0, 1 and 2", numbers[2]));
    model.implicit = {numbers[0], numbers[1], {Confidence::Kind(int(numbers[2])), numbers[3], numbers[4]}};
  }
  if (reader.has_any({"average_rows", "average_columns"})) {
    parts.read("average_rows", model.average_rows);
    parts.read("average_columns", model.average_cols);
  }
  if (reader.has_any({"left", "right", "weights"})) {
    model.atoms.left() = reader.matrix("left");
    model.atoms.right() = reader.matrix("right");
    model.atoms.weights = vector("weights");
    read_signs(reader, model);
  }
  if (reader.has_any({"grades", "thresholds"})) {
    model.own_terms.grades = vector("grades");
    model.own_terms.thresholds = vector("thresholds");
  }
  if (reader.has_any({"size"})) model.own_terms.size = vector("size").sum();
  file.keeps_entries = !reader.has_any({"row_unseen", "column_unseen"});
  if (file.keeps_entries) {
    file.seen = parts.entries("seen", rows, cols);
    if (reader.has_any({"held_out_start"})) file.held_out = parts.entries("held_out", rows, cols);
    note_unseen(model, file.seen);
  } else {
    model.rows.unseen = parts.places("row_unseen", rows);
    model.cols.unseen = parts.places("column_unseen", cols);
  }
  file.row_features = parts.features("row", rows);
  file.col_features = parts.features("column", cols);
  try {
    require_sound(model);
  } catch (const InvalidInput& defect) {
    reader.refuse(defect.what());
  }
  return file;
}

}  // namespace

GroupedEntries CompletionFile::known() const {
  if (held_out.index.empty()) return seen;
  ObservedEntries others{held_out.size(), cols.size(), {}, held_out.index, held_out.value};
  for (Index i = 0; i < held_out.size(); ++i)
    others.row.insert(others.row.end(), std::size_t(held_out.count(i)), int(i));
  return ObservedMatrix(merged(seen, std::move(others))).take_by_row();
}

CompletionFile load_completion(const std::filesystem::path& path) {
  const NpzArchive archive = read_npz(path);
  const ArchiveReader reader(archive, path.string());
  if (!holds_completion(reader))
    throw InvalidInput(fmt::format(
        "{}: a factorization, not a completed matrix; `pursuit complete` makes those", path.string()));
  return completion_from(reader);
}

AnyModelFile load_any_model(const std::filesystem::path& path) {
  const NpzArchive archive = read_npz(path);
  const ArchiveReader reader(archive, path.string());
  if (holds_completion(reader)) return completion_from(reader);
  return model_from(reader);
}

bool is_completion_file(const std::filesystem::path& path) {
  const NpzArchive archive = read_npz(path);
  return holds_completion(ArchiveReader(archive, path.string()));
}

}  // namespace pursuit
