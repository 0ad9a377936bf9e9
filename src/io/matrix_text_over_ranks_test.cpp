// Text that ranks read in parts gives what one process reads, and is refused with its words.

#include "io/matrix_text_over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "io/byte_source.hpp"
#include "io/entries_over_ranks.hpp"
#include "io/parse_matrix.hpp"
#include "io/ranked_test_support.hpp"
#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

using testing::HasSubstr;

constexpr int kSizes[] = {1, 2, 3, 4, 7, 16};

const std::string kRealGeneral = "%%MatrixMarket matrix coordinate real general\n";

/// Entries in some order, with remarks and lines of blanks among them.
std::string coordinates(const std::string& kind, Index rows, Index cols, double share, bool shuffled,
                        const std::string& line_end = "\n") {
  std::mt19937 random(7);
  const bool mirrored = kind.ends_with("symmetric"), skew = kind.ends_with("skew-symmetric");
  std::vector<std::string> lines;
  for (Index i = 1; i <= rows; ++i)
    for (Index j = 1; j <= (mirrored ? i : cols); ++j) {
      if (double(random() % 1000) >= 1000 * share || (skew && i == j)) continue;
      std::string value = fmt::format(" {}", int(random() % 19) - 9);
      if (kind.starts_with("real")) value = fmt::format(" {}", double(random() % 100'000) / 4096 - 9);
      if (kind.starts_with("pattern")) value = "";
      lines.push_back(fmt::format("{} {}{}", i, j, value));
    }
  if (shuffled) std::shuffle(lines.begin(), lines.end(), random);
  std::string text = "%%MatrixMarket matrix coordinate " + kind + line_end + "% a remark" + line_end +
                     fmt::format("{} {} {}", rows, cols, lines.size()) + line_end;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    text += lines[k] + line_end;
    if (k % 9 == 0) text += "% another" + line_end;
    if (k % 13 == 0) text += " \t" + line_end;
  }
  return text;
}

/// Sparse products have the bits of one process, and blocks those of what rank 0 deals out.
void expect_coordinates_as_one_reads_them(const std::string& text, const std::string& what) {
  const ScratchDirectory scratch;
  const std::string plain = scratch.with("a.mtx", text).string(),
                    packed = scratch.with("a.mtx.gz", gzip(text)).string();
  const ReadByRanks alone = read_by_one(plain);
  for (const int size : kSizes) {
    const std::vector<ReadByRanks> read = read_by(size, {plain, packed}, {Header::find, size % 3 + 1});
    expect_same_matrix(read[0], alone, fmt::format("{}, ranks {}", what, size));
    EXPECT_FALSE(read[0].dealt) << what;
    EXPECT_TRUE(read[1].dealt) << what;
    EXPECT_EQ(read[0].blocks, read[1].blocks) << what;
  }
}

TEST(TextOverRanks, CoordinatesAreWhatOneProcessReads) {
  for (const std::string kind : {"real general", "integer general", "pattern general", "real symmetric",
                                 "pattern symmetric", "integer skew-symmetric"}) {
    const Index cols = kind.ends_with("symmetric") ? 131 : 23;
    for (const bool shuffled : {false, true})
      expect_coordinates_as_one_reads_them(coordinates(kind, 131, cols, 0.2, shuffled),
                                           kind + (shuffled ? ", shuffled" : ""));
  }
  std::string no_end = coordinates("real general", 70, 5, 0.5, true, "\r\n");
  expect_coordinates_as_one_reads_them(no_end, "CRLF");
  no_end.resize(no_end.find_last_not_of("\r\n\t ") + 1);
  expect_coordinates_as_one_reads_them(no_end, "CRLF, and none at the end");
}

TEST(TextOverRanks, FewLinesLeaveRanksWithoutAny) {
  expect_coordinates_as_one_reads_them(kRealGeneral + "2 3 0\n", "no entry");
  expect_coordinates_as_one_reads_them(kRealGeneral + "2 3 0", "no entry, no end");
  expect_coordinates_as_one_reads_them(kRealGeneral + "1 1 1\n1 1 2.5", "one entry");
  expect_coordinates_as_one_reads_them(kRealGeneral + "200 3 2\n200 3 1\n1 1 2\n", "two entries");
  expect_coordinates_as_one_reads_them(
      kRealGeneral + "200 3 2\n%" + std::string(5000, 'x') + "\n200 3 1\n1 1 2\n", "a long line");
}

TEST(TextOverRanks, CoordinatesOfSeveralPieces) {
  const std::string text = coordinates("real general", 701, 977, 0.3, true);
  ASSERT_GT(text.size(), std::size_t{3} << 20);
  const ScratchDirectory scratch;
  const std::string path = scratch.with("a.mtx", text).string(),
                    bad = scratch.with("bad.mtx", text + "1 2 x\n").string();
  const ReadByRanks alone = read_by_one(path);
  const std::vector<ReadByRanks> read = read_by(2, {bad, path}, {Header::find, 2});
  EXPECT_THAT(read[0].refusal, HasSubstr(read_by_one(bad).refusal));
  expect_same_matrix(read[1], alone, "two ranks");
}

std::string table(Index rows, const std::string& line_end, bool names, bool quoted) {
  std::mt19937 random(5);
  std::string text = names ? (quoted ? "\"\",\"a,b\",c" : ",a,c") + line_end : "";
  for (Index i = 0; i < rows; ++i) {
    if (names) text += quoted ? fmt::format("\"row, {}\",", i) : fmt::format("r{},", i);
    text += fmt::format("{},{}", double(random() % 1000) / 8, quoted ? "\"-2\"" : "1e-3") + line_end;
    if (i % 5 == 0) text += line_end;
  }
  return text;
}

/// Bits are those of what rank 0 deals out.
void expect_table_as_one_reads_it(const std::string& text, const std::string& what, bool dealt = false) {
  const ScratchDirectory scratch;
  const std::string plain = scratch.with("a.csv", text).string(),
                    packed = scratch.with("a.csv.gz", gzip(text)).string();
  const ReadByRanks alone = read_by_one(plain);
  for (const int size : kSizes) {
    const std::vector<ReadByRanks> read = read_by(size, {plain, packed}, {Header::find, size % 3 + 1});
    expect_same_matrix(read[0], read[1], fmt::format("{}, ranks {}", what, size));
    EXPECT_LT(max_difference(read[0].image, alone.image), 1e-12 * alone.image.norm()) << what;
    EXPECT_EQ(read[0].row_names, alone.row_names) << what;
    EXPECT_EQ(read[0].column_names, alone.column_names) << what;
    EXPECT_EQ(read[0].blocks, read[1].blocks) << what;
    EXPECT_TRUE(size == 1 || read[0].dealt == dealt) << what << ", ranks " << size;
    EXPECT_TRUE(read[1].dealt) << what;
  }
}

TEST(TextOverRanks, TablesAreWhatOneProcessReads) {
  for (const bool names : {false, true})
    for (const bool quoted : {false, true})
      for (const std::string line_end : {"\n", "\r\n"}) {
        const std::string what = fmt::format("names {}, quoted {}, {} ", names, quoted, line_end.size());
        std::string text = table(97, line_end, names, quoted);
        expect_table_as_one_reads_it(text, what);
        text.resize(text.find_last_not_of("\r\n") + 1);
        expect_table_as_one_reads_it(text, what + "without an end");
      }
  expect_table_as_one_reads_it("1,2\n", "one line");
  expect_table_as_one_reads_it("5", "one number");
  expect_table_as_one_reads_it(
      "\xEF\xBB\xBF"
      "a\tb\n1\t2\n3\t4\n",
      "a byte order mark");
}

TEST(TextOverRanks, AQuotedCellThatSpansACutIsReadByRankZero) {
  std::string text = "\"\",\"a\nb\",c\n";
  for (int k = 0; k < 40; ++k) text += fmt::format("n{},{},{}\n", k, k, -k);
  expect_table_as_one_reads_it(text, "in the head");
  text += "\"";
  for (int k = 0; k < 400; ++k) text += "1,2,3\n";
  text += "\",1,2\n";
  expect_table_as_one_reads_it(text, "in a row that is longer than any part", true);
}

/// The line after about this share of what follows the head.
std::string with_line(std::string text, std::size_t head, double share, const std::string& line) {
  const auto at = head + std::size_t(share * double(text.size() - head - 2));
  return text.insert(text.find('\n', at) + 1, line);
}
constexpr double kPlaces[] = {0, 0.3, 0.6, 0.999};

TEST(TextOverRanks, TheFirstDefectOfCoordinatesIsToldInTheWordsOfOneProcess) {
  const std::string good = coordinates("real general", 30, 9, 0.5, true);
  const std::size_t sizes = good.find("30 9 "), count = std::stoul(good.substr(sizes + 5));
  std::vector<std::string> texts;
  for (const double place : kPlaces)
    for (const std::string line : {"31 1 2\n", "1 2 x\n", "1 1 nan\n", "1 2\n", "1 2 3 4\n", "%\n% fine\n"})
      texts.push_back(with_line(good, sizes + 9, place, line));
  for (const std::size_t promised : {count + 1, count - 1, count - 50, count - 90, std::size_t{0}}) {
    std::string text = good;
    text.replace(sizes, good.find('\n', sizes) - sizes, fmt::format("30 9 {}", promised));
    texts.push_back(text);
    for (const double place : kPlaces)  // another defect before or behind it
      texts.push_back(with_line(text, sizes + 9, place, "a b c\n"));
  }
  texts.push_back(good + std::string("1 1 \0\n", 6));
  texts.push_back(kRealGeneral + "3 3\n1 1 1\n");
  texts.push_back(kRealGeneral + "3 3 5\n1 1 1\n");
  texts.push_back(kRealGeneral);
  texts.push_back("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\nx\n");
  expect_same_refusals(texts);
}

TEST(TextOverRanks, DuplicatesAreToldByTheirLinesWhereverTheyAre) {
  const auto file = [](const std::string& kind, const std::vector<std::string>& entries) {
    std::string text =
        "%%MatrixMarket matrix coordinate real " + kind + "\n9 9 " + std::to_string(entries.size()) + "\n";
    for (const std::string& entry : entries) text += "% remark\n" + entry + " 1\n";
    return text;
  };
  const std::string far = file("general", {"1 2", "9 9", "3 3", "4 1", "1 2"});
  EXPECT_THAT(message_of<InvalidInput>([&] { parse_matrix(far, "a"); }),
              HasSubstr("a, line 12: entry (1, 2) was already given on line 4"));
  expect_same_refusals({far, file("general", {"1 2", "9 9", "9 9", "4 1", "1 2"}),
                        file("general", {"9 9", "9 9", "9 9", "4 1", "1 3"}),
                        file("symmetric", {"2 1", "9 9", "3 3", "4 1", "1 2"}),
                        file("skew-symmetric", {"2 1", "9 8", "8 7", "2 1"}),
                        file("symmetric", {"2 1", "3 3", "8 7", "3 3"})});
}

TEST(TextOverRanks, TheFirstDefectOfATableIsToldInTheWordsOfOneProcess) {
  const std::string good = table(41, "\n", true, true);
  std::vector<std::string> texts;
  for (const double place : kPlaces)
    for (const std::string line : {"x,1\n", "x,1,2,3\n", "x,NA,2\n", "x,1,oops\n", "caf\xE9,1,2\n",
                                   "x,1;5,2\n", "\"x\"y,1,2\n", "\"x,1,2\n"}) {
      texts.push_back(with_line(good, good.find('\n'), place, line));
      texts.push_back(texts.back() + "y,1\n");
    }
  texts.push_back(good + std::string("y,\0,2\n", 6));
  for (const std::string text : {"a,b\n", "a,b\n1,2,3\n", "1,b\n1,2\n", "\n \n"}) texts.push_back(text);
  expect_same_refusals(texts);
}

TEST(TextOverRanks, TextsWithRandomBytesAreReadOrRefusedAlike) {
  std::mt19937 random(11);
  const std::string telling = "0123456789-+.eE,;\t \"\n\r%x\xFF";
  std::vector<std::string> texts;
  for (const std::string& sample : {coordinates("real symmetric", 7, 7, 0.6, true),
                                    table(9, "\n", true, true), table(12, "\r\n", false, false)})
    for (int round = 0; round < 100; ++round) {
      texts.push_back(sample);
      for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
        const std::size_t at = random() % texts.back().size();
        switch (random() % 3) {
          case 0: texts.back()[at] = telling[random() % telling.size()]; break;
          case 1: texts.back().erase(at, 1 + random() % 4); break;
          default: texts.back().insert(at, sample.substr(random() % sample.size(), 1 + random() % 30));
        }
      }
    }
  expect_same_refusals(texts, {2, 4});
}

