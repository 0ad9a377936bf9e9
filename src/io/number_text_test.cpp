#include "io/number_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double number(std::string_view text) {
  double value = -12345;
  EXPECT_TRUE(parse_whole_number(text, value)) << text;
  return value;
}

TEST(NumberText, ReadsTheUsualForms) {
  EXPECT_EQ(number("1"), 1);
  EXPECT_EQ(number("+1"), 1);
  EXPECT_EQ(number("-.5"), -0.5);
  EXPECT_EQ(number("5."), 5);
  EXPECT_EQ(number("1e3"), 1000);
  EXPECT_EQ(number("1E+3"), 1000);
  EXPECT_TRUE(std::isnan(number("nan")));
  EXPECT_EQ(number("-inf"), -kInfinity);
}

TEST(NumberText, RefusesWhatIsNoNumber) {
  double value = 0;
  for (const char* text : {"", "+", "-", "+-1", "++1", "1x", "0x10", "1e", "1,5", " 1", "1 ", "abc", "."}) {
    EXPECT_FALSE(parse_whole_number(text, value)) << text;
  }
}

TEST(NumberText, NumbersBeyondTheRangeBecomeZeroOrInfinite) {
  EXPECT_EQ(number("1e-400"), 0);
  EXPECT_TRUE(std::signbit(number("-1e-400")));
  EXPECT_EQ(number("1e400"), kInfinity);
  EXPECT_EQ(number("-2e308"), -kInfinity);
  EXPECT_EQ(number("1e99999999999999999999"), kInfinity);
  EXPECT_EQ(number("1e-99999999999999999999"), 0);
  EXPECT_EQ(number(std::string(400, '9')), kInfinity);
  EXPECT_EQ(number("0." + std::string(400, '0') + "1"), 0);
  EXPECT_EQ(number(std::string(400, '9') + "e-5"), kInfinity);  // the exponent's sign alone decides nothing
  EXPECT_EQ(number("0." + std::string(400, '0') + "1e+5"), 0);
}

RC_GTEST_PROP(NumberText, WrittenDoublesReadBackEqual, ()) {
  const double value = *any_finite<double>();
  std::string text;
  append_number(text, value);
  double back = 0;
  RC_ASSERT(parse_whole_number(text, back));
  RC_ASSERT(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value));
}

RC_GTEST_PROP(NumberText, WrittenFloatsReadBackEqualAsFloats, ()) {
  const float value = *any_finite<float>();
  std::string text;
  append_number(text, value);
  double back = 0;
  RC_ASSERT(parse_whole_number(text, back));
  RC_ASSERT(static_cast<float>(back) == value);
}

}  // namespace
}  // namespace pursuit::io
