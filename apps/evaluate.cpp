#include "pursuit/completion/evaluate.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <memory>

#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/report/progress_bar.hpp"

namespace pursuit::app {
namespace {

struct EvaluateCommand {
  CommonOptions common;
  std::string input, split = "50/20/30", duplicates = "refuse", loss = "squares";
  std::vector<std::string> columns;
  std::vector<std::string> methods;
  Protocol protocol;
};

constexpr const char* kEvaluateExamples =
    R"(Methods: or1mp, or1mp-economic, gmpr, gmpr-sparse (the paper's columns, which choose rank and corrections on the
validation part), default and high (self-tuned; they do not see the validation part), factors (without structure, the
ridge chosen on the validation part). Under another loss there are factors and, of zeros and ones, default.

Examples:
  pursuit evaluate u.data --repeat 20 --split 50/20/30
  pursuit evaluate ratings.dat --split 90/10 --methods default,high
  pursuit evaluate ratings.csv --folds 5 --methods default
  pursuit evaluate answers.csv --loss bernoulli --split 80/10/10)";

std::vector<double> parse_split(const std::string& text) {
  std::vector<double> parts;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || !(value > 0) || (next < end && *next != '/'))
      throw InvalidArgument(
          fmt::format("--split {}: must be percentages above 0 such as 50/20/30 or 90/10", text));
    parts.push_back(value / 100);
    at = next < end ? next + 1 : end;
  }
  return parts;
}

/// RMSE of Table 2 of Khanna, Tschannen and Jaggi (2016), for the data sets it names.
std::map<std::string, double> paper_figures(const ObservedEntries& entries) {
  if (entries.rows == 943 && entries.cols == 1682 && entries.size() == 100000)
    return {{"or1mp", 1.778}, {"gmpr", 1.691}, {"gmpr-sparse", 1.62}};
  if (entries.rows == 6040 && entries.cols == 3706 && entries.size() == 1000209)
    return {{"or1mp", 1.6863}, {"gmpr", 1.6537}, {"gmpr-sparse", 1.6411}};
  return {};
}

int run(const EvaluateCommand& c) {
  Protocol protocol = c.protocol;
  protocol.split = parse_split(c.split);
  protocol.threads = c.common.threads;
  protocol.loss = parse_loss(c.loss);
  const bool squares = protocol.loss.kind == Loss::squares;
  std::vector<std::string> methods = c.methods;
  if (methods.empty() && squares) methods = {"or1mp", "gmpr", "gmpr-sparse", "default"};
  if (methods.empty() && protocol.loss.kind == Loss::bernoulli) methods = {"default", "factors"};
  if (methods.empty()) methods = {"factors"};
  const RatingsOptions options{
      c.duplicates == "last" ? RatingsOptions::Duplicates::last : RatingsOptions::Duplicates::refuse,
      c.common.threads, c.columns};
  const Ratings ratings = read_ratings(c.input, options);
  watch_interrupts();
  ProgressBar bar("evaluate");
  const auto scores =
      evaluate(ratings.entries, methods, protocol, [&](double share, const std::string& what) {
        bar.update(share, what);
        return !was_interrupted();
      });
  const auto paper = paper_figures(ratings.entries);
  Json rows = Json::array();
  const std::string error = error_name(protocol.loss);
  tell("{:<16} {:>8} {:>13} {:>12} {:>10} {:>6} {:>10}\n", "method", "paper", error, "variance", "explained",
       "runs", "seconds");
  for (const MethodScore& score : scores) {
    if (score.rmse.empty()) continue;
    const auto published = paper.find(score.method);
    tell("{:<16} {:>8} {:>13.4f} {:>12.2e} {:>10.4f} {:>6} {:>10.2f}\n", score.method,
         published != paper.end() ? fmt::format("{:g}", published->second) : "-", score.mean_error(),
         score.variance_of_error(), score.explained(protocol.loss), score.rmse.size(), score.mean_seconds());
    Json row{{"method", score.method},
             {"rmse", score.mean_rmse()},
             {"rmse_variance", score.variance_of_rmse()},
             {"rmse_of_runs", score.rmse},
             {"mae_of_runs", score.mae},
             {"seconds", score.mean_seconds()},
             {squares ? "variance_explained" : "explained", score.explained(protocol.loss)}};
    if (!squares) {
      row.set(error_key(protocol.loss), score.mean_error());
      row.set(error_key(protocol.loss) + "_of_runs", score.error);
    }
    if (!score.auc.empty()) {
      row.set("auc_of_runs", score.auc);
      row.set("calibration_error_of_runs", score.calibration);
    }
    if (published != paper.end()) row.set("paper_rmse", published->second);
    rows.push_back(row);
  }
  if (c.common.json)
    print_json(
        {{"loss", protocol.loss.spec()}, {"methods", rows}, {"peak_memory_bytes", peak_memory_bytes()}});
  return was_interrupted() ? interrupted : success;
}

}  // namespace

void add_evaluate(Command& program) {
  auto c = std::make_shared<EvaluateCommand>();
  Command sub =
      program.add_command("evaluate", "Compare methods of completion on random splits of observed entries");
  sub.footer(kEvaluateExamples);
  sub.add_option("RATINGS", c->input, "Observed entries: row, column, value").required();
  sub.add_option("--split", c->split, "Percentages: train/validation/test or train/test").show_default();
  sub.add_option("--repeat", c->protocol.repeat, "Number of random splits").show_default();
  sub.add_option("--folds", c->protocol.folds, "Cross-validation with so many folds instead of splits");
  sub.add_option("--methods", c->methods,
                 "Methods to compare (or1mp, gmpr, gmpr-sparse and default; under another loss those that it "
                 "has)")
      .separated_by(',');
  sub.add_option(
         "--loss", c->loss,
         "What models are fitted and judged by, as for `pursuit complete`: log loss of bernoulli and\n"
         "ordinal, deviance of counts and positive numbers, else the mean loss")
      .show_default();
  sub.add_option("--seed", c->protocol.seed, "Seed of the first split; the next ones follow").show_default();
  sub.add_option("--duplicates", c->duplicates,
                 "Where an entry occurs twice: refuse the file, or the last one counts")
      .one_of({"refuse", "last"})
      .show_default();
  add_columns_option(sub, c->columns);
  add_common_options(sub, c->common);
  sub.runs([c] { return run(*c); });
}

}  // namespace pursuit::app
