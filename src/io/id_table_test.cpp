#include "pursuit/io/id_table.hpp"

#include <map>

#include "io/test_support.hpp"

namespace pursuit {
namespace {

using testing::ElementsAre;

TEST(IdTable, NumbersIdsByFirstAppearance) {
  IdTable table;
  EXPECT_EQ(table.find("b"), -1);
  EXPECT_EQ(table.add("b"), 0);
  EXPECT_EQ(table.add("7"), 1);
  EXPECT_EQ(table.add("b"), 0);
  EXPECT_EQ(table.find("7"), 1);
  EXPECT_EQ(table.size(), 2);
  EXPECT_THAT(table.names(), ElementsAre("b", "7"));
}

TEST(IdTable, TellsTextsApartThatAreTheSameNumber) {
  IdTable table;
  const std::vector<std::string> ids = {
      "7",       "007",     "07",      "7.0", "+7", "-7",      "0",   "00",       "",
      "4194303", "4194304", "9999999", "70",  " 7", "0000007", "7e0", "10000000", "70000000000000000000"};
  for (const std::string& id : ids) table.add(id);
  EXPECT_EQ(table.names(), ids);
  for (std::size_t k = 0; k < ids.size(); ++k) EXPECT_EQ(table.find(ids[k]), static_cast<int>(k)) << ids[k];
}

TEST(IdTable, IsRebuiltFromItsNames) {
  const std::vector<std::string> names = {"12", "x", "3"};
  EXPECT_EQ(IdTable(names).names(), names);
  EXPECT_EQ(IdTable(names).find("3"), 2);
  EXPECT_THAT(io::message_of<InvalidInput>([] { IdTable({"a", "5", "a"}); }), testing::HasSubstr("'a'"));
}

RC_GTEST_PROP(IdTable, AgreesWithAMap, ()) {
  // Few different characters, so that ids repeat and numbers with leading zeros come up.
  const auto id = rc::gen::container<std::string>(rc::gen::element('0', '1', '7', 'a'));
  const auto ids = *rc::gen::container<std::vector<std::string>>(id);
  IdTable table;
  std::map<std::string, int> expected;
  for (const std::string& text : ids) {
    const int next = static_cast<int>(expected.size());
    RC_ASSERT(table.find(text) == (expected.contains(text) ? expected.at(text) : -1));
    RC_ASSERT(table.add(text) == expected.emplace(text, next).first->second);
  }
  for (const auto& [text, index] : expected) {
    RC_ASSERT(table.find(text) == index);
    RC_ASSERT(table.name(index) == text);
  }
}

TEST(IdTable, GrowsFarBeyondItsFirstSize) {
  IdTable table;
  for (int k = 0; k < 10000; ++k) {
    ASSERT_EQ(table.add("user" + std::to_string(k)), 2 * k);
    ASSERT_EQ(table.add(std::to_string(17 * k)), 2 * k + 1);
  }
  for (int k = 0; k < 10000; ++k) {
    ASSERT_EQ(table.find("user" + std::to_string(k)), 2 * k);
    ASSERT_EQ(table.find(std::to_string(17 * k)), 2 * k + 1);
  }
  EXPECT_EQ(table.find("user10000"), -1);
  EXPECT_EQ(table.find("16"), -1);
}

}  // namespace
}  // namespace pursuit
