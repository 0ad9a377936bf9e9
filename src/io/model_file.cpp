#include "pursuit/io/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "io/model_archive.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/objective/tensor.hpp"

namespace pursuit {
namespace {

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
  visit("trace_left_support", &Step::left_support);
  visit("trace_right_support", &Step::right_support);
  visit("trace_last_sweep", &Step::last_sweep);
}

/// Files of early versions do not have them.
bool is_optional(const std::string& column) {
  return column == "trace_left_support" || column == "trace_right_support" || column == "trace_last_sweep";
}

std::vector<double> list_of(const Vector& v) {
  return {v.begin(), v.end()};
}

std::string text_of(const std::map<std::string, std::string>& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found != metadata.end() ? found->second : "";
}

std::string factor_name(Index mode) {
  return fmt::format("factor_{}", mode);
}

std::string names_name(Index mode) {
  return fmt::format("names_{}", mode);
}

std::string offsets_name(Index mode) {
  return fmt::format("offsets_{}", mode);
}

/// Of three and more modes; `panels` says which of them share their factors.
Factors factors_of_modes(const ArchiveReader& reader, const std::string& panels) {
  std::vector<Panel> found;
  std::vector<Index> panel_of;
  for (Index mode = 0; reader.has_any({factor_name(mode).c_str()}); ++mode) {
    Panel factor = reader.matrix(factor_name(mode));
    const auto at = std::size_t(2 * mode);  // "0,1,1"
    const Index panel = at < panels.size() ? Index(panels[at] - '0') : mode;
    if (panel < 0 || panel > Index(found.size()) ||
        (panel < Index(found.size()) && found[std::size_t(panel)] != factor))
      reader.refuse(fmt::format("array '{}' is not what 'metadata' says about modes that share factors",
                                factor_name(mode)));
    if (panel == Index(found.size())) found.push_back(std::move(factor));
    panel_of.push_back(panel);
  }
  if (panel_of.size() < 3 || panel_of.size() > std::size_t(kMostModes))
    reader.refuse(fmt::format("factors of {} modes; 3 to {} are written so", panel_of.size(), kMostModes));
  for (const Panel& factor : found)
    if (factor.cols() != found[0].cols())
      reader.refuse(fmt::format("{} and {} atoms do not belong together", found[0].cols(), factor.cols()));
  return {std::move(found), std::move(panel_of)};
}

/// One number per column (or row) of the data, or none.
Vector column_figures(const ArchiveReader& reader, const char* name, Index columns) {
  if (!reader.has_any({name})) return {};
  const auto list = reader.list<double>(name);
  Vector figures = Eigen::Map<const Vector>(list.data(), Index(list.size()));
  if (figures.size() != columns || !figures.allFinite())
    reader.refuse(fmt::format("array '{}' must be {} finite numbers", name, columns));
  return figures;
}

void read_loss(const ArchiveReader& reader, ModelFile& file) {
  const auto loss = file.metadata.find("loss");
  if (loss == file.metadata.end()) return;
  const Index rows = file.model.left().rows(), columns = file.model.right().rows();
  try {
    file.loss = parse_loss(loss->second);
  } catch (const InvalidArgument& error) {
    reader.refuse(error.what());
  }
  OwnTerms& own = file.own_terms;
  if (reader.has_any({"size"})) own.size = column_figures(reader, "size", 1)[0];
  if (file.loss.kind == Loss::negative_binomial && !(own.size > 0))
    reader.refuse(fmt::format("the size of a negative binomial is {}, must be above 0", own.size));
  own.row_offsets = column_figures(reader, "row_offsets", rows);
  own.col_offsets = column_figures(reader, "column_offsets", columns);
  for (Index mode = 2; own.row_offsets.size() > 0 && mode < file.model.factors.modes(); ++mode) {
    own.further_offsets.push_back(
        column_figures(reader, offsets_name(mode).c_str(), file.model.factors[mode].rows()));
    if (own.further_offsets.back().size() == 0)
      reader.refuse(fmt::format("array '{}' is missing", offsets_name(mode)));
  }
  file.row_scale = column_figures(reader, "row_scale", rows);
  if (file.row_scale.size() > 0 && file.row_scale.minCoeff() < 0)
    reader.refuse(
        fmt::format("array 'row_scale' has the entry {}, must not be negative", file.row_scale.minCoeff()));
  if (!reader.has_any({"grades"})) {
    if (file.loss.kind == Loss::ordinal) reader.refuse("array 'grades' is missing");
    return;
  }
  const auto grades = Index(reader.list<double>("grades").size());
  if (grades < 1) reader.refuse("array 'grades' is empty");
  own.grades = column_figures(reader, "grades", grades);
  own.thresholds = grades > 1 ? column_figures(reader, "thresholds", grades - 1) : Vector(0);
  if (grades > 1 && own.thresholds.size() == 0) reader.refuse("array 'thresholds' is missing");
  for (const auto& [name, figures] : {std::pair("grades", &own.grades), {"thresholds", &own.thresholds}})
    if (!std::is_sorted(figures->begin(), figures->end()))
      reader.refuse(fmt::format("array '{}' does not ascend", name));
}

}  // namespace

