// Files of groups, trees, graphs and masks: what they mean, and what is said about every defect.

#include "pursuit/catalogue/index_files.hpp"

#include "io/test_support.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class IndexFiles : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }

  /// What the reader says about a file with this content; every message begins with the file.
  template <class Reader>
  std::string refusal(const Reader& reader, const std::string& name, const std::string& content) const {
    const std::string path = file(name, content);
    const std::string message = message_of<InvalidInput>([&] { reader(path); });
    EXPECT_TRUE(message.starts_with(path)) << message;
    return message.substr(std::min(path.size(), message.size()));
  }
  std::string of_groups(const std::string& content) const {
    return refusal([](const std::string& path) { return read_groups(path); }, "groups", content);
  }
  std::string of_tree(const std::string& content) const {
    return refusal([](const std::string& path) { return read_tree(path); }, "tree", content);
  }
  std::string of_graph(const std::string& content) const {
    return refusal([](const std::string& path) { return read_graph(path); }, "graph", content);
  }
  std::string of_mask(const std::string& content) const {
    return refusal([](const std::string& path) { return read_mask(path); }, "mask.csv", content);
  }

  const io::ScratchDirectory folder_;
};

TEST_F(IndexFiles, ReadGroupsInAnySpelling) {
  EXPECT_EQ(read_groups(file("g", "0 2\n1,3\n")).group_of, (std::vector<Index>{0, 1, 0, 1}));
  EXPECT_EQ(read_groups(file("g", "# two groups\n\n 0;\t2 # ends\r\n#\n1 , 3")).group_of,
            (std::vector<Index>{0, 1, 0, 1}));
  EXPECT_EQ(read_groups(file("g", "0\n")).group_of, (std::vector<Index>{0}));
}

TEST_F(IndexFiles, ReadTreesGraphsAndMasks) {
  EXPECT_EQ(read_tree(file("t", "-1\n0\n0 # a child\n")).parent, (std::vector<Index>{-1, 0, 0}));
  const Graph graph = read_graph(file("e", "0 1\n3\n2,1\n"));
  EXPECT_EQ(graph.vertices, 4);
  EXPECT_EQ(graph.edges, (std::vector<std::pair<Index, Index>>{{0, 1}, {2, 1}}));
  EXPECT_EQ(read_mask(file("m.csv", "1\n0\n1\n")), (std::vector<unsigned char>{1, 0, 1}));
  EXPECT_EQ(read_mask(file("m.csv", "1,0,1\n")), (std::vector<unsigned char>{1, 0, 1}));
}

TEST_F(IndexFiles, KeepTheirNameForTheSpec) {
  const std::string path = file("g", "0 1\n2\n");
  EXPECT_EQ(parse_atoms("group:" + path + ":1")->spec(), "group:" + path + ":1");
}

TEST_F(IndexFiles, RefuseGroupsThatOverlapOrLeaveEntriesOut) {
  EXPECT_THAT(of_groups("0 1\n1 2\n"),
              AllOf(HasSubstr(", line 2: "), HasSubstr("entry 1 is in group 1 and in group 2"),
                    HasSubstr("do not overlap")));
  EXPECT_THAT(of_groups("0 0\n"), AllOf(HasSubstr(", line 1: "), HasSubstr("entry 0 is in group 1")));
  EXPECT_THAT(of_groups("0 1\n3\n"),
              AllOf(HasSubstr("entry 2 is in no group"), HasSubstr("every entry needs a group")));
}

TEST_F(IndexFiles, RefuseFilesWithoutContent) {
  for (const char* nothing : {"\n", "# only words\n", " \t\n\n,,\n"}) {
    EXPECT_THAT(of_groups(nothing), HasSubstr("holds no group; one line per group is expected"));
    EXPECT_THAT(of_tree(nothing), HasSubstr("holds no node; one line per entry is expected"));
    EXPECT_THAT(of_graph(nothing), HasSubstr("holds no edge; one line per edge is expected"));
  }
  EXPECT_NE(of_groups(""), "");
  EXPECT_NE(of_tree(""), "");
  EXPECT_NE(of_graph(""), "");
  EXPECT_NE(of_mask(""), "");
}

