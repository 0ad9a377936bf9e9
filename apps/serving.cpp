#include "apps/serving.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "apps/completion.hpp"
#include "pursuit/io/text_table.hpp"

namespace pursuit::app {
namespace {

/// "movies.csv:title" as file and column; a colon that is part of the name of a file stays in it.
std::pair<std::string, std::string> file_and_column(const std::string& spec) {
  const std::size_t colon = spec.rfind(':');
  std::error_code unknown;
  if (colon == std::string::npos || std::filesystem::exists(spec, unknown)) return {spec, ""};
  return {spec.substr(0, colon), spec.substr(colon + 1)};
}

ObservedEntries swapped(const GroupedEntries& by_row, Index rows, Index cols) {
  ObservedEntries result{cols, rows, by_row.index, {}, by_row.value};
  result.col.reserve(result.row.size());
  for (Index i = 0; i < by_row.size(); ++i) result.col.insert(result.col.end(), by_row.count(i), int(i));
  return result;
}

GroupedEntries transposed(const GroupedEntries& by_row, Index rows, Index cols) {
  if (by_row.index.empty()) return {std::vector<std::int64_t>(std::size_t(cols + 1), 0), {}, {}};
  return ObservedMatrix(swapped(by_row, rows, cols)).take_by_row();
}

}  // namespace

Names::Names(const std::string& spec) {
  if (spec.empty()) return;
  const auto [file, column] = file_and_column(spec);
  names_ = read_names(file, column);
}

std::string Names::file_of(const std::string& spec) {
  return file_and_column(spec).first;
}

std::string_view Names::of(std::string_view id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view Names::shown(std::string_view id) const {
  const std::string_view name = of(id);
  return name.empty() ? id : name;
}

CompletionFile transposed(CompletionFile file) {
  const Index rows = file.rows.size(), cols = file.cols.size();
  if (file.keeps_entries) file.seen = transposed(file.seen, rows, cols);
  if (!file.held_out.index.empty()) file.held_out = transposed(file.held_out, rows, cols);
  std::swap(file.rows, file.cols);
  std::swap(file.row_features, file.col_features);
  file.model = pursuit::transposed(std::move(file.model));
  return file;
}

ServedModel::ServedModel(CompletionFile file) : file_(std::move(file)), recommender_(file_.model) {
  if (file_.keeps_entries) known_ = file_.known();
  if (file_.row_features && file_.row_features->table.size() > 0) {
    ObservedEntries table = file_.row_features->table;
    table.rows = file_.rows.size();
    row_features_ = ObservedMatrix(std::move(table)).take_by_row();
  }
}

const Neighbours& ServedModel::neighbours(Neighbours::Side side) const {
  const std::lock_guard lock(making_);
  auto& made = side == Neighbours::Side::rows ? rows_ : cols_;
  if (!made) made = std::make_unique<Neighbours>(file_.model, side);
  return *made;
}

RowFacts ServedModel::facts(int row) const {
  const GroupedEntries& seen = file_.seen;
  const auto first = std::size_t(seen.start[row]), count = std::size_t(seen.count(row));
  RowFacts result{std::span(seen.index).subspan(first, count), std::span(seen.value).subspan(first, count),
                  file_.model.rows.noise_weight[std::size_t(row)]};
  if (row_features_.size() > row && file_.model.rows.features.size() > 0)
    for (std::int64_t e = row_features_.start[row]; e < row_features_.start[row + 1]; ++e)
      result.features.emplace_back(row_features_.index[e], row_features_.value[e]);
  return result;
}

std::vector<int> known_ids(const std::vector<std::string>& ids, const IdTable& table) {
  std::vector<int> result;
  for (const std::string& id : ids)
    if (const int index = table.find(id); index >= 0) result.push_back(index);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::optional<std::vector<int>> allowed_columns(const std::optional<std::vector<int>>& candidates,
                                                const std::vector<int>& blocked, Index columns) {
  if (!candidates && blocked.empty()) return std::nullopt;
  std::vector<int> result;
  const auto consider = [&](int j) {
    if (!std::binary_search(blocked.begin(), blocked.end(), j)) result.push_back(j);
  };
  if (candidates)
    for (const int j : *candidates) consider(j);
  else
    for (int j = 0; j < columns; ++j) consider(j);
  return result;
}

GroupedEntries with_positions(const GroupedEntries* old, const std::vector<Position>& more, Index rows,
                              Index cols) {
  const GroupedEntries none{std::vector<std::int64_t>(std::size_t(rows + 1), 0), {}, {}};
  const GroupedEntries& before = old ? *old : none;
  std::vector<std::pair<int, int>> places;
  places.reserve(more.size());
  for (const Position& at : more) places.emplace_back(at.row, at.col);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  ObservedEntries fresh{rows, cols, {}, {}, std::vector<float>(places.size(), 0.0F)};
  for (const auto& [row, col] : places) {
    fresh.row.push_back(row);
    fresh.col.push_back(col);
  }
  return ObservedMatrix(merged(before, std::move(fresh))).take_by_row();
}

Json describe(const Recommendation& each, const IdTable& ids, const std::string& member, const Names& names,
              const Explanation* why) {
  Json result{{member.c_str(), std::string(ids.name(each.col))},
              {"value", each.prediction.value},
              {"sd", each.prediction.deviation}};
  if (names.any()) result.set("name", std::string(names.of(ids.name(each.col))));
  if (!why) return result;
  Json reasons = Json::array();
  for (const Reason& reason : why->reasons) {
    Json one{{member.c_str(), std::string(ids.name(reason.col))},
             {"value", double(reason.value)},
             {"effect", reason.effect}};
    if (names.any()) one.set("name", std::string(names.of(ids.name(reason.col))));
    reasons.push_back(one);
  }
  result.set("expected", why->expected);
  result.set("reasons", reasons);
  return result;
}

Json describe(const Neighbour& each, const IdTable& ids, const std::string& member, const Names& names) {
  Json result{{member.c_str(), std::string(ids.name(each.member))}, {"similarity", each.similarity}};
  if (names.any()) result.set("name", std::string(names.of(ids.name(each.member))));
  return result;
}

}  // namespace pursuit::app
