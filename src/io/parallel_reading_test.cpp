// Files of many pieces give the same result, and the same refusal, for any number of threads.

#include <fmt/format.h>

#include <map>
#include <random>
#include <sstream>

#include "io/byte_source.hpp"
#include "io/parse_matrix.hpp"
#include "io/ratings_test_support.hpp"
#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kSeveralPieces = std::size_t{3} << 20;
constexpr int kThreads[] = {1, 2, 3, 16};

std::string refusal_of(const std::string& text, int threads) {
  return message_of<InvalidInput>([&] { parse_matrix(text, "a", {.threads = threads}); });
}

TEST(ParallelReading, RatingsHaveTheIdsOfASerialReader) {
  std::mt19937 random(1);
  std::string text = "user,item,value\n\n";
  std::map<std::string, int> rows, cols;
  std::vector<int> row, col;
  std::vector<float> value;
  const auto take = [](std::map<std::string, int>& ids, const std::string& id) {
    return ids.emplace(id, static_cast<int>(ids.size())).first->second;
  };
  for (int k = 0; text.size() < kSeveralPieces; ++k) {
    const std::string i = k % 7 == 0 ? fmt::format("user number {}", random() % 500)
                                     : fmt::format("{}", k / 9),
                      j = fmt::format("{}", k * 31 % 100'003);
    row.push_back(take(rows, i));
    col.push_back(take(cols, j));
    value.push_back(static_cast<float>(random() % 11) / 2);
    text += fmt::format("{}{}{},{},{}{}", k % 5 == 0 ? "\"" : "", i, k % 5 == 0 ? "\"" : "", j, value.back(),
                        k % 1000 == 0 ? "\n \n" : "\n");
  }
  const ScratchDirectory scratch;
  const auto plain = scratch.with("r.csv", text), packed = scratch.with("r.csv.gz", gzip(text));
  for (const int threads : kThreads)
    for (const auto& path : {plain, packed}) {
      const Ratings read = read_ratings(path, {.threads = threads});
      EXPECT_EQ(read.entries.row, row) << threads;
      EXPECT_EQ(read.entries.col, col) << threads;
      EXPECT_EQ(read.entries.value, value) << threads;
      for (const auto& [id, index] : rows) ASSERT_EQ(read.rows.find(id), index);
      for (const auto& [id, index] : cols) ASSERT_EQ(read.cols.name(index), id);
    }
}

TEST(ParallelReading, TheFirstDefectIsToldWithItsLine) {
  std::string text;
  std::size_t lines = 0;
  for (; text.size() < kSeveralPieces; ++lines) text += fmt::format("{},{},1\n", lines, lines % 100);
  const std::string bad = text + "a,b,c\n" + text + "a,b\n" + text;
  const ScratchDirectory scratch;
  const auto twice = scratch.with("twice", text + fmt::format("{},{},1\n", lines - 2, (lines - 2) % 100)),
             defect = scratch.with("defect", bad);
  const auto refused = [](const std::filesystem::path& path, int threads) {
    return message_of<InvalidInput>([&] { read_ratings(path, {.threads = threads}); });
  };
  for (const int threads : kThreads) {
    EXPECT_THAT(refused(defect, threads), HasSubstr(fmt::format("line {}: the value 'c'", lines + 1)));
    EXPECT_THAT(refused(twice, threads), AllOf(HasSubstr(fmt::format("line {}: ", lines + 1)),
                                               HasSubstr(fmt::format("on line {};", lines - 1))));
    EXPECT_THAT(refusal_of(bad, threads), HasSubstr(fmt::format("a, line {}, column 1: 'a'", lines + 1)));
    EXPECT_THAT(refusal_of(text + std::string("1,\0,1\n", 6), threads),
                HasSubstr(fmt::format("byte {} is zero", text.size() + 2)));
  }
}

TEST(ParallelReading, TablesMayHaveQuotedCellsThatSpanLines) {
  std::mt19937 random(2);
  std::string text = "\"a\nb\",c,d\n";
  std::vector<std::string> names;
  std::vector<double> numbers;
  for (std::size_t k = 0; text.size() < kSeveralPieces; ++k) {
    std::string name = fmt::format("n{}", k);
    for (std::size_t length = random() % 40; length > 0; --length) name += "x\n,;5\"' "[random() % 8];
    names.push_back(name);
    text += '"';
    for (const char c : name) text.append(c == '"' ? 2 : 1, c);
    numbers.push_back(static_cast<double>(random() % 1000) / 8);
    numbers.push_back(-static_cast<double>(random()));
    text += fmt::format("\",{},\"{}\"\n", numbers[2 * k], numbers[2 * k + 1]);
  }
  for (const int threads : kThreads) {
    const NamedMatrix table = parse_matrix(text, "a", {.threads = threads});
    EXPECT_EQ(table.row_names, names) << threads;
    const Matrix& matrix = std::get<Matrix>(table.matrix);
    ASSERT_EQ(matrix.rows(), Index(names.size()));
    for (Index i = 0; i < matrix.rows(); ++i)
      for (Index j = 0; j < 2; ++j) ASSERT_EQ(matrix(i, j), numbers[std::size_t(2 * i + j)]);
  }
}

TEST(ParallelReading, TablesMayQuoteTheirNamesInEveryRowAndOneOfThemMaySpanLines) {
  for (const std::size_t spanning :
       {std::size_t{0}, std::size_t{5000}, std::size_t{200'000}}) {  // length of that name
    std::string text = "\"\",\"x\",\"y\"\n";
    std::vector<std::string> names;
    for (int k = 0; text.size() < kSeveralPieces; ++k) {
      names.push_back(fmt::format("gene, no. {}", k));
      if (k == 20'000)
        while (names.back().size() < spanning) names.back() += "\n1,2,3";
      text += fmt::format("\"{}\",{},{}\n", names.back(), k, -k / 4.0);
    }
    for (const int threads : kThreads) {
      const NamedMatrix table = parse_matrix(text, "a", {.threads = threads});
      EXPECT_EQ(table.row_names, names) << threads;
      const Matrix& matrix = std::get<Matrix>(table.matrix);
      ASSERT_EQ(matrix.rows(), Index(names.size()));
      for (Index i = 0; i < matrix.rows(); ++i) ASSERT_EQ(matrix(i, 1), double(-i) / 4) << i;
    }
  }
}

TEST(ParallelReading, MatrixMarketEntriesInAnyOrder) {
  std::mt19937 random(3);
  constexpr int kHeight = 701, kWidth = 977;
  Matrix expected = Matrix::Zero(kHeight, kWidth);
  std::vector<int> places(kHeight * kWidth);
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<int>(k);
  for (const std::string order : {"rows", "columns", "none"}) {
    if (order == "columns")
      std::sort(places.begin(), places.end(), [](int a, int b) {
        return std::pair(a % kWidth, a / kWidth) < std::pair(b % kWidth, b / kWidth);
      });
    if (order == "none") std::shuffle(places.begin(), places.end(), random);
    std::string entries;
    expected.setZero();
    const std::size_t count = places.size() / 3;
    for (std::size_t k = 0; k < count; ++k) {
      const int i = places[k] / kWidth, j = places[k] % kWidth;
      expected(i, j) = static_cast<double>(random() % 100'000) / 64;
      entries += fmt::format("{} {} {}\n{}", i + 1, j + 1, expected(i, j), k % 5000 == 0 ? "% remark\n" : "");
    }
    const auto file = [&](std::size_t promised) {
      return fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n{}", kHeight, kWidth,
                         promised, entries);
    };
    for (const int threads : kThreads) {
      const NamedMatrix read = parse_matrix(file(count), "a", {.threads = threads});
      EXPECT_EQ(Matrix(std::get<SparseMatrix>(read.matrix)), expected) << order << threads;
      EXPECT_EQ(std::get<SparseMatrix>(read.matrix).nonZeros(), Index(count));
      const std::size_t last = count - 7;  // entries before it, and remarks
      EXPECT_THAT(refusal_of(file(last), threads),
                  HasSubstr(fmt::format("line {}: more entries than the {}", 3 + last + 1 + (last - 1) / 5000,
                                        last)));
      EXPECT_THAT(refusal_of(file(count) + "1 1 1\n", threads), HasSubstr("more entries"));
    }
  }
}

TEST(ParallelReading, ArraysAreRefusedByThePositionInTheWhole) {
  constexpr Index kHeight = 1001, kWidth = 700;
  std::string text = fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", kHeight, kWidth);
  for (Index k = 0; k < kHeight * kWidth; ++k) text += fmt::format("{}\n", k == 600'000 ? "oops" : "1.25");
  for (const int threads : kThreads)
    EXPECT_THAT(refusal_of(text, threads),
                AllOf(HasSubstr("line 600003"), HasSubstr("'oops' at row 402, column 600")));
}

TEST(ParallelWriting, IsTheSameTextForAnyNumberOfThreads) {
  const ScratchDirectory scratch;
  Matrix matrix(1203, 211);
  for (Index k = 0; k < matrix.size(); ++k) matrix.data()[k] = static_cast<double>(k * k % 1013) / 7;
  const SparseMatrix few = matrix.unaryExpr([](double x) { return x < 20 ? x : 0.0; }).sparseView();
  for (const char* extension : {".csv", ".mtx", ".mtx.gz", ".npz"})
    for (const NamedMatrix& named : {NamedMatrix{matrix, {}, {}}, NamedMatrix{few, {}, {}}}) {
      const auto path = scratch / (std::string("a") + extension);
      write_matrix(path, named, 1);
      const std::string expected = content_of(path);
      for (const int threads : {2, 3, 16}) {
        write_matrix(path, named, threads);
        EXPECT_EQ(content_of(path), expected) << extension << threads;
      }
      const NamedMatrix back = read_matrix(path);
      EXPECT_TRUE(std::visit([](const auto& a) { return Matrix(a.template cast<double>()); }, back.matrix) ==
                  (named.matrix.index() == 0 ? matrix : Matrix(few)))
          << extension;
    }
}

}  // namespace
}  // namespace pursuit::io
