// Both oracles of every set beside one pass over memory, which reads a vector and writes one of its size. The
// counter `per_entry` is time per entry in seconds (so 1n means a nanosecond). Sizes that would take more
// than a few seconds are left out.

#include <benchmark/benchmark.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

struct Case {
  std::string name;
  Index largest;  // n
  std::function<Atoms(Index n)> make;
};

Groups groups_of(Index n, Index size) {
  Groups groups;
  for (Index i = 0; i < n; ++i) groups.group_of.push_back(i / size);
  return groups;
}

Tree heap(Index n) {
  Tree tree;
  for (Index i = 0; i < n; ++i) tree.parent.push_back(i == 0 ? -1 : (i - 1) / 2);
  return tree;
}

Graph path(Index n) {
  Graph graph{n, {}};
  for (Index i = 0; i + 1 < n; ++i) graph.edges.emplace_back(i, i + 1);
  return graph;
}

Graph grid(Index n) {
  const auto side = Index(std::sqrt(double(n)));
  Graph graph{n, {}};
  for (Index i = 0; i < n; ++i) {
    if (i + 1 < n && (i + 1) % side != 0) graph.edges.emplace_back(i, i + 1);
    if (i + side < n) graph.edges.emplace_back(i, i + side);
  }
  return graph;
}

std::vector<unsigned char> half(Index n) {
  std::vector<unsigned char> mask(std::size_t(n), 0);
  for (std::size_t i = 0; i < mask.size(); i += 2) mask[i] = 1;
  return mask;
}

Dictionary waves(Index n, Index count) {
  Matrix D(n, count);
  for (Index j = 0; j < count; ++j)
    for (Index i = 0; i < n; ++i) D(i, j) = std::sin(double((i + 1) * (j + 1)) / 7);
  return {.columns = D};
}

const std::vector<Case>& cases() {
  constexpr Index kAll = 1'000'000;
  static const std::vector<Case> all{
      {"sphere", kAll, [](Index) { return sphere(); }},
      {"nonneg", kAll, [](Index) { return nonneg(); }},
      {"sparse_n/10", kAll, [](Index n) { return sparse(n / 10); }},
      {"nonneg+sparse_n/10", kAll, [](Index n) { return nonneg() + sparse(n / 10); }},
      {"onehot", kAll, [](Index) { return onehot(); }},
      {"block:100", kAll, [](Index) { return block(100); }},
      {"blocks:100:4", kAll, [](Index) { return blocks(100, 4); }},
      {"support_half", kAll, [](Index n) { return support(half(n)); }},
      {"group_of_10,n/100", kAll, [](Index n) { return group(groups_of(n, 10), n / 100); }},
      {"group_of_10,n/100,3", kAll, [](Index n) { return group(groups_of(n, 10), n / 100, 3); }},
      {"group_of_10,5+sparse:20", 100'000, [](Index n) { return group(groups_of(n, 10), 5) + sparse(20); }},
      {"tree_heap:32", kAll, [](Index n) { return tree(heap(n), 32); }},
      {"graph_path:8", 100'000, [](Index n) { return graph(path(n), 8); }},
      {"graph_grid:8", 100'000, [](Index n) { return graph(grid(n), 8); }},
      {"monotone", kAll, [](Index) { return monotone(); }},
      {"unimodal", kAll, [](Index) { return unimodal(); }},
      {"nonneg+unimodal", kAll, [](Index) { return nonneg() + unimodal(); }},
      {"convex-shape", kAll, [](Index) { return shape(Curve::convex); }},
      {"smooth:0.1", kAll, [](Index) { return smooth(0.1); }},
      {"fused:4", 100'000, [](Index) { return fused(4); }},
      {"l1ball_sqrt(n)/3", kAll, [](Index n) { return l1ball(std::sqrt(double(n)) / 3); }},
      {"lp:3", kAll, [](Index) { return lp(3); }},
      {"lp:inf", kAll, [](Index) { return lp(std::numeric_limits<double>::infinity()); }},
      {"simplex", kAll, [](Index) { return simplex(); }},
      {"box:1:2", kAll, [](Index) { return box(1, 2); }},
      {"sign", kAll, [](Index) { return signs(); }},
      {"binary", kAll, [](Index) { return binary(); }},
      {"dictionary:dct", kAll, [](Index) { return dictionary({.kind = Dictionary::Kind::dct}); }},
      {"dictionary:haar", kAll, [](Index) { return dictionary({.kind = Dictionary::Kind::haar}); }},
      {"dictionary_8_columns", kAll, [](Index n) { return dictionary(waves(n, 8)); }},
      {"span_8_columns", kAll, [](Index n) { return span(waves(n, 8)); }},
      {"sparse-in:dct:8", 100'000, [](Index) { return sparse_in({.kind = Dictionary::Kind::dct}, 8); }},
      {"half_nonneg|half_sparse", kAll,
       [](Index n) {
         return product({{0, n / 2 - 1, nonneg()}, {n / 2, -1, sparse(n / 20)}});
       }},
  };
  return all;
}

void per_entry(benchmark::State& state) {
  state.counters["per_entry"] = benchmark::Counter(
      double(state.range(0)), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

struct Inputs {
  explicit Inputs(Index n) : u(n) {
    Random random(1);
    g = random.gaussian_matrix(n, 1);
    a = Vector::NullaryExpr(n, [&](Index) { return 0.1 + random.uniform(); });
  }
  Vector g, a, u;
};

void one_pass(benchmark::State& state) {
  Inputs in(state.range(0));
  for (auto _ : state) {
    in.u = 0.5 * in.g;
    benchmark::ClobberMemory();
  }
  per_entry(state);
}

void maximize(benchmark::State& state, const Case& which) {
  Inputs in(state.range(0));
  const Atoms set = which.make(state.range(0));
  for (auto _ : state) {
    set->maximize(in.g, in.u);
    benchmark::ClobberMemory();
  }
  per_entry(state);
}

void fit(benchmark::State& state, const Case& which) {
  Inputs in(state.range(0));
  const Atoms set = which.make(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(set->fit(in.a, in.g, Sign::free, in.u));
    benchmark::ClobberMemory();
  }
  per_entry(state);
}

const bool kRegistered = [] {
  const auto sizes = [](benchmark::internal::Benchmark* benchmark, Index largest) {
    for (Index n = 1000; n <= largest; n *= 10) benchmark->Arg(n);
  };
  sizes(benchmark::RegisterBenchmark("oracles/one_pass", one_pass), 1'000'000);
  for (const Case& which : cases()) {
    sizes(benchmark::RegisterBenchmark(("oracles/maximize/" + which.name).c_str(), maximize, which),
          which.largest);
    sizes(benchmark::RegisterBenchmark(("oracles/fit/" + which.name).c_str(), fit, which), which.largest);
  }
  return true;
}();

}  // namespace
}  // namespace pursuit
