// Time of one sweep of completion, beside what the machine can do: reading memory, and multiply-adds.

#include <benchmark/benchmark.h>

#include <numeric>

#include "completion/bayesian_factors.hpp"

namespace pursuit {
namespace {

ObservedMatrix random_entries(Index rows, Index cols, Index count) {
  Random random(1);
  ObservedEntries entries{rows, cols, {}, {}, {}};
  std::vector<std::uint64_t> places(static_cast<std::size_t>(count));
  const double gap = double(rows) * double(cols) / double(count);
  for (Index e = 0; e < count; ++e) {  // one in every stretch of `gap` positions: no pair twice
    const auto place = std::uint64_t((double(e) + random.uniform()) * gap);
    entries.row.push_back(int(place / std::uint64_t(cols)));
    entries.col.push_back(int(place % std::uint64_t(cols)));
    entries.value.push_back(float(random.gaussian()));
  }
  return ObservedMatrix(std::move(entries));
}

void BM_CompletionSweep(benchmark::State& state) {
  const Index count = state.range(0);
  const int atoms = int(state.range(1)), threads = int(state.range(2));
  static const ObservedMatrix small = random_entries(6040, 3706, 1000000);
  static const ObservedMatrix large = random_entries(71567, 10681, 10000000);
  const ObservedMatrix& data = count > 1000000 ? large : small;
  BayesianFactors factors(data, 0, 1, true, 0, threads);
  factors.widen(atoms);
  for (int k = 0; k < 6; ++k) factors.sweep();  // all parts are at work from the sixth on
  for (auto _ : state) factors.sweep();
  const double width = factors.width();
  const auto entries = double(count) * double(state.iterations());
  state.counters["ns_per_entry"] =
      benchmark::Counter(1e-9 * entries, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  // Systems: both sides, half a symmetric matrix per entry; regressions: two passes per side.
  state.counters["flops"] =
      benchmark::Counter(entries * (2 * width * (width + 1) + 8 * width), benchmark::Counter::kIsRate);
  // Index and value once per pass over values, index alone in the passes over the pattern.
  state.counters["stream_bytes"] = benchmark::Counter(entries * (2 * 8 + 4 * 4), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_CompletionSweep)
    ->ArgNames({"entries", "atoms", "threads"})
    ->ArgsProduct({{1000000, 10000000}, {7, 15, 31}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void BM_ReadMemory(benchmark::State& state) {
  const std::vector<double> values(std::size_t(1) << 26, 1.0);  // 512 MiB
  for (auto _ : state)
    benchmark::DoNotOptimize(Eigen::Map<const Vector>(values.data(), Index(values.size())).sum());
  state.SetBytesProcessed(std::int64_t(state.iterations()) * std::int64_t(values.size() * sizeof(double)));
}
BENCHMARK(BM_ReadMemory)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace pursuit
