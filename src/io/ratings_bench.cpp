// How fast ratings are read, in bytes of text per second on one core: MovieLens' layouts, ids that are
// numbers and ids that are words, shuffled lines (which the search for duplicates has to sort), gzip.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "io/byte_source.hpp"
#include "pursuit/data/generate_ratings.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace {

/// A file that is removed again. `line` writes one entry, given row, column and value.
class RatingsText {
 public:
  template <class Line>
  explicit RatingsText(const Line& line, bool shuffled = false, bool packed = false)
      : path_(std::filesystem::temp_directory_path() / fmt::format("pursuit-ratings-{}", ::getpid())) {
    const auto entries = pursuit::generate_ratings({.rows = 7000, .cols = 4000, .entries = 1'000'000});
    std::vector<std::size_t> order(entries.value.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    if (shuffled) std::shuffle(order.begin(), order.end(), std::mt19937(1));
    std::string text;
    for (const std::size_t k : order) text += line(entries.row[k], entries.col[k], entries.value[k]);
    size_ = text.size();
    std::ofstream(path_, std::ios::binary) << (packed ? pursuit::io::gzip(text) : text);
  }
  RatingsText(const RatingsText&) = delete;
  RatingsText& operator=(const RatingsText&) = delete;
  ~RatingsText() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  void read(benchmark::State& state) const {
    for (auto _ : state) benchmark::DoNotOptimize(pursuit::read_ratings(path_));
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * size_));
  }

 private:
  std::filesystem::path path_;
  std::size_t size_ = 0;
};

std::string dat_line(int row, int col, float value) {
  return fmt::format("{}::{}::{}::978300760\n", row + 1, col + 1, value);
}

void BM_Dat(benchmark::State& state) {
  RatingsText(dat_line).read(state);
}
void BM_DatShuffled(benchmark::State& state) {
  RatingsText(dat_line, true).read(state);
}
void BM_DatPacked(benchmark::State& state) {
  RatingsText(dat_line, false, true).read(state);
}
void BM_Csv(benchmark::State& state) {
  RatingsText([](int row, int col, float value) {
    return fmt::format("{},{},{:.1f},1147880044\n", row + 1, col + 1, value);
  }).read(state);
}
void BM_WordsForIds(benchmark::State& state) {
  RatingsText([](int row, int col, float value) {
    return fmt::format("user-{}\titem-{}\t{}\n", row, col, value);
  }).read(state);
}

BENCHMARK(BM_Dat)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DatShuffled)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DatPacked)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Csv)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WordsForIds)->Unit(benchmark::kMillisecond);

}  // namespace
