// Lists of columns for rows that a model knows, or for newcomers with a few entries; or of rows for columns.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>

#include "apps/completion.hpp"
#include "apps/console.hpp"
#include "apps/output.hpp"
#include "apps/ranks.hpp"
#include "apps/serving.hpp"
#include "apps/shared_output.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/completion/new_rows.hpp"
#include "pursuit/io/text_table.hpp"
#include "pursuit/io/write_lines.hpp"
#include "pursuit/report/progress_bar.hpp"

namespace pursuit::app {
namespace {

struct RecommendCommand {
  CommonOptions common;
  std::string model, rows_file, newcomers, candidates, block, names, time, out;
  std::vector<std::string> rows, cols;
  Index top = 10, explain = 0;
  double optimism = 0;
  bool all = false, exclude_seen = false, include_seen = false;
};

constexpr const char* kRecommendExamples =
    R"(Writes CSV: row, place, column, value, sd, and with --names and --explain name and reasons; row after row. Ctrl-C
keeps the rows that are done. What a row has an entry for is left out, where the model knows it.

Examples:
  pursuit recommend model.npz --row 42 --top 10
  pursuit recommend model.npz --row 42 --row 43 --names movies.csv:title --explain 3
  pursuit recommend model.npz --all --top 20 --out lists.csv
  pursuit recommend model.npz --rows users.txt --candidates new.txt --block shown.csv
  pursuit recommend model.npz --for newcomer.csv --optimism 1)";

/// Who the lists are for, and by which model.
struct Audience {
  std::unique_ptr<ServedModel> known;         // the model there is, seen from the side that lists are for
  std::unique_ptr<ServedModel> fresh;         // of newcomers, whose entries are its `seen`
  std::vector<int> rows;                      // of the one that lists are by
  std::string member = "row", of = "column";  // what lists are for, and of

