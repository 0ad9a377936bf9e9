#include "pursuit/io/ratings_file.hpp"

#include <limits>
#include <random>

#include "io/byte_source.hpp"
#include "io/number_text.hpp"
#include "io/ratings_test_support.hpp"

namespace pursuit {
namespace {

using io::by_id;
using io::gzip;
using io::kLast;
using io::message_of;
using io::RatingsById;
using io::read_content;
using io::refusal;
using io::ScratchDirectory;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const RatingsById kExpected = {{{"196", "242"}, 3.0F}, {{"186", "302"}, 3.5F}, {{"196", "377"}, 0.5F}};

const RatingsOptions kClicks = {.duplicates = RatingsOptions::Duplicates::sum, .clicks = true};

TEST(ReadClicks, NeedNoValuesAndMayComeAgain) {
  const RatingsById once = {{{"u1", "i1"}, 2.0F}, {{"u1", "i2"}, 1.0F}, {{"u2", "i1"}, 1.0F}};
  const std::string layouts[] = {
      "u1,i1\nu1,i2\nu2,i1\nu1,i1\n",
      "u1\ti1\nu1\ti2\nu2\ti1\nu1\ti1\n",
      "u1 i1\n\nu2  i1\nu1 i2\nu1 i1\n",
      "user_id,Song\nu1,i1\nu1,i2\nu2,i1\nu1,i1\n",
      "user;item;timestamp\nu1;i1;1\nu1;i2;2\nu2;i1;3\nu1;i1;4\n",
      "listener,song,plays\nu1,i1,2\nu1,i2,1\nu2,i1,1\n",
      "u1,i1,2,5\nu1,i2,1,6\nu2,i1,1,7\n",
      "date,plays,user,item\n1,2,u1,i1\n3,1,u1,i2\n4,1,u2,i1\n",
      "session,user,item,plays\ns,u1,i1,2\nt,u1,i2,1\ns,u2,i1,1\n",
  };
  for (const std::string& text : layouts) {
    EXPECT_EQ(by_id(read_content(text, kClicks)), once) << text;
    EXPECT_EQ(by_id(read_content(gzip(text), kClicks)), once) << "packed: " << text;
  }
  RatingsOptions chosen = kClicks;
  for (const std::vector<std::string>& columns : {std::vector<std::string>{"user", "item"}, {"3", "2"}}) {
    chosen.columns = columns;
    EXPECT_EQ(by_id(read_content("timestamp,item,user\n1,i1,u1\n2,i2,u1\n3,i1,u2\n4,i1,u1\n", chosen)), once);
  }
  chosen.columns = {"user", "item", "", "timestamp"};
  chosen.times = true;
  const Ratings timed = read_content(layouts[4], chosen);
  EXPECT_EQ(by_id(timed), once);
  EXPECT_THAT(timed.time, testing::UnorderedElementsAre(4, 2, 3)) << "the last time of each";
  RatingsOptions last = kClicks;
  last.duplicates = RatingsOptions::Duplicates::last;
  EXPECT_EQ(by_id(read_content(layouts[0], last)).at({"u1", "i1"}), 1.0F);
}

TEST(ReadClicks, AreRefusedWhereNobodyAskedForThem) {
  EXPECT_THAT(refusal("u1,i1\nu1,i2\n"), AllOf(StartsWith("line 1: "), HasSubstr("--implicit")));
  const auto problem = [](std::string_view content, const RatingsOptions& options) {
    return message_of<InvalidInput>([&] { read_content(content, options); });
  };
  EXPECT_THAT(problem("user,item,rating\nu1,i1,3\n", {.columns = {"user", "item"}}),
              HasSubstr("needed are three"));
  EXPECT_THAT(problem("u1\nu2\n", kClicks), HasSubstr("needed are row and column"));
  EXPECT_THAT(problem("u1,i1\nu2\n", kClicks), HasSubstr("line 2"));
  EXPECT_THAT(problem("u1,i1,2\nu2,i1,x\n", kClicks), HasSubstr("'x' is not a number"));
  EXPECT_THAT(problem("u1,i1,3e38\nu1,i1,3e38\n", kClicks), HasSubstr("add up to more"));
  RatingsOptions refusing = kClicks;
  refusing.duplicates = RatingsOptions::Duplicates::refuse;
  EXPECT_THAT(problem("u1,i1\nu1,i1\n", refusing), HasSubstr("already given on line 1"));
}

TEST(ReadRatings, KnowsEveryLayoutOfText) {
  const std::string layouts[] = {
      "196\t242\t3\t881250949\n186\t302\t3.5\t891717742\n196\t377\t.5\t878887116\n",
      "196::242::3::881250949\n186::302::3.5::891717742\n196::377::0.5::878887116\n",
      "userId,movieId,rating,timestamp\n196,242,3.0,1\n186,302,3.5,2\n196,377,0.5,3\n",
      "user;item;rating\n196;242;3\n186;302;3.5\n196;377;5e-1\n",
      "196 242 3\n186  302 3.5\n  196 \t377 +0.5 \n",
      "\"userId\",\"movieId\",\"rating\"\n\"196\",\"242\",3\n186,302,\"3.5\"\n 196 , \"377\" , 0.5\n",
      "# row col value\n196 242 3\n186 302 3.5\n196 377 0.50000000000000000\n",
  };
  for (const std::string& text : layouts) {
    EXPECT_EQ(by_id(read_content(text)), kExpected) << text;
    EXPECT_EQ(by_id(read_content(gzip(text))), kExpected) << "packed: " << text;
  }
}

TEST(ReadRatings, TimesAreReadWhereTheyAreAskedFor) {
  const RatingsOptions with_times{.times = true};
  EXPECT_THAT(read_content("196\t242\t3\t881250949\n186\t302\t3.5\t-1.5\n", with_times).time,
              ElementsAre(881250949.0, -1.5));
  const Ratings named = read_content(
      "date,item,rating,user\n1970-01-02,7,3,1\n2005-01-31 12:30:59,8,4,2\n"
      "1970-01-01T00:01,9,5,2\n",
      with_times);
  EXPECT_THAT(named.time, ElementsAre(86400.0, 1107174659.0, 60.0));
  EXPECT_EQ(by_id(named).at({"2", "8"}), 4);
  EXPECT_THAT(read_content("a,b,9,3\na,c,8,4\n", {.columns = {"1", "2", "4", "3"}, .times = true}).time,
              ElementsAre(9.0, 8.0));
  EXPECT_TRUE(read_content("a,b,9,3\na,c,8,4\n", {.columns = {"1", "2", "4", "3"}}).time.empty());
  EXPECT_THAT(read_content("a,b,1,5\na,c,2,6\na,b,3,7\n",
                           {.duplicates = RatingsOptions::Duplicates::last, .times = true})
                  .time,
              ElementsAre(7.0, 6.0));
  for (const auto& [text, word] : {std::pair("1,2,3\n", "fourth column"),
                                   {"user,item,rating,note\n1,2,3,4\n", "--columns"},
                                   {"1,2,3,yesterday\n", "yesterday"},
                                   {"1,2,3,2005-02-30\n", "2005-02-30"},
                                   {"1,2,3,\n", "time"},
                                   {"1,2,3,nan\n", "nan"}})
    EXPECT_THAT(message_of<InvalidInput>([&, content = text] { read_content(content, with_times); }),
                HasSubstr(word))
        << text;
}

TEST(ReadRatings, TakesLinesAsEditorsLeaveThem) {
  for (const std::string text : {"196,242,3\n186,302,3.5\n196,377,.5",
                                 "\xEF\xBB\xBF"
                                 "196,242,3\r\n186,302,3.5\r\n196,377,.5\r\n",
                                 "\n196,242,3\n\n186,302,3.5\n196,377,.5\n\n  \n\r\n",
                                 "196,242,3\n186,302,3.5,,\n196,377,.5,x,y,z\n"}) {
    EXPECT_EQ(by_id(read_content(text)), kExpected) << text;
  }
}

TEST(ReadRatings, TakesAnyTextForAnId) {
  const Ratings ratings =
      read_content("007,\"a \"\"b\"\", c\",1\n7,\xC3\xA9,2\nNew York,007,3\nna:me,x y,0\n");
  EXPECT_THAT(ratings.rows.names(), ElementsAre("007", "7", "New York", "na:me"));
  EXPECT_THAT(ratings.cols.names(), ElementsAre("a \"b\", c", "\xC3\xA9", "007", "x y"));
  EXPECT_EQ(by_id(ratings).at({"na:me", "x y"}), 0) << "a zero is an observation";
  EXPECT_EQ(ratings.entries.rows, 4);
  EXPECT_EQ(ratings.entries.cols, 4);
}

TEST(ReadRatings, AFirstLineWithNumbersIsNoHeader) {
  EXPECT_EQ(by_id(read_content("alice,matrix,4\n")), (RatingsById{{{"alice", "matrix"}, 4.0F}}));
  EXPECT_THAT(refusal("1,2,good\n1,3,4\n"), AllOf(StartsWith("line 1: "), HasSubstr("'good'")));
}

TEST(ReadRatings, KnownIdsKeepTheirIndices) {
  const IdTable rows({"b", "unseen", "a"}), cols({"7"});
  const Ratings ratings = read_content("a,x,1\nnew,7,2\nb,x,3\n", {}, &rows, &cols);
  EXPECT_THAT(ratings.rows.names(), ElementsAre("b", "unseen", "a", "new"));
  EXPECT_THAT(ratings.cols.names(), ElementsAre("7", "x"));
  EXPECT_THAT(ratings.entries.row, ElementsAre(2, 3, 0));
  EXPECT_THAT(ratings.entries.col, ElementsAre(1, 0, 1));
  EXPECT_EQ(ratings.entries.rows, 4);
}

TEST(ReadRatings, TakesTheLastOfDuplicatesByTheOrderOfTheFile) {
  const std::string text = "a,x,1\nb,x,2\na,y,3\na,x,4\nb,y,5\na,x,0\n";
  const RatingsById expected = {
      {{"a", "x"}, 0.0F}, {{"b", "x"}, 2.0F}, {{"a", "y"}, 3.0F}, {{"b", "y"}, 5.0F}};
  EXPECT_EQ(by_id(read_content(text, kLast)), expected);
}

RC_GTEST_PROP(ReadRatings, AgreesWithAMapThatTakesTheLast, ()) {
  const auto entries = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 6), rc::gen::inRange(0, 6), rc::gen::inRange(-4, 11)));
  RC_PRE(!entries.empty());
  const std::string separator = *rc::gen::element<std::string>("::", ",", ";", "\t", " ");
  std::string text;
  RatingsById expected;
  for (const auto& [row, col, halves] : entries) {
    const std::string i = "u" + std::to_string(row), j = std::to_string(col);
    text += i + separator + j + separator;
    io::append_number(text, halves / 2.0);
    text += separator + "99\n";
    expected[{i, j}] = static_cast<float>(halves) / 2;
  }
  RC_ASSERT(by_id(read_content(text, kLast)) == expected);
  if (expected.size() == entries.size()) {
    RC_ASSERT(by_id(read_content(text)) == expected);
  } else {
    RC_ASSERT_THROWS_AS(read_content(text), InvalidInput);
  }
}

