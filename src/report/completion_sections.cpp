// What a page says of a completed matrix beside its atoms: how good predictions are, who is liked, lists.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pursuit/completion/ranking.hpp"
#include "pursuit/completion/recommend.hpp"
#include "pursuit/report/svg.hpp"
#include "report/subject.hpp"
#include "report/svg_charts.hpp"

namespace pursuit::report {
namespace {

constexpr Index kMostJudged = 200'000, kMostListsJudged = 2000;
constexpr std::size_t kListsShown = 6;

/// Entries to judge by: those held out. Of very many, evenly spaced ones.
ObservedEntries judged_entries(const CompletionFile& file) {
  ObservedEntries entries{file.model.row_count(), file.model.column_count(), {}, {}, {}};
  const Index count = Index(file.held_out.index.size());
  const Index step = std::max<Index>(1, (count + kMostJudged - 1) / kMostJudged);
  for (Index row = 0; row < file.held_out.size(); ++row) {
    for (std::int64_t k = file.held_out.start[std::size_t(row)];
         k < file.held_out.start[std::size_t(row) + 1]; ++k) {
      if (k % step != 0) continue;
      entries.row.push_back(int(row));
      entries.col.push_back(file.held_out.index[std::size_t(k)]);
      entries.value.push_back(file.held_out.value[std::size_t(k)]);
    }
  }
  return entries;
}

Series curve(const std::string& name, const std::vector<double>& x, const std::vector<double>& y,
             std::vector<std::string> notes) {
  Series series{name, Vector(Index(x.size())), Vector(Index(y.size()))};
  for (std::size_t i = 0; i < x.size(); ++i) {
    series.x[Index(i)] = x[i];
    series.y[Index(i)] = y[i];
  }
  series.notes = std::move(notes);
  return series;
}

/// How often values lie inside central intervals, against how often they should.
std::string interval_plot(const std::vector<Prediction>& predictions, const std::vector<float>& values) {
  std::vector<double> nominal, found;
  std::vector<std::string> notes;
  for (int tenth = 0; tenth <= 10; ++tenth) {
    const double level = tenth == 10 ? 0.95 : 0.1 * tenth;
    Index inside = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double away = std::abs(double(values[i]) - predictions[i].value);
      const double mass = predictions[i].deviation > 0
                              ? std::erf(away / (predictions[i].deviation * std::sqrt(2.0)))
                              : double(away > 0);
      inside += Index(mass <= level && level > 0);
    }
    nominal.push_back(level);
    found.push_back(double(inside) / double(values.size()));
    notes.push_back(
        fmt::format("intervals of {}: {} of the values inside", number(level), number(found.back())));
  }
  return svg_line_plot({curve("found", nominal, found, notes), curve("promised", {0, 0.95}, {0, 0.95}, {})},
                       {"", "share promised", "share found"}, false, {360, 300});
}

/// The share of ones among entries that were predicted about alike.
std::string probability_plot(const std::vector<Prediction>& predictions, const std::vector<float>& values) {
  constexpr std::size_t kBins = 10;
  std::vector<double> sum(kBins), ones(kBins), count(kBins), said, found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bin = std::min(kBins - 1, std::size_t(std::max(0.0, predictions[i].value) * kBins));
    sum[bin] += predictions[i].value;
    ones[bin] += values[i];
    ++count[bin];
  }
  std::vector<std::string> notes;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (count[bin] == 0) continue;
    said.push_back(sum[bin] / count[bin]);
    found.push_back(ones[bin] / count[bin]);
    notes.push_back(fmt::format("{} entries said to be 1 with {}: {} were", count[bin], number(said.back()),
                                number(found.back())));
  }
  return svg_line_plot({curve("found", said, found, notes), curve("promised", {0, 1}, {0, 1}, {})},
                       {"", "probability of a 1", "share of ones"}, false, {360, 300});
}

