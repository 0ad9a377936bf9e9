// The catalogue, known atoms and plugins as the program offers them.

#include "cli_support.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class AtomsCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    Random random(1);
    const Matrix left = random.gaussian_matrix(30, 3).cwiseAbs(),
                 right = random.gaussian_matrix(20, 3).cwiseAbs();
    write_matrix(path("A.npy"), {Matrix(left * right.transpose()), {}, {}});
    write_matrix(path("left.npy"), {Matrix(left.leftCols(1)), {}, {}});
    write_matrix(path("right.csv"), {Matrix(right.leftCols(2).transpose()), {}, {}});
    write("groups.txt", "0 1 2 3 4\n5 6 7 8 9\n10 11 12 13 14\n15 16 17 18 19\n");
  }

  /// Compiles the template of examples/plugin.
  void build_plugin() const {
    const std::string command =
        fmt::format("cd '{}' && '{}' -x c -shared -fPIC -O2 '{}' -o prefixes.so -lm", path("."),
                    PURSUIT_COMPILER, PURSUIT_SOURCE_DIR "/examples/plugin/prefixes.c");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
};

TEST_F(AtomsCli, ListsEverySetWithOneLineEach) {
  const Finished finished = run("atoms");
  EXPECT_EQ(finished.status, 0);
  for (const CatalogueEntry& entry : catalogue()) EXPECT_THAT(finished.out, HasSubstr(entry.summary));
  EXPECT_EQ(run_json("atoms").size(), catalogue().size());
}

TEST_F(AtomsCli, ExplainsASpecAndChecksItsLaws) {
  const Finished finished = run("atoms nonneg+group:groups.txt:2");
  EXPECT_EQ(finished.status, 0) << finished.err;
  for (const char* text :
       {"one group per line", "no negative entry", "maximize   exact", "all kept on 40", "of 20 entries"})
    EXPECT_THAT(finished.out, HasSubstr(text));
  const json object = run_json("atoms sparse:3 --length 9 --trials 5");
  EXPECT_EQ(object["length"], 9);
  EXPECT_TRUE(object["broken_laws"].empty());
  EXPECT_TRUE(object["symmetric"].get<bool>());
}

TEST_F(AtomsCli, SaysThatAnOracleIsInexact) {
  std::string edges;
  for (int i = 0; i < 20; ++i) edges += fmt::format("{} {}\n", i, (i + 1) % 20);
  write("ring.txt", edges);
  EXPECT_THAT(run("atoms graph:ring.txt:4").out, HasSubstr("inexact, reaches at least 0.5 of the best"));
  EXPECT_THAT(run("factor A.npy --rank 2 --right graph:ring.txt:4").out,
              HasSubstr("inexact: it reaches at least 0.5"));
  EXPECT_EQ(run_json("factor A.npy --rank 2 --right graph:ring.txt:4")["oracle_factor"], 0.5);
  EXPECT_EQ(run_json("factor A.npy --rank 2 --right sparse:4")["oracle_factor"], 1);
}

TEST_F(AtomsCli, BuildsAndRunsThePluginTemplate) {
  build_plugin();
  const Finished laws = run("atoms plugin:./prefixes.so:prefixes");
  EXPECT_EQ(laws.status, 0) << laws.out << laws.err;
  EXPECT_THAT(laws.out, HasSubstr("all kept"));
  ASSERT_EQ(run("factor A.npy --rank 3 --left plugin:./prefixes.so:prefixes --out m.npz").status, 0);
  const Expansion model = load_model(path("m.npz")).model;
  for (const auto& u : model.left().colwise()) {
    const Index length = (u.array() != 0).count();
    EXPECT_TRUE((u.head(length).array() == u[0]).all() && u.tail(30 - length).isZero(0));
  }
  expect_refused({{"no such function", "atoms plugin:./prefixes.so:hats", 2, "has no function 'hats'"},
                  {"no such object", "atoms plugin:./missing.so:hats", 2, "missing.so"},
                  {"no function named", "atoms plugin:./prefixes.so", 2, "the form is plugin:PATH:NAME"}});
}

TEST_F(AtomsCli, ReportsABrokenLawWithAStatus) {
  write("bad.c",
        "int twice(const double* g, double* u, long n) { for (long i = 0; i < n; ++i) u[i] = i ? 0 : 2 + 0 * "
        "g[i]; return 0; }\n"
        "int fails(const double* g, double* u, long n) { return g == u || n > 0 ? 7 : 0; }\n");
  ASSERT_EQ(std::system(
                fmt::format("cd '{}' && '{}' -x c -shared -fPIC bad.c -o bad.so", path("."), PURSUIT_COMPILER)
                    .c_str()),
            0);
  const Finished broken = run("atoms plugin:./bad.so:twice");
  EXPECT_EQ(broken.status, 3);
  EXPECT_THAT(broken.out, HasSubstr("the law of membership"));
  EXPECT_THAT(run("factor A.npy --rank 2 --left plugin:./bad.so:fails").err,
              HasSubstr("failed with status 7"));
}

TEST_F(AtomsCli, SaysWhatAPluginThrows) {
  write("throws.cpp",
        "#include <stdexcept>\n"
        "extern \"C\" int number(const double*, double*, long) { throw 7; }\n"
        "extern \"C\" int words(const double*, double*, long) { throw std::runtime_error(\"no hats today\"); "
        "}\n");
  ASSERT_EQ(std::system(fmt::format("cd '{}' && '{}' -shared -fPIC throws.cpp -o 'th+rows.so'", path("."),
                                    PURSUIT_COMPILER)
                            .c_str()),
            0);
  expect_refused(
      {{"no exception", "factor A.npy --rank 2 --left 'plugin:\"./th+rows.so\":number'", 2,
        "threw something that is no std::exception"},
       {"an exception", "factor A.npy --rank 2 --left 'plugin:\"./th+rows.so\":words'", 2, "no hats today"}});
}

