#include "data/list_edits.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

TEST(ListEdits, WhatIsTakenOutAndPutBackIsWhereItWas) {
  Random random(3);
  for (const std::size_t size : {1, 2, 100, 70000})
    for (const double share : {0.0, 0.01, 0.6, 1.0}) {
      std::vector<int> list(size);
      std::iota(list.begin(), list.end(), 0);
      std::vector<std::int64_t> places, behind;
      std::vector<int> taken, rest;
      for (const int x : list) {
        if (share == 1 || random.uniform() < share) {
          places.push_back(x);
          behind.push_back(std::int64_t(rest.size()));
          taken.push_back(x);
        } else {
          rest.push_back(x);
        }
      }
      for (const int threads : {1, 3}) {
        std::vector<int> edited = list;
        erase_at(edited, places, threads);
        EXPECT_EQ(edited, rest) << size << ", share " << share;
        insert_at(edited, behind, std::span<const int>(taken), threads);
        EXPECT_EQ(edited, list) << size << ", share " << share;
      }
    }
}

}  // namespace
}  // namespace pursuit