Section accuracy_section(const CompletionFile& file, const ObservedEntries& judged,
                         const std::vector<Prediction>& predictions) {
  const CompletionModel& model = file.model;
  std::string content = paragraph(fmt::format(
      "Judged by {} entries that were held out and that the model was not made from.", judged.size()));
  if (model.loss.kind == Loss::bernoulli) {
    const LikelihoodScore score = likelihood_score(predictions, judged.value);
    content += cards_of({{"log loss", number(-score.log_likelihood)},
                         {"right at one half", number(score.accuracy)},
                         {"AUC", number(score.auc)},
                         {"distance from calibration", number(score.calibration)}}) +
               figure(probability_plot(predictions, judged.value),
                      "Probabilities that are right lie on the straight line.");
  } else if (model.loss.kind == Loss::squares) {
    const Accuracy score = accuracy(predictions, judged.value);
    content +=
        cards_of({{"RMSE", number(score.rmse)},
                  {"MAE", number(score.mae)},
                  {"inside 50 % intervals", number(score.inside_50)},
                  {"inside 80 % intervals", number(score.inside_80)},
                  {"inside 95 % intervals", number(score.inside_95)}}) +
        figure(interval_plot(predictions, judged.value),
               "Intervals that are as wide as they should be lie on the straight line; below it they are "
               "too narrow.");
  } else {
    content +=
        cards_of({{error_name(model.loss), number(mean_error(model, positions_of(judged), judged.value))}});
  }
  return {"accuracy", "Calibration", content};
}

std::vector<Index> counts_of_columns(const GroupedEntries& by_row, Index columns) {
  std::vector<Index> counts(std::size_t(columns), 0);
  for (const int column : by_row.index) ++counts[std::size_t(column)];
  return counts;
}

std::vector<Index> counts_of_rows(const GroupedEntries& by_row) {
  std::vector<Index> counts(std::size_t(by_row.size()));
  for (Index i = 0; i < by_row.size(); ++i) counts[std::size_t(i)] = by_row.count(i);
  return counts;
}

/// Errors of entries by how many entries their row (or column) has, in classes 0, 1, 2-3, 4-7, ...
std::string errors_by_count(const CompletionModel& model, const ObservedEntries& judged,
                            const std::vector<int>& member, const std::vector<Index>& counts,
                            const std::string& whose) {
  std::map<int, ObservedEntries> classes;
  for (std::size_t i = 0; i < member.size(); ++i) {
    const Index count = counts[std::size_t(member[i])];
    ObservedEntries& own = classes[count == 0 ? 0 : 1 + int(std::log2(double(count)))];
    own.row.push_back(judged.row[i]);
    own.col.push_back(judged.col[i]);
    own.value.push_back(judged.value[i]);
  }
  const std::string word = error_name(model.loss);
  Table table({"entries of the " + whose, word, "judged by"});
  std::vector<Bar> bars;
  bars.reserve(classes.size());
  for (const auto& [which, own] : classes) {
    const Index from = which == 0 ? 0 : Index(1) << (which - 1), to = which == 0 ? 0 : 2 * from - 1;
    const std::string range = from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
    const double error = mean_error(model, positions_of(own), own.value);
    bars.push_back({range, error});
    table.add({range, error, double(own.size())});
  }
  return fmt::format("<div><h4>{} by entries of the {}</h4>", html(word), html(whose)) + svg_bars(bars, 380) +
         table.text() + "</div>\n";
}

Section counts_section(const CompletionFile& file, const ObservedEntries& judged) {
  if (!file.keeps_entries) return {};
  return {"counts", "Error by count",
          paragraph("How far predictions are off, by how much is known of the row and of the column.") +
              "<div class=\"side\">\n" +
              errors_by_count(file.model, judged, judged.row, counts_of_rows(file.seen), "row") +
              errors_by_count(file.model, judged, judged.col,
                              counts_of_columns(file.seen, file.model.column_count()), "column") +
              "</div>\n"};
}

/// Lists against entries held out, of evenly spaced rows where there are many.
Section ranking_section(const CompletionFile& file, const ObservedEntries& judged, int threads) {
  if (!file.keeps_entries) return {};
  const Index step = std::max<Index>(1, file.model.row_count() / kMostListsJudged);
  ObservedEntries some{judged.rows, judged.cols, {}, {}, {}};
  for (std::size_t i = 0; i < judged.row.size(); ++i) {
    if (judged.row[i] % step != 0) continue;
    some.row.push_back(judged.row[i]);
    some.col.push_back(judged.col[i]);
    some.value.push_back(judged.value[i]);
  }
  constexpr Index kPlaces = 10;
  const double from =
      file.model.is_implicit() ? -std::numeric_limits<double>::infinity() : relevant_from(judged);
  const RankingScore score = ranking_score(file.model, file.seen, some, from, kPlaces, threads);
  if (score.rows == 0) return {};
  return {
      "ranking", "How good lists are",
      paragraph(fmt::format("Lists of {} against the entries held out of {} rows, without what a row has.",
                            kPlaces, score.rows)) +
          cards_of({{"NDCG at 10", number(score.ndcg)},
                    {"recall at 10", number(score.recall)},
                    {"MAP at 10", number(score.map)}})};
}

