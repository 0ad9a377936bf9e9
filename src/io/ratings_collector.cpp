#include "io/ratings_collector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "io/defect.hpp"
#include "io/duplicate_entries.hpp"
#include "io/number_text.hpp"
#include "io/utf8.hpp"

namespace pursuit::io {

RatingsCollector::RatingsCollector(std::string name, const RatingsOptions& options, const IdTable* known_rows,
                                   const IdTable* known_cols)
    : name_(std::move(name)), options_(options) {
  if (known_rows != nullptr) ratings_.rows = *known_rows;
  if (known_cols != nullptr) ratings_.cols = *known_cols;
}

Ratings RatingsCollector::finish() {
  ObservedEntries& entries = ratings_.entries;
  if (entries.value.empty()) refuse(name_, "the file holds no entry");
  entries.rows = ratings_.rows.size();
  entries.cols = ratings_.cols.size();
  if (const auto twice = find_duplicate(entries)) {
    if (options_.duplicates == RatingsOptions::Duplicates::refuse)
      refuse_duplicate(twice->first, twice->second);
    keep_last(entries);
  }
  return std::move(ratings_);
}

void RatingsCollector::name_positions(Index first, Index rows, Index cols) {
  const auto take = [first](IdTable& table, Index count, std::vector<int>& positions) {
    const bool alone = table.size() == 0;  // then a position is the index of its name
    std::vector<int> index;
    std::string id;
    for (Index k = 0; k < count; ++k) {
      id.clear();
      append_number(id, first + k);
      const int added = table.add(id);
      if (!alone) index.push_back(added);
    }
    if (alone) return;
    for (int& position : positions) position = index[static_cast<std::size_t>(position)];
  };
  take(ratings_.rows, rows, ratings_.entries.row);
  take(ratings_.cols, cols, ratings_.entries.col);
}

void RatingsCollector::require_usable(std::string_view id, const char* what, const std::string& where) {
  if (id.empty()) refuse(where, fmt::format("the id of the {} is empty", what));
  if (!decode_utf8(id))
    refuse(where, fmt::format("the id {} of the {} is not UTF-8; save the file as UTF-8", shown(id), what));
}

void RatingsCollector::note_line(std::size_t line) {
  const std::size_t entry = ratings_.entries.value.size();
  line_offset_ = line - entry;  // lines count from 1 and hold one entry at most: never below 0
  offsets_.emplace_back(entry, line_offset_);
}

/// 0 where the file has no lines.
std::size_t RatingsCollector::line_of(std::size_t entry) const {
  const auto behind = std::upper_bound(offsets_.begin(), offsets_.end(), entry,
                                       [](std::size_t k, const auto& noted) { return k < noted.first; });
  return behind == offsets_.begin() ? 0 : entry + behind[-1].second;
}

void RatingsCollector::refuse_duplicate(int row, int col) const {
  const ObservedEntries& entries = ratings_.entries;
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < entries.value.size() && found.size() < 2; ++k)
    if (entries.row[k] == row && entries.col[k] == col) found.push_back(k);
  const std::size_t first = line_of(found[0]), second = line_of(found[1]);
  const bool lines = first != 0;
  refuse(lines ? at_line(name_, second) : fmt::format("{}, stored entry {}", name_, found[1] + 1),
         fmt::format("row {}, column {} was already given {} {}; `--duplicates last` would take the last one",
                     shown(ratings_.rows.name(row)), shown(ratings_.cols.name(col)),
                     lines ? "on line" : "by stored entry", lines ? first : found[0] + 1));
}

void refuse_rating(double value, std::string_view text, const std::string& where) {
  if (!std::isfinite(value)) refuse(where, fmt::format("the value {} is not a finite number", shown(text)));
  refuse(where, fmt::format("the value {} is too large; allowed are numbers up to {:.4g} in size",
                            shown(text), std::numeric_limits<float>::max()));
}

}  // namespace pursuit::io
