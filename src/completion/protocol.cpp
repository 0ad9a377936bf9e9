// Entries split into parts, as protocols say.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/completion/complete_in_time.hpp"
#include "pursuit/completion/evaluate.hpp"
#include "pursuit/completion/split.hpp"

namespace pursuit {
namespace {

/// Sizes of parts of `count` things, by shares.
std::vector<Index> sizes_of_parts(Index count, const std::vector<double>& shares) {
  std::vector<Index> sizes;
  double sum = 0;
  Index before = 0;
  for (const double share : shares) {
    sum += share;
    sizes.push_back(Index(std::llround(sum * double(count))) - before);
    before += sizes.back();
  }
  return sizes;
}

Parts named(std::vector<ObservedEntries> parts) {
  if (parts.size() == 2) return {std::move(parts[0]), {}, std::move(parts[1])};
  return {std::move(parts[0]), std::move(parts[1]), std::move(parts[2])};
}

Parts fold_of(const ObservedEntries& entries, int fold, int folds, std::uint64_t seed, int threads) {
  auto parts = split(entries, fold_sizes(entries.size(), folds), seed, threads);
  Parts result;
  result.test = std::move(parts[std::size_t(fold)]);
  result.train = {entries.rows, entries.cols, {}, {}, {}};
  for (int k = 0; k < folds; ++k)
    if (k != fold) put_back(result.train, parts[std::size_t(k)]);
  return result;
}

/// part(e) says where an entry goes: 0 training, then validation where there are three parts, then test.
template <class PartOf>
Parts parted(const ObservedEntries& entries, std::size_t count, const PartOf& part_of) {
  std::vector<ObservedEntries> parts(count, {entries.rows, entries.cols, {}, {}, {}});
  for (Index e = 0; e < entries.size(); ++e) {
    ObservedEntries& part = parts[part_of(e)];
    part.row.push_back(entries.row[e]);
    part.col.push_back(entries.col[e]);
    part.value.push_back(entries.value[e]);
  }
  return named(std::move(parts));
}

/// Numbers in order, the part that each falls in by sizes.
template <class Less>
void place_in_parts(std::vector<Index> members, const std::vector<Index>& sizes, const Less& less,
                    std::vector<std::size_t>& part_of) {
  std::sort(members.begin(), members.end(), less);
  std::size_t next = 0;
  for (std::size_t p = 0; p < sizes.size(); ++p)
    for (Index k = 0; k < sizes[p]; ++k) part_of[std::size_t(members[next++])] = p;
}

std::vector<Index> numbers_below(Index count) {
  std::vector<Index> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), Index(0));
  return result;
}

Parts by_time(const Protocol& protocol, const ObservedEntries& entries) {
  std::vector<std::size_t> part(std::size_t(entries.size()), 0);
  const auto earlier = [&](Index a, Index b) {
    return std::pair(protocol.times[a], a) < std::pair(protocol.times[b], b);
  };
  if (protocol.kind == Protocol::time) {
    place_in_parts(numbers_below(entries.size()), sizes_of_parts(entries.size(), protocol.split), earlier,
                   part);
  } else {
    std::vector<std::vector<Index>> of_row(std::size_t(entries.rows));
    for (Index e = 0; e < entries.size(); ++e) of_row[std::size_t(entries.row[e])].push_back(e);
    for (const auto& members : of_row) {
      std::vector<Index> sizes = sizes_of_parts(Index(members.size()), protocol.split);
      if (members.size() > 1 && sizes.back() == 0)
        ++sizes.back(), --*std::max_element(sizes.begin(), sizes.end() - 1);
      if (members.size() > 1 && sizes.front() == 0)
        ++sizes.front(), --*std::max_element(sizes.begin() + 1, sizes.end());
      if (members.size() == 1) sizes.assign(sizes.size(), 0), sizes.front() = 1;
      place_in_parts(members, sizes, earlier, part);
    }
  }
  return parted(entries, protocol.split.size(), [&](Index e) { return part[std::size_t(e)]; });
}

Parts without_one(const Protocol& protocol, const ObservedEntries& entries, std::uint64_t seed) {
  const double relevant = protocol.relevant.value_or(relevant_from(entries));
  std::vector<Index> count(std::size_t(entries.rows), 0), chosen(std::size_t(entries.rows), -1);
  const auto key = [&](Index e) {
    return random_block(seed, std::uint64_t(entries.row[e]), 1 + std::uint64_t(entries.col[e]));
  };
  for (Index e = 0; e < entries.size(); ++e) {
    const auto i = std::size_t(entries.row[e]);
    ++count[i];
    if (entries.value[e] >= relevant && (chosen[i] < 0 || key(e) < key(chosen[i]))) chosen[i] = e;
  }
  return parted(entries, 2, [&](Index e) {
    const auto i = std::size_t(entries.row[e]);
    return std::size_t(chosen[i] == e && count[i] > 1);
  });
}