/// Columns by what they have beside atoms: the mean prediction for a row of which nothing is known.
Section offsets_section(const CompletionFile& file, Index top) {
  const CompletionModel& model = file.model;
  if (model.is_implicit() || model.cols.mean.cols() == 0) return {};
  std::string sides;
  for (const auto& [side, ids, word] :
       {std::tuple(&model.cols, &file.cols, "columns"), std::tuple(&model.rows, &file.rows, "rows")}) {
    if (side->mean.col(0).isZero(0)) continue;
    std::vector<Index> order(std::size_t(side->size()));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = Index(i);
    const auto offset = [&, own = side](Index i) { return double(own->mean(i, 0)); };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return offset(a) > offset(b); });
    const auto bars_of = [&, table = ids](Index from, Index to) {
      std::vector<Bar> bars;
      bars.reserve(std::size_t(to - from));
      for (Index k = from; k < to; ++k) {
        const Index i = order[std::size_t(k)];
        bars.push_back({std::string(table->name(int(i))), model.scale * offset(i)});
      }
      return svg_bars(bars);
    };
    const Index count = side->size(), shown = std::min(top, (count + 1) / 2);
    sides += fmt::format("<div><h4>{}, highest</h4>{}</div>\n<div><h4>{}, lowest</h4>{}</div>\n", word,
                         bars_of(0, shown), word, bars_of(std::max(shown, count - shown), count));
  }
  if (sides.empty()) return {};
  return {"offsets", "Offsets",
          paragraph("What rows and columns add to every entry, beside the mean and the atoms.") +
              "<div class=\"side\">\n" + sides + "</div>\n"};
}

Section lists_section(const CompletionFile& file, const ReportOptions& options) {
  const GroupedEntries known = file.keeps_entries ? file.known() : GroupedEntries{};
  std::vector<int> rows(std::size_t(file.model.row_count()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = int(i);
  const auto count = [&](int row) { return file.keeps_entries ? known.count(row) : Index(0); };
  const std::size_t shown = std::min(kListsShown, rows.size());
  std::partial_sort(rows.begin(), rows.begin() + std::ptrdiff_t(shown), rows.end(),
                    [&](int a, int b) { return count(a) != count(b) ? count(a) > count(b) : a < b; });
  rows.resize(shown);
  ListOptions list{.count = std::min<Index>(options.top, file.model.column_count())};
  if (file.keeps_entries) list.left_out = &known;
  if (list.count < 1 || rows.empty()) return {};
  const auto lists = Recommender(file.model).lists(rows, list, options.threads);
  std::string cards;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<Bar> bars;
    bars.reserve(lists[i].size());
    for (const Recommendation& each : lists[i])
      bars.push_back({std::string(file.cols.name(each.col)), each.prediction.value});
    if (bars.empty()) continue;
    const std::string entries =
        file.keeps_entries ? fmt::format("<h4>{} entries known</h4>", count(rows[i])) : "";
    cards += fmt::format("<div class=\"atom\"><h3>Row {}</h3>{}{}</div>\n", html(file.rows.name(rows[i])),
                         entries, svg_bars(bars));
  }
  if (cards.empty()) return {};
  return {"lists", "Top lists",
          paragraph(
              file.keeps_entries
                  ? "What is predicted highest for the rows of most entries, without what they have already."
                  : "What is predicted highest for the first rows; the model does not know what they have.") +
              "<div class=\"atoms\">\n" + cards + "</div>\n"};
}

}  // namespace

std::vector<Section> completion_sections(const CompletionFile& file, const ReportOptions& options) {
  std::vector<Section> sections;
  const ObservedEntries judged = judged_entries(file);
  if (judged.size() > 0 && file.model.is_implicit()) {
    sections.push_back(ranking_section(file, judged, options.threads));
  } else if (judged.size() > 0) {
    const auto predictions = predict(file.model, positions_of(judged), options.threads);
    sections.push_back(accuracy_section(file, judged, predictions));
    sections.push_back(counts_section(file, judged));
  } else {
    sections.push_back(
        {"accuracy", "Calibration",
         paragraph("The model keeps no entries to be judged by: complete with --holdout 0.1, say, "
                   "and it does.")});
  }
  if (options.brief) return sections;
  sections.push_back(lists_section(file, options));
  sections.push_back(offsets_section(file, options.top));
  return sections;
}

}  // namespace pursuit::report
