#include "io/ratings_over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "data/mailing.hpp"
#include "data/ranked_rows.hpp"
#include "io/defect.hpp"
#include "io/ids_over_ranks.hpp"
#include "io/read_ratings_part.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/data/observed_matrix.hpp"

namespace pursuit::io {
namespace {

/// What becomes of entries that were read: rank 0 gets them; they stay; or one that comes twice is looked
/// for.
enum class ReadingEnd { together, apart, twice };

/// What all ranks have to know before they read.
struct ReadingTask {
  int threads = 0;
  bool times = false, clicks = false;
  ReadingEnd end = ReadingEnd::together;
};

/// A file among those that are read, and where its bytes begin in all of them.
struct File {
  std::string path;
  std::uint64_t first = 0, bytes = 0;
  RatingsKind kind = RatingsKind::matrix;

  bool in_parts() const { return kind == RatingsKind::text; }
};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\0';
  return text;
}

std::vector<std::string> parted(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size(); from += lines.back().size() + 1)
    lines.emplace_back(text.c_str() + from);
  return lines;
}

/// So many lines of a file were read by a rank, a header aside.
struct ReadLines {
  std::int64_t rank, file, lines;
};

/// One reading by all ranks; what it is asked for is said on rank 0.
class Reading {
 public:
  Reading(Ranks& ranks, std::vector<std::string> files, RatingsOptions options, ReadingEnd end)
      : ranks_(ranks), options_(std::move(options)) {
    files = parted(broadcast_text(ranks, joined(files)));
    options_.columns = parted(broadcast_text(ranks, joined(options_.columns)));
    ReadingTask task{options_.threads, options_.times, options_.clicks, end};
    ranks.broadcast(&task, sizeof task);
    options_.threads = task.threads;
    options_.times = task.times;
    options_.clicks = task.clicks;
    end_ = task.end;
    for (std::string& file : files) files_.push_back({std::move(file)});
    measure();
  }

  const RatingsOptions& options() const { return options_; }
  const std::string& name() const { return files_.front().path; }

  /// All that is read, to where it belongs. Returns how many entries there are in all.
  Index run(RatingsCollector& own) {
    read(own);
    const Index all = count_all(own.size());
    if (end_ == ReadingEnd::together) bring_together(own);
    if (end_ == ReadingEnd::twice) require_once(own);
    return all;
  }
  bool keeps_entries() const { return end_ == ReadingEnd::apart; }

 private:
  /// Entries of this rank's bytes, with ids as all ranks number them.
  void read(RatingsCollector& own) {
    std::vector<ReadLines> lines;
    together(ranks_, [&] { own_entries_of_files(own, lines); });
    if (count_all(own.size()) == 0)
      refuse(own.name(), files_.size() == 1 && files_.front().kind != RatingsKind::matrix
                             ? "the file has a header line, but no line with an entry"
                             : "the file holds no entry");
    RatingsCollector::Found found = own.release();
    set_lines(lines, found);
    Ratings& ratings = found.ratings;
    for (const bool of_rows : {true, false}) {
      const std::vector<int> number = number_together(ranks_, of_rows ? ratings.rows : ratings.cols);
      std::vector<int>& members = of_rows ? ratings.entries.row : ratings.entries.col;
      const Chunks chunks(Index(members.size()), 1 << 14);
      parallel_for(chunks.count(), resolve_threads(options_.threads), [&](Index chunk) {
        for (Index e = chunks.first(chunk); e < chunks.first(chunk + 1); ++e)
          members[std::size_t(e)] = number[std::size_t(members[std::size_t(e)])];
      });
    }
    std::vector<std::int64_t> counts(1, ratings.counts ? 1 : 0);
    add_up(ranks_, counts);
    ratings.counts = counts[0] > 0;
    own.take(std::move(found));
  }

