#include "io/npz_over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <new>
#include <random>

#include "io/test_support.hpp"
#include "io/zip_over_ranks.hpp"
#include "rank_threads.hpp"

namespace pursuit {
namespace {

using io::content_of;
using io::ScratchDirectory;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Every 20000 bytes the same: what is before a piece is found in it.
template <class Number>
std::vector<Number> repeating(std::size_t count) {
  std::mt19937 random(7);
  std::vector<Number> values(count);
  for (std::size_t k = 0; k < count; ++k)
    values[k] = k < 2500 ? Number(random() % 30000) / Number(2) : values[k - 2500];
  return values;
}

std::vector<double> noise_of(std::size_t count) {
  std::mt19937_64 random(8);
  std::vector<double> values(count);
  for (double& value : values) value = std::bit_cast<double>(random() >> 2);
  return values;
}

/// Which part of a list belongs to each rank, as numbers between 0 and 1 that ascend.
using Portions = std::vector<double>;

template <class Number>
std::span<const Number> part_of(const std::vector<Number>& all, const Portions& portions, int rank) {
  const auto at = [&](int k) { return std::size_t(double(all.size()) * portions[std::size_t(k)]); };
  return std::span(all).subspan(at(rank), at(rank + 1) - at(rank));
}

Portions equal_portions(int ranks) {
  Portions portions;
  for (int rank = 0; rank <= ranks; ++rank) portions.push_back(double(rank) / ranks);
  return portions;
}

/// Everything one of them has.
Portions all_at(int owner, int ranks) {
  Portions portions;
  for (int rank = 0; rank <= ranks; ++rank) portions.push_back(rank > owner);
  return portions;
}

Portions random_portions(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  Portions portions = {0, 1};
  for (int rank = 1; rank < ranks; ++rank) {
    const double share = double(random() % 1000) / 1000;
    // The one after it is empty, or has a few numbers.
    portions.push_back(random() % 3 == 0 ? portions.back() : random() % 3 == 0 ? share + 1e-5 : share);
  }
  std::sort(portions.begin(), portions.end());
  return portions;
}

/// What rank 0 alone has, with names before, between and after those of shared arrays.
NpzArchive arrays_of_leader() {
  return {{"a", {{3}, std::vector<double>{1, 2, 3}}},
          {"n", {{2}, std::vector<std::string>{"one", "two"}}},
          {"seen", {{0}, std::vector<float>{}}},
          {"seen_d", {{2, 2}, std::vector<std::int64_t>{1, 2, 3, 4}}},
          {"z", {{}, std::vector<double>{7}}}};
}

struct SharedLists {
  std::vector<float> value;
  std::vector<int> column;
  std::vector<std::int64_t> start;
  std::vector<double> weight;

