#include "io/matrix_text_over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "io/defect.hpp"
#include "io/entries_over_ranks.hpp"
#include "io/matrix_market.hpp"
#include "io/rank_words.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {

namespace {

/// Fails on all ranks where one has another file than rank 0.
void require_same_text(Ranks& ranks, const ByteSource& source, TextHead& head) {
  ranks.broadcast(&head, sizeof head);
  together(ranks, [&] {
    if (!source.in_place()) refuse(source.name(), "this rank finds no file that can be read in parts");
    if (const std::size_t bytes = source.in_place()->size(); bytes != head.bytes)
      refuse(source.name(),
             fmt::format("this rank finds a file of {} bytes, and rank 0 one of {}", bytes, head.bytes));
  });
}

/// This rank's part of what is behind the head.
TextLines own_part(const Ranks& ranks, ByteSource& source, const TextHead& head) {
  TextLines lines(source);
  lines.skip(lines.rest()->size() - head.rest, head.lines);
  lines.keep_part(ranks.rank(), ranks.size());
  return lines;
}

/// Texts of all ranks, one after the other, on rank 0.
std::string texts_at_leader(Ranks& ranks, const std::string& mine) {
  const std::vector<char> all = gather_lists(ranks, std::vector<char>(mine.begin(), mine.end()), false);
  return {all.begin(), all.end()};
}

/// Each name behind its length.
std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const std::uint64_t size = name.size();
    text.append(reinterpret_cast<const char*>(&size), sizeof size).append(name);
  }
  return text;
}

std::vector<std::string> parted_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    std::uint64_t size = 0;
    std::memcpy(&size, text.data(), sizeof size);
    names.emplace_back(text.substr(sizeof size, size));
    text.remove_prefix(sizeof size + size);
  }
  return names;
}

/// Coordinates in the parts of a file.
class MarketParts {
 public:
  MarketParts(Ranks& ranks, ByteSource& source, const TextHead& head, const MarketHeader& header, int threads)
      : ranks_(ranks), source_(source), head_(head), header_(header), threads_(threads) {}

  /// The entries of this rank's part, where nothing is wrong with any part.
  Entries<double> read() {
    MarketPart part;
    Found mine;
    take_in_together(ranks_, source_.name(), [&] {
      try {
        part = read_own(0, mine.lines);
        mine.entries = part.entries.value.size();
      } catch (const InvalidInput&) {  // of which the first in the text is told
        mine.failed = true;
      }
    });
    found_ = words_of_all(ranks_, mine);
    std::uint64_t before = 0;
    const auto promised = static_cast<std::uint64_t>(header_.count);
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const Found& found = found_[static_cast<std::size_t>(rank)];
      if (found.failed || before + found.entries > promised) refuse_part_of(rank, before);
      before += found.entries;
    }
    take_in_together(ranks_, source_.name(), [&] {
      if (ranks_.leads()) require_promised(source_.name(), header_, before);
      add_mirror_images(header_, part.entries);
    });
    return std::move(part.entries);
  }

  /// Refuses a position that was given twice, by its lines, for which all read their parts again.
  [[noreturn]] void refuse_duplicate(const std::pair<int, int>& position) {
    struct Given {
      std::uint64_t count = 0;
      std::array<GivenEntry, 2> entries;
    } mine;
    take_in_together(ranks_, source_.name(), [&] {
      std::uint64_t lines = 0;
      const auto given = entries_given_for(position, header_, read_own(0, lines));
      mine.count = given.size();
      std::copy(given.begin(), given.end(), mine.entries.begin());
    });
    const std::vector<Given> all = words_of_all(ranks_, mine);
    together(ranks_, [&] {
      if (!ranks_.leads()) return;
      std::vector<GivenEntry> given;
      std::uint64_t lines = 0;  // before the part
      for (std::size_t rank = 0; rank < all.size(); ++rank) {
        for (std::size_t k = 0; k < all[rank].count; ++k) {
          given.push_back(all[rank].entries[k]);
          given.back().line += lines;
        }
        lines += found_[rank].lines;
      }
      if (given.size() > 1) refuse_market_duplicate(source_.name(), header_, given[0], given[1]);
    });
    refuse_changed();
  }

 private:
  struct Found {
    std::uint64_t entries = 0, lines = 0;
    bool failed = false;
  };

  MarketPart read_own(std::size_t entries_before, std::uint64_t& lines_read) const {
    MarketPart part;
    TextLines lines = own_part(ranks_, source_, head_);
    read_market_part(lines, header_, threads_, part, entries_before);
    lines_read = lines.number() - head_.lines;
    return part;
  }

  /// A rank whose part is wrong, or has more entries than are left of those promised, reads it once more, now
  /// that it is known how many there are before it.
  [[noreturn]] void refuse_part_of(int rank, std::uint64_t entries_before) const {
    take_in_together(ranks_, source_.name(), [&] {
      std::uint64_t lines = 0;
      if (ranks_.rank() == rank) read_own(entries_before, lines);
    });
    refuse_changed();
  }
  [[noreturn]] void refuse_changed() const {
    refuse(source_.name(), "the file was changed while it was read");
  }

  Ranks& ranks_;
  ByteSource& source_;
  const TextHead& head_;
  const MarketHeader& header_;
  int threads_;
  std::vector<Found> found_;  // by every rank
};

