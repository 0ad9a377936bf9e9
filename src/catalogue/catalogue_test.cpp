// Every set of the catalogue, and every composition that is promised, keeps the laws.

#include "pursuit/catalogue/catalogue.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "pursuit/atoms/laws.hpp"
#include "pursuit/atoms/structures.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

namespace fs = std::filesystem;

/// The files that specs refer to, in a folder of their own.
class CatalogueTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& content) const {
    const fs::path path = folder_ / name;
    std::ofstream(path) << content;
    return path.string();
  }

  /// The example of an entry with its file in place.
  std::string example(const CatalogueEntry& entry) const {
    std::string spec = entry.example;
    if (const auto at = spec.find("{file}"); at != std::string::npos)
      spec.replace(at, 6, file(entry.name + ".csv", entry.example_file));
    return spec;
  }

  static void expect_lawful(const std::string& spec, Index n) {
    SCOPED_TRACE(spec);
    const Atoms set = parse_atoms(spec);
    for (const std::uint64_t seed : {1, 2}) {
      std::string broken;
      for (const auto& [law, detail] :
           check_atom_laws(*set, n, {.seed = seed, .trials = 30, .parse = parse_atoms}))
        broken += law + ": " + detail + "\n";
      EXPECT_EQ(broken, "");
    }
  }

  const fs::path folder_ =
      fs::temp_directory_path() /
      fmt::format("pursuit_catalogue_{}_{}", ::getpid(), testing::UnitTest::GetInstance()->random_seed());
};

TEST_F(CatalogueTest, FilesOfAnyNameComeBackFromTheSpec) {
  for (const char* name : {"c++", "a|b", "x:3", "1,2", "say \"hi\"", "\"", "dct", "e1+2", "plain"}) {
    for (const CatalogueEntry& entry : catalogue()) {
      if (entry.example_file.empty()) continue;
      const std::string path = file(std::string(name) + ".txt", entry.example_file);
      std::string quoted = "\"";
      for (const char c : path) quoted.append(c == '"' ? 2 : 1, c);
      std::string spec = entry.example;
      spec.replace(spec.find("{file}"), 6, quoted + "\"");
      SCOPED_TRACE(spec);
      const Atoms set = parse_atoms(spec), again = parse_atoms(set->spec());
      EXPECT_EQ(again->spec(), set->spec());
      EXPECT_NO_THROW(again->require_dimension(12));
      if (entry.name != "group") continue;
      EXPECT_EQ(parse_atoms("0-11:" + spec + "|12-:nonneg")->spec(), "0-11:" + set->spec() + "|12-:nonneg");
    }
    const std::string mask = file(std::string(name) + ".csv", "1\n1\n1\n0\n");
    const Atoms both = support({1, 1, 1, 0}, mask) + sparse(2);
    EXPECT_EQ(parse_atoms(both->spec())->spec(), both->spec());
  }
}

TEST_F(CatalogueTest, RefuseVectorsWithoutEntriesAndOfDifferentLengths) {
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.example.empty()) continue;
    SCOPED_TRACE(entry.name);
    const Atoms set = parse_atoms(example(entry));
    Vector none(0), one(1), g = Vector::Ones(12), u(12);
    const auto empty = testing::HasSubstr("a vector without entries");
    EXPECT_THAT(message_of<InvalidArgument>([&] { set->maximize(none, none); }), empty);
    EXPECT_THAT(message_of<InvalidArgument>([&] { set->fit(1.0, none, Sign::free, none); }), empty);
    EXPECT_THAT(message_of<InvalidArgument>([&] { set->fit(none, none, Sign::nonnegative, none); }), empty);
    const auto differ = testing::HasSubstr("vectors of 12 and 1 entries");
    EXPECT_THAT(message_of<InvalidArgument>([&] { set->maximize(g, one); }), differ);
    EXPECT_THAT(message_of<InvalidArgument>([&] { set->fit(one, g, Sign::free, u); }), differ);
    EXPECT_THAT(message_of<InvalidArgument>([&] { set->fit(1.0, g, Sign::free, one); }), differ);
    EXPECT_FALSE(set->contains(none)) << "nor are they members";
  }
}

TEST_F(CatalogueTest, ExamplesKeepTheLaws) {
  for (const CatalogueEntry& entry : catalogue())
    if (!entry.example.empty()) expect_lawful(example(entry), 12);
}

