#include "apps/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "apps/console.hpp"
#include "apps/output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/complete_in_time.hpp"

namespace pursuit::app {

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

std::string error_name(const CompletionModel& model) {
  return model.is_implicit() ? "NDCG" : error_name(model.loss);
}

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

std::string error_key(const Loss& loss) {
  const std::string name = error_name(loss);
  return name == "RMSE"        ? "rmse"
         : name == "log loss"  ? "log_loss"
         : name == "mean loss" ? "loss"
                               : "deviance";
}

Json describe(const std::vector<CompletionStage>& path, const CompletionModel& model) {
  const std::string error = "validation_" + (model.is_implicit() ? "ndcg" : error_key(model.loss));
  Json result = Json::array();
  for (const CompletionStage& stage : path)
    result.push_back({{"rank", stage.rank},
                      {"sweeps", stage.sweeps},
                      {"noise", number_or_null(stage.noise)},
                      {error, number_or_null(stage.validation)},
                      {"seconds", stage.seconds}});
  return result;
}

void print_stages(const std::vector<CompletionStage>& path, const CompletionModel& model) {
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.5g}", value) : std::string("-");
  };
  tell("{:>6} {:>8} {:>10} {:>20} {:>9}\n", "rank", "sweeps", "noise", "validation " + error_name(model),
       "seconds");
  for (const CompletionStage& stage : path)
    tell("{:>6} {:>8} {:>10} {:>20} {:>9.2f}\n", stage.rank, stage.sweeps, number(stage.noise),
         number(stage.validation), stage.seconds);
}

Json judge(const CompletionModel& model, std::span<const Position> positions,
           std::span<const Prediction> predictions, std::span<const float> values, int threads) {
  const Loss& loss = model.loss;
  if (loss.kind == Loss::bernoulli) {
    const LikelihoodScore score = likelihood_score(predictions, values);
    tell(
        "\ntest: log-likelihood {:.5g} per entry, AUC {:.4f}, {:.1f} % right, probabilities off by {:.4f}, "
        "over {} "
        "entries\n",
        score.log_likelihood, score.auc, 100 * score.accuracy, score.calibration, score.count);
    return {{"count", score.count},
            {"log_likelihood", score.log_likelihood},
            {"log_loss", -score.log_likelihood},
            {"auc", score.auc},
            {"accuracy", score.accuracy},
            {"calibration_error", score.calibration}};
  }
  const Accuracy figures = accuracy(predictions, values);
  if (loss.kind != Loss::squares) {
    const double error = mean_error(model, positions, values, {}, threads);
    Json result{{"count", figures.count}, {error_key(loss), error}};
    std::string shares;
    if (loss.kind == Loss::quantile) {
      double below = 0;
      for (std::size_t e = 0; e < values.size(); ++e) below += values[e] < predictions[e].value;
      below /= double(values.size());
      result.set("share_below", below);
      shares = fmt::format(", {:.1f} % of the values below their quantile", 100 * below);
    } else {
      result.set("rmse", figures.rmse);
      result.set("mae", figures.mae);
      shares = fmt::format(", RMSE {:.5g}, MAE {:.5g}", figures.rmse, figures.mae);
    }
    tell("\ntest: {} {:.5g}{} over {} entries\n", error_name(loss), error, shares, figures.count);
    return result;
  }
  tell("\ntest: RMSE {:.5g}, MAE {:.5g} over {} entries\n", figures.rmse, figures.mae, figures.count);
  tell("{:>24} {:>8} {:>8} {:>8}\n", "interval", "50 %", "80 %", "95 %");
  tell("{:>24} {:>6.1f} % {:>6.1f} % {:>6.1f} %\n", "share of values inside", 100 * figures.inside_50,
       100 * figures.inside_80, 100 * figures.inside_95);
  return {
      {"count", figures.count},         {"rmse", figures.rmse},           {"mae", figures.mae},
      {"inside_50", figures.inside_50}, {"inside_80", figures.inside_80}, {"inside_95", figures.inside_95}};
}

Json judge_lists(const CompletionModel& model, const GroupedEntries& seen, const ObservedEntries& test,
                 int threads) {
  constexpr Index kPlaces = 10;
  const RankingScore score =
      ranking_score(model, seen, test, std::numeric_limits<float>::min(), kPlaces, threads);
  tell(
      "\ntest: NDCG@{0} {1:.4f}, recall@{0} {2:.4f}, MAP@{0} {3:.4f} over {4} rows; lists cover {5:.1f} % of "
      "the columns\n",
      kPlaces, score.ndcg, score.recall, score.map, score.rows, 100 * score.coverage);
  return describe(score);
}

Json describe(const RankingScore& score) {
  return {{"rows", score.rows},     {"places", score.places}, {"ndcg", score.ndcg},
          {"recall", score.recall}, {"map", score.map},       {"coverage", score.coverage}};
}

Json describe(const FeatureFile& file) {
  return {{"kind", file.is_table ? "table" : "lines"}, {"features", file.names}, {"members", file.members}};
}

void print_features(const FeatureFile& file, const std::string& side) {
  constexpr std::size_t kShown = 5;
  const std::vector<std::string> first(
      file.names.begin(), file.names.begin() + std::ptrdiff_t(std::min(kShown, file.names.size())));
  tell("{} features, {}: {} features of {} {}s: {}{}\n", side,
       file.is_table ? "a table" : "lines of id, feature, value", file.names.size(), file.members, side,
       printable(fmt::format("{}", fmt::join(first, ", "))), file.names.size() > kShown ? ", ..." : "");
  if (!file.left_out.empty())
    tell("{} features, left out: {} (no two {}s share a word)\n", side,
         printable(fmt::format("{}", fmt::join(file.left_out, ", "))), side);
}

void add_duplicates_option(Command& command, std::string& duplicates) {
  command
      .add_option(
          "--duplicates", duplicates,
          "Where an entry occurs twice: refuse the file, the last value counts, or the sum of all; by "
          "default\nrefuse, and of clicks sum")
      .one_of({"refuse", "last", "sum"});
}

RatingsOptions::Duplicates duplicates_of(const std::string& duplicates, bool clicks) {
  if (duplicates == "last") return RatingsOptions::Duplicates::last;
  return duplicates == "sum" || (duplicates.empty() && clicks) ? RatingsOptions::Duplicates::sum
                                                               : RatingsOptions::Duplicates::refuse;
}

void add_columns_option(Command& command, std::vector<std::string>& columns) {
  command
      .add_option(
          "--columns", columns,
          "Which columns of RATINGS hold row, column and value, and as a fourth the time: names of its\n"
          "header, or numbers counted from 1 (user,item,rating or 1,2,4 or 1,2,4,3); of clicks user,item")
      .separated_by(',');
}

void add_time_option(Command& command, std::string& time) {
  command.add_option("--time", time,
                     "Of models whose offsets drift: at this time, a number or a date like those they were "
                     "made\nfrom (that of the newest entry)");
}

void move_to(const std::string& time, CompletionModel& model) {
  const double when = time.empty() ? model.drift.newest : parse_time(time);
  model = at_time(std::move(model), when);
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace pursuit::app