  const ServedModel& model() const { return fresh ? *fresh : *known; }
};

void check(const RecommendCommand& c) {
  const int ways = int(c.all) + int(!c.rows.empty() || !c.rows_file.empty()) + int(!c.cols.empty()) +
                   int(!c.newcomers.empty());
  if (ways != 1)
    throw InvalidArgument(
        "recommend: give either --row ID, --rows FILE or --all, or --column ID, or --for FILE");
  if (c.top < 1) throw InvalidArgument(fmt::format("--top {}: must be 1 or more", c.top));
  if (c.explain < 0) throw InvalidArgument(fmt::format("--explain {}: must be 0 or more", c.explain));
  if (!std::isfinite(c.optimism))
    throw InvalidArgument(fmt::format("--optimism {}: must be a finite number", c.optimism));
  if (c.exclude_seen && c.include_seen)
    throw InvalidArgument("--exclude-seen and --include-seen: choose one");
}

/// Numbers of ids that must be there; `option` is for messages.
std::vector<int> members(const std::vector<std::string>& ids, const IdTable& table, const std::string& option,
                         const std::string& what) {
  std::vector<int> result;
  for (const std::string& id : ids) {
    result.push_back(table.find(id));
    if (result.back() < 0)
      throw InvalidInput(fmt::format("{} {}: the model has no such {}; it has {} {}s", option, id, what,
                                     table.size(), what));
  }
  return result;
}

/// The ids of a list, one a line: a whole line, or its first field where that is none. A first line that is
/// no id is a header.
std::vector<std::string> listed_ids(const std::string& path, const IdTable& table) {
  std::vector<std::string> ids;
  const TextTable text = read_text_table(path);
  for (const TextTable::Line& line : text.lines)
    ids.push_back(table.find(line.text) >= 0 ? line.text : line.fields.front());
  if (ids.size() > 1 && table.find(ids.front()) < 0 && table.find(ids[1]) >= 0) {
    tell("pursuit: note: {}: the first line, {}, taken for a header\n", path, printable(ids.front()));
    ids.erase(ids.begin());
  }
  return ids;
}

/// New rows are those that only the file of newcomers has, or the model's own with more entries; where all of
/// its rows are the model's and columns are not, it is these that are new.
Audience newcomers(const RecommendCommand& c, CompletionFile file) {
  const bool clicks = file.model.is_implicit();
  const RatingsOptions options{
      .duplicates = duplicates_of({}, clicks), .threads = c.common.threads, .clicks = clicks};
  Ratings fresh = read_ratings(c.newcomers, options, &file.rows, &file.cols);
  const int rows = file.rows.size(), cols = file.cols.size();
  const auto first_beyond = [](const std::vector<int>& members, int size) {
    return std::find_if(members.begin(), members.end(), [&](int k) { return k >= size; });
  };
  const bool new_row = first_beyond(fresh.entries.row, rows) != fresh.entries.row.end();
  const auto new_col = first_beyond(fresh.entries.col, cols);
  Audience result;
  if (new_col != fresh.entries.col.end()) {
    if (new_row)
      throw InvalidInput(fmt::format(
          "--for {}: both rows and columns are new to the model, column {} for one; new rows need entries in "
          "columns that it knows, and new columns in rows that it knows",
          c.newcomers, fresh.cols.name(*new_col)));
    file = transposed(std::move(file));
    std::swap(fresh.rows, fresh.cols);
    std::swap(fresh.entries.row, fresh.entries.col);
    result.member = "column";
    result.of = "row";
  }
  // Numbered as the newcomers come, with what the model knows of them already.
  IdTable names;
  ObservedEntries entries{0, file.cols.size(), {}, {}, {}};
  GroupedEntries before{{0}, {}, {}};
  for (std::size_t e = 0; e < fresh.entries.row.size(); ++e) {
    const int index = fresh.entries.row[e];
    const int own = names.add(fresh.rows.name(index));
    if (own + 1 > before.size()) {
      if (index < file.rows.size() && file.keeps_entries) {
        const auto begin = file.seen.start[index], end = file.seen.start[index + 1];
        before.index.insert(before.index.end(), file.seen.index.begin() + begin,
                            file.seen.index.begin() + end);
        before.value.insert(before.value.end(), file.seen.value.begin() + begin,
                            file.seen.value.begin() + end);
      }
      before.start.push_back(std::int64_t(before.index.size()));
    }
    entries.row.push_back(own);
    entries.col.push_back(fresh.entries.col[e]);
    entries.value.push_back(fresh.entries.value[e]);
  }
  entries.rows = names.size();
  CompletionFile own{{}, std::move(names), file.cols, {}, {}};
  own.seen = ObservedMatrix(merged(before, std::move(entries))).take_by_row();
  own.model = with_new_rows(file.model, own.seen, c.common.threads);
  result.known = std::make_unique<ServedModel>(std::move(file));
  result.fresh = std::make_unique<ServedModel>(std::move(own));
  result.rows.resize(std::size_t(result.fresh->file().rows.size()));
  std::iota(result.rows.begin(), result.rows.end(), 0);
  return result;
}

Audience audience(const RecommendCommand& c) {
  CompletionFile file = load_predictions(c.model);
  move_to(c.time, file.model);
  if (c.explain > 0) require_reasons(file.model);
  if (!c.newcomers.empty()) return newcomers(c, std::move(file));
  Audience result;
  if (!c.cols.empty()) {
    file = transposed(std::move(file));
    result.rows = members(c.cols, file.rows, "--column", "column");
    result.member = "column";
    result.of = "row";
  } else if (c.all) {
    result.rows.resize(std::size_t(file.rows.size()));
    std::iota(result.rows.begin(), result.rows.end(), 0);
  } else {
    result.rows = members(c.rows, file.rows, "--row", "row");
    if (!c.rows_file.empty()) {
      const auto listed = members(listed_ids(c.rows_file, file.rows), file.rows,
                                  fmt::format("--rows {}: row", c.rows_file), "row");
      result.rows.insert(result.rows.end(), listed.begin(), listed.end());
    }
  }
  result.known = std::make_unique<ServedModel>(std::move(file));
  return result;
}

/// What lists may hold: beside what was seen, candidates, and what is blocked for all or for some.
struct Choice {
  std::optional<std::vector<int>> columns;
  const GroupedEntries* left_out = nullptr;

  Choice(const RecommendCommand& c, const Audience& audience) {
    const ServedModel& model = audience.model();
    const IdTable &rows = model.file().rows, &cols = model.file().cols;
    std::optional<std::vector<int>> candidates;
    if (!c.candidates.empty()) {
      const std::vector<std::string> ids = listed_ids(c.candidates, cols);
      candidates = known_ids(ids, cols);
      if (candidates->empty())
        throw InvalidInput(fmt::format("--candidates {}: none of its {} ids is a {} of the model",
                                       c.candidates, ids.size(), audience.of));
      const auto strange =
          std::count_if(ids.begin(), ids.end(), [&](const std::string& id) { return cols.find(id) < 0; });
      if (strange > 0)
        tell("pursuit: note: --candidates {}: {} of {} ids are not in the model, and in no list\n",
             c.candidates, strange, ids.size());
    }
    std::vector<std::string> blocked;
    std::vector<Position> pairs;
    if (!c.block.empty())
      for (const TextTable::Line& line : read_text_table(c.block).lines) {
        if (line.fields.size() < 2 || cols.find(line.text) >= 0) {
          blocked.push_back(line.text);
          continue;
        }
        const int row = rows.find(line.fields[0]), col = cols.find(line.fields[1]);
        if (row >= 0 && col >= 0) pairs.push_back({row, col});
      }
    columns = allowed_columns(candidates, known_ids(blocked, cols), cols.size());
    left_out = c.include_seen ? nullptr : model.known();
    if (pairs.empty()) return;
    with_pairs_ = with_positions(left_out, pairs, rows.size(), cols.size());
    left_out = &with_pairs_;
  }
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;

