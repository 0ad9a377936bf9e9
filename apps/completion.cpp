#include "apps/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "apps/console.hpp"
#include "apps/output.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::app {
namespace {

/// NaN has no place in JSON.
Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
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

Json describe(const Accuracy& accuracy) {
  return {{"count", accuracy.count},
          {"rmse", accuracy.rmse},
          {"mae", accuracy.mae},
          {"inside_50", accuracy.inside_50},
          {"inside_80", accuracy.inside_80},
          {"inside_95", accuracy.inside_95}};
}

Json describe(const std::vector<CompletionStage>& path) {
  Json result = Json::array();
  for (const CompletionStage& stage : path)
    result.push_back({{"rank", stage.rank},
                      {"sweeps", stage.sweeps},
                      {"noise", number_or_null(stage.noise)},
                      {"validation_rmse", number_or_null(stage.validation)},
                      {"seconds", stage.seconds}});
  return result;
}

void print_accuracy(const Accuracy& accuracy) {
  tell("\ntest: RMSE {:.5g}, MAE {:.5g} over {} entries\n", accuracy.rmse, accuracy.mae, accuracy.count);
  tell("{:>24} {:>8} {:>8} {:>8}\n", "interval", "50 %", "80 %", "95 %");
  tell("{:>24} {:>6.1f} % {:>6.1f} % {:>6.1f} %\n", "share of values inside", 100 * accuracy.inside_50,
       100 * accuracy.inside_80, 100 * accuracy.inside_95);
}

void print_stages(const std::vector<CompletionStage>& path) {
  tell("{:>6} {:>8} {:>10} {:>16} {:>9}\n", "rank", "sweeps", "noise", "validation RMSE", "seconds");
  for (const CompletionStage& stage : path)
    tell("{:>6} {:>8} {:>10.5g} {:>16} {:>9.2f}\n", stage.rank, stage.sweeps, stage.noise,
         std::isfinite(stage.validation) ? fmt::format("{:.5g}", stage.validation) : "-", stage.seconds);
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

void add_columns_option(Command& command, std::vector<std::string>& columns) {
  command
      .add_option("--columns", columns,
                  "Which columns of RATINGS hold row, column and value: three names of its header, or\n"
                  "numbers counted from 1 (user,item,rating or 1,2,4)")
      .separated_by(',');
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace pursuit::app
