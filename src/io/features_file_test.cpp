#include "pursuit/io/features_file.hpp"

#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Read {
  FeatureFile file;
  IdTable members;
};

Read read(const std::string& text) {
  const ScratchDirectory scratch;
  Read result;
  result.members = IdTable({"1", "2", "u3"});
  result.file = read_features(scratch.with("f.csv", text), result.members);
  return result;
}

std::string refused_features(const std::string& text) {
  return message_of<InvalidInput>([&] { read(text); });
}

/// (member, feature, value), by name.
std::vector<std::string> entries(const Read& read) {
  std::vector<std::string> result;
  const FeatureTable& t = read.file.table;
  for (std::size_t e = 0; e < t.value.size(); ++e)
    result.push_back(fmt::format("{} {} {}", read.members.name(t.row[e]),
                                 read.file.names[std::size_t(t.col[e])], t.value[e]));
  return result;
}

TEST(FeaturesFile, AHeaderMakesATableWhateverTheIdsLookLike) {
  for (const std::string ids : {"1 2 4", "u3 a b"}) {
    const std::string a = ids.substr(0, ids.find(' ')), b = ids.substr(ids.find(' ') + 1, 1),
                      c = ids.substr(ids.size() - 1);
    const Read got = read(fmt::format("id,age,male\n{},24,1\n{},30,0\n{},0,1\n", a, b, c));
    EXPECT_TRUE(got.file.is_table);
    EXPECT_THAT(got.file.names, ElementsAre("age", "male"));
    EXPECT_EQ(got.file.members, 3);
    EXPECT_THAT(entries(got), ElementsAre(a + " age 24", a + " male 1", b + " age 30", c + " male 1"));
    EXPECT_EQ(got.file.table.rows, got.members.size());
    EXPECT_EQ(got.file.table.cols, 2);
  }
}

TEST(FeaturesFile, TablesHaveAnyNumberOfFeaturesAndAnySeparator) {
  EXPECT_THAT(entries(read("id\tlikes\n1\t-1\n2\t2.5\n")), ElementsAre("1 likes -1", "2 likes 2.5"));
  EXPECT_THAT(entries(read("who;2019;b;c\n1;1;0;3\n")), ElementsAre("1 2019 1", "1 c 3"));
  EXPECT_THAT(entries(read("age male\nu3 24 1\n")), ElementsAre("u3 age 24", "u3 male 1"))
      << "as R writes it";
  EXPECT_THAT(entries(read(",age,male\n1,24,1\n")), ElementsAre("1 age 24", "1 male 1")) << "as pandas does";
}

TEST(FeaturesFile, ColumnsOfTextAreAFeatureForEveryWordWhateverTheIdsLookLike) {
  for (const std::string id : {"3", "m3"}) {
    const Read got =
        read(fmt::format("movieId,title,year,genres\n{0}1,\"Heat, The\",1995,Action|Crime\n"
                         "{0}2,Sabrina,1996,Comedy\n{0}3,Big,1997,\n{0}4,Jaws,1998,Crime|Action|Crime\n",
                         id));
    EXPECT_TRUE(got.file.is_table);
    EXPECT_THAT(got.file.names, ElementsAre("year", "genres=Action", "genres=Crime", "genres=Comedy"));
    EXPECT_THAT(got.file.left_out, ElementsAre("title"));
    EXPECT_EQ(got.file.members, 4);
    EXPECT_THAT(entries(got),
                testing::UnorderedElementsAre(id + "1 year 1995", id + "2 year 1996", id + "3 year 1997",
                                              id + "4 year 1998", id + "1 genres=Action 1",
                                              id + "1 genres=Crime 1", id + "2 genres=Comedy 1",
                                              id + "4 genres=Crime 1", id + "4 genres=Action 1"));
  }
  EXPECT_THAT(entries(read("movieId,genres,year\n1,Drama|War,1995\n2,War,1990\n")),
              testing::UnorderedElementsAre("1 genres=Drama 1", "1 genres=War 1", "2 genres=War 1",
                                            "1 year 1995", "2 year 1990"));
  EXPECT_THAT(entries(read("id,sex\n1,F\n2,M\nu3,F\n")),
              testing::UnorderedElementsAre("1 sex=F 1", "2 sex=M 1", "u3 sex=F 1"));
}