TEST_F(CatalogueTest, CompositionsKeepTheLaws) {
  const std::string groups = file("groups", "0 1 2\n3 4 5\n6 7 8 9\n10 11\n"),
                    parents = file("tree", "-1\n0\n0\n1\n1\n2\n2\n3\n3\n4\n4\n5\n"),
                    path = file("path", "0 1\n1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n7 8\n8 9\n9 10\n10 11\n"),
                    mask = file("mask.csv", "1\n1\n1\n1\n1\n0\n0\n0\n1\n1\n1\n1\n"),
                    window = file("window.csv", "0\n0\n1\n1\n1\n1\n1\n1\n1\n0\n0\n0\n");
  for (const std::string& spec : {std::string("nonneg+sparse:4"),
                                  "nonneg+group:" + groups + ":2",
                                  "group:" + groups + ":2:1",
                                  "group:" + groups + ":2+sparse:4",
                                  "nonneg+group:" + groups + ":3:2+sparse:4",
                                  "nonneg+tree:" + parents + ":4",
                                  "graph:" + path + ":5:2",
                                  "nonneg+graph:" + path + ":4",
                                  std::string("nonneg+block:4"),
                                  std::string("nonneg+blocks:2:3"),
                                  std::string("monotone:up"),
                                  std::string("monotone:down"),
                                  std::string("nonneg+monotone"),
                                  std::string("nonneg+monotone:up"),
                                  std::string("nonneg+monotone:down"),
                                  std::string("nonneg+unimodal"),
                                  std::string("nonneg+fused:1"),
                                  std::string("nonneg+fused:2"),
                                  std::string("nonneg+fused:4"),
                                  std::string("fused:1"),
                                  std::string("nonneg+l1ball:2"),
                                  std::string("l1ball:1"),
                                  std::string("lp:1"),
                                  std::string("lp:inf"),
                                  std::string("nonneg+lp:3"),
                                  std::string("box:-1:1"),
                                  std::string("box:0:2"),
                                  std::string("box:-2:-1"),
                                  std::string("box:1:1"),
                                  std::string("smooth:0.01"),
                                  std::string("smooth:4"),
                                  std::string("nonneg+smooth:0.01"),
                                  std::string("nonneg+smooth:0.3"),
                                  std::string("nonneg+smooth:1.5"),
                                  std::string("dictionary:haar"),
                                  std::string("sparse-in:haar:3"),
                                  "support:" + mask + "+sparse:3",
                                  "nonneg+support:" + mask,
                                  "nonneg+support:" + mask + "+block:4",
                                  "support:" + mask + "+group:" + groups + ":2",
                                  "support:" + mask + "+l1ball:1.5",
                                  "support:" + mask + "+simplex",
                                  "support:" + mask + "+tree:" + parents + ":4",
                                  "support:" + window + "+nonneg+unimodal",
                                  std::string("0-4:nonneg|5-:sparse:3"),
                                  std::string("0-2:monotone|3-5:nonneg+sparse:1|6-11:fused:2")})
    expect_lawful(spec, 12);
}

TEST_F(CatalogueTest, SetsWorkInTheSmallestDimensions) {
  for (const char* spec : {"monotone",
                           "nonneg+monotone:up",
                           "unimodal",
                           "nonneg+unimodal",
                           "convex-shape",
                           "concave-shape",
                           "smooth:0.3",
                           "nonneg+smooth:0.3",
                           "fused:1",
                           "nonneg+fused:1",
                           "l1ball:1.5",
                           "lp:2",
                           "box:1:2",
                           "simplex",
                           "sign",
                           "binary",
                           "onehot",
                           "block:1",
                           "blocks:1:1",
                           "dictionary:dct",
                           "dictionary:haar",
                           "sparse-in:dct:1",
                           "0-:nonneg"})
    for (const Index n : {1, 2, 3}) expect_lawful(spec, n);
}

TEST_F(CatalogueTest, LongVectorsKeepTheLaws) {
  for (const char* spec :
       {"monotone", "nonneg+unimodal", "convex-shape", "smooth:0.05", "nonneg+smooth:0.05", "fused:6",
        "blocks:7:4", "l1ball:6", "binary", "dictionary:dct", "sparse-in:haar:9", "box:1:3"})
    expect_lawful(spec, 257);
}

TEST_F(CatalogueTest, HasAReaderAndWordsForEveryName) {
  std::set<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " is there twice";
    EXPECT_TRUE(entry.form.starts_with(entry.name)) << entry.form;
    EXPECT_FALSE(entry.summary.empty() || entry.description.empty()) << entry.name;
    if (!entry.example.empty()) {
      EXPECT_NO_THROW(parse_atoms(example(entry))) << entry.name;
    }
  }
}

}  // namespace
}  // namespace pursuit