RC_GTEST_PROP(ReadRatings, ReadsEveryFloatAsItWasWritten, ()) {
  const auto value = *io::any_finite<float>();
  std::string text = "1,2,";
  io::append_number(text, value);
  const Ratings ratings = read_content(text);
  RC_ASSERT(std::bit_cast<std::uint32_t>(ratings.entries.value[0]) == std::bit_cast<std::uint32_t>(value));
}

TEST(ReadRatings, ReadsShortDecimalsLikeTheGeneralParser) {
  std::string text;
  std::vector<float> expected;
  for (const char* number : {"0", "4", "3.5", ".5", "5.", "0.1", "0.3333333", "99999999", "1.000001",
                             "00012.50", "123456789", "0.123456789", "1e1", "-2.25", "+7"}) {
    double value = 0;
    ASSERT_TRUE(io::parse_whole_number(number, value)) << number;
    expected.push_back(static_cast<float>(value));
    text += std::to_string(expected.size()) + " 1 " + number + "\n";
  }
  EXPECT_EQ(read_content(text).entries.value, expected);
}

TEST(ReadRatings, ReadsFilesOfManyBlocks) {
  // Lines of all lengths, so that blocks end anywhere in them.
  std::mt19937 random(5);
  std::string text;
  std::vector<std::string> expected;
  while (text.size() < (std::size_t{5} << 19)) {
    expected.push_back(std::to_string(expected.size()) + std::string(random() % 60, 'x'));
    text += expected.back() + "::1::" + std::to_string(expected.size() % 10) + "::0\n";
  }
  for (const std::string& content : {text, gzip(text), gzip(text.substr(0, 777)) + gzip(text.substr(777))}) {
    const Ratings ratings = read_content(content);
    ASSERT_EQ(ratings.rows.names(), expected);
    for (std::size_t k = 0; k < expected.size(); ++k)
      ASSERT_EQ(ratings.entries.value[k], static_cast<float>((k + 1) % 10));
  }
  EXPECT_THAT(refusal(text + "oops\n"), StartsWith("line " + std::to_string(expected.size() + 1) + ": "));
}

