#include "report/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pursuit::report {
namespace {

TEST(Text, PrintableKeepsValidUtf8) {
  const std::string text = "Zürich – 行列 𝄞 a+b";
  EXPECT_EQ(printable(text), text);
}

TEST(Text, PrintableReplacesControlCharacters) {
  EXPECT_EQ(printable("a\nb\tc\x1b[2Jd\x7f"), "a b c [2Jd ");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "b"),
            "a b")
      << "U+009B starts an escape sequence in some terminals";
}

TEST(Text, PrintableReplacesWhatIsNotUtf8) {
  EXPECT_EQ(printable("caf\xE9"), "caf?") << "Latin-1";
  EXPECT_EQ(printable("\xE2\x82"), "??") << "cut short";
  EXPECT_EQ(printable("\xC0\xAF"), "??") << "overlong, two bytes";
  EXPECT_EQ(printable("\xE0\x80\xAF"), "???") << "overlong, three bytes";
  EXPECT_EQ(printable("\xF0\x80\x80\xAF"), "????") << "overlong, four bytes";
  EXPECT_EQ(printable("\xED\xA0\x80"), "???") << "surrogate";
  EXPECT_EQ(printable("\xEF\xBF\xBF"), "???") << "U+FFFF";
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "????") << "above U+10FFFF";
  EXPECT_EQ(printable("\xFF"), "?");
}

TEST(Text, LengthCountsCharacters) {
  EXPECT_EQ(length(""), 0U);
  EXPECT_EQ(length("abc"), 3U);
  EXPECT_EQ(length("é█𝄞"), 3U);
}

TEST(Text, ClippedCutsBetweenCharacters) {
  EXPECT_EQ(clipped("short", 5), "short");
  EXPECT_EQ(clipped("longer than that", 9), "longer...");
  EXPECT_EQ(clipped("éééééé", 5), "éé...");
  EXPECT_EQ(clipped("abcdef", 3), "abc");
  EXPECT_EQ(clipped("ééé", 1), "é");
  EXPECT_EQ(clipped("abc", 0), "");
}

TEST(Text, ClippedInsideKeepsBothEnds) {
  EXPECT_EQ(clipped_inside("short", 5), "short");
  EXPECT_EQ(clipped_inside("ENSG00000141510", 9), "ENS...510");
  EXPECT_EQ(clipped_inside("éééééüüüüü", 8), "ééé...üü");
  EXPECT_EQ(clipped_inside("abcdef", 3), "abc") << "no room to say that something is left out";
}

TEST(Text, XmlEscapedLeavesNoMarkup) {
  EXPECT_EQ(xml_escaped(R"(a<b> & "c" 'd')"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(xml_escaped("\x01\xFF"), " ?");
}

}  // namespace
}  // namespace pursuit::report
