#include "io/ratings_over_ranks.hpp"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <optional>

#include "base/parallel.hpp"
#include "data/ranked_rows.hpp"
#include "io/defect.hpp"
#include "io/ratings_text.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {
namespace {

/// What all ranks have to know before they read.
struct RatingsTask {
  std::uint64_t bytes = 0;  // of the file
  int threads = 0;
  bool times = false, clicks = false;
};

/// How much a rank has found.
struct Found {
  std::size_t lines = 0;  // without a header
  std::size_t entries = 0, offsets = 0;
  std::size_t ids[2] = {0, 0}, letters[2] = {0, 0};  // of rows and of columns
};

/// Ids and lines, on their way from a rank to rank 0; and room for what comes back, how all ids are numbered.
struct FoundIds {
  std::vector<std::size_t> ends[2];  // of ids in their letters
  std::string letters[2];
  std::vector<std::pair<std::size_t, std::size_t>> offsets;
};

std::string joined(const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns) text += column + '\n';
  return text;
}

std::vector<std::string> parted(const std::string& text) {
  std::vector<std::string> columns;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    columns.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return columns;
}

template <class Numbers>
Parcel parcel(int rank, Numbers& numbers) {
  return {rank, const_cast<void*>(static_cast<const void*>(numbers.data())),
          numbers.size() * sizeof(*numbers.data())};
}

void send_to_leader(Ranks& ranks, const RatingsCollector& own, std::size_t lines) {
  const Ratings& ratings = own.ratings();
  FoundIds packed;
  const IdTable* tables[] = {&ratings.rows, &ratings.cols};
  Found found{lines, ratings.entries.value.size(), own.lines().offsets().size()};
  for (int side = 0; side < 2; ++side) {
    packed.ends[side].reserve(std::size_t(tables[side]->size()));
    for (int id = 0; id < tables[side]->size(); ++id) {
      packed.letters[side] += tables[side]->name(id);
      packed.ends[side].push_back(packed.letters[side].size());
    }
    found.ids[side] = packed.ends[side].size();
    found.letters[side] = packed.letters[side].size();
  }
  gather(ranks, &found, sizeof found);
  ranks.exchange({parcel(0, packed.ends[0]), parcel(0, packed.ends[1]), parcel(0, packed.letters[0]),
                  parcel(0, packed.letters[1]), parcel(0, own.lines().offsets())},
                 {});
  std::vector<int> rows(found.ids[0]), cols(found.ids[1]), row(found.entries), col(found.entries);
  ranks.exchange({}, {parcel(0, rows), parcel(0, cols)});
  renumber(rows, ratings.entries.row, row.data());
  renumber(cols, ratings.entries.col, col.data());
  ranks.exchange({parcel(0, row), parcel(0, col), parcel(0, ratings.entries.value), parcel(0, ratings.time)},
                 {});
}

/// What the other ranks send, in the order of the text: ids, which are numbered here, then entries, which
/// come to where they stay.
void receive(Ranks& ranks, std::size_t own_lines, int threads, RatingsCollector& all) {
  const Found mine{};
  const std::vector<std::byte> heads = gather(ranks, &mine, sizeof mine);
  const auto others = std::size_t(ranks.size()) - 1;
  std::vector<FoundIds> packed(others);
  std::vector<RatingsPart> parts(others);  // without entries
  std::vector<std::size_t> counts;
  std::vector<Parcel> incoming, outgoing;
  std::size_t lines = own_lines;
  for (std::size_t k = 0; k < others; ++k) {
    Found found;
    std::memcpy(&found, heads.data() + (k + 1) * sizeof found, sizeof found);
    FoundIds& from = packed[k];
    for (int side = 0; side < 2; ++side) {
      from.ends[side].resize(found.ids[side]);
      from.letters[side].resize(found.letters[side]);
    }
    from.offsets.resize(found.offsets);
    counts.push_back(found.entries);
    parts[k].before.lines = lines;
    lines += found.lines;
    const int rank = int(k) + 1;
    for (const Parcel& one :
         {parcel(rank, from.ends[0]), parcel(rank, from.ends[1]), parcel(rank, from.letters[0]),
          parcel(rank, from.letters[1]), parcel(rank, from.offsets)})
      incoming.push_back(one);
  }
  ranks.exchange({}, incoming);
  parallel_for(Index(others), threads, [&](Index k) {
    FoundIds& from = packed[std::size_t(k)];
    RatingsPart& part = parts[std::size_t(k)];
    for (const auto& [entry, offset] : from.offsets) part.lines.note(entry, entry + offset);
    for (int side = 0; side < 2; ++side) {
      std::size_t begin = 0;
      for (const std::size_t end : from.ends[side]) {
        (side == 0 ? part.rows : part.cols)
            .add(std::string_view(from.letters[side]).substr(begin, end - begin));
        begin = end;
      }
    }
    from = {};
  });
  const std::vector<RatingsCollector::Room> rooms = all.make_room(parts, counts);
  incoming.clear();
  for (std::size_t k = 0; k < others; ++k) {
    const RatingsCollector::Room& room = rooms[k];
    const int rank = int(k) + 1;
    outgoing.push_back(parcel(rank, room.rows));
    outgoing.push_back(parcel(rank, room.cols));
    incoming.push_back({rank, room.row, room.count * sizeof(int)});
    incoming.push_back({rank, room.col, room.count * sizeof(int)});
    incoming.push_back({rank, room.value, room.count * sizeof(float)});
    if (room.time) incoming.push_back({rank, room.time, room.count * sizeof(double)});
  }
  ranks.exchange(outgoing, {});
  ranks.exchange({}, incoming);
}

/// All ranks call it; path and options are those of rank 0, which collects.
void read_together(Ranks& ranks, std::string path, RatingsOptions options, RatingsCollector* all) {
  path = broadcast_text(ranks, std::move(path));
  options.columns = parted(broadcast_text(ranks, joined(options.columns)));
  RatingsTask task{0, options.threads, options.times, options.clicks};
  std::optional<ByteSource> source;
  together(ranks, [&] {
    source.emplace(std::filesystem::path(path));
    if (!source->in_place()) refuse(path, "this rank finds no file that can be read in parts");
    if (all) task.bytes = source->in_place()->size();
  });
  ranks.broadcast(&task, sizeof task);
  options.threads = task.threads;
  options.times = task.times;
  options.clicks = task.clicks;
  std::optional<RatingsCollector> own;
  std::size_t lines = 0;
  together(ranks, [&] {
    if (const std::size_t bytes = source->in_place()->size(); bytes != task.bytes)
      refuse(path,
             fmt::format("this rank finds a file of {} bytes, and rank 0 one of {}", bytes, task.bytes));
    if (!all) own.emplace(path, options, nullptr, nullptr);
    TextLines text(*source);
    lines = read_text_ratings(text, options, all ? *all : *own, {ranks.rank(), ranks.size()});
  });
  if (all)
    receive(ranks, lines, resolve_threads(options.threads), *all);
  else
    send_to_leader(ranks, *own, lines);
}

}  // namespace

void read_text_over_ranks(RankTeam& team, const std::string& path, const RatingsOptions& options,
                          RatingsCollector& ratings) {
  std::exception_ptr refusal;  // all ranks know of it, and are ready for the next job
  team.ask({.order = Order::ratings}, [&] {
    try {
      read_together(team.ranks(), path, options, &ratings);
    } catch (const Error&) {
      refusal = std::current_exception();
    }
  });
  if (refusal) std::rethrow_exception(refusal);
}

void read_text_share(Ranks& ranks) {
  read_together(ranks, {}, {}, nullptr);
}

}  // namespace pursuit::io
