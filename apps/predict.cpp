// Commands on completed matrices: predict, recommend.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>

#include "apps/complete_tensor.hpp"
#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/completion/recommend.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/io/write_lines.hpp"
#include "pursuit/report/progress_bar.hpp"

namespace pursuit::app {
namespace {

/// A file that appears whole or not at all, or standard output.
class Output {
 public:
  explicit Output(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  bool is_file() const { return file_.has_value(); }
  void write(std::string_view text) {
    if (file_)
      file_->write(text);
    else
      write_to_stdout(std::string(text));
  }
  void write_lines(Index count, Index cells, int threads,
                   const std::function<void(std::string&, Index)>& append) {
    pursuit::write_lines(count, cells, threads, append, [&](std::string_view text) { write(text); });
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::optional<AtomicFile> file_;
};

struct PredictCommand {
  CommonOptions common;
  std::string model, pairs, out;
};

int run_predict(const PredictCommand& c) {
  prepare_outputs({c.out}, {c.model, c.pairs});
  const Timer timer;
  const AnyModelFile any = load_any_model(c.model);
  if (const auto* model = std::get_if<ModelFile>(&any); model && model->model.factors.modes() > 2)
    return run_predict_tensor(*model, c.pairs, c.out, c.common);
  const CompletionFile file =
      std::holds_alternative<CompletionFile>(any) ? std::get<CompletionFile>(any) : load_completion(c.model);
  const IdPairs pairs = read_pairs(c.pairs, c.common.threads);
  std::vector<Position> positions;
  for (std::size_t k = 0; k < pairs.row.size(); ++k)
    positions.push_back({file.rows.find(pairs.row[k]), file.cols.find(pairs.col[k])});
  const std::vector<Prediction> predictions = predict(file.model, positions, c.common.threads);
  const bool listed = c.common.json && c.out.empty();  // in the JSON object rather than in a file
  const auto is_unknown = [](const Position& p) { return p.row < 0 || p.col < 0; };
  const Index unknown = std::count_if(positions.begin(), positions.end(), is_unknown);
  Json list = Json::array();
  if (listed) {
    for (std::size_t k = 0; k < positions.size(); ++k)
      list.push_back({{"row", pairs.row[k]},
                      {"column", pairs.col[k]},
                      {"value", predictions[k].value},
                      {"sd", predictions[k].deviation},
                      {"known_row", positions[k].row >= 0},
                      {"known_column", positions[k].col >= 0}});
  } else {
    Output out(c.out);
    out.write("row,column,value,sd,note\n");
    out.write_lines(Index(positions.size()), 5, c.common.threads, [&](std::string& text, Index at) {
      const auto k = std::size_t(at);
      const bool row = positions[k].row < 0, col = positions[k].col < 0;
      const char* note = row && col ? "unknown row and column"
                         : row      ? "unknown row"
                         : col      ? "unknown column"
                                    : "";
      fmt::format_to(std::back_inserter(text), "{},{},{:.6g},{:.6g},{}\n", csv_field(pairs.row[k]),
                     csv_field(pairs.col[k]), predictions[k].value, predictions[k].deviation, note);
    });
    out.commit();
  }
  if (c.common.json) {
    Json object{{"count", positions.size()},
                {"unknown", unknown},
                {"seconds", timer.seconds()},
                {"peak_memory_bytes", peak_memory_bytes()}};
    if (listed)
      object.set("predictions", list);
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
  Lists(const RecommendCommand& c, const CompletionFile& file) : c_(c), file_(file), out_(c.out) {
    if (!listed()) out_.write("row,place,column,value,sd\n");
  }

  /// Those of the rows from `first` on.
  void add(int first, const std::vector<std::vector<Recommendation>>& lists) {
    if (listed()) {
      for (const auto& list : lists) add_listed(first++, list);
      return;
    }
    out_.write_lines(Index(lists.size()), 5 * c_.top, c_.common.threads, [&](std::string& text, Index k) {
      int place = 0;
      for (const Recommendation& each : lists[std::size_t(k)])
        fmt::format_to(
            std::back_inserter(text), "{},{},{},{:.6g},{:.6g}\n", csv_field(file_.rows.name(first + int(k))),
            ++place, csv_field(file_.cols.name(each.col)), each.prediction.value, each.prediction.deviation);
    });
  }

  void finish(int rows, double seconds) {
    out_.commit();
    if (!c_.common.json) return;
    Json object{{"rows", rows}, {"seconds", seconds}, {"peak_memory_bytes", peak_memory_bytes()}};
    if (listed())
      object.set("recommendations", rows_);
    else
      object.set("output", c_.out);
    print_json(object);
  }

 private:
  bool listed() const { return c_.common.json && !out_.is_file(); }
  void add_listed(int row, const std::vector<Recommendation>& list) {
    Json columns = Json::array();
    for (const Recommendation& each : list)
      columns.push_back({{"column", std::string(file_.cols.name(each.col))},
                         {"value", each.prediction.value},
                         {"sd", each.prediction.deviation}});
    rows_.push_back({{"row", std::string(file_.rows.name(row))}, {"columns", std::move(columns)}});
  }

  const RecommendCommand& c_;
  const CompletionFile& file_;
  Output out_;
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
  const GroupedEntries known = c.exclude_seen ? file.known() : GroupedEntries();
  int done = first;
  while (done < last && !was_interrupted()) {
    const int next = last - done > rows_at_once ? done + rows_at_once : last;
    const auto block =
        recommender.of_rows(done, next, c.top, c.exclude_seen ? &known : nullptr, c.common.threads);
    lists.add(done, block);
    done = next;
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
  if (c.exclude_seen && !file.keeps_entries)
    throw InvalidInput(fmt::format(
        "--exclude-seen: {} was written with --no-store-entries and does not know what was seen", c.model));
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
  sub.add_option(
         "PAIRS", c->pairs,
         "Text with a row id and a column id in every line; of an array, a table with the indices of\n"
         "an entry, counted from 1, in every row")
      .required();
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