  /// All entries to rank 0, in the order of the text.
  void bring_together(RatingsCollector& own) {
    RatingsCollector::Found found = own.release();
    const std::vector<std::int64_t> counts =
        gather_lists(ranks_, std::vector<std::int64_t>{Index(found.ratings.entries.size())});
    std::vector<std::size_t> first(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), first.begin() + 1);
    join_places(found, first[std::size_t(ranks_.rank())]);
    Ratings& ratings = found.ratings;
    std::vector<Parcel> outgoing, incoming;
    const auto collect = [&](auto& list) {
      constexpr std::size_t kBytes = sizeof list[0];
      if (!ranks_.leads()) {
        outgoing.push_back({0, list.data(), list.size() * kBytes});
        return;
      }
      resize_on(resolve_threads(options_.threads), list, first.back());
      for (std::size_t rank = 1; rank < counts.size(); ++rank)
        incoming.push_back({int(rank), list.data() + first[rank], std::size_t(counts[rank]) * kBytes});
    };
    collect(ratings.entries.row);
    collect(ratings.entries.col);
    collect(ratings.entries.value);
    if (options_.times) collect(ratings.time);
    ranks_.exchange(outgoing, incoming);
    own.take(std::move(found));
  }

  /// InvalidInput, on all ranks, where two entries are of the same row and column.
  void require_once(RatingsCollector& own) const {
    RatingsCollector::Found found = own.release();
    const std::int64_t row = first_row_with_twice(found.ratings.entries);
    if (row >= 0) refuse_first_twice(found, int(row), own.name());
    own.take(std::move(found));
  }

  std::int64_t count_all(Index own) const {
    std::vector<std::int64_t> all(1, own);
    add_up(ranks_, all);
    return all[0];
  }

  /// Rank 0 says how long files are, and which are text that can be read in parts.
  void measure() {
    struct Measure {
      std::uint64_t bytes;
      RatingsKind kind;
    };
    std::vector<Measure> measures(files_.size());
    together(ranks_, [&] {
      for (std::size_t f = 0; f < files_.size() && ranks_.leads(); ++f) {
        const ByteSource source{std::filesystem::path(files_[f].path)};
        const RatingsKind kind = kind_of_ratings(source, files_.size() > 1);
        // How long packed text is, nobody knows.
        measures[f] = {source.in_place() ? source.in_place()->size() : 1, kind};
      }
    });
    ranks_.broadcast(measures.data(), measures.size() * sizeof(Measure));
    std::uint64_t first = 0;
    for (std::size_t f = 0; f < files_.size(); ++f) {
      files_[f].first = first;
      files_[f].bytes = measures[f].bytes;
      files_[f].kind = measures[f].kind;
      first += measures[f].bytes;
    }
  }

  /// Where the bytes of a rank begin: the first of all, and with it a packed file that is alone, is rank 0's.
  std::uint64_t first_byte(int rank) const {
    const auto size = std::uint64_t(ranks_.size());
    const std::uint64_t all = files_.back().first + files_.back().bytes;
    return all / size * std::uint64_t(rank) + (all % size * std::uint64_t(rank) + size - 1) / size;
  }

  /// Of files in parts those that overlap with this rank's bytes; of others those that begin there.
  void own_entries_of_files(RatingsCollector& own, std::vector<ReadLines>& lines) const {
    const std::uint64_t from = first_byte(ranks_.rank()), to = first_byte(ranks_.rank() + 1);
    for (std::size_t f = 0; f < files_.size(); ++f) {
      const File& file = files_[f];
      const std::uint64_t end = file.first + file.bytes, first = std::max(from, file.first);
      if (file.in_parts() ? first >= std::min(to, end) : file.first < from || file.first >= to) continue;
      ByteSource source{std::filesystem::path(file.path)};
      if (files_.size() > 1) own.begin_file(source.name());
      if (!file.in_parts()) {
        read_ratings_part(std::move(source), options_, own, {});
        continue;
      }
      if (!source.in_place()) refuse(file.path, "this rank finds no file that can be read in parts");
      if (const std::size_t bytes = source.in_place()->size(); bytes != file.bytes)
        refuse(file.path,
               fmt::format("this rank finds a file of {} bytes, and rank 0 one of {}", bytes, file.bytes));
      const TextShare share{first - file.first, std::min(to, end) - file.first};
      const bool whole = share.from == 0 && share.to == file.bytes;
      lines.push_back(
          {ranks_.rank(), Index(f),
           Index(read_ratings_part(std::move(source), options_, own, whole ? TextShare{} : share))});
    }
  }

  /// A file that goes on here has had lines on the ranks before; it is the first that is read here.
  void set_lines(const std::vector<ReadLines>& mine, RatingsCollector::Found& found) const {
    const std::vector<ReadLines> all = gather_lists(ranks_, mine);
    if (mine.empty()) return;
    std::int64_t before = 0;
    for (const ReadLines& read : all)
      if (read.file == mine.front().file && read.rank < ranks_.rank()) before += read.lines;
    if (before == 0) return;
    const std::size_t until =
        found.files.size() < 2 ? found.ratings.entries.value.size() : found.files[1].first;
    found.lines.move_down(until, std::size_t(before));
  }

  /// Lines and files of all entries, for rank 0; those here begin with entry `first` of all.
  void join_places(RatingsCollector::Found& found, std::size_t first) const {
    struct Offset {
      std::size_t entry, offset;
    };
    std::vector<Offset> offsets;
    for (const auto& [entry, offset] : found.lines.offsets())
      offsets.push_back({first + entry, offset - first});
    offsets = gather_lists(ranks_, offsets, false);
    std::vector<std::size_t> begins;
    std::vector<std::string> names;
    for (const auto& [entry, name] : found.files) {
      begins.push_back(first + entry);
      names.push_back(name);
    }
    begins = gather_lists(ranks_, begins, false);
    const std::string text = joined(names);
    const std::vector<char> all_text =
        gather_lists(ranks_, std::vector<char>(text.begin(), text.end()), false);
    if (!ranks_.leads()) return;
    found.lines = {};
    for (const Offset& offset : offsets) found.lines.note(offset.entry, offset.entry + offset.offset);
    names = parted(std::string(all_text.begin(), all_text.end()));
    found.files.clear();
    for (std::size_t f = 0; f < begins.size(); ++f) found.files.emplace_back(begins[f], std::move(names[f]));
  }

  /// -1 where there is none. Rows are dealt to ranks in turn: whoever has all entries of one can tell.
  std::int64_t first_row_with_twice(const ObservedEntries& entries) const {
    const int threads = resolve_threads(options_.threads);
    const auto size = std::size_t(ranks_.size());
    std::vector<std::int64_t> most(1, 0);
    for (const int i : entries.row) most[0] = std::max<std::int64_t>(most[0], i + 1);
    for (const std::int64_t theirs : gather_lists(ranks_, std::vector<std::int64_t>(most)))
      most[0] = std::max(most[0], theirs);
    std::vector<std::uint16_t> owner(static_cast<std::size_t>(most[0]));
    for (std::size_t i = 0; i < owner.size(); ++i) owner[i] = std::uint16_t(i % size);
    const Mailing mailing(ranks_, entries.row, std::move(owner), threads);
    ObservedEntries own{Index((most[0] + Index(size) - 1) / Index(size)),
                        0,
                        mailing.send(entries.row),
                        mailing.send(entries.col),
                        {}};
    own.value.resize(own.row.size());
    for (int& i : own.row) i /= int(size);
    for (const int j : own.col) own.cols = std::max<Index>(own.cols, j + 1);
    std::int64_t row = -1;
    if (own.size() > 0) row = first_repeated(grouped_by_row(std::move(own), threads), threads).first;
    if (row >= 0) row = row * Index(size) + ranks_.rank();
    std::int64_t first = -1;
    for (const std::int64_t theirs : gather_lists(ranks_, std::vector<std::int64_t>{row}))
      if (theirs >= 0 && (first < 0 || theirs < first)) first = theirs;
    return first;
  }

  /// The first entry of a row, in the order of the text, whose column was there before. Ids are rank 0's.
  [[noreturn]] void refuse_first_twice(const RatingsCollector::Found& found, int row,
                                       const std::string& name) const {
    const ObservedEntries& entries = found.ratings.entries;
    struct Place {
      std::int64_t col, entry, line, file;
    };
    std::vector<Place> mine;
    for (std::size_t e = 0; e < entries.value.size(); ++e) {
      if (entries.row[e] != row) continue;
      const EntryOrigin origin = origin_of(e, found, name);
      const auto file = std::find_if(files_.begin(), files_.end(), [&](const File& one) {
        return files_.size() == 1 || one.path == origin.file;
      });
      mine.push_back({entries.col[e], std::int64_t(e), std::int64_t(origin.line), file - files_.begin()});
    }
    std::vector<Place> places = gather_lists(ranks_, mine);
    std::string told[2];
    if (ranks_.leads()) told[0] = found.ratings.rows.name(row);
    std::unordered_map<std::int64_t, std::size_t> first_of;  // of every column, where it was met first
    std::size_t first = 0, second = 0;
    for (;; ++second) {
      const auto [met, is_new] = first_of.emplace(places[second].col, second);
      first = met->second;
      if (!is_new) break;
    }
    if (ranks_.leads()) told[1] = found.ratings.cols.name(int(places[first].col));
    for (std::string& text : told) text = broadcast_text(ranks_, text);
    const auto origin = [&](const Place& place) {
      const std::string& path = files_[std::size_t(place.file)].path;
      return EntryOrigin{std::size_t(place.entry), std::size_t(place.line), path};
    };
    refuse_twice(origin(places[first]), origin(places[second]), told[0], told[1]);
  }

  Ranks& ranks_;
  RatingsOptions options_;
  ReadingEnd end_ = ReadingEnd::together;
  std::vector<File> files_;
};

