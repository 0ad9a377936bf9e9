#include "pursuit/io/model_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "io/npz_archive.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

NpyArray array_of(const Matrix& m) {
  std::vector<double> values(std::size_t(m.size()));
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(values.data(), m.rows(),
                                                                                     m.cols()) = m;
  return {{m.rows(), m.cols()}, std::move(values)};
}

template <class T>
NpyArray array_of(std::vector<T> values) {
  return {{Index(values.size())}, std::move(values)};
}

/// Calls visit(name, member) for every column of the trace: one list for writing and reading.
template <class Visit>
void for_each_trace_column(const Visit& visit) {
  visit("trace_rank", &Step::rank);
  visit("trace_objective", &Step::objective);
  visit("trace_relative_error", &Step::relative_error);
  visit("trace_lmo_value", &Step::lmo_value);
  visit("trace_gain", &Step::gain);
  visit("trace_spread", &Step::spread);
  visit("trace_iterations", &Step::iterations);
  visit("trace_sweeps", &Step::sweeps);
  visit("trace_seconds", &Step::seconds);
}

class Reader {
 public:
  Reader(const NpzArchive& archive, std::string path) : archive_(archive), path_(std::move(path)) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw InvalidInput(fmt::format("{}: not a pursuit model: {}", path_, why));
  }
  const NpyArray& array(const std::string& name, std::size_t dimensions) const {
    const auto found = archive_.find(name);
    if (found == archive_.end()) refuse(fmt::format("array '{}' is missing", name));
    if (found->second.shape.size() != dimensions)
      refuse(fmt::format("array '{}' has {} dimensions instead of {}", name, found->second.shape.size(),
                         dimensions));
    return found->second;
  }
  template <class T>
  const std::vector<T>& values(const NpyArray& array, const std::string& name) const {
    if (const auto* list = std::get_if<std::vector<T>>(&array.values)) return *list;
    refuse(fmt::format("array '{}' has the wrong type of entries", name));
  }
  Matrix matrix(const std::string& name) const {
    const NpyArray& entry = array(name, 2);
    const auto& list = values<double>(entry, name);
    Matrix result = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        list.data(), entry.shape[0], entry.shape[1]);
    if (!result.allFinite()) refuse(fmt::format("array '{}' has an entry that is not finite", name));
    return result;
  }
  template <class T>
  std::vector<T> list(const std::string& name) const {
    return values<T>(array(name, 1), name);
  }
  std::vector<std::string> names(const std::string& name, Index expected) const {
    if (!archive_.contains(name)) return {};
    auto result = list<std::string>(name);
    if (Index(result.size()) != expected)
      refuse(fmt::format("array '{}' has {} entries for {} atoms' entries", name, result.size(), expected));
    return result;
  }

 private:
  const NpzArchive& archive_;
  std::string path_;
};

}  // namespace

const char* version() {
  return PURSUIT_VERSION;
}

void save_model(const std::filesystem::path& path, const ModelFile& file) {
  NpzArchive archive;
  archive["left"] = array_of(file.model.left);
  archive["right"] = array_of(file.model.right);
  archive["weights"] = array_of(std::vector<double>(file.model.weights.begin(), file.model.weights.end()));
  for_each_trace_column([&](const char* name, auto member) {
    using Value = std::conditional_t<std::is_same_v<decltype(member), double Step::*>, double, std::int64_t>;
    std::vector<Value> column;
    for (const Step& step : file.trace) column.push_back(Value(step.*member));
    archive[name] = array_of(std::move(column));
  });
  if (!file.row_names.empty()) archive["row_names"] = array_of(file.row_names);
  if (!file.column_names.empty()) archive["column_names"] = array_of(file.column_names);
  nlohmann::json metadata = file.metadata;
  metadata["version"] = version();
  metadata["symmetric"] = file.model.symmetric ? "true" : "false";
  archive["metadata"] = {{}, std::vector<std::string>{metadata.dump()}};
  write_npz(path, archive);
}

ModelFile load_model(const std::filesystem::path& path) {
  const NpzArchive archive = read_npz(path);
  const Reader reader(archive, path.string());
  ModelFile file;
  file.model.left = reader.matrix("left");
  file.model.right = reader.matrix("right");
  const auto weights = reader.list<double>("weights");
  file.model.weights = Eigen::Map<const Vector>(weights.data(), Index(weights.size()));
  if (file.model.left.cols() != file.model.rank() || file.model.right.cols() != file.model.rank())
    reader.refuse(fmt::format("{} left atoms, {} right atoms and {} weights do not belong together",
                              file.model.left.cols(), file.model.right.cols(), file.model.rank()));
  if (!file.model.weights.allFinite()) reader.refuse("a weight is not finite");
  file.trace.resize(std::size_t(reader.array("trace_rank", 1).shape[0]));
  for_each_trace_column([&](const char* name, auto member) {
    using Value = std::conditional_t<std::is_same_v<decltype(member), double Step::*>, double, std::int64_t>;
    const auto column = reader.list<Value>(name);
    if (column.size() != file.trace.size())
      reader.refuse(fmt::format("array '{}' has the wrong length", name));
    for (std::size_t i = 0; i < column.size(); ++i)
      file.trace[i].*member =
          static_cast<std::remove_reference_t<decltype(file.trace[i].*member)>>(column[i]);
  });
  file.row_names = reader.names("row_names", file.model.left.rows());
  file.column_names = reader.names("column_names", file.model.right.rows());
  const auto metadata =
      nlohmann::json::parse(reader.values<std::string>(reader.array("metadata", 0), "metadata").at(0),
                            nullptr, /*allow_exceptions=*/false);
  if (!metadata.is_object()) reader.refuse("its metadata is not a JSON object");
  for (const auto& [key, value] : metadata.items())
    file.metadata[key] = value.is_string() ? value.get<std::string>() : value.dump();
  file.model.symmetric = file.metadata["symmetric"] == "true";
  return file;
}

}  // namespace pursuit
