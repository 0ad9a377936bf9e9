// Commands on completed matrices: predict, recommend.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/io/atomic_file.hpp"

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
  nlohmann::json list = nlohmann::json::array();
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
    nlohmann::json object{{"count", positions.size()},
                          {"unknown", unknown},
                          {"seconds", timer.seconds()},
                          {"peak_memory_bytes", peak_memory_bytes()}};
    if (listed)
      object["predictions"] = std::move(list);
    else
      object["output"] = c.out;
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

int run_recommend(const RecommendCommand& c) {
  if (c.all == !c.row.empty()) throw InvalidArgument("recommend: give either --row ID or --all");
  if (c.top < 1) throw InvalidArgument(fmt::format("--top {}: must be 1 or more", c.top));
  prepare_outputs({c.out}, {c.model});
  const Timer timer;
  const CompletionFile file = load_completion(c.model);
  int first = 0, last = file.rows.size();
  if (!c.all) {
    first = file.rows.find(c.row);
    if (first < 0)
      throw InvalidInput(fmt::format("--row {}: the model has no such row; it has {} rows", c.row, last));
    last = first + 1;
  }
  const auto lists =
      recommend(file.model, first, last, c.top, c.exclude_seen ? &file.seen : nullptr, c.common.threads);
  if (c.common.json && c.out.empty()) {
    nlohmann::json rows = nlohmann::json::array();
    for (int row = first; row < last; ++row) {
      nlohmann::json columns = nlohmann::json::array();
      for (const Recommendation& each : lists[std::size_t(row - first)])
        columns.push_back({{"column", std::string(file.cols.name(each.col))},
                           {"value", each.prediction.value},
                           {"sd", each.prediction.deviation}});
      rows.push_back({{"row", std::string(file.rows.name(row))}, {"columns", std::move(columns)}});
    }
    print_json({{"recommendations", std::move(rows)},
                {"rows", last - first},
                {"seconds", timer.seconds()},
                {"peak_memory_bytes", peak_memory_bytes()}});
    return success;
  }
  std::string text = "row,place,column,value,sd\n";
  for (int row = first; row < last; ++row) {
    int place = 0;
    for (const Recommendation& each : lists[std::size_t(row - first)])
      text +=
          fmt::format("{},{},{},{:.6g},{:.6g}\n", csv_field(file.rows.name(row)), ++place,
                      csv_field(file.cols.name(each.col)), each.prediction.value, each.prediction.deviation);
  }
  write_or_print(c.out, text);
  if (c.common.json)
    print_json({{"output", c.out},
                {"rows", last - first},
                {"seconds", timer.seconds()},
                {"peak_memory_bytes", peak_memory_bytes()}});
  return success;
}

}  // namespace

void add_predict(CLI::App& app, int& status) {
  CLI::App* sub = app.add_subcommand(
      "predict", "Values and standard deviations of given entries, from a completed matrix");
  auto c = std::make_shared<PredictCommand>();
  sub->footer(
      "Writes CSV: row, column, value, sd, note. The note says where an id was never seen.\n\n"
      "Example:\n  pursuit predict model.npz pairs.csv --out predictions.csv");
  sub->add_option("MODEL", c->model, "A model written by complete")->required();
  sub->add_option("PAIRS", c->pairs, "Text with a row id and a column id in every line")->required();
  sub->add_option("-o,--out", c->out, "Write here instead of standard output");
  add_common_options(*sub, c->common);
  sub->callback([c, &status] { status = run_predict(*c); });
}

void add_recommend(CLI::App& app, int& status) {
  CLI::App* sub =
      app.add_subcommand("recommend", "The columns of largest predicted value, for one row or all");
  auto c = std::make_shared<RecommendCommand>();
  sub->footer(
      "Writes CSV: row, place, column, value, sd.\n\nExamples:\n"
      "  pursuit recommend model.npz --row 42 --top 10 --exclude-seen\n"
      "  pursuit recommend model.npz --all --top 20 --exclude-seen --out lists.csv");
  sub->add_option("MODEL", c->model, "A model written by complete")->required();
  sub->add_option("--row", c->row, "Id of the row");
  sub->add_flag("--all", c->all, "All rows");
  sub->add_option("--top", c->top, "Columns per row")->capture_default_str();
  sub->add_flag("--exclude-seen", c->exclude_seen, "Leave out columns for which the row has an entry");
  sub->add_option("-o,--out", c->out, "Write here instead of standard output");
  add_common_options(*sub, c->common);
  sub->callback([c, &status] { status = run_recommend(*c); });
}

}  // namespace pursuit::app
