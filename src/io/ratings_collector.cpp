#include "io/ratings_collector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/fresh_pages.hpp"
#include "base/parallel.hpp"
#include "io/defect.hpp"
#include "io/duplicate_entries.hpp"
#include "io/number_text.hpp"
#include "io/utf8.hpp"

namespace pursuit::io {

namespace {

/// The indices in `all` of the ids of every part, the new ones numbered as one reader would meet them.
/// Looking ids up leaves the table as it is and is shared; one after the other are added only those that were
/// not there. Of an empty table these are all, and again in every part: so it is filled from one part, then
/// from two more, then from four ...
std::vector<std::vector<int>> add_ids(const std::vector<RatingsPart>& parts, IdTable RatingsPart::*ids,
                                      IdTable& all, int threads) {
  std::vector<std::vector<int>> index(parts.size());
  std::size_t width = all.size() == 0 ? 1 : parts.size();
  for (std::size_t first = 0; first < parts.size(); first += width, width *= 2) {
    width = std::min(width, parts.size() - first);
    parallel_for(Index(width), threads, [&](Index k) {
      const IdTable& own = parts[first + std::size_t(k)].*ids;
      std::vector<int>& to = index[first + std::size_t(k)];
      to.resize(std::size_t(own.size()));
      for (int id = 0; id < own.size(); ++id) to[std::size_t(id)] = all.find(own.name(id));
    });
    for (std::size_t p = first; p < first + width; ++p)
      for (std::size_t id = 0; id < index[p].size(); ++id)
        if (index[p][id] < 0) index[p][id] = all.add((parts[p].*ids).name(int(id)));
  }
  return index;
}

}  // namespace

bool RatingsPart::is_usable(std::string_view id) {
  return !id.empty() && is_utf8(id);
}

void RatingsPart::refuse_id(std::string_view id, const char* what, const std::string& where) {
  if (id.empty()) refuse(where, fmt::format("the id of the {} is empty", what));
  refuse(where, fmt::format("the id {} of the {} is not UTF-8; save the file as UTF-8", shown(id), what));
}

RatingsCollector::RatingsCollector(std::string name, const RatingsOptions& options, const IdTable* known_rows,
                                   const IdTable* known_cols)
    : name_(std::move(name)), options_(options), threads_(resolve_threads(options.threads)) {
  if (known_rows != nullptr) ratings_.rows = *known_rows;
  if (known_cols != nullptr) ratings_.cols = *known_cols;
}

std::vector<RatingsCollector::Room> RatingsCollector::make_room(const std::vector<RatingsPart>& parts,
                                                                const std::vector<std::size_t>& counts,
                                                                std::size_t expected) {
  ObservedEntries& entries = ratings_.entries;
  const std::size_t before = entries.value.size();
  auto rows = add_ids(parts, &RatingsPart::rows, ratings_.rows, threads_),
       cols = add_ids(parts, &RatingsPart::cols, ratings_.cols, threads_);
  std::size_t total = before;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    lines_.append(parts[p].lines, total, parts[p].before.lines);
    total += counts[p];
  }
  resize_on(threads_, entries.row, total, expected);
  resize_on(threads_, entries.col, total, expected);
  resize_on(threads_, entries.value, total, expected);
  if (options_.times) resize_on(threads_, ratings_.time, total, expected);
  std::vector<Room> rooms;
  rooms.reserve(parts.size());
  std::size_t first = before;
  for (std::size_t p = 0; p < parts.size(); first += counts[p++])
    rooms.push_back({entries.row.data() + first, entries.col.data() + first, entries.value.data() + first,
                     options_.times ? ratings_.time.data() + first : nullptr, counts[p], std::move(rows[p]),
                     std::move(cols[p])});
  return rooms;
}

void renumber(const std::vector<int>& index, std::span<const int> from, int* into) {
  if (index.empty())
    std::copy(from.begin(), from.end(), into);
  else
    std::transform(from.begin(), from.end(), into,
                   [&](int own) { return index[static_cast<std::size_t>(own)]; });
}

void RatingsCollector::append(const std::vector<RatingsPart>& parts, std::size_t expected) {
  std::vector<std::size_t> counts;
  counts.reserve(parts.size());
  for (const RatingsPart& part : parts) counts.push_back(part.value.size());
  const std::vector<Room> rooms = make_room(parts, counts, expected);
  parallel_for(Index(parts.size()), threads_, [&](Index p) {
    const RatingsPart& part = parts[static_cast<std::size_t>(p)];
    const Room& room = rooms[static_cast<std::size_t>(p)];
    renumber(room.rows, part.row, room.row);
    renumber(room.cols, part.column, room.col);
    std::copy(part.value.begin(), part.value.end(), room.value);
    std::copy(part.time.begin(), part.time.end(), room.time);
  });
}

Ratings RatingsCollector::finish() {
  ObservedEntries& entries = ratings_.entries;
  if (entries.value.empty()) refuse(name_, "the file holds no entry");
  entries.rows = ratings_.rows.size();
  entries.cols = ratings_.cols.size();
  if (const auto twice = find_duplicate(entries, threads_)) {
    if (options_.duplicates == RatingsOptions::Duplicates::refuse)
      refuse_duplicate(twice->first, twice->second);
    merge_duplicates(entries, ratings_.time, options_.duplicates == RatingsOptions::Duplicates::sum);
    const auto huge = std::find_if(entries.value.begin(), entries.value.end(),
                                   [](float value) { return !std::isfinite(value); });
    if (huge != entries.value.end())
      refuse(
          name_,
          "values of an entry that comes again and again add up to more than a number in single precision");
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

void RatingsCollector::refuse_duplicate(int row, int col) const {
  const ObservedEntries& entries = ratings_.entries;
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < entries.value.size() && found.size() < 2; ++k)
    if (entries.row[k] == row && entries.col[k] == col) found.push_back(k);
  const std::size_t first = lines_.of(found[0]), second = lines_.of(found[1]);
  const bool lines = first != 0;
  const std::string &earlier = file_of(found[0]), &file = file_of(found[1]);
  refuse(
      lines ? at_line(file, second) : fmt::format("{}, stored entry {}", file, found[1] + 1),
      fmt::format("row {}, column {} was already given {} {}{}; `--duplicates last` would take the last one",
                  shown(ratings_.rows.name(row)), shown(ratings_.cols.name(col)),
                  lines ? "on line" : "by stored entry", lines ? first : found[0] + 1,
                  &earlier == &file ? "" : " of " + earlier));
}

const std::string& RatingsCollector::file_of(std::size_t entry) const {
  const auto behind = std::upper_bound(files_.begin(), files_.end(), entry,
                                       [](std::size_t e, const auto& file) { return e < file.first; });
  return behind == files_.begin() ? name_ : behind[-1].second;
}

void refuse_rating(double value, std::string_view text, const std::string& where) {
  if (!std::isfinite(value)) refuse(where, fmt::format("the value {} is not a finite number", shown(text)));
  refuse(where, fmt::format("the value {} is too large; allowed are numbers up to {:.4g} in size",
                            shown(text), std::numeric_limits<float>::max()));
}

}  // namespace pursuit::io