 private:
  GroupedEntries with_pairs_;
};

/// What a list says, as lines of CSV or as a JSON object.
class Lists {
 public:
  Lists(const RecommendCommand& c, const Audience& audience) : c_(c), audience_(audience), names_(c.names) {}

  std::string header() const {
    return fmt::format("{},place,{},value,sd{}{}\n", audience_.member, audience_.of,
                       names_.any() ? ",name" : "", c_.explain > 0 ? ",reasons" : "");
  }

  void append(std::string& text, int row, const std::vector<Recommendation>& list) const {
    const auto why = reasons(row, list);
    const auto end = std::back_inserter(text);
    for (std::size_t p = 0; p < list.size(); ++p) {
      const std::string_view id = ids().name(list[p].col);
      fmt::format_to(end, "{},{},{},{:.6g},{:.6g}", csv_field(name_of_row(row)), p + 1, csv_field(id),
                     list[p].prediction.value, list[p].prediction.deviation);
      if (names_.any()) fmt::format_to(end, ",{}", csv_field(names_.of(id)));
      if (!why.empty()) {
        std::string all;
        for (const Reason& reason : why[p].reasons)
          all += fmt::format("{}{} {:+.3g}", all.empty() ? "" : "; ", names_.shown(ids().name(reason.col)),
                             reason.effect);
        fmt::format_to(end, ",{}", csv_field(all));
      }
      text += '\n';
    }
  }

  Json object(int row, const std::vector<Recommendation>& list) const {
    const auto why = reasons(row, list);
    Json columns = Json::array();
    for (std::size_t p = 0; p < list.size(); ++p)
      columns.push_back(describe(list[p], ids(), audience_.of, names_, why.empty() ? nullptr : &why[p]));
    Json object = Json::object();
    object.set(audience_.member, std::string(name_of_row(row)));
    object.set(audience_.of + "s", columns);
    return object;
  }

 private:
  const IdTable& ids() const { return audience_.model().file().cols; }
  std::string_view name_of_row(int row) const { return audience_.model().file().rows.name(row); }

  std::vector<Explanation> reasons(int row, const std::vector<Recommendation>& list) const {
    if (c_.explain == 0) return {};
    std::vector<int> targets;
    targets.reserve(list.size());
    for (const Recommendation& each : list) targets.push_back(each.col);
    return explain(audience_.known->model(), audience_.model().facts(row), targets, c_.explain);
  }