TEST(RatingsRefusal, NamesTheFileAndTheLineOf) {
  const auto third = [](const std::string& line) { return refusal("1,2,3\n\n" + line + "\n1,9,4\n"); };
  EXPECT_THAT(third("1,3"), AllOf(StartsWith("line 3: "), HasSubstr("2 fields"), HasSubstr("'1,3'"),
                                  HasSubstr("row, column and value")));
  EXPECT_THAT(third("1,3,good"), AllOf(StartsWith("line 3: "), HasSubstr("'good' is not a number")));
  EXPECT_THAT(third("1,3,4stars"), AllOf(StartsWith("line 3: "), HasSubstr("'4stars'")));
  EXPECT_THAT(third("1,3,"), AllOf(StartsWith("line 3: "), HasSubstr("value is missing")));
  EXPECT_THAT(third("1,3,."), AllOf(StartsWith("line 3: "), HasSubstr("'.' is not a number")));
  EXPECT_THAT(third("1,3,nan"), AllOf(StartsWith("line 3: "), HasSubstr("'nan' is not a finite number")));
  EXPECT_THAT(third("1,3,-inf"), AllOf(StartsWith("line 3: "), HasSubstr("'-inf' is not a finite number")));
  EXPECT_THAT(third("1,3,1e39"), AllOf(StartsWith("line 3: "), HasSubstr("'1e39' is too large")));
  EXPECT_THAT(third("1,3,1e999"), AllOf(StartsWith("line 3: "), HasSubstr("'1e999'")));
  EXPECT_THAT(third(",3,1"), AllOf(StartsWith("line 3: "), HasSubstr("id of the row is empty")));
  EXPECT_THAT(third("1, ,1"), AllOf(StartsWith("line 3: "), HasSubstr("id of the column is empty")));
  EXPECT_THAT(third("\xFF,3,1"), AllOf(StartsWith("line 3: "), HasSubstr("not UTF-8")));
  EXPECT_THAT(third("1::3::4"),
              AllOf(StartsWith("line 3: "), HasSubstr("by '::'"), HasSubstr("on line 1 by ','")));
  EXPECT_THAT(third("\"1,3,4"), AllOf(StartsWith("line 3: "), HasSubstr("not closed")));
  EXPECT_THAT(third("\"1\"x,3,4"), AllOf(StartsWith("line 3: "), HasSubstr("closing quote")));
  EXPECT_THAT(refusal("1;2;3\n1;3;4,5\n"), AllOf(StartsWith("line 2: "), HasSubstr("decimal comma")));
}