Parts cold(const Protocol& protocol, const ObservedEntries& entries, std::uint64_t seed) {
  const bool rows = protocol.kind == Protocol::cold_rows;
  const std::vector<int>& member_of = rows ? entries.row : entries.col;
  const Index members = rows ? entries.rows : entries.cols;
  std::vector<char> has_entry(std::size_t(members), 0);
  for (const int member : member_of) has_entry[std::size_t(member)] = 1;
  std::vector<Index> used;
  for (Index i = 0; i < members; ++i)
    if (has_entry[std::size_t(i)]) used.push_back(i);
  const std::vector<Index> sizes = sizes_of_parts(Index(used.size()), protocol.split);
  if (sizes.front() < 1 || sizes.back() < 1)
    throw InvalidArgument(fmt::format("split: of {} {} none would be left to train on or to test",
                                      used.size(), rows ? "rows" : "columns"));
  std::vector<std::size_t> part(std::size_t(members), 0);
  place_in_parts(
      used, sizes,
      [&](Index a, Index b) {
        return random_block(seed, std::uint64_t(a), 0) < random_block(seed, std::uint64_t(b), 0);
      },
      part);
  return parted(entries, protocol.split.size(),
                [&](Index e) { return part[std::size_t(member_of[std::size_t(e)])]; });
}

void check_protocol(const ObservedEntries& entries, const Protocol& p) {
  if (p.folds == 0) {
    if (p.split.size() < 2 || p.split.size() > 3)
      throw InvalidArgument(fmt::format(
          "split: {} parts; must be two (train/test) or three (train/validation/test)", p.split.size()));
    const double sum = std::accumulate(p.split.begin(), p.split.end(), 0.0);
    if (std::abs(sum - 1) > 1e-9)
      throw InvalidArgument(fmt::format("split: parts sum to {:g}, must be 1 (or 100 %)", sum));
    for (const double share : p.split)
      if (!(share > 0) || Index(share * double(entries.size())) < 1)
        throw InvalidArgument(
            fmt::format("split: a part of {:g} of {} entries is empty", share, entries.size()));
  } else if (p.folds < 2 || p.folds > entries.size()) {
    throw InvalidArgument(
        fmt::format("folds {}: must be 2 to {}, the number of entries", p.folds, entries.size()));
  }
  const bool timed = p.kind == Protocol::time || p.kind == Protocol::time_per_row;
  if (p.folds != 0 && p.kind != Protocol::random)
    throw InvalidArgument("folds: are of all entries at random; splits of another kind have none");
  if (timed && Index(p.times.size()) != entries.size())
    throw InvalidArgument(fmt::format("times: {} for {} entries; a split by time needs as many",
                                      p.times.size(), entries.size()));
  if (timed && p.repeat != 1)
    throw InvalidArgument(fmt::format("repeat {}: there is only one split by time", p.repeat));
  if (p.repeat < 1) throw InvalidArgument(fmt::format("repeat {}: must be 1 or more", p.repeat));
  if (p.places < 1) throw InvalidArgument(fmt::format("places {}: must be 1 or more", p.places));
}

}  // namespace

Parts parts_by(const Protocol& protocol, const ObservedEntries& entries, std::uint64_t seed, int fold) {
  check_protocol(entries, protocol);
  Parts parts;
  switch (protocol.kind) {
    case Protocol::time:
    case Protocol::time_per_row: parts = by_time(protocol, entries); break;
    case Protocol::leave_one_out: parts = without_one(protocol, entries, seed); break;
    case Protocol::cold_rows:
    case Protocol::cold_columns: parts = cold(protocol, entries, seed); break;
    case Protocol::random:
      parts =
          protocol.folds > 0
              ? fold_of(entries, fold, protocol.folds, seed, protocol.threads)
              : named(split(entries, sizes_of_parts(entries.size(), protocol.split), seed, protocol.threads));
  }
  if (parts.train.size() == 0 || parts.test.size() == 0)
    throw InvalidArgument(fmt::format("the split leaves {} entries to train on and {} to test",
                                      parts.train.size(), parts.test.size()));
  if (Index(protocol.times.size()) == entries.size()) {
    const TimesOfEntries times(entries, protocol.times);
    parts.train_times = times.of(parts.train);
    parts.test_times = times.of(parts.test);
  }
  return parts;
}

}  // namespace pursuit