  const RecommendCommand& c_;
  const Audience& audience_;
  Names names_;
};

/// Lists of many rows are never all in memory. Ctrl-C keeps those that are done. Where there are several
/// ranks each makes a part of them, but for those within the JSON object.
int write_lists(Ranks& ranks, const RecommendCommand& c, const Audience& audience) {
  // Some seconds of work at most, so that Ctrl-C need not wait.
  const CompletionModel& model = audience.model().model();
  const double per_row =
      double(model.column_count()) * double(model.rank() + 1) * double(model.samples.size() + 1);
  const auto rows_at_once = Index(std::clamp(2e10 / per_row, 256.0, 4096.0));
  const Timer timer;
  std::optional<Choice> choice;
  std::optional<Lists> lists;
  std::optional<TextOutput> out;
  const bool listed = c.common.json && c.out.empty();
  together(ranks, [&] {
    choice.emplace(c, audience);
    lists.emplace(c, audience);
    if (!ranks.leads()) return;
    out.emplace(c.out);
    if (!listed) out->write(lists->header());
  });
  if (listed && !ranks.leads()) return success;
  watch_interrupts();
  std::optional<ProgressBar> bar;
  if (ranks.leads()) bar.emplace("recommend");
  const ListOptions options{c.top, choice->left_out, choice->columns ? &*choice->columns : nullptr,
                            c.optimism};
  const std::span<const int> rows = audience.rows;
  Json objects = Json::array();
  const auto text_of = [&](Index first, Index last) {
    const auto block = rows.subspan(std::size_t(first), std::size_t(last - first));
    const auto found = audience.model().recommender().lists(block, options, c.common.threads);
    std::string all;
    if (listed) {
      for (std::size_t k = 0; k < block.size(); ++k) objects.push_back(lists->object(block[k], found[k]));
      return all;
    }
    write_lines(
        last - first, 5 * c.top, c.common.threads,
        [&](std::string& text, Index k) {
          lists->append(text, block[std::size_t(k)], found[std::size_t(k)]);
        },
        [&](std::string_view text) { all += text; });
    return all;
  };
  const auto goes_on = [&](Index done) {
    bar->update(double(done) / double(rows.size()), fmt::format("{} of {} rows", done, rows.size()));
    return !was_interrupted();
  };
  OneRank alone;
  const Index done =
      write_together(listed ? alone : ranks, {.count = Index(rows.size()),
                                              .at_once = rows_at_once,
                                              .of = text_of,
                                              .write = [&](std::string_view text) { out->write(text); },
                                              .goes_on = goes_on});
  if (!ranks.leads()) return success;
  out->commit();
  if (c.common.json) {
    Json object{{audience.member == "row" ? "rows" : "columns", done},
                {"seconds", timer.seconds()},
                {"peak_memory_bytes", peak_memory_bytes()}};
    if (listed)
      object.set("recommendations", objects);
    else
      object.set("output", c.out);
    describe_ranks(threads_used(c.common.threads), object);
    print_json(object);
  }
  if (done == Index(rows.size())) return success;
  tell("pursuit: note: interrupted after {} of {} rows\n", done, rows.size());
  return interrupted;
}

int run_recommend(const RecommendCommand& c) {
  Ranks& ranks = ranks_together();
  check(c);
  Audience who;
  together(ranks, [&] {
    if (ranks.leads())
      prepare_outputs({c.out}, {c.model, c.rows_file, c.newcomers, c.candidates, c.block,
                                c.names.empty() ? "" : Names::file_of(c.names)});
    who = audience(c);
    const bool keeps = who.model().known() != nullptr;
    for (const auto& [asked, option] :
         {std::pair(c.exclude_seen, "--exclude-seen"), {c.explain > 0, "--explain"}})
      if (asked && !keeps)
        throw InvalidInput(
            fmt::format("{}: {} does not know what was seen: it is a factorization, or was written with "
                        "--no-store-entries",
                        option, c.model));
  });
  require_one_model(ranks, who.model().model(), c.model);
  tell_of_ranks(c.model, threads_used(c.common.threads), rank_count(), false);
  return write_lists(ranks, c, who);
}

struct SimilarCommand {
  CommonOptions common;
  std::string model, names, out;
  std::vector<std::string> rows, cols;
  Index top = 10;
  bool all_rows = false, all_cols = false;
};

int run_similar(const SimilarCommand& c) {
  const bool of_rows = c.all_rows || !c.rows.empty();
  if (int(c.all_rows) + int(c.all_cols) + int(!c.rows.empty()) + int(!c.cols.empty()) != 1)
    throw InvalidArgument("similar: give either --column ID, --row ID, --all-columns or --all-rows");
  if (c.top < 1) throw InvalidArgument(fmt::format("--top {}: must be 1 or more", c.top));
  prepare_outputs({c.out}, {c.model, c.names.empty() ? "" : Names::file_of(c.names)});
  const Timer timer;
  const CompletionFile file = load_predictions(c.model);
  const IdTable& ids = of_rows ? file.rows : file.cols;
  const std::string member = of_rows ? "row" : "column";
  std::vector<int> asked = members(of_rows ? c.rows : c.cols, ids, "--" + member, member);
  if (c.all_rows || c.all_cols) {
    asked.resize(std::size_t(ids.size()));
    std::iota(asked.begin(), asked.end(), 0);
  }
  const Names names(c.names);
  const auto side = of_rows ? Neighbours::Side::rows : Neighbours::Side::cols;
  const auto lists = Neighbours(file.model, side).of(asked, c.top, c.common.threads);
  TextOutput out(c.out);
  const bool listed = c.common.json && !out.is_file();
  Json all = Json::array();
  if (!listed) out.write(fmt::format("{},place,similar,similarity{}\n", member, names.any() ? ",name" : ""));
  for (std::size_t k = 0; k < asked.size() && listed; ++k) {
    Json list = Json::array();
    for (const Neighbour& each : lists[k]) list.push_back(describe(each, ids, member, names));
    Json object = Json::object();
    object.set(member, std::string(ids.name(asked[k])));
    object.set("similar", list);
    all.push_back(object);
  }
  if (!listed)
    out.write_lines(Index(asked.size()), 4 * c.top, c.common.threads, [&](std::string& text, Index at) {
      const auto k = std::size_t(at);
      int place = 0;
      for (const Neighbour& each : lists[k]) {
        const std::string_view id = ids.name(each.member);
        fmt::format_to(std::back_inserter(text), "{},{},{},{:.6g}", csv_field(ids.name(asked[k])), ++place,
                       csv_field(id), each.similarity);
        text += names.any() ? "," + csv_field(names.of(id)) + "\n" : "\n";
      }
    });
  out.commit();
  if (!c.common.json) return success;
  Json object{
      {"count", asked.size()}, {"seconds", timer.seconds()}, {"peak_memory_bytes", peak_memory_bytes()}};
  if (listed)
    object.set("lists", all);
  else
    object.set("output", c.out);
  print_json(object);
  return success;
}

}  // namespace

