#include "pursuit/completion/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/ranks.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/report/progress_bar.hpp"

namespace pursuit::app {
namespace {

constexpr double kBySelf = std::numeric_limits<double>::quiet_NaN();

struct EvaluateCommand {
  CommonOptions common;
  std::string input, split = "50/20/30", duplicates, loss = "squares";
  std::vector<std::string> columns;
  std::vector<std::string> methods;
  Protocol protocol;
  bool by_time = false, per_row = false, leave_one_out = false, cold_rows = false, cold_columns = false;
  double relevant = kBySelf;
};

constexpr const char* kEvaluateExamples =
    R"(Methods: popularity and offsets (what any other should beat), or1mp, or1mp-economic, gmpr, gmpr-sparse (the paper's
columns, which choose rank and corrections on the validation part), default and high (self-tuned; they do not see the
validation part), drift (default with offsets that drift in time, where that pays), implicit (clicks: trained on entries that are relevant, as ones; lists only), factors (without structure,
the ridge chosen on the validation part). Under another loss there are factors and, of zeros and ones, default.

Values are judged by RMSE, MAE, log-likelihood and the share inside 95 % intervals; lists of --top columns, without those
that a row has in training, by NDCG, recall and MAP against test entries of at least --relevant, and by the share of
columns that they cover. After +- is the standard error over repeats or folds.

Examples:
  pursuit evaluate u.data --repeat 20 --split 50/20/30
  pursuit evaluate ratings.dat --split 90/10 --methods default,high
  pursuit evaluate ratings.csv --folds 5 --methods default
  pursuit evaluate ratings.csv --split-by-time --split 80/20
  pursuit evaluate ratings.dat --leave-one-out --relevant 4 --methods popularity,implicit
  pursuit evaluate ratings.csv --cold-columns --split 90/10 --repeat 5
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

Protocol::Kind kind_of_split(const EvaluateCommand& c) {
  if (c.by_time + c.leave_one_out + c.cold_rows + c.cold_columns > 1)
    throw InvalidArgument("--split-by-time, --leave-one-out, --cold-rows and --cold-columns: choose one");
  if (c.per_row && !c.by_time) throw InvalidArgument("--per-row goes with --split-by-time");
  if (c.by_time) return c.per_row ? Protocol::time_per_row : Protocol::time;
  if (c.leave_one_out) return Protocol::leave_one_out;
  if (c.cold_rows) return Protocol::cold_rows;
  return c.cold_columns ? Protocol::cold_columns : Protocol::random;
}

/// Mean and standard error over splits of a figure of each.
template <class Figures, class Of>
Estimate over_splits(const std::vector<Figures>& splits, const Of& of) {
  std::vector<double> figures;
  figures.reserve(splits.size());
  for (const Figures& each : splits) figures.push_back(of(each));
  return estimate_of(figures);
}

std::string shown(const Estimate& estimate, int digits) {
  if (!std::isfinite(estimate.mean)) return "-";
  if (!std::isfinite(estimate.error)) return fmt::format("{:.{}f}", estimate.mean, digits);
  return fmt::format("{:.{}f} +-{:.{}f}", estimate.mean, digits, estimate.error, digits);
}

/// The figures of one method: a line for people, and all of them.
Json describe_score(const MethodScore& score) {
  Json row{{"method", score.method},
           {"rmse", number_or_null(score.mean_rmse())},
           {"rmse_variance", number_or_null(score.variance_of_rmse())},
           {"seconds", score.mean_seconds()}};
  Json rmse = Json::array(), mae = Json::array();
  for (const double each : score.rmse) rmse.push_back(number_or_null(each));
  for (const double each : score.mae) mae.push_back(number_or_null(each));
  row.set("rmse_of_runs", rmse);
  row.set("mae_of_runs", mae);
  const auto add = [&](const std::string& name, const Estimate& estimate) {
    row.set(name, number_or_null(estimate.mean));
    row.set(name + "_error", number_or_null(estimate.error));
    return estimate;
  };
  const auto of_values = [&](double Accuracy::*figure) {
    return over_splits(score.values, [&](const Accuracy& each) { return each.*figure; });
  };
  const auto of_lists = [&](double RankingScore::*figure) {
    return over_splits(score.lists, [&](const RankingScore& each) { return each.*figure; });
  };
  const Estimate error = add("rmse", of_values(&Accuracy::rmse)),
                 mean_error = add("mae", of_values(&Accuracy::mae));
  const Estimate likelihood = add("log_likelihood", of_values(&Accuracy::log_likelihood));
  add("inside_50", of_values(&Accuracy::inside_50));
  add("inside_80", of_values(&Accuracy::inside_80));
  const Estimate inside = add("inside_95", of_values(&Accuracy::inside_95));
  const Estimate ndcg = add("ndcg", of_lists(&RankingScore::ndcg)),
                 recall = add("recall", of_lists(&RankingScore::recall));
  const Estimate map = add("map", of_lists(&RankingScore::map)),
                 coverage = add("coverage", of_lists(&RankingScore::coverage));
  tell("{:<15} {:>16} {:>7} {:>8} {:>6} {:>16} {:>7} {:>7} {:>7} {:>5} {:>8.2f}\n", score.method,
       shown(error, 4), shown({mean_error.mean, kBySelf}, 4), shown({likelihood.mean, kBySelf}, 4),
       shown({inside.mean, kBySelf}, 3), shown(ndcg, 4), shown({recall.mean, kBySelf}, 4),
       shown({map.mean, kBySelf}, 4), shown({coverage.mean, kBySelf}, 4), score.rmse.size(),
       score.mean_seconds());
  return row;
}

/// Where errors are those of another loss.
std::vector<Json> describe_by_loss(const std::vector<MethodScore>& scores, const Loss& loss) {
  tell("{:<16} {:>13} {:>12} {:>10} {:>6} {:>10}\n", "method", error_name(loss), "variance", "explained",
       "runs", "seconds");
  std::vector<Json> rows;
  for (const MethodScore& score : scores) {
    if (score.rmse.empty()) continue;
    tell("{:<16} {:>13.4f} {:>12.2e} {:>10.4f} {:>6} {:>10.2f}\n", score.method, score.mean_error(),
         score.variance_of_error(), score.explained(loss), score.rmse.size(), score.mean_seconds());
    Json row{{"method", score.method},
             {"rmse", score.mean_rmse()},
             {"rmse_variance", score.variance_of_rmse()},
             {"rmse_of_runs", score.rmse},
             {"mae_of_runs", score.mae},
             {"seconds", score.mean_seconds()},
             {"explained", score.explained(loss)},
             {error_key(loss), score.mean_error()},
             {error_key(loss) + "_of_runs", score.error}};
    if (!score.auc.empty()) {
      row.set("auc_of_runs", score.auc);
      row.set("calibration_error_of_runs", score.calibration);
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> methods_for(const Protocol& protocol) {
  if (protocol.loss.kind == Loss::bernoulli) return {"default", "factors"};
  if (protocol.loss.kind != Loss::squares) return {"factors"};
  if (protocol.kind == Protocol::random)
    return {"popularity", "offsets", "or1mp", "gmpr", "gmpr-sparse", "default"};
  return {"popularity", "offsets", "default", "implicit"};
}

int run(const EvaluateCommand& c) {
  Protocol protocol = c.protocol;
  protocol.split = parse_split(c.split);
  protocol.threads = c.common.threads;
  protocol.team = rank_team();
  protocol.loss = parse_loss(c.loss);
  protocol.kind = kind_of_split(c);
  if (std::isfinite(c.relevant)) protocol.relevant = c.relevant;
  const bool squares = protocol.loss.kind == Loss::squares, paper_split = protocol.kind == Protocol::random;
  const std::vector<std::string> methods = c.methods.empty() ? methods_for(protocol) : c.methods;
  const auto has = [&](const char* method) {
    return std::find(methods.begin(), methods.end(), method) != methods.end();
  };
  const bool clicks = std::all_of(methods.begin(), methods.end(), [](const std::string& method) {
    return method == "popularity" || method == "implicit";  // no others know what to make of them
  });
  const RatingsOptions options{.duplicates = duplicates_of(c.duplicates, clicks),
                               .threads = c.common.threads,
                               .columns = c.columns,
                               .times = c.by_time || has("drift"),
                               .clicks = clicks,
                               .team = rank_team()};
  const Ratings ratings = read_ratings(c.input, options);
  protocol.times = ratings.time;
  if (ratings.counts && !protocol.relevant) protocol.relevant = 0;  // who came once came
  watch_interrupts();
  ProgressBar bar("evaluate");
  const auto scores =
      evaluate(ratings.entries, methods, protocol, [&](double share, const std::string& what) {
        bar.update(share, what);
        return !was_interrupted();
      });
  const auto paper = paper_split ? paper_figures(ratings.entries) : std::map<std::string, double>{};
  const auto at = [&](const char* name) { return fmt::format("{}@{}", name, protocol.places); };
  Json rows = Json::array();
  if (!squares) {
    for (const Json& row : describe_by_loss(scores, protocol.loss)) rows.push_back(row);
    if (c.common.json)
      print_json(
          {{"loss", protocol.loss.spec()}, {"methods", rows}, {"peak_memory_bytes", peak_memory_bytes()}});
    return was_interrupted() ? interrupted : success;
  }
  tell("{:<15} {:>16} {:>7} {:>8} {:>6} {:>16} {:>7} {:>7} {:>7} {:>5} {:>8}\n", "method", "RMSE", "MAE",
       "log-lik.", "in 95%", at("NDCG"), at("rec."), at("MAP"), at("cov."), "runs", "seconds");
  for (const MethodScore& score : scores) {
    if (score.rmse.empty()) continue;
    Json row = describe_score(score);
    if (const auto published = paper.find(score.method); published != paper.end()) {
      row.set("paper_rmse", published->second);
      tell("{:<15} {:>9g}\n", "  in the paper", published->second);
    }
    rows.push_back(row);
  }
  const double relevant = protocol.relevant.value_or(relevant_from(ratings.entries));
  tell("\nlists of {}; relevant: values from {:g} on\n", protocol.places, relevant);
  if (c.common.json)
    print_json({{"loss", protocol.loss.spec()},
                {"methods", rows},
                {"places", protocol.places},
                {"relevant", relevant},
                {"peak_memory_bytes", peak_memory_bytes()}});
  return was_interrupted() ? interrupted : success;
}

}  // namespace

void add_evaluate(Command& program) {
  auto c = std::make_shared<EvaluateCommand>();
  Command sub =
      program.add_command("evaluate", "Compare methods of completion on splits of observed entries");
  sub.footer(kEvaluateExamples);
  sub.add_option("RATINGS", c->input, "Observed entries: row, column, value").required();
  sub.add_option("--split", c->split, "Percentages: train/validation/test or train/test").show_default();
  sub.add_flag("--split-by-time", c->by_time,
               "Train on the earliest entries and test on the last ones (needs a column of times)");
  sub.add_flag("--per-row", c->per_row, "With --split-by-time: the earliest and the last of every row");
  sub.add_flag("--leave-one-out", c->leave_one_out, "Test one relevant entry of every row, at random");
  sub.add_flag("--cold-rows", c->cold_rows, "Test all entries of some rows, which training has never seen");
  sub.add_flag("--cold-columns", c->cold_columns, "The same of columns");
  sub.add_option("--top", c->protocol.places, "Length of lists").show_default();
  sub.add_option(
      "--relevant", c->relevant,
      "Values from here on say yes (three quarters of the way from the lowest to the highest: 4 of\n"
      "1 to 5)");
  sub.add_option("--repeat", c->protocol.repeat, "Number of random splits").show_default();
  sub.add_option("--folds", c->protocol.folds, "Cross-validation with so many folds instead of splits");
  sub.add_option("--methods", c->methods,
                 "Methods to compare (popularity, offsets and those of the paper and default; of other "
                 "splits\npopularity, offsets, default and implicit; under another loss those that it has)")
      .separated_by(',');
  sub.add_option(
         "--loss", c->loss,
         "What models are fitted and judged by, as for `pursuit complete`: log loss of bernoulli and\n"
         "ordinal, deviance of counts and positive numbers, else the mean loss")
      .show_default();
  sub.add_option("--seed", c->protocol.seed, "Seed of the first split; the next ones follow").show_default();
  add_duplicates_option(sub, c->duplicates);
  add_columns_option(sub, c->columns);
  add_common_options(sub, c->common);
  sub.runs([c] { return run(*c); });
}

}  // namespace pursuit::app
