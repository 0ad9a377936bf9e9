// Commands on files that exist already: inspect, reconstruct, convert.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "apps/console.hpp"
#include "apps/input.hpp"
#include "apps/mode_names.hpp"
#include "apps/output.hpp"
#include "apps/session.hpp"
#include "pursuit/algorithms/path.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/model_file.hpp"
#include "pursuit/io/tensor_file.hpp"
#include "pursuit/objective/means.hpp"
#include "pursuit/report/report_page.hpp"
#include "pursuit/report/terminal_plot.hpp"

namespace pursuit::app {
namespace {

Index support_size(const Matrix& atoms, Index i) {
  return (atoms.col(i).array() != 0).count();
}

using Metadata = std::map<std::string, std::string>;

std::string stop_of(const Metadata& metadata) {
  const auto stop = metadata.find("stop");
  return stop != metadata.end() ? stop->second : "unknown";
}

void print_metadata(const Metadata& metadata) {
  for (const auto& [key, value] : metadata) say("  {:<16} {}\n", printable(key), printable(value));
}

bool has_mode_names(const ModelFile& file) {
  return std::any_of(file.mode_names.begin(), file.mode_names.end(),
                     [](const auto& names) { return !names.empty(); });
}

constexpr Index kEntriesNamed = 5;

std::string entry_name(const std::vector<std::string>& names, Index i) {
  return names.empty() ? fmt::format("variable {}", i + 1) : names[std::size_t(i)];
}

/// The largest entries of a factor, by their names.
std::string heaviest_names(const std::vector<std::string>& names, ConstVectorRef factor) {
  std::vector<std::string> words;
  words.reserve(std::size_t(kEntriesNamed));
  for (const Index i : heaviest_entries(factor, kEntriesNamed))
    words.push_back(fmt::format("{} {:.3g}", printable(entry_name(names, i)), factor[i]));
  return fmt::format("{}", fmt::join(words, ", "));
}

void print_named_modes(const ModelFile& file) {
  for (Index i = 0; i < file.model.rank(); ++i) {
    say("\natom {}\n", i + 1);
    for (Index mode = 0; mode < file.model.factors.modes(); ++mode)
      if (!file.mode_names[std::size_t(mode)].empty())
        say("  mode {}: {}\n", mode,
            heaviest_names(file.mode_names[std::size_t(mode)], file.model.factors[mode].col(i)));
  }
}

/// Of matrices: the largest entries of columns, and of rows that have names.
void print_heaviest(const ModelFile& file, bool components) {
  if (file.model.rank() > 0) say("\nlargest {}\n", components ? "loadings" : "entries");
  for (Index i = 0; i < file.model.rank(); ++i) {
    say("{:>6}  {}\n", i + 1, heaviest_names(file.column_names, file.model.right().col(i)));
    if (!components && !file.row_names.empty() && !file.model.symmetric())
      say("        rows: {}\n", heaviest_names(file.row_names, file.model.left().col(i)));
  }
}

/// The largest entries of the right factor.
Json describe_heaviest(const ModelFile& file, Index atom) {
  Json entries = Json::array();
  const auto factor = file.model.right().col(atom);
  for (const Index i : heaviest_entries(factor, kEntriesNamed))
    entries.push_back({{"column", i}, {"name", entry_name(file.column_names, i)}, {"value", factor[i]}});
  return entries;
}

Json describe(const ModelFile& file) {
  Json atoms = Json::array(), shape = Json::array();
  const bool is_matrix = file.model.factors.modes() == 2;
  const Vector shares = component_shares(file);
  for (Index mode = 0; mode < file.model.factors.modes(); ++mode)
    shape.push_back(file.model.factors[mode].rows());
  for (Index i = 0; i < file.model.rank(); ++i) {
    Json atom = Json::object();
    atom.set("weight", file.model.weights[i]);
    if (is_matrix) {
      atom.set("left_support", support_size(file.model.left(), i));
      atom.set("right_support", support_size(file.model.right(), i));
      if (i < shares.size()) atom.set("variance", shares[i]);
      atom.set("largest", describe_heaviest(file, i));
    } else {
      Json supports = Json::array();
      for (Index mode = 0; mode < file.model.factors.modes(); ++mode)
        supports.push_back(support_size(file.model.factors[mode], i));
      atom.set("supports", supports);
    }
    atoms.push_back(atom);
  }
  Json object{{"shape", shape},
              {"rank", file.model.rank()},
              {"relative_error", file.trace.empty() ? 1.0 : file.trace.back().relative_error},
              {"seconds", file.trace.empty() ? 0.0 : file.trace.back().seconds},
              {"loss", file.loss.spec()},
              {"mean", mean_in_words(file)},
              {"stop", stop_of(file.metadata)},
              {"atoms", atoms},
              {"path", describe_path(file.trace)},
              {"metadata", file.metadata},
              {"peak_memory_bytes", peak_memory_bytes()}};
  if (is_matrix) {
    object.set("rows", file.model.left().rows());
    object.set("columns", file.model.right().rows());
  } else if (has_mode_names(file)) {
    Json names = Json::array();
    for (const auto& list : file.mode_names) names.push_back(list);
    object.set("names", names);
  }
  return object;
}

/// A completed matrix: its atoms by how much they explain.
int inspect_completion(const CompletionFile& file, bool json) {
  const CompletionModel& model = file.model;
  Json atoms = Json::array();
  const auto size = [](const FactorMatrix& m, Index k) {
    return m.col(k).norm() / std::sqrt(float(std::max<Index>(m.rows(), 1)));
  };
  std::vector<double> sizes;
  for (Index k = 1; k < model.rows.mean.cols(); ++k)
    sizes.push_back(model.scale * size(model.rows.mean, k) * size(model.cols.mean, k));
  for (const double each : sizes) atoms.push_back({{"size", each}});
  for (Index k = 0; k < model.atoms.rank(); ++k)
    atoms.push_back({{"weight", model.atoms.weights[k]},
                     {"left_support", support_size(model.atoms.left(), k)},
                     {"right_support", support_size(model.atoms.right(), k)}});
  if (json) {
    print_json({{"kind", "completion"},
                {"rows", file.rows.size()},
                {"columns", file.cols.size()},
                {"entries", file.seen.index.size()},
                {"rank", model.rank()},
                {"mean", model.mean},
                {"noise", model.noise()},
                {"samples", model.samples.size()},
                {"stop", stop_of(file.metadata)},
                {"atoms", atoms},
                {"metadata", file.metadata},
                {"peak_memory_bytes", peak_memory_bytes()}});
    return success;
  }
  say("completed matrix, {} x {}, from {} entries\n\n", file.rows.size(), file.cols.size(),
      file.seen.index.size());
  print_metadata(file.metadata);
  say("  {:<16} {:.6g}\n  {:<16} {:.6g}\n  {:<16} {:.6g} to {:.6g}\n  {:<16} {}\n", "mean", model.mean,
      "noise", model.noise(), "range", model.lowest, model.highest, "posterior draws", model.samples.size());
  say("\n{:>6} {:>14} {:>13} {:>14}\n", "atom", "size or weight", "left support", "right support");
  Index number = 0;
  for (const double each : sizes)
    say("{:>6} {:>14.6g} {:>13} {:>14}\n", ++number, each, file.rows.size(), file.cols.size());
  for (Index k = 0; k < model.atoms.rank(); ++k)
    say("{:>6} {:>14.6g} {:>13} {:>14}\n", ++number, model.atoms.weights[k],
        support_size(model.atoms.left(), k), support_size(model.atoms.right(), k));
  return success;
}

int inspect_factorization(const ModelFile& file, bool json) {
  if (json) {
    print_json(describe(file));
    return success;
  }
  const Factors& factors = file.model.factors;
  std::vector<Index> shape;
  for (Index mode = 0; mode < factors.modes(); ++mode) shape.push_back(factors[mode].rows());
  say("{}, {} {}atoms\n\n", fmt::join(shape, " x "), file.model.rank(),
      file.model.symmetric() ? "symmetric " : "");
  print_metadata(file.metadata);
  if (file.metadata.count("loss") > 0) say("  {:<16} {}\n", "mean of an entry", mean_in_words(file));
  const Vector shares = component_shares(file);
  const bool components = shares.size() > 0;
  say("\n{:>6} {:>14}", components ? "component" : "atom", "weight");
  if (components) say(" {:>10}", "variance");
  if (factors.modes() == 2)
    say(" {:>13} {:>14}", "left support", "right support");
  else
    for (Index mode = 0; mode < factors.modes(); ++mode) say(" {:>14}", fmt::format("support {}", mode));
  say("\n");
  for (Index i = 0; i < file.model.rank(); ++i) {
    say("{:>{}} {:>14.6g}", i + 1, components ? 9 : 6, file.model.weights[i]);
    if (components) say(" {:>10.4f}", shares[i]);
    for (Index mode = 0; mode < factors.modes(); ++mode)
      say(" {:>{}}", support_size(factors[mode], i), factors.modes() == 2 && mode == 0 ? 13 : 14);
    say("\n");
  }
  if (has_mode_names(file)) print_named_modes(file);
  if (factors.modes() == 2 && (components || !file.column_names.empty())) print_heaviest(file, components);
  if (file.trace.empty()) return success;  // of principal components there is no path
  say("\n");
  const bool squares = file.loss.kind == Loss::squares;
  print_path(file.trace, squares);
  const Trace steps = path_by_rank(file.trace);
  if (steps.size() > 1) {
    Vector errors(Index(steps.size()));
    for (std::size_t i = 0; i < steps.size(); ++i)
      errors[Index(i)] = squares ? steps[i].relative_error : explained(steps[i]);
    say("\n{}", terminal_line_plot(errors, {squares ? "relative error by rank" : "deviance explained by rank",
                                            "rank", squares ? "error" : "share"}));
  }
  return success;
}

int inspect(const std::string& path, bool json) {
  const AnyModelFile file = load_any_model(path);
  if (const auto* completion = std::get_if<CompletionFile>(&file))
    return inspect_completion(*completion, json);
  return inspect_factorization(std::get<ModelFile>(file), json);
}

struct ReconstructCommand {
  std::string model, out;
  Index rank = 0;
  bool json = false;
};

/// The model of a matrix or of an array of more modes.
ModelFile load_factorization(const std::string& path) {
  AnyModelFile any = load_any_model(path);
  if (auto* file = std::get_if<ModelFile>(&any)) return std::move(*file);
  throw InvalidInput(fmt::format("{}: a completed matrix, whose entries 'pursuit predict' gives", path));
}

Json describe_reconstruction(const std::string& out, const Expansion& model, double seconds) {
  Json object{{"output", out},
              {"rank", model.rank()},
              {"seconds", seconds},
              {"peak_memory_bytes", peak_memory_bytes()}};
  if (model.factors.modes() == 2) {
    object.set("rows", model.left().rows());
    object.set("columns", model.right().rows());
  } else {
    Json shape = Json::array();
    for (Index mode = 0; mode < model.factors.modes(); ++mode) shape.push_back(model.factors[mode].rows());
    object.set("shape", shape);
  }
  return object;
}

int reconstruct(const ReconstructCommand& c) {
  require_matrix_extension(c.out);
  prepare_outputs({c.out}, {c.model});
  const Timer timer;
  ModelFile file = load_factorization(c.model);
  if (c.rank < 0 || c.rank > file.model.rank())
    throw InvalidArgument(fmt::format("--rank {}: the model has {} atoms", c.rank, file.model.rank()));
  if (c.rank > 0 && c.rank < file.model.rank()) {
    std::vector<Index> first(static_cast<std::size_t>(c.rank));
    for (Index i = 0; i < c.rank; ++i) first[std::size_t(i)] = i;
    file.model.keep(first);
  }
  if (file.model.factors.modes() == 2)
    write_matrix(c.out, {means_of(file.model, file.loss, file.own_terms, file.row_scale), file.row_names,
                         file.column_names});
  else
    write_tensor(c.out, file.model, file.loss, file.own_terms, file.mode_names, labels_of(file));
  if (c.json) print_json(describe_reconstruction(c.out, file.model, timer.seconds()));
  return success;
}

struct ConvertCommand {
  std::string input, output;
  TextInput text;
  bool json = false;
};

int convert(const ConvertCommand& c) {
  require_matrix_extension(c.output);
  prepare_outputs({c.output}, {c.input});
  const Timer timer;
  const NamedMatrix matrix = read_input(c.input, c.text, 0);
  write_matrix(c.output, matrix);
  if (c.json)
    print_json({{"input", describe_input(in_memory(matrix))},
                {"output", c.output},
                {"rows", rows_of(matrix.matrix)},
                {"columns", cols_of(matrix.matrix)},
                {"seconds", timer.seconds()},
                {"peak_memory_bytes", peak_memory_bytes()}});
  return success;
}

}  // namespace

void add_inspect(Command& program) {
  Command sub = program.add_command("inspect", "Show what is in a model");
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  sub.footer("Example:\n  pursuit inspect parts.npz");
  sub.add_option("MODEL", *path, "A model written by factor, pca or complete").required();
  add_json_option(sub, *json);
  sub.runs([path, json] { return inspect(*path, *json); });
}

void add_reconstruct(Command& program) {
  Command sub = program.add_command("reconstruct", "Write the matrix that a model stands for");
  auto c = std::make_shared<ReconstructCommand>();
  sub.footer("Example:\n  pursuit reconstruct parts.npz --out approximation.npy");
  sub.add_option("MODEL", c->model, "A model written by factor or pca").required();
  sub.add_option("-o,--out", c->out, "Matrix file to write (.npy, .csv, .mtx, ...)").required();
  sub.add_option("-r,--rank", c->rank, "Use only the first so many atoms");
  add_json_option(sub, c->json);
  sub.runs([c] { return reconstruct(*c); });
}

void add_convert(Command& program) {
  Command sub =
      program.add_command("convert", "Convert a matrix file; names are kept where the format has them");
  auto c = std::make_shared<ConvertCommand>();
  sub.footer("Examples:\n  pursuit convert counts.mtx.gz counts.npz\n  pursuit convert table.csv table.npy");
  sub.add_option("INPUT", c->input, "Matrix file; the format is found from its content").required();
  sub.add_option("OUTPUT", c->output, "Matrix file; the format is that of its extension").required();
  add_text_options(sub, c->text);
  add_transpose_option(sub, c->text);
  add_json_option(sub, c->json);
  sub.runs([c] { return convert(*c); });
}

}  // namespace pursuit::app
