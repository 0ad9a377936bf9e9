// After a first call the oracles take no memory from the heap: they are asked thousands of times in a run. An
// executable of its own, because it counts every malloc of the process.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "pursuit/atoms/structures.hpp"

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
}

namespace {
std::atomic<long> allocations{0};
}

extern "C" void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
extern "C" void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
extern "C" void* realloc(void* memory, std::size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}

namespace pursuit {
namespace {

constexpr Index kEntries = 120;

Groups tens() {
  Groups groups;
  for (Index i = 0; i < kEntries; ++i) groups.group_of.push_back(i / 10);
  return groups;
}

Tree heap() {
  Tree tree;
  for (Index i = 0; i < kEntries; ++i) tree.parent.push_back(i == 0 ? -1 : (i - 1) / 2);
  return tree;
}

std::vector<unsigned char> mask() {
  std::vector<unsigned char> marks(kEntries, 1);
  for (std::size_t i = 0; i < marks.size(); i += 3) marks[i] = 0;
  return marks;
}

Dictionary columns() {
  Matrix D(kEntries, 5);
  for (Index j = 0; j < 5; ++j)
    for (Index i = 0; i < kEntries; ++i) D(i, j) = std::sin(double((i + 1) * (j + 1)));
  return {.columns = D};
}

/// Graphs, combinations of columns and spans under unequal curvatures build tables for every question, and
/// are not here.
std::vector<std::pair<std::string, Atoms>> sets() {
  std::vector<std::pair<std::string, Atoms>> all;
  for (const Atoms& set : {sphere(),
                           nonneg(),
                           sparse(12),
                           sparse(kEntries),
                           nonneg() + sparse(12),
                           sparse_fraction(0.1),
                           onehot(),
                           block(7),
                           blocks(7, 3),
                           nonneg() + blocks(7, 3),
                           support(mask()),
                           support(mask()) + sparse(9),
                           group(tens(), 3),
                           group(tens(), 3, 2),
                           group(tens(), 3) + sparse(12),
                           tree(heap(), 9),
                           monotone(),
                           nonneg() + monotone(Direction::up),
                           unimodal(),
                           nonneg() + unimodal(),
                           shape(Curve::convex),
                           shape(Curve::concave),
                           smooth(0.1),
                           fused(4),
                           nonneg() + fused(4),
                           l1ball(3),
                           nonneg() + l1ball(3),
                           lp(1),
                           lp(3),
                           nonneg() + lp(3),
                           simplex(),
                           box(1, 2),
                           box(-1, 1),
                           signs(),
                           binary(),
                           support(mask()) + binary(),
                           dictionary({.kind = Dictionary::Kind::haar}),
                           dictionary(columns()),
                           product({{0, 59, nonneg()}, {60, -1, nonneg() + sparse(9)}})})
    all.emplace_back(set->spec(), set);
  return all;
}

/// Allocations of a question that has been asked before.
template <class Question>
long allocations_of(const Question& question) {
  for (int repeat = 0; repeat < 3; ++repeat) question();
  const long before = allocations;
  question();
  return allocations - before;
}

TEST(Oracles, TakeNoMemoryAfterTheFirstCall) {
  Vector g(kEntries), negative(kEntries), a(kEntries), u(kEntries);
  for (Index i = 0; i < kEntries; ++i) {
    g[i] = std::sin(double(7 * i + 1));
    negative[i] = -std::abs(g[i]);
    a[i] = 1.5 + std::cos(double(i));
  }
  for (const auto& [spec, set] : sets()) {
    const AtomSet& asked = *set;
    EXPECT_EQ(allocations_of([&] { asked.maximize(g, u); }), 0) << "maximize of " << spec;
    EXPECT_EQ(allocations_of([&] { asked.maximize(negative, u); }), 0) << "maximize below zero of " << spec;
    for (const Sign sign : {Sign::free, Sign::nonnegative}) {
      EXPECT_EQ(allocations_of([&] { asked.fit(a, g, sign, u); }), 0) << "fit of " << spec;
      EXPECT_EQ(allocations_of([&] { asked.fit(0.5, g, sign, u); }), 0)
          << "fit with one curvature of " << spec;
    }
  }
}

TEST(Oracles, AreSeenWhenTheyTakeMemory) {
  std::vector<int>* kept = nullptr;
  EXPECT_GT(allocations_of([&] {
              delete kept;
              kept = new std::vector<int>(100);
            }),
            0);
  delete kept;
}

}  // namespace
}  // namespace pursuit
