#include "apps/service.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <ctime>

#include "apps/completion.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/version.hpp"
#include "pursuit/completion/new_rows.hpp"

namespace pursuit::app {
namespace {

constexpr int kMostLists = 1000, kMostPlaces = 1000, kMostPairs = 100'000;  // in one answer

/// An id that the model does not have.
struct NotFound {
  std::string what;
};

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidInput(what);
}

/// A number in a field, or its digits where it came by an address.
double number_field(const Json& question, const std::string& field, double otherwise) {
  const Json value = question.at(field);
  if (value.is_null()) return otherwise;
  if (const auto number = value.number(); number && std::isfinite(*number)) return *number;
  double parsed = 0;
  const std::string text = value.string().value_or("");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(parsed))
    refuse(fmt::format("\"{}\": must be a number", field));
  return parsed;
}

int count_field(const Json& question, const std::string& field, int otherwise, int least, int most) {
  const double number = number_field(question, field, otherwise);
  if (number != std::floor(number) || number < least || number > most)
    refuse(fmt::format("\"{}\": must be a whole number from {} to {}, not {}", field, least, most, number));
  return int(number);
}

bool flag_field(const Json& question, const std::string& field, bool otherwise) {
  const Json value = question.at(field);
  if (value.is_null()) return otherwise;
  if (const auto flag = value.boolean()) return *flag;
  const std::string text = value.string().value_or("");
  if (text != "true" && text != "false") refuse(fmt::format("\"{}\": must be true or false", field));
  return text == "true";
}

std::string id_of(const Json& value, const std::string& field) {
  const auto id = value.string();
  if (!id) refuse(fmt::format("\"{}\": ids are texts or whole numbers", field));
  return *id;
}

/// The ids of "row": ID or "rows": [ID, ...]; none where there is neither.
std::vector<std::string> ids_field(const Json& question, const std::string& one, const std::string& several) {
  const Json single = question.at(one), list = question.at(several);
  if (!single.is_null() && !list.is_null())
    refuse(fmt::format("\"{}\" and \"{}\": choose one", one, several));
  if (!single.is_null()) return {id_of(single, one)};
  if (list.is_null()) return {};
  const auto elements = list.elements();
  if (!elements) refuse(fmt::format("\"{}\": must be an array of ids", several));
  std::vector<std::string> ids;
  for (const Json& each : *elements) ids.push_back(id_of(each, several));
  return ids;
}

std::vector<int> members_of(const std::vector<std::string>& ids, const IdTable& table, const char* what) {
  if (ids.size() > std::size_t(kMostLists))
    refuse(fmt::format("{} {}s: at most {} in one question", ids.size(), what, kMostLists));
  std::vector<int> result;
  for (const std::string& id : ids) {
    result.push_back(table.find(id));
    if (result.back() < 0) throw NotFound{fmt::format("the model has no {} called '{}'", what, id)};
  }
  return result;
}

void require_fields(const Json& question, std::initializer_list<std::string_view> known) {
  if (!question.is_object()) refuse("the question must be a JSON object");
  for (const auto& [field, value] : question.fields())
    if (std::find(known.begin(), known.end(), field) == known.end())
      refuse(fmt::format("\"{}\": no such field; allowed are {}", field, fmt::join(known, ", ")));
}

/// "entries": {"ID": value, ...} of somebody whom the model does not know.
GroupedEntries entries_field(const Json& value, const IdTable& cols) {
  if (!value.is_object()) refuse("\"entries\": must be an object of column ids and values");
  ObservedEntries entries{1, cols.size(), {}, {}, {}};
  for (const auto& [id, rating] : value.fields()) {
    const int col = cols.find(id);
    if (col < 0) throw NotFound{fmt::format("the model has no column called '{}'", id)};
    const auto number = rating.number();
    if (!number || !std::isfinite(float(*number)))
      refuse(fmt::format("\"entries\": the value of '{}' must be a number", id));
    entries.row.push_back(0);
    entries.col.push_back(col);
    entries.value.push_back(float(*number));
  }
  if (entries.value.empty()) refuse("\"entries\": at least one is needed");
  return ObservedMatrix(std::move(entries)).take_by_row();
}

