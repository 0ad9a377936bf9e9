#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "apps/console.hpp"
#include "apps/output.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/report/report_page.hpp"

namespace pursuit::app {
namespace {

struct ReportCommand {
  std::string model, out, shape, labels, title;
  ReportOptions options;
  CommonOptions common;
};

constexpr const char* kReportExamples =
    R"(The page stands alone: it needs no network and no other file. Tables sort by a click on a column's head,
pictures tell their numbers to the pointer, and it prints.

Examples:
  pursuit report parts.npz --out parts.html
  pursuit report faces.npz --shape 64x64 --out faces.html
  pursuit report spectra.npz --lines --out spectra.html
  pursuit report signatures.npz --labels tumours.csv --out signatures.html
  pursuit report ratings.npz --out ratings.html)";

/// "HEIGHTxWIDTH".
void take_shape(const std::string& text, ReportOptions& options) {
  if (text.empty()) return;
  char x = 0;
  int length = 0;
  long height = 0, width = 0;
  if (std::sscanf(text.c_str(), "%6ld%c%6ld%n", &height, &x, &width, &length) != 3 || x != 'x' ||
      std::size_t(length) != text.size() || height < 1 || width < 1)
    throw InvalidArgument(
        fmt::format("--shape {}: height and width of a picture are needed, as in 64x48", text));
  options.image_height = height;
  options.image_width = width;
}

int run(ReportCommand& c) {
  take_shape(c.shape, c.options);
  prepare_outputs({c.out}, {c.model, c.labels});
  const AnyModelFile file = load_any_model(c.model);
  if (!c.labels.empty()) c.options.labels = read_labels(c.labels, file);
  c.options.title = c.title.empty() ? std::filesystem::path(c.model).filename().string() : c.title;
  c.options.threads = c.common.threads;
  const std::string page = report_page(file, c.options);
  write_file_atomically(c.out, page);
  if (c.common.json)
    print_json({{"output", c.out}, {"bytes", page.size()}, {"peak_memory_bytes", peak_memory_bytes()}});
  else
    say("report written to {}\n", c.out);
  return success;
}

}  // namespace

void add_report(Command& program) {
  auto c = std::make_shared<ReportCommand>();
  Command sub = program.add_command("report", "Show a model as one page for a browser");
  sub.footer(kReportExamples);
  sub.add_option("MODEL", c->model, "A model written by factor, pca or complete").required();
  sub.add_option("-o,--out", c->out, "Page to write (.html)").required();
  sub.add_option("--title", c->title, "Title of the page (default: the name of the file)");
  sub.add_option("--shape", c->shape, "HEIGHTxWIDTH: atoms with so many entries are pictures, row by row");
  sub.add_flag("--lines", c->options.lines,
               "Atoms of columns (of arrays the last mode) are curves: spectra, series");
  sub.add_option(
      "--labels", c->labels,
      "Labels of rows, whose scores are compared: one on every line, or the name of a row and its label");
  sub.add_option("--top", c->options.top, "Entries of an atom that are named").show_default();
  add_common_options(sub, c->common);
  sub.runs([c] { return run(*c); });
}

}  // namespace pursuit::app