TEST(RatingsRefusal, NamesBothLinesOfADuplicate) {
  EXPECT_THAT(refusal("row,col,value\n1,7,3\n2,7,4\n\n2,8,1\n1,7,3\n"),
              AllOf(StartsWith("line 6: "), HasSubstr("row '1', column '7'"), HasSubstr("line 2"),
                    HasSubstr("--duplicates last")));
  EXPECT_THAT(refusal("9 1 1\n8 1 1\n8 1 1\n"), AllOf(StartsWith("line 3: "), HasSubstr("on line 2;")));
}

TEST(RatingsRefusal, ForFilesThatAreNoRatings) {
  EXPECT_THAT(refusal(""), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal(gzip("")), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal("\n \n\r\n"), HasSubstr("only blank lines"));
  EXPECT_THAT(refusal("userId,movieId,rating\n"), HasSubstr("header line"));
  EXPECT_THAT(refusal("1,2\n3,4\n"), AllOf(StartsWith("line 1: "), HasSubstr("2 fields")));
  EXPECT_THAT(refusal(std::string("1,2,3\n4,5,\0\n", 12)), HasSubstr("byte 10 is zero"));
  EXPECT_THAT(refusal("\xFF\xFE\x31"), HasSubstr("UTF-16"));
  EXPECT_THAT(refusal(gzip(gzip("1,2,3\n"))), HasSubstr("packed with gzip twice"));
  EXPECT_THAT(refusal("1,2,3\n" + std::string(std::size_t{3} << 20, 'x')),
              AllOf(StartsWith("line 2: "), HasSubstr("longer than 256 KiB")));
}

