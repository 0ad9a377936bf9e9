#pragma once
// Entries of a piece of a text, and the lines that they were read from.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "io/sparse_assembly.hpp"
#include "io/text_lines.hpp"

namespace pursuit::io {

/// As long as every line holds an entry the line is the entry's number plus an offset; kept is only where the
/// offset changes.
class EntryLines {
 public:
  /// `line`, from 1, holds this entry; 0 says that the file has no lines. Entries come in ascending order.
  void note(std::size_t entry, std::size_t line) {
    if (line == 0 || line == entry + offset_) [[likely]]
      return;
    offset_ =
        line - entry;  // modulo 2^64: parts that start behind a header have fewer lines than entries before
    offsets_.emplace_back(entry, offset_);
  }

  /// What another one has noted, whose first entry is `entry` here and whose line 1 is behind `lines` lines
  /// here.
  void append(const EntryLines& other, std::size_t entry, std::size_t lines) {
    if (other.offsets_.empty()) return;
    for (const auto& [first, offset] : other.offsets_) note(entry + first, lines + first + offset);
  }

  /// Entries before this one are so many lines further down than was known when they were noted.
  void move_down(std::size_t until, std::size_t lines) {
    EntryLines moved;
    const std::size_t line = of(until);
    bool passed = false;
    for (const auto& [first, offset] : offsets_) {
      if (first >= until && !std::exchange(passed, true)) moved.note(until, line);
      moved.note(first, first + offset + (first < until ? lines : 0));
    }
    if (!passed) moved.note(until, line);
    *this = std::move(moved);
  }

  /// Entries from which on the line is so much more than the entry's number (modulo 2^64).
  const std::vector<std::pair<std::size_t, std::size_t>>& offsets() const { return offsets_; }

  /// 0 where the file has no lines.
  std::size_t of(std::size_t entry) const {
    const auto behind = std::upper_bound(offsets_.begin(), offsets_.end(), entry,
                                         [](std::size_t k, const auto& noted) { return k < noted.first; });
    return behind == offsets_.begin() ? 0 : entry + behind[-1].second;
  }

 private:
  std::size_t offset_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> offsets_;  // entry, offset from there on
};

/// What TextLines::in_parts() fills.
template <class Scalar>
struct EntriesPart : Entries<Scalar> {
  EntryLines lines;
  Place before, extent;

  /// `line` is that of the piece, 0 in files that have none.
  void add(int i, int j, Scalar x, std::size_t line) {
    lines.note(this->value.size(), line);
    Entries<Scalar>::add(i, j, x);
  }
};

/// The same for values alone.
struct ValuesPart {
  PlainVector<double> values;
  Place before, extent;
};

/// Appends a list of every part, list(part), behind each other and at the same time; `expected` is how many
/// elements are to be expected in all.
template <class Element, class Allocator, class Part, class List>
void append_all(std::vector<Element, Allocator>& all, const std::vector<Part>& parts, const List& list,
                std::size_t expected, int threads) {
  std::vector<std::size_t> first = {all.size()};
  for (const Part& part : parts) first.push_back(first.back() + list(part).size());
  if (all.capacity() < first.back()) all.reserve(std::max({expected, first.back(), 3 * all.capacity() / 2}));
  all.resize(first.back());
  parallel_for(Index(parts.size()), threads, [&](Index p) {
    const auto& own = list(parts[static_cast<std::size_t>(p)]);
    std::copy(own.begin(), own.end(),
              all.begin() + static_cast<std::ptrdiff_t>(first[static_cast<std::size_t>(p)]));
  });
}

}  // namespace pursuit::io
