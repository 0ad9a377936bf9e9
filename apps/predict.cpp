#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "apps/complete_tensor.hpp"
#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"

namespace pursuit::app {
namespace {

struct PredictCommand {
  CommonOptions common;
  std::string model, pairs, time, out;
};

int run_predict(const PredictCommand& c) {
  prepare_outputs({c.out}, {c.model, c.pairs});
  const Timer timer;
  AnyModelFile any = load_any_model(c.model);
  if (const auto* model = std::get_if<ModelFile>(&any); model && model->model.factors.modes() > 2)
    return run_predict_tensor(*model, c.pairs, c.out, c.common);
  CompletionFile file = predictions_of(std::move(any), c.model);
  move_to(c.time, file.model);
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
    TextOutput out(c.out);
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

}  // namespace

void add_predict(Command& program) {
  Command sub = program.add_command(
      "predict", "Values and standard deviations of given entries, from a completed matrix");
  auto c = std::make_shared<PredictCommand>();
  sub.footer(
      "Writes CSV: row, column, value, sd, note. The note says where an id was never seen.\n\n"
      "Example:\n  pursuit predict model.npz pairs.csv --out predictions.csv");
  sub.add_option("MODEL", c->model, "A model written by complete or factor").required();
  sub.add_option(
         "PAIRS", c->pairs,
         "Text with a row id and a column id in every line; of an array, the ids of an entry along all\n"
         "modes (its indices, counted from 1, where the model has no names)")
      .required();
  add_time_option(sub, c->time);
  sub.add_option("-o,--out", c->out, "Write here instead of standard output");
  add_common_options(sub, c->common);
  sub.runs([c] { return run_predict(*c); });
}

}  // namespace pursuit::app
