#include "base/fresh_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

namespace pursuit {
namespace {

TEST(FreshPages, AListThatGrowsKeepsItsNumbersAndGoesOnWithZeros) {
  for (const int threads : {1, 2, 3, 16})
    for (const std::size_t step : {std::size_t{1}, std::size_t{12345}, (std::size_t{5} << 20) + 3}) {
      std::vector<int> list = {3, 1, 4};
      resize_on(threads, list, 3 + step, 3 + 2 * step);
      ASSERT_EQ(list.size(), 3 + step);
      EXPECT_GE(list.capacity(), 3 + 2 * step);
      EXPECT_EQ(std::vector<int>(list.begin(), list.begin() + 3), (std::vector<int>{3, 1, 4}));
      EXPECT_TRUE(std::all_of(list.begin() + 3, list.end(), [](int x) { return x == 0; }));
      std::iota(list.begin(), list.end(), 1);
      resize_on(threads, list, 3 + 3 * step);  // moves
      for (std::size_t k = 0; k < list.size(); k += 1 + step / 7)
        ASSERT_EQ(list[k], k < 3 + step ? int(k) + 1 : 0) << k;
      resize_on(threads, list, 2);
      EXPECT_EQ(list, (std::vector<int>{1, 2}));
    }
}

TEST(FreshPages, PagesOfAnyMemoryMayBeAskedFor) {
  std::vector<char> memory((std::size_t{9} << 20) + 5, 'x');
  prefer_large_pages(memory.data() + 1, memory.size() - 2);
  prefer_large_pages(nullptr, 0);
  make_pages(memory.data(), 0, 4);
  EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), [](char c) { return c == 'x'; }));
}

TEST(FreshPages, RoomOfAnySizeIsOnALineOfTheCacheAndHoldsWhatIsWritten) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{1} << 18,
                                 (std::size_t{1} << 19) + 7}) {
    Room<double> room(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(room.data()) % 64, 0u);
    std::iota(room.data(), room.data() + size, 0.0);
    for (std::size_t k = 0; k < size; k += 1 + size / 7) EXPECT_EQ(room.data()[k], double(k));
  }
}

}  // namespace
}  // namespace pursuit
