#include "apps/completion.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <csignal>
#include <memory>

#include "apps/console.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/report/progress_bar.hpp"

namespace pursuit::app {
namespace {

/// NaN has no place in JSON.
nlohmann::json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

/// How much of a run is done, by phases that usually come one after the other.
double fraction_done(const CompletionMoment& moment) {
  const double part = double(moment.sweep) / double(moment.max_sweeps);
  switch (moment.phase) {
    case CompletionMoment::Phase::growing: return 0.5 * (1 - std::pow(0.5, double(moment.rank) / 15 + part));
    case CompletionMoment::Phase::refining: return 0.5 + 0.5 * part;
    case CompletionMoment::Phase::sampling: return part;
  }
  return 0;
}

}  // namespace

std::optional<Range> parse_range(const std::string& text) {
  if (text == "auto") return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "none") return Range{-kInfinity, kInfinity};
  const auto colon = text.find(':');
  Range range{0, 0};
  const auto number = [&](std::size_t first, std::size_t last, double& value) {
    const auto [end, error] = std::from_chars(text.data() + first, text.data() + last, value);
    return error == std::errc{} && end == text.data() + last && std::isfinite(value);
  };
  if (colon == std::string::npos || !number(0, colon, range.lowest) ||
      !number(colon + 1, text.size(), range.highest) || range.lowest > range.highest)
    throw InvalidArgument(fmt::format("--clip {}: must be LOW:HIGH (1:5), auto or none", text));
  return range;
}

CompletionObserver watch_completion(const std::string& title) {
  watch_interrupts();
  auto bar = std::make_shared<ProgressBar>(title);
  return [bar](const CompletionMoment& moment) {
    const bool sampling = moment.phase == CompletionMoment::Phase::sampling;
    std::string note = fmt::format("{} {}, {} atoms", sampling ? "draw" : "sweep", moment.sweep, moment.rank);
    if (std::isfinite(moment.validation)) note += fmt::format(", validation RMSE {:.4f}", moment.validation);
    bar->update(fraction_done(moment), note);
    return !was_interrupted();
  };
}

std::vector<Position> positions_of(const ObservedEntries& entries) {
  std::vector<Position> result;
  result.reserve(entries.row.size());
  for (std::size_t e = 0; e < entries.row.size(); ++e) result.push_back({entries.row[e], entries.col[e]});
  return result;
}

nlohmann::json describe(const Accuracy& accuracy) {
  return {{"count", accuracy.count},
          {"rmse", accuracy.rmse},
          {"mae", accuracy.mae},
          {"inside_50", accuracy.inside_50},
          {"inside_80", accuracy.inside_80},
          {"inside_95", accuracy.inside_95}};
}

nlohmann::json describe(const std::vector<CompletionStage>& path) {
  nlohmann::json result = nlohmann::json::array();
  for (const CompletionStage& stage : path)
    result.push_back({{"rank", stage.rank},
                      {"sweeps", stage.sweeps},
                      {"noise", number_or_null(stage.noise)},
                      {"validation_rmse", number_or_null(stage.validation)},
                      {"seconds", stage.seconds}});
  return result;
}

void print_accuracy(const Accuracy& accuracy) {
  tell("\ntest: RMSE {:.5f}, MAE {:.5f} over {} entries\n", accuracy.rmse, accuracy.mae, accuracy.count);
  tell("{:>24} {:>8} {:>8} {:>8}\n", "interval", "50 %", "80 %", "95 %");
  tell("{:>24} {:>6.1f} % {:>6.1f} % {:>6.1f} %\n", "share of values inside", 100 * accuracy.inside_50,
       100 * accuracy.inside_80, 100 * accuracy.inside_95);
}

void print_stages(const std::vector<CompletionStage>& path) {
  tell("{:>6} {:>8} {:>10} {:>16} {:>9}\n", "rank", "sweeps", "noise", "validation RMSE", "seconds");
  for (const CompletionStage& stage : path)
    tell("{:>6} {:>8} {:>10.5f} {:>16} {:>9.2f}\n", stage.rank, stage.sweeps, stage.noise,
         std::isfinite(stage.validation) ? fmt::format("{:.5f}", stage.validation) : "-", stage.seconds);
}

FeatureTable read_features(const std::string& path, IdTable& members) {
  FeatureTable table;
  std::optional<NamedMatrix> dense;
  try {
    dense = read_matrix(path);
  } catch (const InvalidInput&) {
    dense.reset();  // not a table of numbers; lines of id, feature and value are read below, with their own
                    // errors
  }
  if (dense && !dense->row_names.empty() && !dense->column_names.empty()) {
    const Index features = cols_of(dense->matrix);
    std::visit(
        [&](const auto& m) {
          const auto row = [&](Index i) { return Matrix(m.middleRows(i, 1).template cast<double>()); };
          for (Index i = 0; i < m.rows(); ++i) {
            const int member = members.add(dense->row_names[std::size_t(i)]);
            const Matrix values = row(i);
            for (Index f = 0; f < features; ++f)
              if (values(0, f) != 0) {
                table.row.push_back(member);
                table.col.push_back(int(f));
                table.value.push_back(float(values(0, f)));
              }
          }
        },
        dense->matrix);
    table.cols = features;
  } else {
    Ratings sparse = read_ratings(path, {}, &members, nullptr);
    table = std::move(sparse.entries);
    members = std::move(sparse.rows);
  }
  table.rows = members.size();
  if (table.value.empty()) throw InvalidInput(fmt::format("{}: all features are zero", path));
  return table;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace pursuit::app
