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
  if (known_rows != nullptr) found_.ratings.rows = *known_rows;
  if (known_cols != nullptr) found_.ratings.cols = *known_cols;
}

void RatingsCollector::append(const std::vector<RatingsPart>& parts, std::size_t expected) {
  ObservedEntries& entries = found_.ratings.entries;
  std::vector<double>& times = found_.ratings.time;
  const auto rows = add_ids(parts, &RatingsPart::rows, found_.ratings.rows, threads_),
             cols = add_ids(parts, &RatingsPart::cols, found_.ratings.cols, threads_);
  std::vector<std::size_t> first{entries.value.size()};
  for (const RatingsPart& part : parts) {
    found_.lines.append(part.lines, first.back(), part.before.lines);
    first.push_back(first.back() + part.value.size());
  }
  resize_on(threads_, entries.row, first.back(), expected);
  resize_on(threads_, entries.col, first.back(), expected);
  resize_on(threads_, entries.value, first.back(), expected);
  if (options_.times) resize_on(threads_, times, first.back(), expected);
  parallel_for(Index(parts.size()), threads_, [&](Index p) {
    const auto k = static_cast<std::size_t>(p);
    const RatingsPart& part = parts[k];
    const auto renumber = [](const std::vector<int>& index, const auto& from, int* into) {
      if (index.empty())  // positions
        std::copy(from.begin(), from.end(), into);
      else
        std::transform(from.begin(), from.end(), into,
                       [&](int own) { return index[static_cast<std::size_t>(own)]; });
    };
    renumber(rows[k], part.row, entries.row.data() + first[k]);
    renumber(cols[k], part.column, entries.col.data() + first[k]);
    std::copy(part.value.begin(), part.value.end(), entries.value.data() + first[k]);
    if (options_.times) std::copy(part.time.begin(), part.time.end(), times.data() + first[k]);
  });
}

Ratings RatingsCollector::finish() {
  Ratings& ratings = found_.ratings;
  ObservedEntries& entries = ratings.entries;
  if (entries.value.empty()) refuse(name_, "the file holds no entry");
  entries.rows = ratings.rows.size();
  entries.cols = ratings.cols.size();
  if (const auto twice = find_duplicate(entries, threads_)) {
    if (options_.duplicates == RatingsOptions::Duplicates::refuse)
      refuse_duplicate(twice->first, twice->second);
    merge_duplicates(entries, ratings.time, options_.duplicates == RatingsOptions::Duplicates::sum);
    const auto huge = std::find_if(entries.value.begin(), entries.value.end(),
                                   [](float value) { return !std::isfinite(value); });
    if (huge != entries.value.end())
      refuse(
          name_,
          "values of an entry that comes again and again add up to more than a number in single precision");
  }
  return std::move(ratings);
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
  Ratings& ratings = found_.ratings;
  take(ratings.rows, rows, ratings.entries.row);
  take(ratings.cols, cols, ratings.entries.col);
}

void RatingsCollector::refuse_duplicate(int row, int col) const {
  const ObservedEntries& entries = found_.ratings.entries;
  std::vector<EntryOrigin> origins;
  for (std::size_t k = 0; k < entries.value.size() && origins.size() < 2; ++k)
    if (entries.row[k] == row && entries.col[k] == col) origins.push_back(origin_of(k, found_, name_));
  refuse_twice(origins[0], origins[1], found_.ratings.rows.name(row), found_.ratings.cols.name(col));
}

EntryOrigin origin_of(std::size_t entry, const RatingsCollector::Found& found, const std::string& name) {
  const auto behind = std::upper_bound(found.files.begin(), found.files.end(), entry,
                                       [](std::size_t e, const auto& file) { return e < file.first; });
  return {entry, found.lines.of(entry), behind == found.files.begin() ? name : behind[-1].second};
}

void refuse_twice(const EntryOrigin& first, const EntryOrigin& second, std::string_view row,
                  std::string_view col) {
  const bool lines = first.line != 0;
  refuse(lines ? at_line(second.file, second.line)
               : fmt::format("{}, stored entry {}", second.file, second.entry + 1),
         fmt::format(
             "row {}, column {} was already given {} {}{}; `--duplicates last` would take the last one",
             shown(row), shown(col), lines ? "on line" : "by stored entry",
             lines ? first.line : first.entry + 1, first.file == second.file ? "" : " of " + first.file));
}

void refuse_rating(double value, std::string_view text, const std::string& where) {
  if (!std::isfinite(value)) refuse(where, fmt::format("the value {} is not a finite number", shown(text)));
  refuse(where, fmt::format("the value {} is too large; allowed are numbers up to {:.4g} in size",
                            shown(text), std::numeric_limits<float>::max()));
}

}  // namespace pursuit::io
