// Commands on completed matrices: predict, recommend.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/completion/recommend.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/report/progress_bar.hpp"

namespace pursuit::app {
namespace {

void write_or_print(const std::string& out, const std::string& text) {
  if (out.empty())
    write_to_stdout(text);
  else
    write_file_atomically(out, text);
}

struct PredictCommand {
  CommonOptions common;
  std::string model, pairs, out;
};

int run_predict(const PredictCommand& c) {
  prepare_outputs({c.out}, {c.model, c.pairs});
  const Timer timer;
  const CompletionFile file = load_completion(c.model);
  const IdPairs pairs = read_pairs(c.pairs);
  std::vector<Position> positions;
  for (std::size_t k = 0; k < pairs.row.size(); ++k)
    positions.push_back({file.rows.find(pairs.row[k]), file.cols.find(pairs.col[k])});
  const std::vector<Prediction> predictions = predict(file.model, positions, c.common.threads);
  const bool listed = c.common.json && c.out.empty();  // in the JSON object rather than in a file
  std::string text = "row,column,value,sd,note\n";
  Json list = Json::array();
  Index unknown = 0;
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const bool row = positions[k].row < 0, col = positions[k].col < 0;
    const char* note = row && col ? "unknown row and column"
                       : row      ? "unknown row"
                       : col      ? "unknown column"
                                  : "";
    unknown += row || col;
    if (listed) {
      list.push_back({{"row", pairs.row[k]},
                      {"column", pairs.col[k]},
                      {"value", predictions[k].value},
                      {"sd", predictions[k].deviation},
                      {"known_row", !row},
                      {"known_column", !col}});
      continue;
    }
    text += fmt::format("{},{},{:.6g},{:.6g},{}\n", csv_field(pairs.row[k]), csv_field(pairs.col[k]),
                        predictions[k].value, predictions[k].deviation, note);
  }
  if (!listed) write_or_print(c.out, text);
  if (c.common.json) {
    Json object{{"count", positions.size()},
                {"unknown", unknown},
                {"seconds", timer.seconds()},
                {"peak_memory_bytes", peak_memory_bytes()}};
    if (listed)
      object.set("predictions", std::move(list));
    else
      object.set("output", c.out);
    print_json(object);
  }
  if (unknown > 0)
    tell(
        "pursuit: note: {} of {} pairs have an id that the model has never seen; they are predicted "
        "from what is known of the rest\n",
        unknown, positions.size());
  return success;
}

struct RecommendCommand {
  CommonOptions common;
  std::string model, row, out;
  Index top = 10;
  bool all = false, exclude_seen = false;
};

/// What becomes of one row after the other: lines of CSV in a file or on standard output, or one JSON object.
class Lists {
 public:
  Lists(const RecommendCommand& c, const CompletionFile& file) : c_(c), file_(file) {
    if (!c.out.empty()) out_.emplace(c.out);
    if (!listed()) write("row,place,column,value,sd\n");
  }

  void add(int row, const std::vector<Recommendation>& list) {
    Json columns = Json::array();
    std::string text;
    int place = 0;
    for (const Recommendation& each : list)
      if (listed())
        columns.push_back({{"column", std::string(file_.cols.name(each.col))},
                           {"value", each.prediction.value},
                           {"sd", each.prediction.deviation}});
      else
        fmt::format_to(std::back_inserter(text), "{},{},{},{:.6g},{:.6g}\n", csv_field(file_.rows.name(row)),
                       ++place, csv_field(file_.cols.name(each.col)), each.prediction.value,
                       each.prediction.deviation);
    if (listed())
      rows_.push_back({{"row", std::string(file_.rows.name(row))}, {"columns", std::move(columns)}});
    else
      write(text);
  }

  void finish(int rows, double seconds) {
    if (out_) out_->commit();
    if (!c_.common.json) return;
    Json object{{"rows", rows}, {"seconds", seconds}, {"peak_memory_bytes", peak_memory_bytes()}};
    if (listed())
      object.set("recommendations", std::move(rows_));
    else
      object.set("output", c_.out);
    print_json(object);
  }