TEST(RatingsRefusal, ForDamagedGzip) {
  std::string packed = gzip("1,2,3\n4,5,2\n");
  EXPECT_THAT(refusal(packed.substr(0, packed.size() - 6)), HasSubstr("truncated gzip data"));
  packed[packed.size() - 6] ^= 1;  // in the checksum
  EXPECT_THAT(refusal(packed), HasSubstr("corrupt gzip data"));
}

TEST(RatingsRefusal, ForWhatCannotBeOpened) {
  const ScratchDirectory scratch;
  const auto problem = [](const std::filesystem::path& path) {
    return message_of<InvalidInput>([&] { read_ratings(path); });
  };
  EXPECT_THAT(problem(scratch / "none"), AllOf(HasSubstr("none"), HasSubstr("No such file")));
  EXPECT_THAT(problem(scratch.path()), HasSubstr("Is a directory"));
}

TEST(ReadPairs, KeepsTheFirstTwoFieldsAsText) {
  const ScratchDirectory scratch;
  const auto read = [&](const std::string& text) { return read_pairs(scratch.with("p", text)); };
  const IdPairs pairs = read("007,x,5,6\n7,\"a,b\"\r\n\n7,x");
  EXPECT_THAT(pairs.row, ElementsAre("007", "7", "7"));
  EXPECT_THAT(pairs.col, ElementsAre("x", "a,b", "x"));
  EXPECT_THAT(read("userId::movieId\n1::2\n3::4\n").row, ElementsAre("1", "3"))
      << "the header is passed over";
  EXPECT_THAT(read("a b\nc d\n").row, ElementsAre("a", "c"));
  EXPECT_THAT(read(gzip("1\t2\n")).col, ElementsAre("2"));
}

TEST(ReadPairs, NamesTheLineOfABadPair) {
  const ScratchDirectory scratch;
  const auto problem = [&](const std::string& text) {
    return message_of<InvalidInput>([&] { read_pairs(scratch.with("p", text)); });
  };
  EXPECT_THAT(problem("1,2\n3\n"), AllOf(HasSubstr("line 2: "), HasSubstr("1 field;")));
  EXPECT_THAT(problem("1,2\n,3\n"), AllOf(HasSubstr("line 2: "), HasSubstr("id of the row is empty")));
  EXPECT_THAT(problem(""), HasSubstr("empty"));
  EXPECT_THAT(problem("%%MatrixMarket matrix\n1 2\n"), HasSubstr("this is a matrix"));
}

}  // namespace
}  // namespace pursuit
