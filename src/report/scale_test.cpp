#include "report/scale.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "pursuit/base/error.hpp"

namespace pursuit::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks) out.push_back(tick.label);
  return out;
}

TEST(LinearTicks, StandAtNiceNumbers) {
  EXPECT_THAT(labels(linear_ticks({0, 1}, 6)), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(labels(linear_ticks({0, 1}, 11)).size(), 11U);
  EXPECT_THAT(labels(linear_ticks({1, 50}, 6)), ElementsAre("10", "20", "30", "40", "50"));
  EXPECT_THAT(labels(linear_ticks({-3, 7}, 5)), ElementsAre("-2", "0", "2", "4", "6"));
  EXPECT_THAT(labels(linear_ticks({-4, 7}, 5)), ElementsAre("0", "5"));
  EXPECT_THAT(labels(linear_ticks({0.1234, 0.1236}, 5)),
              ElementsAre("0.12340", "0.12345", "0.12350", "0.12355", "0.12360"));
}

TEST(LinearTicks, LargeAndSmallNumbersAreScientific) {
  EXPECT_THAT(labels(linear_ticks({0, 2e9}, 5)), ElementsAre("0", "5e8", "1e9", "1.5e9", "2e9"));
  EXPECT_THAT(labels(linear_ticks({-2e-7, 0}, 5)), ElementsAre("-2e-7", "-1.5e-7", "-1e-7", "-5e-8", "0"));
}

TEST(LinearTicks, HoldForEveryRange) {
  // From tiny to huge, around zero and far from it.
  for (int exponent = -299; exponent <= 307; exponent += 3) {
    for (const double lo : {-1.7, -0.31, 0.0, 0.97, 1.0}) {
      for (const double span : {0.0, 1e-11, 1e-5, 0.037, 0.7}) {
        const double unit = std::pow(10.0, exponent);
        const Interval range = drawable({lo * unit, (lo + span) * unit});
        ASSERT_LT(range.lo, range.hi);
        for (const int at_most : {5, 8, 11}) {
          const auto ticks = linear_ticks(range, at_most);
          const auto where = ::testing::Message()
                             << range.lo << " .. " << range.hi << ", at most " << at_most;
          ASSERT_GE(ticks.size(), 2U) << where;
          ASSERT_LE(ticks.size(), static_cast<std::size_t>(at_most)) << where;
          std::set<std::string> distinct;
          for (std::size_t i = 0; i < ticks.size(); ++i) {
            ASSERT_TRUE(range.holds(ticks[i].value)) << where;
            ASSERT_TRUE(i == 0 || ticks[i - 1].value < ticks[i].value) << where;
            ASSERT_TRUE(distinct.insert(ticks[i].label).second)
                << where << ": " << ticks[i].label << " twice";
            ASSERT_NEAR(range.position(std::stod(ticks[i].label)), range.position(ticks[i].value), 1e-3)
                << where;
          }
        }
      }
    }
  }
}

TEST(LogTicks, FollowTheLengthOfTheRange) {
  EXPECT_THAT(labels(log_ticks({0.001, 1000}, 8)),
              ElementsAre("0.001", "0.01", "0.1", "1", "10", "100", "1000"));
  EXPECT_THAT(labels(log_ticks({1e-9, 1e3}, 8)), ElementsAre("1e-8", "1e-6", "1e-4", "0.01", "1", "100"));
  EXPECT_THAT(labels(log_ticks({0.03, 2}, 8)), ElementsAre("0.05", "0.1", "0.2", "0.5", "1", "2"));
  EXPECT_THAT(labels(log_ticks({0.31, 0.42}, 8)),
              ElementsAre("0.32", "0.34", "0.36", "0.38", "0.40", "0.42"));
}

TEST(LogTicks, HoldForEveryRange) {
  for (int exponent = -280; exponent <= 290; exponent += 7) {
    for (const double factor : {1.001, 1.5, 3.0, 12.0, 700.0, 1e5, 1e9, 1e15}) {
      const Interval range{std::pow(10.0, exponent) * 1.3, std::pow(10.0, exponent) * 1.3 * factor};
      const auto ticks = log_ticks(range, 8);
      EXPECT_GE(ticks.size(), 2U) << range.lo << " .. " << range.hi;
      EXPECT_LE(ticks.size(), 8U) << range.lo << " .. " << range.hi;
      for (const Tick& tick : ticks) {
        EXPECT_TRUE(range.holds(tick.value));
        EXPECT_NEAR(std::stod(tick.label) / tick.value, 1, 1e-9);
      }
    }
  }
}

TEST(Drawable, WidensOnlyWhatHasNoLength) {
  const Interval usual = drawable({2, 3});
  EXPECT_EQ(usual.lo, 2);
  EXPECT_EQ(usual.hi, 3);
  for (const double value : {0.0, 1e-310, 5.0, -5.0, 1e308, std::numeric_limits<double>::max()}) {
    const Interval range = drawable({value, value});
    EXPECT_LT(range.lo, range.hi) << value;
    EXPECT_TRUE(range.holds(value)) << value;
    EXPECT_TRUE(std::isfinite(range.lo) && std::isfinite(range.hi)) << value;
  }
}

TEST(RangeOf, FindsTheEndsAndRefusesWhatIsNotFinite) {
  Matrix values(2, 2);
  values << 1, -2, 3, 0.5;
  const Interval range = range_of(values, "picture");
  EXPECT_EQ(range.lo, -2);
  EXPECT_EQ(range.hi, 3);
  EXPECT_THROW(range_of(Matrix(0, 3), "picture"), InvalidArgument);
  values(1, 0) = std::nan("");
  try {
    range_of(values, "picture");
    FAIL() << "NaN was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("picture holds nan at row 1, column 0"));
  }
  values(1, 0) = -std::numeric_limits<double>::infinity();
  EXPECT_THROW(range_of(values, "picture"), InvalidArgument);
}

TEST(Shade, GoesFromZeroToOne) {
  EXPECT_EQ(shade(2, {2, 4}), 0);
  EXPECT_EQ(shade(3, {2, 4}), 0.5);
  EXPECT_EQ(shade(4, {2, 4}), 1);
  EXPECT_EQ(shade(0, {0, 0}), 0);
  EXPECT_EQ(shade(7, {7, 7}), 1);
  constexpr double kLargest = std::numeric_limits<double>::max();
  EXPECT_EQ(shade(0, {-kLargest, kLargest}), 0.5);
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(shade(0, {0, kTiny}), 0);
  EXPECT_EQ(shade(kTiny, {0, kTiny}), 1);
}

}  // namespace
}  // namespace pursuit::report