TEST_F(AtomsCli, TakesFilesOfAnyName) {
  write("c++, a:b|c.txt", "0 1 2 3 4\n5 6 7 8 9\n10 11 12 13 14\n15 16 17 18 19\n");
  const std::string spec = "'nonneg+group:\"c++, a:b|c.txt\":2'";
  EXPECT_EQ(run("atoms " + spec).status, 0);
  ASSERT_EQ(run("factor A.npy --rank 2 --right " + spec + " --out m.npz").status, 0);
  EXPECT_EQ(run("inspect m.npz").status, 0);
}

TEST_F(AtomsCli, KeepsKnownAtomsAndStartsFromGivenOnes) {
  const std::string nmf = "factor A.npy --left nonneg --right nonneg --weights nonneg ";
  ASSERT_EQ(run(nmf + "--rank 2 --out two.npz").status, 0);
  const Expansion two = load_model(path("two.npz")).model;
  ASSERT_EQ(run(nmf + "--rank 3 --fix two.npz --out fixed.npz").status, 0);
  const Expansion fixed = load_model(path("fixed.npz")).model;
  EXPECT_EQ(fixed.rank(), 3);
  EXPECT_EQ((fixed.left().leftCols(2) - two.left()).norm() + (fixed.right().leftCols(2) - two.right()).norm(),
            0);
  EXPECT_LT(run_json(nmf + "--rank 3 --start two.npz")["relative_error"].get<double>(), 0.01);

  ASSERT_EQ(run(nmf + "--rank 3 --fix-right right.csv --out known.npz").status, 0);
  const Matrix known = std::get<Matrix>(read_matrix(path("right.csv")).matrix);
  const Expansion model = load_model(path("known.npz")).model;
  EXPECT_EQ((model.right().leftCols(2) - known.transpose()).norm(), 0);
  ASSERT_EQ(run(nmf + "--rank 3 --fix-left left.npy --out known.npz").status, 0);
}

TEST_F(AtomsCli, GivesEveryAtomItsOwnBound) {
  ASSERT_EQ(run("factor A.npy --rank 4 --right sparse:9,5,2 --out m.npz").status, 0);
  const Expansion model = load_model(path("m.npz")).model;
  for (Index i = 0; i < 4; ++i)
    EXPECT_LE((model.right().col(i).array() != 0).count(), i == 0 ? 9 : i == 1 ? 5 : 2) << i;
}

TEST_F(AtomsCli, RefusesWhatDoesNotFit) {
  write("cycle.txt", "1\n2\n0\n");
  write("overlap.txt", "0 1\n1 2\n");
  expect_refused(
      {{"unknown set", "atoms hexagon", 2, "'hexagon' is not a known set"},
       {"no combination", "factor A.npy --left nonneg+sign", 2, "what combines: nonneg with sparse"},
       {"cycle", "factor A.npy --right tree:cycle.txt:2", 2, "there is a cycle"},
       {"overlap", "factor A.npy --right group:overlap.txt:1", 3,
        "overlap.txt, line 2: entry 1 is in group 1 and in group 2"},
       {"length", "factor A.npy --left group:groups.txt:1", 2,
        "is about vectors of 20 entries, and these have 30"},
       {"no file", "factor A.npy --right support:nowhere.npy", 3, "nowhere.npy"},
       {"wrong size", "factor A.npy --rank 3 --fix-right left.npy", 3, "has 1 columns, but the matrix 20"},
       {"rank too small", "factor A.npy --rank 1 --fix-right right.csv", 2, "rank 1: 2 atoms were given"},
       {"both", "factor A.npy --fix-left left.npy --fix-right right.csv", 2, "excludes"},
       {"no model", "factor A.npy --start nowhere.npz", 3, "nowhere.npz"}});
}

TEST_F(AtomsCli, SetsOfFilesCallColumnsByName) {
  write("genes.csv", "cell,TP53,MYC,ACTB,GAPDH\na,9,8,0,1\nb,1,0,7,9\nc,8,9,1,0\nd,0,1,9,8\n");
  write("pathways.gmt", "P53\tx\tTP53\tMYC\tMDM2\nHOUSE\tx\tACTB\tGAPDH\nOTHER\tx\tBRCA1\n");
  write("mask.txt", "TP53\nMYC\n");
  for (const std::string command :
       {"factor genes.csv --rank 2 --right sets:pathways.gmt:1 --out m.npz",
        "factor genes.csv --rank 1 --right nonneg+support:mask.txt --out n.npz",
        "pca genes.csv --components 1 --atoms sets:pathways.gmt:1 --loadings l.csv"})
    EXPECT_EQ(run(command).status, 0) << command << run(command).err;
  const std::string loadings = read("l.csv");
  EXPECT_TRUE(loadings.find("TP53,0\n") != std::string::npos ||
              loadings.find("ACTB,0\n") != std::string::npos)
      << loadings;
  write("typo.txt", "TP35\n");
  expect_refused({
      {"no such name", "factor genes.csv --rank 1 --right support:typo.txt", 3,
       "'TP35' is not the name of an entry"},
      {"rows are cells", "factor genes.csv --rank 1 --left sets:pathways.gmt:1", 3, "none of its names"},
  });
  write("plain.csv", "1,2\n3,4\n5,7\n");
  expect_refused(
      {{"no names", "factor plain.csv --rank 1 --right sets:pathways.gmt:1", 3, "the data have none"}});
}

}  // namespace
}  // namespace pursuit