  std::vector<RankedArray> parts(const Portions& portions, int rank) const {
    return {{"seen_value", part_of(value, portions, rank)},
            {"seen_column", part_of(column, portions, rank)},
            {"seen_value-start", part_of(start, portions, rank)},  // before "seen_value", as files are called
            {"weight", part_of(weight, portions, rank)}};
  }
  NpzArchive whole() const {
    NpzArchive archive = arrays_of_leader();
    archive["seen_value"] = {{Index(value.size())}, value};
    archive["seen_column"] = {{Index(column.size())},
                              std::vector<std::int64_t>(column.begin(), column.end())};
    archive["seen_value-start"] = {{Index(start.size())}, start};
    archive["weight"] = {{Index(weight.size())}, weight};
    return archive;
  }
};

/// One process's file of all of it.
std::string bytes_of_one_process(const SharedLists& lists) {
  const ScratchDirectory scratch;
  write_npz(scratch / "whole.npz", lists.whole(), 2);
  return content_of(scratch / "whole.npz");
}

std::string bytes_over_ranks(const SharedLists& lists, const Portions& portions, int threads = 1) {
  const ScratchDirectory scratch;
  on_ranks(int(portions.size()) - 1, [&](Ranks& ranks) {
    const NpzArchive own = ranks.leads() ? arrays_of_leader() : NpzArchive{};
    write_npz_over_ranks(ranks, ranks.leads() ? scratch / "a.npz" : "", own,
                         lists.parts(portions, ranks.rank()), threads);
  });
  EXPECT_THAT(scratch.files(), ElementsAre("a.npz"));
  return content_of(scratch / "a.npz");
}

/// Where they differ, which says more than what they are; empty where they do not.
std::string difference(const std::string& one, const std::string& other) {
  if (one == other) return {};
  const auto at = std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first - one.begin();
  return fmt::format("{} and {} bytes, not the same from byte {} on", one.size(), other.size(), at);
}

/// What each rank has thrown.
template <class Exception, class Work>
std::vector<std::string> messages_of_ranks(int size, const Work& work) {
  std::vector<std::string> messages(static_cast<std::size_t>(size));
  on_ranks(size, [&](Ranks& ranks) {
    try {
      work(ranks);
    } catch (const Exception& error) {
      messages[std::size_t(ranks.rank())] = error.what();
    }
    together(ranks, [] {});  // they have not lost each other
  });
  return messages;
}

TEST(NpzOverRanks, BytesAreThoseOfOneProcess) {
  const SharedLists lists{repeating<float>(500000), repeating<int>(300000), repeating<std::int64_t>(1000),
                          noise_of(200000)};
  const std::string expected = bytes_of_one_process(lists);
  EXPECT_GT(expected.size(), 200000 * sizeof(double));
  for (const int size : {1, 2, 3, 4, 7}) {
    EXPECT_EQ(difference(bytes_over_ranks(lists, equal_portions(size), 1 + size % 2), expected), "") << size;
    EXPECT_EQ(difference(bytes_over_ranks(lists, random_portions(size, unsigned(size))), expected), "")
        << size;
  }
}

TEST(NpzOverRanks, PartsMayBeEmptyOrAll) {
  const SharedLists lists{repeating<float>(700000), repeating<int>(150000), {5}, noise_of(140000)};
  const std::string expected = bytes_of_one_process(lists);
  for (const int owner : {0, 1, 3})
    EXPECT_EQ(difference(bytes_over_ranks(lists, all_at(owner, 4)), expected), "") << owner;
  // Where every rank but the last has fewer bytes than a dictionary, or than a piece.
  EXPECT_EQ(difference(bytes_over_ranks(lists, {0, 1e-5, 2e-5, .003, .003, .9999, 1}), expected), "");
  EXPECT_EQ(difference(bytes_over_ranks(lists, {0, .5, .501, .502, .503, .504, .505, 1}), expected), "");
}

TEST(NpzOverRanks, AnyCutGivesTheSameBytes) {
  const SharedLists lists{repeating<float>(600001), repeating<int>(131072), {}, noise_of(3)};
  const std::string expected = bytes_of_one_process(lists);
  for (unsigned seed = 0; seed < 12; ++seed)
    EXPECT_EQ(difference(bytes_over_ranks(lists, random_portions(2 + int(seed) % 6, seed)), expected), "")
        << seed;
}

TEST(NpzOverRanks, CutsAtAndBesideTheEndsOfPieces) {
  const std::vector<std::int64_t> start = repeating<std::int64_t>(3 * kMiB / 8 + 17);
  const SharedLists lists{{}, {}, start, {}};
  const std::string expected = bytes_of_one_process(lists);
  const auto piece = std::int64_t(kMiB / 8), window = std::int64_t(1 << 12);
  for (const std::int64_t beside : {std::int64_t(-1), std::int64_t(0), std::int64_t(1), window, -window}) {
    const auto share = [&](std::int64_t place) { return (double(place) + .5) / double(start.size()); };
    const Portions portions = {0, share(piece + beside), share(2 * piece + beside), share(3 * piece - beside),
                               1};
    EXPECT_EQ(difference(bytes_over_ranks(lists, portions), expected), "") << beside;
  }
}

TEST(NpzOverRanks, LongArraysArePackedAsLightlyAsByOneProcess) {
  const SharedLists lists{repeating<float>(17 * kMiB / 4 + 1), {}, {}, {}};
  EXPECT_EQ(difference(bytes_over_ranks(lists, equal_portions(3), 2), bytes_of_one_process(lists)), "");
}

TEST(NpzOverRanks, NothingSharedOrNothingAtAll) {
  EXPECT_EQ(difference(bytes_over_ranks({}, equal_portions(3)), bytes_of_one_process({})), "");
  const ScratchDirectory scratch;
  on_ranks(2, [&](Ranks& ranks) { write_npz_over_ranks(ranks, scratch / "a.npz", {}, {}); });
  write_npz(scratch / "b.npz", {});
  EXPECT_EQ(difference(content_of(scratch / "a.npz"), content_of(scratch / "b.npz")), "");
}

TEST(NpzOverRanks, WholeNumbersAreWidenedFromAnyByteToAnyOther) {
  const std::vector<int> narrow = {1, -2, 1 << 30, 0};
  const std::vector<std::int64_t> wide(narrow.begin(), narrow.end());
  const std::string_view all(reinterpret_cast<const char*>(wide.data()), wide.size() * 8);
  EXPECT_EQ(io::npy_size(std::span(narrow)), all.size());
  for (std::size_t first = 0; first <= all.size(); ++first)
    for (std::size_t count = 0; first + count <= all.size(); ++count) {
      std::string room = "anything";
      EXPECT_EQ(io::npy_part(std::span(narrow), first, count, room), all.substr(first, count));
      EXPECT_EQ(io::npy_part(std::span(wide), first, count, room), all.substr(first, count));
    }
}

TEST(NpzOverRanks, IsReadBack) {
  const ScratchDirectory scratch;
  const SharedLists lists{
      repeating<float>(1000), {1, -2, 3}, {-4, std::numeric_limits<std::int64_t>::max()}, {}};
  on_ranks(3, [&](Ranks& ranks) {
    write_npz_over_ranks(ranks, scratch / "a.npz", arrays_of_leader(),
                         lists.parts({0, .4, .4, 1}, ranks.rank()));
  });
  const NpzArchive back = read_npz(scratch / "a.npz"), whole = lists.whole();
  ASSERT_EQ(back.size(), whole.size());
  for (const auto& [name, array] : whole) {
    EXPECT_EQ(back.at(name).shape, array.shape) << name;
    EXPECT_TRUE(back.at(name).values == array.values) << name;
  }
}

TEST(NpzOverRanks, RankZeroReceivesPackedBytes) {
  const ScratchDirectory scratch;
  const SharedLists lists{repeating<float>(5 * kMiB / 2), {}, {}, {}};  // 10 MiB, most of it with rank 1
  std::int64_t received = 0;
  on_ranks(2, [&](Ranks& ranks) {
    write_npz_over_ranks(ranks, scratch / "a.npz", {}, lists.parts({0, .1, 1}, ranks.rank()));
    if (ranks.leads()) received = ranks.traffic().bytes_received;
  });
  EXPECT_LT(received, std::int64_t(std::filesystem::file_size(scratch / "a.npz") + kMiB + 400000));
}

TEST(NpzOverRanks, FileThatCannotBeMadeIsOneMessageOnAllRanks) {
  const auto messages = messages_of_ranks<OutputFailure>(3, [](Ranks& ranks) {
    write_npz_over_ranks(ranks, "/no/such/directory/a.npz", {}, {{"x", std::span<const float>()}});
  });
  EXPECT_THAT(messages, Each(AllOf(HasSubstr("/no/such/directory/a.npz"), HasSubstr("No such file"))));
  EXPECT_THAT(messages, Each(messages[0]));
}

TEST(NpzOverRanks, FullDiskIsOneMessageOnAllRanks) {
  const SharedLists lists{repeating<float>(1000), {}, {}, noise_of(2 * kMiB / 8)};
  for (const int owner : {0, 1, 2}) {
    const auto messages = messages_of_ranks<OutputFailure>(3, [&](Ranks& ranks) {
      write_npz_over_ranks(ranks, "/dev/full", {}, lists.parts(all_at(owner, 3), ranks.rank()));
    });
    EXPECT_THAT(messages, Each("cannot write '/dev/full': No space left on device")) << owner;
  }
}

TEST(NpzOverRanks, FolderThatVanishesIsOneMessageOnAllRanks) {
  const ScratchDirectory scratch;
  const std::vector<double> numbers = noise_of(2 * kMiB / 8);
  const auto messages = messages_of_ranks<OutputFailure>(2, [&](Ranks& ranks) {
    write_npz_over_ranks(ranks, scratch / "a.npz", {},
                         {{"x", part_of(numbers, equal_portions(2), ranks.rank())}});
    together(ranks, [&] {
      if (ranks.leads()) std::filesystem::remove_all(scratch.path());
    });
    write_npz_over_ranks(ranks, scratch / "a.npz", {},
                         {{"x", part_of(numbers, equal_portions(2), ranks.rank())}});
  });
  EXPECT_THAT(messages, Each(HasSubstr("a.npz")));
}

TEST(NpzOverRanks, RefusesListsThatDiffer) {
  const std::vector<float> x = {1, 2};
  const std::vector<double> y = {1, 2};
  const auto messages = messages_of_ranks<InvalidArgument>(3, [&](Ranks& ranks) {
    const bool other = ranks.rank() == 2;
    const io::NpyNumbers own = other ? io::NpyNumbers(std::span(y)) : io::NpyNumbers(std::span(x));
    write_npz_over_ranks(ranks, "/dev/null", {}, {{"x", own}});
  });
  EXPECT_THAT(messages, Each(HasSubstr("rank 2 has parts of other arrays")));
}

TEST(NpzOverRanks, RefusesANameTwice) {
  const std::vector<float> x = {1, 2};
  const auto of = [&](const NpzArchive& own, const std::vector<RankedArray>& shared, int threads = 1) {
    return messages_of_ranks<InvalidArgument>(
        2, [&](Ranks& ranks) { write_npz_over_ranks(ranks, "/dev/null", own, shared, threads); });
  };
  const RankedArray shared{"x", std::span(x)}, other{"y", std::span(x)};
  EXPECT_THAT(of({{"x", {{2}, x}}}, {shared}), Each(HasSubstr("two arrays of the name 'x'")));
  EXPECT_THAT(of({}, {shared, other, shared}), Each(HasSubstr("two arrays of the name 'x'")));
  EXPECT_THAT(of({{"y", {{3}, x}}}, {shared}), Each(HasSubstr("shape (3,)")));
  EXPECT_THAT(of({}, {shared}, -1), Each(HasSubstr("threads -1")));
}

/// An archive of two files over three ranks, the one stored and the other packed, each with several parcels
/// of a rank's bytes; `read` is told whenever a rank reads of its part.
void write_files(Ranks& ranks, const io::Sink& sink, const std::function<void()>& read) {
  static const std::vector<double> stored = noise_of(20 * kMiB / 8);
  static const std::vector<float> packed = repeating<float>(kMiB);
  std::vector<io::RankedFile> files;
  for (const auto& body : {std::as_bytes(std::span(stored)), std::as_bytes(std::span(packed))}) {
    const std::vector<std::uint64_t> cuts = {0, body.size() / 4, body.size() / 2, body.size()};
    const std::string_view own(reinterpret_cast<const char*>(body.data()) + cuts[std::size_t(ranks.rank())],
                               cuts[std::size_t(ranks.rank()) + 1] - cuts[std::size_t(ranks.rank())]);
    const auto part = [own, &read](std::uint64_t first, std::size_t count, std::string&) {
      read();
      return own.substr(first, count);
    };
    files.push_back({"file " + std::to_string(files.size()), "head", {cuts, part}});
  }
  io::write_zip_over_ranks(ranks, {{"before", {"1"}}, {"file 00", {"2"}}, {"last", {"3"}}}, files, sink, 1);
}

TEST(ZipOverRanks, SinkThatFailsIsToldToAllHoweverMuchItHasTaken) {
  std::size_t size = 0;
  on_ranks(3, [&](Ranks& ranks) {
    write_files(
        ranks, [&](std::string_view bytes) { size += bytes.size(); }, [] {});
  });
  EXPECT_GT(size, 20 * kMiB);
  for (const std::size_t share : {0, 1, 200, 400, 600, 980, 999}) {
    std::size_t room = size * share / 1000;
    int failures = 0;
    const auto messages = messages_of_ranks<OutputFailure>(3, [&](Ranks& ranks) {
      write_files(
          ranks,
          [&](std::string_view bytes) {
            if (bytes.size() > room && ++failures) throw OutputFailure("no room");
            room -= bytes.size();
          },
          [] {});
    });
    EXPECT_THAT(messages, Each("no room")) << share;
    EXPECT_EQ(failures, 1) << share;  // it is left alone then
  }
}

TEST(ZipOverRanks, WhatFailsOnOneRankFailsOnAll) {
  const io::Sink nowhere = [](std::string_view) {};
  for (const int culprit : {0, 1, 2}) {
    int reads = 0;
    on_ranks(3, [&](Ranks& ranks) {
      write_files(ranks, nowhere, [&, mine = ranks.rank() == culprit] {
        if (mine) ++reads;
      });
    });
    EXPECT_GT(reads, 10);
    for (int last = 0; last < reads; last += 1 + reads / 6) {
      int left = last;
      const auto messages = messages_of_ranks<Error>(3, [&](Ranks& ranks) {
        write_files(ranks, nowhere, [&, mine = ranks.rank() == culprit] {
          if (mine && left-- == 0) throw std::bad_alloc();
        });
      });
      EXPECT_THAT(messages, Each(culprit == 0 ? "not enough memory"
                                              : fmt::format("not enough memory (rank {})", culprit)));
    }
  }
}

}  // namespace
}  // namespace pursuit
