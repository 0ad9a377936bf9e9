#include "pursuit/io/completion_file.hpp"

#include <cmath>
#include <limits>

#include "io/archive_reader.hpp"

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

/// Reads with checks of sizes and of finiteness: a damaged model must not predict nonsense.
class CompletionReader {
 public:
  explicit CompletionReader(const ArchiveReader& reader) : reader_(reader) {}

  /// Entries must be finite, and above or at least `lowest` where that is given.
  enum class Lowest { any, zero, above_zero };
  const std::vector<float>& floats(const std::string& name, const std::vector<Index>& shape,
                                   Lowest lowest = Lowest::any) const {
    const NpyArray& array = reader_.array(name, shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] >= 0 && array.shape[d] != shape[d])
        reader_.refuse(fmt::format("array '{}' has {} entries along axis {} instead of {}", name,
                                   array.shape[d], d, shape[d]));
    const auto& values = reader_.values<float>(array, name);
    for (const float value : values) {
      if (!std::isfinite(value))
        reader_.refuse(fmt::format("array '{}' has an entry that is not finite", name));
      if ((lowest == Lowest::zero && value < 0) || (lowest == Lowest::above_zero && value <= 0))
        reader_.refuse(fmt::format("array '{}' has the entry {}, which is too small", name, value));
    }
    return values;
  }

  FactorMatrix matrix(const std::string& name, Index rows, Index cols, Lowest lowest = Lowest::any) const {
    const auto& values = floats(name, {rows, cols}, lowest);
    const auto& shape = reader_.array(name, 2).shape;
    return Eigen::Map<const FactorMatrix>(values.data(), shape[0], shape[1]);
  }

  CompletionSide side(const std::string& prefix, Index size, Index other) const {
    CompletionSide side;
    side.mean = matrix(prefix + "_mean", -1, -1);
    if (side.mean.rows() == 0 && side.mean.cols() == 0) return side;  // structured atoms only
    const Index width = side.mean.cols();
    if (side.mean.rows() != size || width < 1)
      reader_.refuse(
          fmt::format("array '{}_mean' is {} x {} for {} ids", prefix, side.mean.rows(), width, size));
    side.variance = matrix(prefix + "_variance", size, width, Lowest::zero);
    const auto optional = [&](const std::string& name, Index rows) {
      const bool empty = reader_.array(name, 2).shape[0] == 0;
      return empty ? FactorMatrix() : matrix(name, rows, width);
    };
    side.pattern = optional(prefix + "_pattern", other);
    side.features = optional(prefix + "_features", -1);
    const auto vector = [&](const std::string& name, Lowest lowest) {
      const auto& values = floats(name, {width}, lowest);
      return Eigen::VectorXf(Eigen::Map<const Eigen::VectorXf>(values.data(), width));
    };
    side.intercept = vector(prefix + "_intercept", Lowest::any);
    side.prior_variance = vector(prefix + "_prior_variance", Lowest::zero);
    side.noise_weight = floats(prefix + "_noise_weight", {size}, Lowest::above_zero);
    return side;
  }

  std::vector<CompletionSample> samples(Index rows, Index cols) const {
    if (!reader_.has_any({"sample_rows", "sample_columns", "sample_row_noise_weight",
                          "sample_column_noise_weight", "sample_noise_variance"}))
      return {};
    const auto noise = reader_.list<double>("sample_noise_variance");
    for (const double value : noise)
      if (!(value >= 0 && std::isfinite(value)))
        reader_.refuse(fmt::format("array 'sample_noise_variance' has the entry {}", value));
    const auto count = Index(noise.size());
    const auto &u = floats("sample_rows", {count, rows, -1}),
               &v = floats("sample_columns", {count, cols, -1});
    const Index width = reader_.array("sample_rows", 3).shape[2];
    if (width < 1 || reader_.array("sample_columns", 3).shape[2] != width)
      reader_.refuse("samples of rows and of columns do not belong together");
    const auto &wu = floats("sample_row_noise_weight", {count, rows}, Lowest::above_zero),
               &wv = floats("sample_column_noise_weight", {count, cols}, Lowest::above_zero);
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
    archive["left"] = array_of(model.atoms.left);
    archive["right"] = array_of(model.atoms.right);
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
  archive["metadata"] = array_of_metadata(std::move(metadata));
  write_npz(path, archive);
}

CompletionFile load_completion(const std::filesystem::path& path) {
  const NpzArchive archive = read_npz(path);
  const ArchiveReader reader(archive, path.string());
  const CompletionReader parts(reader);
  CompletionFile file;
  file.metadata = reader.metadata();
  if (file.metadata["kind"] != "completion")
    throw InvalidInput(fmt::format(
        "{}: a factorization, not a completed matrix; `pursuit complete` makes those", path.string()));
  file.rows = IdTable(reader.list<std::string>("row_names"));
  file.cols = IdTable(reader.list<std::string>("column_names"));
  const Index rows = file.rows.size(), cols = file.cols.size();
  CompletionModel& model = file.model;
  const auto scaling = reader.list<double>("scaling");
  if (scaling.size() != 5) reader.refuse("array 'scaling' must have 5 entries");
  model.mean = scaling[0], model.scale = scaling[1], model.noise_variance = scaling[2];
  model.lowest = scaling[3], model.highest = scaling[4];
  if (!(std::isfinite(model.mean) && model.scale > 0 && std::isfinite(model.scale) &&
        model.noise_variance >= 0 && std::isfinite(model.noise_variance) && model.lowest <= model.highest))
    reader.refuse("array 'scaling' has entries that make no sense");
  model.rows = parts.side("row", rows, cols);
  model.cols = parts.side("column", cols, rows);
  if (model.rows.mean.cols() != model.cols.mean.cols())
    reader.refuse("rows and columns have different ranks");
  model.samples = parts.samples(rows, cols);
  if (reader.has_any({"left", "right", "weights"})) {
    model.atoms.left = reader.matrix("left");
    model.atoms.right = reader.matrix("right");
    const auto weights = reader.list<double>("weights");
    model.atoms.weights = Eigen::Map<const Vector>(weights.data(), Index(weights.size()));
    if (model.atoms.left.rows() != rows || model.atoms.right.rows() != cols ||
        model.atoms.left.cols() != model.atoms.rank() || model.atoms.right.cols() != model.atoms.rank() ||
        !model.atoms.weights.allFinite())
      reader.refuse("its atoms do not fit its rows, columns and weights");
  }
  file.seen = parts.seen(rows, cols);
  return file;
}

bool is_completion_file(const std::filesystem::path& path) {
  const NpzArchive archive = read_npz(path);
  const auto metadata = ArchiveReader(archive, path.string()).metadata();
  const auto kind = metadata.find("kind");
  return kind != metadata.end() && kind->second == "completion";
}

}  // namespace pursuit