Json predictions(const ServedModel& served, const Json& question) {
  require_fields(question, {"row", "column", "pairs"});
  const CompletionFile& file = served.file();
  std::vector<std::pair<std::string, std::string>> pairs;
  if (const auto listed = question.at("pairs").elements()) {
    if (listed->size() > std::size_t(kMostPairs))
      refuse(fmt::format("{} pairs: at most {} in one question", listed->size(), kMostPairs));
    for (const Json& each : *listed) {
      const auto ids = each.elements();
      if (!ids || ids->size() != 2) refuse("\"pairs\": must be an array of [row id, column id]");
      pairs.emplace_back(id_of((*ids)[0], "pairs"), id_of((*ids)[1], "pairs"));
    }
  } else {
    if (question.at("row").is_null() || question.at("column").is_null())
      refuse("give \"row\" and \"column\", or \"pairs\": [[row id, column id], ...]");
    pairs.emplace_back(id_of(question.at("row"), "row"), id_of(question.at("column"), "column"));
  }
  std::vector<Position> positions;
  positions.reserve(pairs.size());
  for (const auto& [row, col] : pairs) positions.push_back({file.rows.find(row), file.cols.find(col)});
  const std::vector<Prediction> values = predict(file.model, positions);
  Json list = Json::array();
  for (std::size_t k = 0; k < pairs.size(); ++k)
    list.push_back({{"row", pairs[k].first},
                    {"column", pairs[k].second},
                    {"value", values[k].value},
                    {"sd", values[k].deviation},
                    {"known_row", positions[k].row >= 0},
                    {"known_column", positions[k].col >= 0}});
  return {{"predictions", list}};
}

/// Lists of columns for rows, or the other way round.
struct Listing {
  const char *asker, *askers, *listed, *lists;
};
constexpr Listing kColumnsOfRows{"row", "rows", "column", "columns"},
    kRowsOfColumns{"column", "columns", "row", "rows"};

/// By the model, or for columns by the transposed one.
Json recommendations(const ServedModel& served, const Listing& words, const Names& names,
                     const Json& question) {
  require_fields(question, {words.asker, words.askers, "entries", "top", "exclude_seen", "candidates",
                            "block", "optimism", "explain"});
  const CompletionFile& file = served.file();
  const bool is_newcomer = !question.at("entries").is_null();
  const std::vector<std::string> ids = ids_field(question, words.asker, words.askers);
  if (is_newcomer == !ids.empty())
    refuse("give \"row\", \"rows\", \"column\", \"columns\", or \"entries\" of a newcomer: one of them");
  const int explained = count_field(question, "explain", 0, 0, kMostPlaces);
  const bool exclude = flag_field(question, "exclude_seen", is_newcomer || served.known());
  if (!is_newcomer && (exclude || explained > 0) && !served.known())
    refuse("the model does not know what was seen: \"exclude_seen\" and \"explain\" need it");
  std::optional<std::vector<int>> candidates;
  if (!question.at("candidates").is_null())
    candidates = known_ids(ids_field(question, "", "candidates"), file.cols);
  const auto columns =
      allowed_columns(candidates, known_ids(ids_field(question, "", "block"), file.cols), file.cols.size());
  ListOptions options{count_field(question, "top", 10, 1, kMostPlaces), nullptr,
                      columns ? &*columns : nullptr, number_field(question, "optimism", 0)};
  const auto described = [&](const std::vector<Recommendation>& list, const RowFacts& facts) {
    std::vector<int> targets;
    targets.reserve(list.size());
    for (const Recommendation& each : list) targets.push_back(each.col);
    const auto why =
        explained > 0 ? explain(file.model, facts, targets, explained) : std::vector<Explanation>();
    Json result = Json::array();
    for (std::size_t p = 0; p < list.size(); ++p)
      result.push_back(describe(list[p], file.cols, words.listed, names, why.empty() ? nullptr : &why[p]));
    return result;
  };
  Json lists = Json::array();
  if (is_newcomer) {
    const GroupedEntries entries = entries_field(question.at("entries"), file.cols);
    const CompletionModel model = with_new_rows(file.model, entries);
    if (exclude) options.left_out = &entries;
    const std::vector<int> row{0};
    const auto list = Recommender(model).lists(row, options)[0];
    lists.push_back({{words.asker, Json()}, {words.lists, described(list, {entries.index, entries.value})}});
  } else {
    if (exclude) options.left_out = served.known();
    const std::vector<int> rows = members_of(ids, file.rows, words.asker);
    const auto all = served.recommender().lists(rows, options);
    for (std::size_t k = 0; k < rows.size(); ++k)
      lists.push_back({{words.asker, ids[k]},
                       {words.lists, described(all[k], explained > 0 ? served.facts(rows[k]) : RowFacts{})}});
  }
  return {{"recommendations", lists}};
}