void add_recommend(Command& program) {
  Command sub = program.add_command(
      "recommend", "The columns of largest predicted value, for some rows, all rows or newcomers");
  auto c = std::make_shared<RecommendCommand>();
  sub.footer(kRecommendExamples);
  sub.add_option("MODEL", c->model, "A model written by complete or factor").required();
  sub.add_option("--row", c->rows, "Id of a row; may be given again").repeated();
  sub.add_option("--rows", c->rows_file, "A file of ids of rows, one a line");
  sub.add_flag("--all", c->all, "All rows");
  sub.add_option("--column", c->cols, "Or the rows of largest predicted value, for this column").repeated();
  sub.add_option("--for", c->newcomers,
                 "Or for newcomers, by the entries that they have: a file of row, column, value, in which "
                 "either\nrows or columns are new; rows of the model get its entries besides");
  sub.add_option("--top", c->top, "Columns per row").show_default();
  sub.add_flag("--exclude-seen", c->exclude_seen,
               "Leave out columns for which the row has an entry: what happens anyway where the model\nknows "
               "them; with this word, it must");
  sub.add_flag("--include-seen", c->include_seen, "Do not");
  add_time_option(sub, c->time);
  sub.add_option("--candidates", c->candidates, "Choose from these only: a file of ids, one a line");
  sub.add_option("--block", c->block,
                 "Never these: a file of ids of columns, for all, or of row and column, one pair a line");
  sub.add_option("--optimism", c->optimism,
                 "Rank by value + so many deviations: what is not known well gets a chance")
      .show_default();
  sub.add_option("--names", c->names,
                 "What to call columns: a table with ids in its first column, FILE:COLUMN by the name or "
                 "number\nof the column, otherwise the second");
  sub.add_option("--explain", c->explain,
                 "So many of the entries of the row that moved a prediction most, with their effects");
  sub.add_option("-o,--out", c->out, "Write here instead of standard output");
  add_common_options(sub, c->common);
  sub.runs([c] { return run_recommend(*c); });
}

void add_similar(Command& program) {
  Command sub = program.add_command("similar", "Columns that are alike, or rows, by the factors of a model");
  auto c = std::make_shared<SimilarCommand>();
  sub.footer(
      "Likeness is the correlation that two columns are expected to have over the rows (1: the same rows "
      "like them);\nwhat is not known well is like nothing much. Writes CSV: column, place, similar, "
      "similarity, name.\n\nExamples:\n"
      "  pursuit similar model.npz --column 50 --top 10 --names movies.csv:title\n"
      "  pursuit similar model.npz --all-rows --top 5 --out alike.csv");
  sub.add_option("MODEL", c->model, "A model written by complete or factor").required();
  sub.add_option("--column", c->cols, "Id of a column; may be given again").repeated();
  sub.add_option("--row", c->rows, "Id of a row; may be given again").repeated();
  sub.add_flag("--all-columns", c->all_cols, "All columns");
  sub.add_flag("--all-rows", c->all_rows, "All rows");
  sub.add_option("--top", c->top, "So many for each").show_default();
  sub.add_option("--names", c->names, "What to call them: a table, FILE or FILE:COLUMN");
  sub.add_option("-o,--out", c->out, "Write here instead of standard output");
  add_common_options(sub, c->common);
  sub.runs([c] { return run_similar(*c); });
}

}  // namespace pursuit::app
