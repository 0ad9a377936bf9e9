#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "apps/complete_tensor.hpp"
#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/output.hpp"
#include "apps/ranks.hpp"
#include "apps/shared_output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/io/write_lines.hpp"

namespace pursuit::app {
namespace {

struct PredictCommand {
  CommonOptions common;
  std::string model, pairs, time, out;
};

constexpr Index kAtOnce = 1 << 18;  // pairs of one rank

/// What is asked, and of what.
struct Asked {
  CompletionFile file;
  IdPairs pairs;
  std::vector<Position> positions;

  const char* note(std::size_t k) const {
    const bool row = positions[k].row < 0, col = positions[k].col < 0;
    return row && col ? "unknown row and column" : row ? "unknown row" : col ? "unknown column" : "";
  }
};

Json listed(const Asked& asked, int threads) {
  const std::vector<Prediction> predictions = predict(asked.file.model, asked.positions, threads);
  Json list = Json::array();
  for (std::size_t k = 0; k < predictions.size(); ++k)
    list.push_back({{"row", asked.pairs.row[k]},
                    {"column", asked.pairs.col[k]},
                    {"value", predictions[k].value},
                    {"sd", predictions[k].deviation},
                    {"known_row", asked.positions[k].row >= 0},
                    {"known_column", asked.positions[k].col >= 0}});
  return list;
}

/// Every rank predicts a part of each round.
void write_predictions(Ranks& ranks, const Asked& asked, const PredictCommand& c) {
  std::optional<TextOutput> out;
  together(ranks, [&] {
    if (!ranks.leads()) return;
    out.emplace(c.out);
    out->write("row,column,value,sd,note\n");
  });
  const auto lines = [&](Index first, Index last) {
    const std::vector<Position> own(asked.positions.begin() + first, asked.positions.begin() + last);
    const std::vector<Prediction> predictions = predict(asked.file.model, own, c.common.threads);
    std::string all;
    write_lines(
        last - first, 5, c.common.threads,
        [&](std::string& text, Index at) {
          const auto k = std::size_t(first + at);
          const Prediction& prediction = predictions[std::size_t(at)];
          fmt::format_to(std::back_inserter(text), "{},{},{:.6g},{:.6g},{}\n", csv_field(asked.pairs.row[k]),
                         csv_field(asked.pairs.col[k]), prediction.value, prediction.deviation,
                         asked.note(k));
        },
        [&](std::string_view text) { all += text; });
    return all;
  };
  write_together(ranks, {.count = Index(asked.positions.size()),
                         .at_once = kAtOnce,
                         .of = lines,
                         .write = [&](std::string_view text) { out->write(text); }});
  if (out) out->commit();
}

int run_predict(const PredictCommand& c) {
  Ranks& ranks = ranks_together();
  const Timer timer;
  AnyModelFile any;
  together(ranks, [&] {
    if (ranks.leads()) prepare_outputs({c.out}, {c.model, c.pairs});
    any = load_any_model(c.model);
  });
  if (const auto* model = std::get_if<ModelFile>(&any); model && model->model.factors.modes() > 2) {
    tell_if_alone(true, "predict of an array does");
    return ranks.leads() ? run_predict_tensor(*model, c.pairs, c.out, c.common) : success;
  }
  Asked asked;
  together(ranks, [&] {
    asked.file = predictions_of(std::move(any), c.model);
    move_to(c.time, asked.file.model);
    asked.pairs = read_pairs(c.pairs, c.common.threads);
    for (std::size_t k = 0; k < asked.pairs.row.size(); ++k)
      asked.positions.push_back(
          {asked.file.rows.find(asked.pairs.row[k]), asked.file.cols.find(asked.pairs.col[k])});
  });
  require_one_model(ranks, asked.file.model, c.model);
  tell_of_ranks(c.pairs, threads_used(c.common.threads), rank_count(), false);
  const bool in_json = c.common.json && c.out.empty();  // in the JSON object rather than in a file
  if (!in_json) write_predictions(ranks, asked, c);
  if (!ranks.leads()) return success;
  const Index unknown = std::count_if(asked.positions.begin(), asked.positions.end(),
                                      [](const Position& p) { return p.row < 0 || p.col < 0; });
  if (c.common.json) {
    Json object{{"count", asked.positions.size()}, {"unknown", unknown}};
    if (in_json)
      object.set("predictions", listed(asked, c.common.threads));
    else
      object.set("output", c.out);
    object.set("seconds", timer.seconds());
    object.set("peak_memory_bytes", peak_memory_bytes());
    describe_ranks(threads_used(c.common.threads), object);
    print_json(object);
  }
  if (unknown > 0)
    tell(
        "pursuit: note: {} of {} pairs have an id that the model has never seen; they are predicted "
        "from what is known of the rest\n",
        unknown, asked.positions.size());
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