/// Rank 0's part of a job that may be refused: all ranks know of it, and are ready for the next.
void ask(RankTeam& team, std::int64_t number, const std::function<void()>& own_part) {
  std::exception_ptr refusal;
  team.ask({.order = Order::ratings, .matrix = number}, [&] {
    try {
      own_part();
    } catch (const Error&) {
      refusal = std::current_exception();
    }
  });
  if (refusal) std::rethrow_exception(refusal);
}

std::vector<std::string> texts_of(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> texts;
  texts.reserve(files.size());
  for (const auto& file : files) texts.push_back(file.string());
  return texts;
}

}  // namespace

void read_over_ranks(RankTeam& team, const std::vector<std::filesystem::path>& files,
                     const RatingsOptions& options, RatingsCollector& ratings) {
  ask(team, 0, [&] { Reading(team.ranks(), texts_of(files), options, ReadingEnd::together).run(ratings); });
}

RankedEntries read_apart(RankTeam& team, const std::vector<std::filesystem::path>& files,
                         const RatingsOptions& options, RatingsCollector& ratings) {
  RankedEntries entries;
  entries.number = team.fresh_number();
  ask(team, entries.number,
      [&] { entries.all = Reading(team.ranks(), texts_of(files), options, ReadingEnd::apart).run(ratings); });
  entries.explain_twice = [&team, files, options, name = ratings.name()] {
    RatingsCollector again(name, options, nullptr, nullptr);
    ask(team, 0, [&] { Reading(team.ranks(), texts_of(files), options, ReadingEnd::twice).run(again); });
  };
  return entries;
}

std::optional<ObservedEntries> read_share(Ranks& ranks) {
  Reading reading(ranks, {}, {}, ReadingEnd::together);
  RatingsCollector own(reading.name(), reading.options(), nullptr, nullptr);
  reading.run(own);
  if (!reading.keeps_entries()) return std::nullopt;
  return std::move(own.release().ratings.entries);
}

}  // namespace pursuit::io