/// Consecutive rows of every rank's part, each of so many numbers, to their owners.
PlainVector<double> rows_to_owners(Ranks& ranks, const OwnRows& own, const std::vector<Index>& first_found,
                                   Index columns, PlainVector<double> found, const std::string& name) {
  PlainVector<double> rows;
  take_in_together(ranks, name, [&] { rows.resize(static_cast<std::size_t>(own.count() * columns)); });
  const auto parcel = [&](int other, int finder, int owner, double* numbers, Index first_row) {
    const Index begin = std::max(first_found[static_cast<std::size_t>(finder)], own.first(owner)),
                end = std::max(
                    begin, std::min(first_found[static_cast<std::size_t>(finder) + 1], own.first(owner + 1)));
    return Parcel{other, begin == end ? nullptr : numbers + (begin - first_row) * columns,
                  static_cast<std::size_t>((end - begin) * columns) * sizeof(double)};
  };
  const int me = ranks.rank();
  std::vector<Parcel> outgoing, incoming;
  for (int other = 0; other < ranks.size(); ++other) {
    outgoing.push_back(parcel(other, me, other, found.data(), first_found[static_cast<std::size_t>(me)]));
    incoming.push_back(parcel(other, other, me, rows.data(), own.first()));
  }
  ranks.exchange(outgoing, incoming);
  return rows;
}

}  // namespace

TextHead head_of_text(const ByteSource& source, const TextLines& behind_head) {
  return {source.in_place()->size(), behind_head.rest()->size(), behind_head.number()};
}

RankedTable read_market_over_ranks(Ranks& ranks, ByteSource& source, TextHead head, MarketHeader header,
                                   int threads) {
  require_same_text(ranks, source, head);
  ranks.broadcast(&header, sizeof header);
  MarketParts parts(ranks, source, head, header, threads);
  OwnedEntries owned =
      entries_to_owners(ranks, header.rows, header.columns, parts.read(), source.name(), threads);
  if (owned.duplicate) parts.refuse_duplicate(*owned.duplicate);
  return {.rows = {ranks, std::move(owned.cuts), header.columns, std::move(owned.blocks)},
          .stored = owned.stored,
          .threads = threads};
}

std::optional<RankedTable> read_table_over_ranks(Ranks& ranks, ByteSource& source, TextHead head,
                                                 TableHead table, int threads) {
  require_same_text(ranks, source, head);
  struct Layout {
    Separator separator;
    bool row_names;
    std::uint64_t cells, reference_line;
  } layout{table.separator, table.row_names, table.cells, table.reference_line};
  ranks.broadcast(&layout, sizeof layout);
  table.separator = layout.separator;
  table.row_names = layout.row_names;
  table.cells = layout.cells;
  table.reference_line = layout.reference_line;
  table.column_names = parted_names(broadcast_text(ranks, joined_names(table.column_names)));

  struct Found {
    std::int64_t rows = 0;
    bool failed = false, cut_within_a_record = false;
  } mine;
  TableRows rows;
  std::exception_ptr defect;
  take_in_together(ranks, source.name(), [&] {
    TextLines lines = own_part(ranks, source, head);
    // What can be read to its end has closed all quotes, so that the part behind it begins with a record.
    try {
      TextLines reading = lines;
      rows = read_table_rows(reading, table, threads);
      mine.rows = rows.values.empty() ? 0 : static_cast<Index>(rows.values.size()) / table.columns();
    } catch (const InvalidInput&) {
      defect = std::current_exception();
      mine.failed = true;
      mine.cut_within_a_record = !lines.ends_with_a_record(table.separator);
    }
  });
  std::vector<Index> first_found = {0};
  const std::vector<Found> all = words_of_all(ranks, mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].failed) {  // the first in the text
      if (all[rank].cut_within_a_record) return std::nullopt;
      together(ranks, [&] {
        if (ranks.rank() == static_cast<int>(rank)) std::rethrow_exception(defect);
      });
    }
    first_found.push_back(first_found.back() + all[rank].rows);
  }
  together(ranks, [&] {
    if (first_found.back() == 0) require_rows(source.name(), rows);
  });
  const Index count = first_found.back();
  RowCuts cuts = cuts_of_leader(ranks, RowCuts::of_dense(count));
  const OwnRows own(ranks, cuts);
  PlainVector<double> numbers =
      rows_to_owners(ranks, own, first_found, table.columns(), std::move(rows.values), source.name());
  std::vector<std::string> names = parted_names(texts_at_leader(ranks, joined_names(rows.names)));
  std::vector<DataMatrixPtr> blocks;
  take_in_together(ranks, source.name(), [&] {
    blocks = own.dense_blocks(dense_array(std::move(numbers), own.count(), table.columns(), true), threads);
  });
  return RankedTable{.rows = {ranks, std::move(cuts), table.columns(), std::move(blocks)},
                     .dense = true,
                     .stored = count * table.columns(),
                     .threads = threads,
                     .row_names = std::move(names),
                     .column_names = std::move(table.column_names)};
}

}  // namespace pursuit::io
