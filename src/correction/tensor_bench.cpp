// Contractions of an array with the factors of all other modes (MTTKRP), mode after mode as in a sweep, on
// one thread: beside the dense product of the same sizes, the time to read the array once, and sweeps with
// all that they do beside contractions.

#include <benchmark/benchmark.h>

#include <cstring>
#include <numeric>

#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/correction/correction.hpp"
#include "pursuit/data/data_matrix.hpp"
#include "pursuit/objective/full_squares.hpp"
#include "pursuit/objective/tensor.hpp"

namespace {

using pursuit::Index;
using pursuit::Matrix;
using pursuit::Panel;

/// Sizes of an array, and a rank.
struct TensorSize {
  std::vector<Index> shape;
  Index rank;
};
const TensorSize kDenseSizes[] = {{{200, 200, 200}, 20}, {{145, 145, 200}, 10}, {{64, 12, 10, 60}, 10}};
constexpr Index kStored = 1000000;
const TensorSize kSparseSizes[] = {{{10000, 10000, 1000}, 10}, {{10000, 10000, 1000}, 20}};

pursuit::Factors random_factors(const TensorSize& size) {
  pursuit::Random random(1);
  std::vector<Panel> panels;
  std::vector<Index> own(size.shape.size());
  std::iota(own.begin(), own.end(), Index(0));
  panels.reserve(size.shape.size());
  for (const Index n : size.shape) panels.push_back(random.gaussian_matrix(n, size.rank).cwiseAbs());
  return {std::move(panels), std::move(own)};
}

struct DenseProblem {
  explicit DenseProblem(const TensorSize& size) {
    const Index split = pursuit::balanced_split(size.shape);
    Index rows = 1, columns = 1;
    for (Index m = 0; m < Index(size.shape.size()); ++m)
      (m < split ? rows : columns) *= size.shape[std::size_t(m)];
    Y = pursuit::Random(2).gaussian_matrix(rows, columns).cwiseAbs();
    target = pursuit::dense_tensor(pursuit::data_matrix(Y, 1), size.shape);
  }
  Matrix Y;
  pursuit::TensorPtr target;
};

pursuit::TensorPtr sparse_problem(const TensorSize& size) {
  pursuit::Random random(3);
  pursuit::SparseTensor entries{size.shape, std::vector<std::vector<int>>(size.shape.size()), {}};
  // One entry on every line along the first two modes at most, so that no place is there twice.
  const Index lines = size.shape[0] * size.shape[1];
  for (Index e = 0; e < kStored; ++e) {
    const Index line = e * (lines / kStored) + Index(random.uniform() * double(lines / kStored));
    entries.index[0].push_back(int(line / size.shape[1]));
    entries.index[1].push_back(int(line % size.shape[1]));
    entries.index[2].push_back(int(random.uniform() * double(size.shape[2])));
    entries.value.push_back(random.uniform());
  }
  return pursuit::sparse_tensor(entries, 1);
}

/// Every factor is another one when the next mode's turn comes.
void contract_all_modes(const pursuit::Target& target, pursuit::Factors& z, Panel& out) {
  for (Index mode = 0; mode < z.modes(); ++mode) {
    target.contract(mode, z, out);
    z[mode] = out / out.norm();
  }
}

void contractions(benchmark::State& state, const pursuit::Target& target, const TensorSize& size) {
  pursuit::Factors z = random_factors(size);
  Panel out;
  for (auto _ : state) contract_all_modes(target, z, out);
}

void sweeps(benchmark::State& state, const pursuit::TargetPtr& target, const TensorSize& size) {
  constexpr int kSweeps = 20;
  const pursuit::Factors z = random_factors(size);
  std::vector<Index> own(size.shape.size());
  std::iota(own.begin(), own.end(), Index(0));
  const pursuit::AtomSets sets(std::vector<pursuit::Atoms>(size.shape.size(), pursuit::nonneg()), own);
  for (auto _ : state) {
    pursuit::FullSquares f(target, own);
    f.move_to({z, pursuit::Vector::Ones(size.rank)});
    pursuit::CorrectionOptions options;
    options.sweeps = kSweeps;
    options.tolerance = 0;
    options.sign = pursuit::Sign::nonnegative;
    pursuit::Corrections(f, sets, {}).run(options);
  }
  state.counters["seconds_per_sweep"] = benchmark::Counter(
      kSweeps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void BM_DenseContractions(benchmark::State& state) {
  const TensorSize& size = kDenseSizes[state.range(0)];
  const DenseProblem problem(size);
  contractions(state, *problem.target, size);
  const double work = 2.0 * double(problem.Y.size()) * double(size.rank) * double(size.shape.size());
  state.counters["nominal_flops"] = benchmark::Counter(work, benchmark::Counter::kIsIterationInvariantRate);
}

/// The array as a matrix times as many columns as there are atoms.
void BM_DenseProduct(benchmark::State& state) {
  const TensorSize& size = kDenseSizes[state.range(0)];
  const DenseProblem problem(size);
  const auto data = pursuit::data_matrix(problem.Y, 1);
  const Matrix V = pursuit::Random(4).gaussian_matrix(problem.Y.cols(), size.rank);
  Matrix P;
  for (auto _ : state) data->apply(V, P);
  state.counters["nominal_flops"] = benchmark::Counter(2.0 * double(problem.Y.size()) * double(size.rank),
                                                       benchmark::Counter::kIsIterationInvariantRate);
}

void BM_DenseSweeps(benchmark::State& state) {
  const TensorSize& size = kDenseSizes[state.range(0)];
  const DenseProblem problem(size);
  sweeps(state, problem.target, size);
}

void BM_SparseContractions(benchmark::State& state) {
  const TensorSize& size = kSparseSizes[state.range(0)];
  contractions(state, *sparse_problem(size), size);
  // A value, an index of every mode and the rows of the other modes' factors.
  const double modes = double(size.shape.size());
  const double bytes = modes * double(kStored) * (8 + 4 * modes + 8 * double(size.rank) * (modes - 1));
  state.counters["bytes"] = benchmark::Counter(bytes, benchmark::Counter::kIsIterationInvariantRate);
}

void BM_SparseSweeps(benchmark::State& state) {
  const TensorSize& size = kSparseSizes[state.range(0)];
  sweeps(state, sparse_problem(size), size);
}

void BM_ReadMemory(benchmark::State& state) {
  const std::vector<double> numbers(std::size_t(state.range(0)) / sizeof(double), 1.0);
  for (auto _ : state) {
    pursuit::Vector sum = pursuit::Vector::Zero(32);
    for (std::size_t i = 0; i < numbers.size(); i += 32)
      sum += Eigen::Map<const pursuit::Vector>(&numbers[i], 32);
    benchmark::DoNotOptimize(sum.sum());
  }
  state.counters["bytes"] =
      benchmark::Counter(double(state.range(0)), benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(BM_DenseProduct)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DenseContractions)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_DenseSweeps)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadMemory)->Arg(1 << 26)->Arg(1 << 17)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SparseContractions)->DenseRange(0, 1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SparseSweeps)->DenseRange(0, 1)->Unit(benchmark::kMillisecond);

}  // namespace
