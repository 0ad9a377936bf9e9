// One sweep of corrections against the two products with the data that it cannot avoid, on one thread.
// The ratio of the two times, printed side by side for the size of the CBCL faces and a 2000 x 1000 matrix.

#include <benchmark/benchmark.h>

#include "linalg/products.hpp"
#include "objective/coordinate_sweep.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace {

using pursuit::Index;
using pursuit::Matrix;

struct Problem {
  explicit Problem(const benchmark::State& state) {
    pursuit::Random random(1);
    Y = random.gaussian_matrix(state.range(0), state.range(1)).cwiseAbs();
    U = random.gaussian_matrix(state.range(0), state.range(2)).cwiseAbs();
    V = random.gaussian_matrix(state.range(1), state.range(2)).cwiseAbs();
    data = pursuit::data_matrix(Y, 1);
  }
  void products() {
    data->apply(V, P);
    data->apply_transposed(U, Q);
  }
  Matrix Y, U, V, P, Q;
  pursuit::DataMatrixPtr data;
};

void BM_TwoProducts(benchmark::State& state) {
  Problem problem(state);
  for (auto _ : state) problem.products();
}

void BM_Sweep(benchmark::State& state) {  // products, Gram matrices and one pass over both sides
  Problem problem(state);
  for (auto _ : state) {
    problem.products();
    pursuit::coordinate_sweep(problem.P, pursuit::gram_of(problem.V), {true}, problem.U);
    pursuit::coordinate_sweep(problem.Q, pursuit::gram_of(problem.U), {true}, problem.V);
  }
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int rank : {10, 20, 50}) {
    benchmark->Args({2429, 361, rank});
    benchmark->Args({2000, 1000, rank});
  }
  benchmark->Unit(benchmark::kMillisecond);
}

BENCHMARK(BM_TwoProducts)->Apply(sizes);
BENCHMARK(BM_Sweep)->Apply(sizes);

}  // namespace