TEST(EntriesOverRanks, BlocksMayHaveAsManyEntriesAsTheirIndicesCount) {
  const auto cut = [](Index rows, std::int64_t entries_of_a_row) {
    Index blocks = 0;
    on_ranks(16, [&](Ranks& ranks) {
      std::vector<std::int64_t> counts(std::size_t(rows), ranks.leads() ? entries_of_a_row : 0);
      add_up(ranks, counts, false);
      const RowCuts cuts = cuts_by_counts(ranks, counts, 1 << 20, "a");
      if (ranks.leads()) blocks = cuts.blocks();
    });
    return blocks;
  };
  constexpr std::int64_t kMany = (std::int64_t{1} << 31) / 20;
  EXPECT_EQ(cut(32, kMany), 2) << "more than an int counts in all";
  EXPECT_THAT(message_of<InvalidInput>([&] { cut(31, kMany); }),
              HasSubstr("rows 1 to 31, which stay together as one of 1 blocks of rows, have "));
}

TEST(EntriesOverRanks, CountsAreAddedUp) {
  for (const int size : {1, 2, 3, 7})
    for (const std::size_t length : {std::size_t{1}, std::size_t{5}, std::size_t{40}})
      on_ranks(size, [&](Ranks& ranks) {
        std::vector<std::int64_t> counts(length), expected(length, 0);
        for (std::size_t k = 0; k < length; ++k) {
          counts[k] = std::int64_t(k) * (ranks.rank() + 1);
          for (int rank = 0; rank < size; ++rank) expected[k] += std::int64_t(k) * (rank + 1);
        }
        add_up(ranks, counts, false);
        EXPECT_TRUE(!ranks.leads() || counts == expected) << size << length;
      });
}

}  // namespace
}  // namespace pursuit::io
