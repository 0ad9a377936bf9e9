#include "io/utf8.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "io/defect.hpp"

namespace pursuit::io {
namespace {

TEST(Utf8, RefusesWhatIsNotWellFormed) {
  EXPECT_FALSE(decode_utf8("\x80"));              // a continuation on its own
  EXPECT_FALSE(decode_utf8("\xC3"));              // cut short
  EXPECT_FALSE(decode_utf8("\xC3("));             // no continuation
  EXPECT_FALSE(decode_utf8("\xC0\xAF"));          // overlong
  EXPECT_FALSE(decode_utf8("\xE0\x80\xAF"));      // overlong
  EXPECT_FALSE(decode_utf8("\xED\xA0\x80"));      // a surrogate
  EXPECT_FALSE(decode_utf8("\xF4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_FALSE(decode_utf8("\xFF"));
}

RC_GTEST_PROP(Utf8, EveryCodePointComesBack, ()) {
  const auto codes = *rc::gen::container<std::u32string>(
      rc::gen::suchThat(rc::gen::cast<char32_t>(rc::gen::inRange(0u, 0x110000u)), is_code_point));
  std::string text;
  for (const char32_t code : codes) append_utf8(text, code);
  RC_ASSERT(decode_utf8(text) == codes);
}

TEST(ShownValue, IsQuotedCutShortAndPrintable) {
  EXPECT_EQ(shown("abc"), "'abc'");
  EXPECT_EQ(shown("a\nb"), "'a\\x0ab'");
  EXPECT_EQ(shown("caf\xC3\xA9"), "'caf\xC3\xA9'");
  EXPECT_EQ(shown("caf\xE9"), "'caf\\xe9'");
  EXPECT_EQ(shown(std::string(100, 'x')), "'" + std::string(40, 'x') + "...'");
  EXPECT_EQ(shown(std::string(39, 'x') + "\xC3\xA9 and more"), "'" + std::string(39, 'x') + "...'");
}

}  // namespace
}  // namespace pursuit::io