TEST(FeaturesFile, LinesUnderOtherWordsAreKnownByIdsThatComeAgain) {
  const Read got = read("movieId,tag,relevance\n1,funny,0.5\n1,dark,0.25\n2,dark,1\n");
  EXPECT_FALSE(got.file.is_table);
  EXPECT_THAT(entries(got), ElementsAre("1 funny 0.5", "1 dark 0.25", "2 dark 1"));
}

TEST(FeaturesFile, TextThatSaysNothingIsRefused) {
  EXPECT_THAT(refused_features("id,title\n1,Heat\n2,Big\n3,Jaws\n"), HasSubstr("title"));
  EXPECT_THAT(refused_features("1,Action|Crime\n2,Comedy\n"), HasSubstr("no header"));
  EXPECT_THAT(refused_features("id,age\n1,24\n2,30\n3,old\n"), HasSubstr("line 4"));
}

TEST(FeaturesFile, LinesHaveTheirHeaderOrNone) {
  for (const std::string header : {"", "id,feature,value\n", "userId,Feature,Value\n"}) {
    const Read got = read(header + "1,Comedy,1\n1,Drama,2\nu9,Drama,1\n");
    EXPECT_FALSE(got.file.is_table);
    EXPECT_THAT(entries(got), ElementsAre("1 Comedy 1", "1 Drama 2", "u9 Drama 1"));
    EXPECT_EQ(got.members.name(3), "u9");
  }
  EXPECT_THAT(entries(read("1,24,1\n2,30,1\n")), ElementsAre("1 24 1", "2 30 1"))
      << "numbers may name features";
}

TEST(FeaturesFile, ACellThatIsMissingIsRefusedByNameAndLine) {
  for (const std::string missing : {"NA", "", "nan", "?"}) {
    const std::string message = refused_features("id,age,male\n1,24,1\n2," + missing + ",0\n");
    EXPECT_THAT(message, HasSubstr("line 3"));
    EXPECT_THAT(message, HasSubstr("age"));
  }
}

TEST(FeaturesFile, WhatIsAmbiguousIsRefusedWithHowToSayIt) {
  EXPECT_THAT(refused_features("user,genre,weight\n1,Comedy,1\n"),
              testing::AllOf(HasSubstr("genre"), HasSubstr("Comedy"), HasSubstr("id,feature,value")));
  EXPECT_THAT(refused_features("1,24,1,0\n2,30,0,1\n"), HasSubstr("needs a first line that names them"));
  EXPECT_THAT(refused_features("u1,3\n"), HasSubstr("no header"));
}

TEST(FeaturesFile, DefectsAreNamed) {
  EXPECT_THAT(refused_features("id,a,b\n1,2\n"), HasSubstr("line 2"));
  EXPECT_THAT(refused_features("id,a,b\n1,2,3\n1,4,5\n"), HasSubstr("line 3"));
  EXPECT_THAT(refused_features("id,a,a\n1,2,3\n"), HasSubstr("named twice"));
  EXPECT_THAT(refused_features("id,a,b\n1,0,0\n"), HasSubstr("all features are zero"));
  EXPECT_THAT(refused_features("id,a,b\n"), HasSubstr("no line with features"));
  EXPECT_THAT(refused_features("id,feature,value\n"), HasSubstr("no line with a feature"));
  EXPECT_THAT(refused_features("1,a,2\n1,a,3\n"), HasSubstr("line 2"));
  EXPECT_THAT(refused_features("1,a,2\n1,b\n"), HasSubstr("line 2"));
  EXPECT_THAT(refused_features("id,a,b\n1,1e300,3\n"), HasSubstr("1e300"));
}

}  // namespace
}  // namespace pursuit::io
