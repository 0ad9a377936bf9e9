// Commands on completed matrices: predict, recommend.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "apps/completion.hpp"
#include "apps/output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/recommend.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/report/progress_bar.hpp"

namespace pursuit::app {
namespace {

void write_or_print(const std::string& out, const std::string& text) {
  if (out.empty())
    fmt::print("{}", text);
  else
    write_file_atomically(out, text);
}

int run_predict(const std::string& path, const std::string& pairs_path, const std::string& out, int threads) {
  prepare_outputs({out});
  const CompletionFile file = load_completion(path);
  const IdPairs pairs = read_pairs(pairs_path);
  std::vector<Position> positions;
  for (std::size_t k = 0; k < pairs.row.size(); ++k)
    positions.push_back({file.rows.find(pairs.row[k]), file.cols.find(pairs.col[k])});
  const std::vector<Prediction> predictions = predict(file.model, positions, threads);
  std::string text = "row,column,value,sd,note\n";
  Index unknown = 0;
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const bool row = positions[k].row < 0, col = positions[k].col < 0;
    const char* note = row && col ? "unknown row and column"
                       : row      ? "unknown row"
                       : col      ? "unknown column"
                                  : "";
    unknown += row || col;
    text += fmt::format("{},{},{:.6g},{:.6g},{}\n", csv_field(pairs.row[k]), csv_field(pairs.col[k]),
                        predictions[k].value, predictions[k].deviation, note);
  }
  write_or_print(out, text);
  if (unknown > 0)
    fmt::print(stderr,
               "pursuit: note: {} of {} pairs have an id that the model has never seen; they are predicted "
               "from what is known of the rest\n",
               unknown, positions.size());
  return success;
}

struct RecommendCommand {
  std::string model, row, out;
  Index top = 10;
  bool all = false, exclude_seen = false;
  int threads = 0;
};

/// Row after row: lists of many rows are never all in memory. Ctrl-C keeps those that are done.
int write_lists(const RecommendCommand& c, const CompletionFile& file, int first, int last) {
  // Some seconds of work at most, so that Ctrl-C need not wait.
  const double per_row =
      double(file.cols.size()) * double(file.model.rank() + 1) * double(file.model.samples.size() + 1);
  const int rows_at_once = int(std::clamp(2e10 / per_row, 256.0, 4096.0));
  std::optional<AtomicFile> out;
  if (!c.out.empty()) out.emplace(c.out);
  const auto write = [&](const std::string& text) { out ? out->write(text) : fmt::print("{}", text); };
  write("row,place,column,value,sd\n");
  watch_interrupts();
  ProgressBar bar("recommend");
  const Recommender recommender(file.model);
  int done = first;
  while (done < last && !was_interrupted()) {
    const int next = last - done > rows_at_once ? done + rows_at_once : last;
    const auto lists =
        recommender.of_rows(done, next, c.top, c.exclude_seen ? &file.seen : nullptr, c.threads);
    std::string text;
    for (; done < next; ++done) {
      int place = 0;
      for (const Recommendation& each : lists[std::size_t(done - (next - int(lists.size())))])
        fmt::format_to(std::back_inserter(text), "{},{},{},{:.6g},{:.6g}\n", csv_field(file.rows.name(done)),
                       ++place, csv_field(file.cols.name(each.col)), each.prediction.value,
                       each.prediction.deviation);
    }
    write(text);
    bar.update(double(done - first) / double(last - first),
               fmt::format("{} of {} rows", done - first, last - first));
  }
  if (out) out->commit();
  if (done == last) return success;
  fmt::print(stderr, "pursuit: note: interrupted after {} of {} rows\n", done - first, last - first);
  return interrupted;
}

int run_recommend(const RecommendCommand& c) {
  if (c.all == !c.row.empty()) throw InvalidArgument("recommend: give either --row ID or --all");
  if (c.top < 1) throw InvalidArgument(fmt::format("--top {}: must be 1 or more", c.top));
  prepare_outputs({c.out});
  const CompletionFile file = load_completion(c.model);
  int first = 0, last = file.rows.size();
  if (!c.all) {
    first = file.rows.find(c.row);
    if (first < 0)
      throw InvalidInput(fmt::format("--row {}: the model has no such row; it has {} rows", c.row, last));
    last = first + 1;
  }
  return write_lists(c, file, first, last);
}

}  // namespace

void add_predict(CLI::App& app, int& status) {
  CLI::App* sub = app.add_subcommand(
      "predict", "Values and standard deviations of given entries, from a completed matrix");
  auto model = std::make_shared<std::string>(), pairs = std::make_shared<std::string>(),
       out = std::make_shared<std::string>();
  auto threads = std::make_shared<int>(0);
  sub->footer(
      "Writes CSV: row, column, value, sd, note. The note says where an id was never seen.\n\n"
      "Example:\n  pursuit predict model.npz pairs.csv --out predictions.csv");
  sub->add_option("MODEL", *model, "A model written by complete")->required();
  sub->add_option("PAIRS", *pairs, "Text with a row id and a column id in every line")->required();
  sub->add_option("-o,--out", *out, "Write here instead of standard output");
  sub->add_option("--threads", *threads, "Threads to use, 0: all cores")->check(CLI::NonNegativeNumber);
  sub->callback([=, &status] { status = run_predict(*model, *pairs, *out, *threads); });
}

void add_recommend(CLI::App& app, int& status) {
  CLI::App* sub =
      app.add_subcommand("recommend", "The columns of largest predicted value, for one row or all");
  auto c = std::make_shared<RecommendCommand>();
  sub->footer(
      "Writes CSV: row, place, column, value, sd, row after row; Ctrl-C keeps the rows that are "
      "done.\n\nExamples:\n"
      "  pursuit recommend model.npz --row 42 --top 10 --exclude-seen\n"
      "  pursuit recommend model.npz --all --top 20 --exclude-seen --out lists.csv");
  sub->add_option("MODEL", c->model, "A model written by complete")->required();
  sub->add_option("--row", c->row, "Id of the row");
  sub->add_flag("--all", c->all, "All rows");
  sub->add_option("--top", c->top, "Columns per row")->capture_default_str();
  sub->add_flag("--exclude-seen", c->exclude_seen, "Leave out columns for which the row has an entry");
  sub->add_option("-o,--out", c->out, "Write here instead of standard output");
  sub->add_option("--threads", c->threads, "Threads to use, 0: all cores")->check(CLI::NonNegativeNumber);
  sub->callback([c, &status] { status = run_recommend(*c); });
}

}  // namespace pursuit::app