void save_model(const std::filesystem::path& path, const ModelFile& file) {
  NpzArchive archive;
  auto metadata = file.metadata;
  const Factors& factors = file.model.factors;
  if (factors.modes() == 2) {
    archive["left"] = array_of(file.model.left());
    archive["right"] = array_of(file.model.right());
    metadata["symmetric"] = file.model.symmetric() ? "true" : "false";
  } else {
    std::vector<Index> panels;
    for (Index mode = 0; mode < factors.modes(); ++mode) {
      archive[factor_name(mode)] = array_of(factors[mode]);
      panels.push_back(factors.panel_of(mode));
    }
    metadata["panels"] = fmt::format("{}", fmt::join(panels, ","));
  }
  archive["weights"] = array_of(list_of(file.model.weights));
  for (std::size_t m = 0; m < file.own_terms.further_offsets.size(); ++m)
    archive[offsets_name(Index(m) + 2)] = array_of(list_of(file.own_terms.further_offsets[m]));
  for_each_trace_column([&](const char* name, auto member) {
    using Value = std::conditional_t<std::is_same_v<decltype(member), double Step::*>, double, std::int64_t>;
    std::vector<Value> column;
    for (const Step& step : file.trace) column.push_back(Value(step.*member));
    archive[name] = array_of(std::move(column));
  });
  for (std::size_t mode = 0; mode < file.mode_names.size(); ++mode)
    if (!file.mode_names[mode].empty()) archive[names_name(Index(mode))] = array_of(file.mode_names[mode]);
  if (!file.row_names.empty()) archive["row_names"] = array_of(file.row_names);
  if (!file.column_names.empty()) archive["column_names"] = array_of(file.column_names);
  if (file.column_means.size() > 0) archive["column_means"] = array_of(list_of(file.column_means));
  if (file.column_deviations.size() > 0)
    archive["column_deviations"] = array_of(list_of(file.column_deviations));
  for (const auto& [name, figures] : std::initializer_list<std::pair<const char*, Vector>>{
           {"row_offsets", file.own_terms.row_offsets},
           {"column_offsets", file.own_terms.col_offsets},
           {"row_scale", file.row_scale},
           {"grades", file.own_terms.grades},
           {"thresholds", file.own_terms.thresholds},
           {"size", file.own_terms.size > 0 ? Vector::Constant(1, file.own_terms.size) : Vector(0)}})
    if (figures.size() > 0) archive[name] = array_of(list_of(figures));
  if (file.loss.kind != Loss::squares || file.own_terms.row_offsets.size() > 0)
    metadata["loss"] = file.loss.spec();
  archive["metadata"] = array_of_metadata(std::move(metadata));
  write_npz(path, archive);
}

ModelFile load_model(const std::filesystem::path& path) {
  const NpzArchive archive = read_npz(path);
  ModelFile file = model_from(ArchiveReader(archive, path.string()));
  if (file.model.factors.modes() != 2)
    throw InvalidInput(fmt::format("{}: a model of {} modes, where one of a matrix is needed", path.string(),
                                   file.model.factors.modes()));
  return file;
}

ModelFile model_from(const ArchiveReader& reader) {
  ModelFile file;
  file.metadata = reader.metadata();
  if (reader.has_any({factor_name(0).c_str()})) {
    file.model.factors = factors_of_modes(reader, text_of(file.metadata, "panels"));
  } else {
    file.model.left() = reader.matrix("left");
    file.model.right() = reader.matrix("right");
  }
  const auto weights = reader.list<double>("weights");
  file.model.weights = Eigen::Map<const Vector>(weights.data(), Index(weights.size()));
  if (file.model.left().cols() != file.model.rank() || file.model.right().cols() != file.model.rank())
    reader.refuse(fmt::format("{} left atoms, {} right atoms and {} weights do not belong together",
                              file.model.left().cols(), file.model.right().cols(), file.model.rank()));
  if (!file.model.weights.allFinite()) reader.refuse("a weight is not finite");
  file.trace.resize(std::size_t(reader.array("trace_rank", 1).shape[0]));
  for_each_trace_column([&](const char* name, auto member) {
    using Value = std::conditional_t<std::is_same_v<decltype(member), double Step::*>, double, std::int64_t>;
    if (is_optional(name) && !reader.has_any({name})) return;
    const auto column = reader.list<Value>(name);
    if (column.size() != file.trace.size())
      reader.refuse(fmt::format("array '{}' has the wrong length", name));
    for (std::size_t i = 0; i < column.size(); ++i)
      file.trace[i].*member =
          static_cast<std::remove_reference_t<decltype(file.trace[i].*member)>>(column[i]);
  });
  file.row_names = reader.names("row_names", file.model.left().rows());
  file.column_names = reader.names("column_names", file.model.right().rows());
  file.column_means = column_figures(reader, "column_means", file.model.right().rows());
  file.column_deviations = column_figures(reader, "column_deviations", file.model.right().rows());
  if (file.column_deviations.size() > 0 && !(file.column_deviations.minCoeff() > 0))
    reader.refuse(fmt::format("array 'column_deviations' has the entry {}, must be above 0",
                              file.column_deviations.minCoeff()));
  if (const Index modes = file.model.factors.modes(); modes > 2)
    for (Index mode = 0; mode < modes; ++mode)
      file.mode_names.push_back(reader.names(names_name(mode), file.model.factors[mode].rows()));
  read_loss(reader, file);
  if (text_of(file.metadata, "symmetric") == "true") {
    if (file.model.left() != file.model.right())
      reader.refuse("left and right atoms differ, but 'metadata' says that they are symmetric");
    file.model.factors = Factors::symmetric(std::move(file.model.left()));
  }
  return file;
}

}  // namespace pursuit