 private:
  bool listed() const { return c_.common.json && !out_; }
  void write(const std::string& text) {
    if (out_)
      out_->write(text);
    else
      write_to_stdout(text);
  }

  const RecommendCommand& c_;
  const CompletionFile& file_;
  std::optional<AtomicFile> out_;
  Json rows_ = Json::array();
};

/// Lists of many rows are never all in memory. Ctrl-C keeps those that are done.
int write_lists(const RecommendCommand& c, const CompletionFile& file, int first, int last) {
  // Some seconds of work at most, so that Ctrl-C need not wait.
  const double per_row =
      double(file.cols.size()) * double(file.model.rank() + 1) * double(file.model.samples.size() + 1);
  const int rows_at_once = int(std::clamp(2e10 / per_row, 256.0, 4096.0));
  const Timer timer;
  Lists lists(c, file);
  watch_interrupts();
  ProgressBar bar("recommend");
  const Recommender recommender(file.model);
  int done = first;
  while (done < last && !was_interrupted()) {
    const int next = last - done > rows_at_once ? done + rows_at_once : last;
    const auto block =
        recommender.of_rows(done, next, c.top, c.exclude_seen ? &file.seen : nullptr, c.common.threads);
    for (const auto& list : block) lists.add(done++, list);
    bar.update(double(done - first) / double(last - first),
               fmt::format("{} of {} rows", done - first, last - first));
  }
  lists.finish(done - first, timer.seconds());
  if (done == last) return success;
  tell("pursuit: note: interrupted after {} of {} rows\n", done - first, last - first);
  return interrupted;
}

int run_recommend(const RecommendCommand& c) {
  if (c.all == !c.row.empty()) throw InvalidArgument("recommend: give either --row ID or --all");
  if (c.top < 1) throw InvalidArgument(fmt::format("--top {}: must be 1 or more", c.top));
  prepare_outputs({c.out}, {c.model});
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

void add_predict(Command& program) {
  Command sub = program.add_command(
      "predict", "Values and standard deviations of given entries, from a completed matrix");
  auto c = std::make_shared<PredictCommand>();
  sub.footer(
      "Writes CSV: row, column, value, sd, note. The note says where an id was never seen.\n\n"
      "Example:\n  pursuit predict model.npz pairs.csv --out predictions.csv");
  sub.add_option("MODEL", c->model, "A model written by complete").required();
  sub.add_option("PAIRS", c->pairs, "Text with a row id and a column id in every line").required();
  sub.add_option("-o,--out", c->out, "Write here instead of standard output");
  add_common_options(sub, c->common);
  sub.runs([c] { return run_predict(*c); });
}

void add_recommend(Command& program) {
  Command sub =
      program.add_command("recommend", "The columns of largest predicted value, for one row or all");
  auto c = std::make_shared<RecommendCommand>();
  sub.footer(
      "Writes CSV: row, place, column, value, sd, row after row; Ctrl-C keeps the rows that are "
      "done.\n\nExamples:\n"
      "  pursuit recommend model.npz --row 42 --top 10 --exclude-seen\n"
      "  pursuit recommend model.npz --all --top 20 --exclude-seen --out lists.csv");
  sub.add_option("MODEL", c->model, "A model written by complete").required();
  sub.add_option("--row", c->row, "Id of the row");
  sub.add_flag("--all", c->all, "All rows");
  sub.add_option("--top", c->top, "Columns per row").show_default();
  sub.add_flag("--exclude-seen", c->exclude_seen, "Leave out columns for which the row has an entry");
  sub.add_option("-o,--out", c->out, "Write here instead of standard output");
  add_common_options(sub, c->common);
  sub.runs([c] { return run_recommend(*c); });
}

}  // namespace pursuit::app