TEST_F(IndexFiles, RefuseWhatIsNoNumberOfAnEntry) {
  for (const char* word : {"x", "1.5", "1e3", "-1", "0x1", "+1", "--2", "nan", "99999999999999999999",
                           "2147483647", "\xff", "1-2"}) {
    const std::string line = std::string("0\n1 ") + word + "\n";
    const auto no_number = AllOf(HasSubstr(", line 2: "), HasSubstr("is not the number of an entry"),
                                 HasSubstr("entries are counted from 0 up to 99999999"));
    EXPECT_THAT(of_groups(line), AllOf(no_number, Not(HasSubstr("no parent")))) << word;
    EXPECT_THAT(of_graph(line), no_number) << word;
  }
  EXPECT_THAT(of_tree("-1\n-2\n"), AllOf(HasSubstr("'-2'"), HasSubstr("-1 stands for no parent")));
  EXPECT_THAT(of_tree("-1\nroot\n"), AllOf(HasSubstr(", line 2: "), HasSubstr("'root'")));
}

TEST_F(IndexFiles, RefuseHugeNumbersBeforeTheyTakeMemory) {
  const auto too_large =
      AllOf(HasSubstr("'100000000' is not the number of an entry"), HasSubstr("up to 99999999"));
  EXPECT_THAT(of_groups("0\n100000000\n"), too_large);
  EXPECT_THAT(of_graph("0 100000000\n"), too_large);
  EXPECT_THAT(of_groups("0\n99999999\n"),
              HasSubstr("entry 1 is in no group, though entry 99999999 is in one"));
}

TEST_F(IndexFiles, RefuseLinesWithTheWrongNumberOfNumbers) {
  EXPECT_THAT(of_tree("-1\n0 0\n"), AllOf(HasSubstr(", line 2: "), HasSubstr("holds 2 numbers"),
                                          HasSubstr("the parent of one entry is expected")));
  EXPECT_THAT(of_graph("0 1 2\n"), AllOf(HasSubstr(", line 1: "), HasSubstr("holds 3 numbers"),
                                         HasSubstr("two ends of an edge are expected")));
}

TEST_F(IndexFiles, RefuseLoopsCyclesAndParentsOutOfRange) {
  EXPECT_THAT(of_graph("0 1\n2 2\n"),
              AllOf(HasSubstr(", line 2: "), HasSubstr("joins vertex 2 with itself")));
  const auto of_set = [&](const std::string& content) {
    const std::string path = file("tree", content);
    return message_of<InvalidArgument>([&] { parse_atoms("tree:" + path + ":1"); });
  };
  EXPECT_THAT(of_set("1\n0\n"), AllOf(HasSubstr("tree:"), HasSubstr("node 0"), HasSubstr("cycle")));
  EXPECT_THAT(of_set("-1\n1\n"), AllOf(HasSubstr("node 1 has parent 1"), HasSubstr("except itself")));
  EXPECT_THAT(of_set("-1\n5\n"), AllOf(HasSubstr("node 1 has parent 5"), HasSubstr("allowed are 0..1")));
}

TEST_F(IndexFiles, RefuseMasksOfOtherValuesAndShapes) {
  EXPECT_THAT(of_mask("1\n0.5\n"), AllOf(HasSubstr("entry 1 is 0.5"), HasSubstr("a mask holds 0 and 1")));
  EXPECT_THAT(of_mask("1\n-1\n"), HasSubstr("entry 1 is -1"));
  EXPECT_THAT(of_mask("1,0\n0,1\n"), AllOf(HasSubstr("is 2 x 2"), HasSubstr("one row or one column")));
  EXPECT_THAT(of_mask("1\nyes\n0\n"), HasSubstr("yes"));
  const std::string zeros = file("zeros.csv", "0\n0\n");
  EXPECT_THAT(message_of<InvalidArgument>([&] { parse_atoms("support:" + zeros); }),
              EndsWith("allows no entry at all"));
}

const std::vector<std::string> kGenes{"TP53", "MYC", "ACTB", "GAPDH", "a b"};

TEST_F(IndexFiles, CallEntriesByName) {
  EXPECT_EQ(read_groups(file("g", "MYC,TP53\nACTB,a b # housekeeping\nGAPDH\n"), kGenes).group_of,
            (std::vector<Index>{0, 0, 1, 2, 1}));
  EXPECT_EQ(read_tree(file("t", "MYC TP53\nACTB MYC\n"), kGenes).parent,
            (std::vector<Index>{-1, 0, 1, -1, -1}));
  const Graph graph = read_graph(file("e", "TP53\tMYC\nTP53\tBRCA1\na b\tGAPDH\n"), kGenes);
  EXPECT_EQ(graph.vertices, 5);
  EXPECT_EQ(graph.edges, (std::vector<std::pair<Index, Index>>{{0, 1}, {4, 3}})) << "BRCA1 is passed over";
  EXPECT_EQ(read_mask(file("m", "GAPDH\nTP53\n"), kGenes), (std::vector<unsigned char>{1, 0, 0, 1, 0}));
  EXPECT_EQ(read_groups(file("g", "0 2\n1,3,4\n"), kGenes).group_of, (std::vector<Index>{0, 1, 0, 1, 1}))
      << "numbers stay numbers";
  EXPECT_EQ(read_mask(file("m.csv", "1\n0\n1\n1\n0\n"), kGenes), (std::vector<unsigned char>{1, 0, 1, 1, 0}));
}

