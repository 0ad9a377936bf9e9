#include "pursuit/io/completion_file.hpp"

#include <cmath>
#include <limits>

#include "io/archive_reader.hpp"
#include "io/model_archive.hpp"

namespace pursuit {
namespace {

NpyArray array_of_floats(const FactorMatrix& m) {
  return {{m.rows(), m.cols()}, std::vector<float>(m.data(), m.data() + m.size())};
}

NpyArray array_of_floats(const Eigen::VectorXf& v) {
  return {{v.size()}, std::vector<float>(v.begin(), v.end())};
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
  visit(prefix + "_noise_weight", &CompletionSide::noise_weight);
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
    for_each_part(prefix, [&](const std::string& name, auto part) { read(name, side.*part); });
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

  GroupedEntries seen(Index rows, Index cols) const {
    GroupedEntries seen;
    seen.start = reader_.list<std::int64_t>("seen_start");
    for (const std::int64_t column : reader_.list<std::int64_t>("seen_column")) {
      if (column < 0 || column >= cols)
        reader_.refuse(fmt::format("array 'seen_column' has an entry {}", column));
      seen.index.push_back(int(column));
    }
    seen.value = floats("seen_value", {Index(seen.index.size())});
    for (const float value : seen.value)
      if (!std::isfinite(value)) reader_.refuse("array 'seen_value' has an entry that is not finite");
    bool fits = Index(seen.start.size()) == rows + 1 && seen.start.front() == 0 &&
                seen.start.back() == std::int64_t(seen.index.size());
    for (std::size_t i = 1; fits && i < seen.start.size(); ++i) fits = seen.start[i] >= seen.start[i - 1];
    if (!fits) reader_.refuse("array 'seen_start' does not divide the entries among the rows");
    for (Index i = 0; i < rows; ++i)
      for (std::int64_t e = seen.start[i] + 1; e < seen.start[i + 1]; ++e)
        if (seen.index[e] <= seen.index[e - 1])
          reader_.refuse(fmt::format("array 'seen_column' does not ascend within row {}", i));
    return seen;
  }

 private:
  const ArchiveReader& reader_;
};

}  // namespace

void save_completion(const std::filesystem::path& path, const CompletionFile& file) {
  const CompletionModel& model = file.model;
  require_sound(model);
  NpzArchive archive;
  archive["scaling"] = array_of(
      std::vector<double>{model.mean, model.scale, model.noise_variance, model.lowest, model.highest});
  for (const auto& [prefix, side] : {std::pair("row", &model.rows), std::pair("column", &model.cols)})
    for_each_part(prefix, [&, side = side](const std::string& name, auto part) {
      if constexpr (std::is_same_v<decltype(part), std::vector<float> CompletionSide::*>)
        archive[name] = array_of(side->*part);
      else
        archive[name] = array_of_floats(side->*part);
    });
  if (model.atoms.rank() > 0) {
    archive["left"] = array_of(model.atoms.left());
    archive["right"] = array_of(model.atoms.right());
    archive["weights"] =
        array_of(std::vector<double>(model.atoms.weights.begin(), model.atoms.weights.end()));
  }
  write_samples(model.samples, archive);
  archive["seen_start"] = array_of(file.seen.start);
  archive["seen_column"] =
      array_of(std::vector<std::int64_t>(file.seen.index.begin(), file.seen.index.end()));
  archive["seen_value"] = array_of(file.seen.value);
  archive["row_names"] = array_of(file.rows.names());
  archive["column_names"] = array_of(file.cols.names());
  auto metadata = file.metadata;
  metadata["kind"] = "completion";
  metadata.erase("loss");
  if (model.loss.kind != Loss::squares) metadata["loss"] = model.loss.spec();
  archive["metadata"] = array_of_metadata(std::move(metadata));
  write_npz(path, archive);
}

namespace {

bool holds_completion(const ArchiveReader& reader) {
  const auto metadata = reader.metadata();
  const auto kind = metadata.find("kind");
  return kind != metadata.end() && kind->second == "completion";
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
  const auto scaling = reader.list<double>("scaling");
  if (scaling.size() != 5) reader.refuse("array 'scaling' must have 5 entries");
  model.mean = scaling[0], model.scale = scaling[1], model.noise_variance = scaling[2];
  model.lowest = scaling[3], model.highest = scaling[4];
  model.rows = parts.side("row", rows);
  model.cols = parts.side("column", cols);
  model.samples = parts.samples(rows, cols);
  if (reader.has_any({"left", "right", "weights"})) {
    model.atoms.left() = reader.matrix("left");
    model.atoms.right() = reader.matrix("right");
    const auto weights = reader.list<double>("weights");
    model.atoms.weights = Eigen::Map<const Vector>(weights.data(), Index(weights.size()));
  }
  file.seen = parts.seen(rows, cols);
  if (model.atoms.rank() > 0) note_unseen(model, file.seen);
  try {
    require_sound(model);
  } catch (const InvalidInput& defect) {
    reader.refuse(defect.what());
  }
  return file;
}

}  // namespace

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