Json neighbours(const ServedModel& served, const Names& names, const Json& question) {
  require_fields(question, {"row", "rows", "column", "columns", "top"});
  const std::vector<std::string> rows = ids_field(question, "row", "rows"),
                                 cols = ids_field(question, "column", "columns");
  if (rows.empty() == cols.empty()) refuse("give \"column\" or \"columns\", or \"row\" or \"rows\"");
  const bool of_rows = !rows.empty();
  const IdTable& table = of_rows ? served.file().rows : served.file().cols;
  const char* member = of_rows ? "row" : "column";
  const std::vector<std::string>& ids = of_rows ? rows : cols;
  const std::vector<int> asked = members_of(ids, table, member);
  const auto side = of_rows ? Neighbours::Side::rows : Neighbours::Side::cols;
  const auto lists = served.neighbours(side).of(asked, count_field(question, "top", 10, 1, kMostPlaces));
  Json all = Json::array();
  for (std::size_t k = 0; k < asked.size(); ++k) {
    Json list = Json::array();
    for (const Neighbour& each : lists[k])
      list.push_back(describe(each, table, member, of_rows ? Names() : names));
    all.push_back({{member, ids[k]}, {"similar", list}});
  }
  return {{"lists", all}};
}

}  // namespace

struct Service::Loaded {
  Loaded(CompletionFile file, const std::string& titles)
      : model(std::move(file)), names(titles), since(std::time(nullptr)) {}

  ServedModel model;
  Names names;
  std::time_t since;

  /// Rows as columns and columns as rows; made when it is first asked for.
  const ServedModel& turned() const {
    const std::lock_guard lock(turning_);
    if (!turned_) turned_ = std::make_unique<ServedModel>(transposed(CompletionFile(model.file())));
    return *turned_;
  }

 private:
  mutable std::mutex turning_;
  mutable std::unique_ptr<ServedModel> turned_;
};

Service::Service(std::string path, std::string names) : path_(std::move(path)), names_(std::move(names)) {
  reload();
}

void Service::reload() {
  CompletionFile file = load_predictions(path_);
  move_to("", file.model);
  auto fresh = std::make_shared<const Loaded>(std::move(file), names_);
  const std::lock_guard lock(swapping_);
  loaded_ = std::move(fresh);
}

std::shared_ptr<const Service::Loaded> Service::now() const {
  const std::lock_guard lock(swapping_);
  return loaded_;
}

Answer Service::answer(const std::string& endpoint, const Json& question) const {
  const std::shared_ptr<const Loaded> loaded = now();  // stays until this is answered
  const auto error = [](int status, const std::string& what) { return Answer{status, {{"error", what}}}; };
  try {
    if (endpoint == "/health") {
      const CompletionFile& file = loaded->model.file();
      return {200,
              {{"status", "ok"},
               {"model", path_},
               {"rows", file.rows.size()},
               {"columns", file.cols.size()},
               {"rank", file.model.rank()},
               {"loaded_at", std::int64_t(loaded->since)},
               {"version", version()}}};
    }
    if (endpoint == "/predict") return {200, predictions(loaded->model, question)};
    if (endpoint == "/recommend") {
      const bool of_columns =
          question.is_object() && !(question.at("column").is_null() && question.at("columns").is_null());
      return {200, of_columns ? recommendations(loaded->turned(), kRowsOfColumns, Names(), question)
                              : recommendations(loaded->model, kColumnsOfRows, loaded->names, question)};
    }
    if (endpoint == "/similar") return {200, neighbours(loaded->model, loaded->names, question)};
    return error(404,
                 fmt::format("no {} here; there are /health, /predict, /recommend and /similar", endpoint));
  } catch (const NotFound& missing) {
    return error(404, missing.what);
  } catch (const InvalidArgument& wrong) {
    return error(400, wrong.what());
  } catch (const InvalidInput& wrong) {
    return error(400, wrong.what());
  }
}

}  // namespace pursuit::app