TEST_F(IndexFiles, ReadGeneSets) {
  const std::string gmt =
      file("s.gmt", "P53\thttp://x\tTP53\tMYC\tMDM2\nNONE\t\tXYZ\nHOUSE\t\tACTB\tMYC\ta b\n");
  const EntrySets sets = read_sets(gmt, kGenes);
  EXPECT_EQ(sets.entries, 5);
  EXPECT_EQ(sets.members, (std::vector<std::vector<Index>>{{0, 1}, {2, 1, 4}}));
  EXPECT_EQ(parse_atoms_by_name("sets:" + gmt + ":2", kGenes)->spec(), "sets:" + gmt + ":2");
  EXPECT_EQ(read_sets(file("s", "0 1\n1 2\n"), {}).members,
            (std::vector<std::vector<Index>>{{0, 1}, {1, 2}}));
  EXPECT_EQ(read_sets(file("s", "TP53 MYC\nMYC\n"), kGenes).members,
            (std::vector<std::vector<Index>>{{0, 1}, {1}}));
}

TEST_F(IndexFiles, RefuseNamesThatAreNotThere) {
  const auto named = [&](const auto& read, const std::string& name, const std::string& content) {
    return refusal([&](const std::string& path) { read(path, kGenes); }, name, content);
  };
  EXPECT_THAT(named(read_groups, "g", "TP53\nBRCA1\n"),
              AllOf(HasSubstr(", line 2: "), HasSubstr("'BRCA1' is not the name of an entry")));
  EXPECT_THAT(named(read_groups, "g", "TP53,MYC\nMYC\n"),
              AllOf(HasSubstr("'MYC' is in group 1 and in group 2"), HasSubstr("sets:FILE:G")));
  EXPECT_THAT(named(read_groups, "g", "TP53,MYC\n"),
              AllOf(HasSubstr("3 entries are in no group"), HasSubstr("'ACTB'")));
  EXPECT_THAT(named(read_tree, "t", "MYC\n"), HasSubstr("a child and its parent"));
  EXPECT_THAT(named(read_tree, "t", "MYC TP53\nMYC ACTB\n"), HasSubstr("has a parent already"));
  EXPECT_THAT(named(read_graph, "e", "MYC MYC\n"), HasSubstr("joins 'MYC' with itself"));
  EXPECT_THAT(named(read_graph, "e", "X Y\n"), HasSubstr("joins no two entries"));
  EXPECT_THAT(named(read_sets, "s.gmt", "A\t\tX\n"), HasSubstr("none of its names"));
  EXPECT_THAT(named(read_sets, "s.gmt", "A TP53\n"), HasSubstr("has no tab"));
  EXPECT_THAT(named(read_mask, "m", "X\n"), HasSubstr("'X' is not the name"));
  const std::string gmt = file("s.gmt", "A\t\tTP53\n");
  EXPECT_THROW(parse_atoms("sets:" + gmt + ":1"), NamesNeeded);
  const std::vector<std::string> twice{"a", "b", "a"};
  EXPECT_THAT(refusal([&](const std::string& path) { read_mask(path, twice); }, "m", "a\n"),
              HasSubstr("more than one entry"));
  EXPECT_THAT(parse_atoms_by_name("0-1:support:" + file("m", "MYC\n") + "|2-:sphere", kGenes)->spec(),
              HasSubstr("0-1:"));
}

TEST_F(IndexFiles, SayWhichFileIsMissing) {
  const std::string missing = (folder_.path() / "missing.csv").string();
  for (const std::string& spec :
       {"group:" + missing + ":1", "tree:" + missing + ":1", "graph:" + missing + ":1", "support:" + missing,
        "dictionary:" + missing, "span:" + missing, "sparse-in:" + missing + ":1"})
    EXPECT_THAT(message_of<Error>([&] { parse_atoms(spec); }), HasSubstr(missing)) << spec;
  for (const std::string& folder : {folder_.path().string()})
    EXPECT_THAT(message_of<Error>([&] { parse_atoms("group:" + folder + ":1"); }), HasSubstr(folder));
}

}  // namespace
}  // namespace pursuit
