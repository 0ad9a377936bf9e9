// The program as people and scripts meet it: what it prints where, how it ends, and what it does with bad
// input.

#include <csignal>
#include <cstdio>

#include "cli_support.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Cli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    Random random(1);
    const Matrix planted =
        random.gaussian_matrix(30, 3).cwiseAbs() * random.gaussian_matrix(3, 20).cwiseAbs();
    write_matrix(path("A.npy"), {Matrix(planted + 0.01 * random.gaussian_matrix(30, 20).cwiseAbs()), {}, {}});
  }
};

TEST_F(Cli, EveryCellOfTableOneLeftColumn) {
  write("S.csv", "4,1,0\n1,3,1\n0,1,2\n");
  for (const std::string cell : {
           "A.npy --rank 3",                                                                    // SVD
           "A.npy --rank 3 --left sparse:9 --right sparse:6",                                   // sparse SVD
           "A.npy --rank 3 --left nonneg --right nonneg --weights nonneg",                      // NMF
           "A.npy --rank 3 --left nonneg+sparse:0.5 --right nonneg+sparse:8 --weights nonneg",  // sparse NMF
           "A.npy --rank 3 --covariance --symmetric sphere",                                    // PCA
           "A.npy --rank 3 --covariance --symmetric sparse:5",                                  // sparse PCA
           "S.csv --rank 2 --symmetric nonneg --weights nonneg",  // symmetric NMF
       }) {
    const json object = run_json("factor " + cell + " --out m.npz");
    EXPECT_LT(object["relative_error"].get<double>(), 0.9) << cell;
    for (const char* field : {"rank", "relative_error", "seconds", "peak_memory_bytes", "stop", "path"})
      EXPECT_TRUE(object.contains(field)) << field;
    const ModelFile model = load_model(path("m.npz"));
    EXPECT_EQ(model.model.rank(), object["rank"].get<Index>());
    EXPECT_EQ(model.metadata.at("stop"), object["stop"].get<std::string>());
  }
}

TEST_F(Cli, ModelReconstructsToTheErrorItClaims) {
  const json object = run_json("factor A.npy --rank 3 --left nonneg --right sparse:10 --out m.npz");
  ASSERT_EQ(run("reconstruct m.npz --out X.csv").status, 0);
  const Matrix A = std::get<Matrix>(read_matrix(path("A.npy")).matrix);
  const Matrix X = std::get<Matrix>(read_matrix(path("X.csv")).matrix);
  EXPECT_NEAR((A - X).norm() / A.norm(), object["relative_error"].get<double>(), 1e-9);
  EXPECT_EQ(run("reconstruct m.npz --rank 7 --out X.csv").status, 2);
}

TEST_F(Cli, PcaReportsBothDefinitionsAndWritesNamedTables) {
  write("data.csv", "id,height,width,depth\ns1,1,2,3\ns2,2,1,5\ns3,4,4,1\ns4,0,1,2\ns5,3,3,9\n");
  const json object =
      run_json("pca data.csv --components 2 --atoms sparse:2 --loadings L.csv --scores S.csv");
  EXPECT_GT(object["explained"]["span"].get<double>(), 0.5);
  EXPECT_LE(object["explained"]["span"].get<double>(), 1.0 + 1e-12);
  EXPECT_GT(object["explained"]["plain"].get<double>(), 0.0);
  EXPECT_THAT(read("L.csv"), testing::AllOf(HasSubstr("height"), HasSubstr("component_2")));
  EXPECT_THAT(read("S.csv"), HasSubstr("s4"));
}

TEST_F(Cli, PcaTakesCovariancesListsAndOtherMethods) {
  write("C.csv", "a,b,c,d\n4,1,0,0.5\n1,3,1,0\n0,1,2,0.2\n0.5,0,0.2,1\n");
  const json listed = run_json("pca C.csv --covariance --components 2 --nonzeros 2,1 --loadings L.csv");
  EXPECT_EQ(listed["nonzeros"].dump(), "[2,1]");
  EXPECT_THAT(read("L.csv"), HasSubstr("component_1"));
  const json ours = run_json("pca A.npy --components 3 --atoms sparse:6");
  for (const std::string method : {"tpower", "gpower-l0", "gpower-l1", "empca"}) {
    const json other = run_json("pca A.npy --components 3 --atoms sparse:6 --method " + method);
    EXPECT_LE(other["explained"]["span"].get<double>(), ours["explained"]["span"].get<double>() + 1e-9)
        << method;
  }
  for (const std::string deflation : {"hotelling", "projection", "schur", "orthogonal-projection"})
    EXPECT_GT(run_json("pca A.npy -c 2 --atoms sparse:6 --method tpower --corrections 2 --deflation " +
                       deflation)["explained"]["span"]
                  .get<double>(),
              0)
        << deflation;
  for (const std::string method : {"spannogram", "empca"})
    EXPECT_GT(run_json("pca A.npy -c 1 --atoms nonneg+sparse:6 --method " + method)["explained"]["span"]
                  .get<double>(),
              0);
  EXPECT_GT(run_json("pca A.npy -c 1 --atoms nonneg --method cone-power")["explained"]["span"].get<double>(),
            0);
  EXPECT_GT(
      run_json("pca A.npy -c 2 --correlation --total-nonzeros 9 --effort low --out m.npz")["rank"].get<int>(),
      1);
  EXPECT_EQ(run("inspect m.npz").status, 0);
}

TEST_F(Cli, OmpCodesAndCertificate) {
  Random random(2);
  write_matrix(path("D.npy"), {random.gaussian_matrix(10, 25), {}, {}});
  write_matrix(path("Y.npy"), {random.gaussian_matrix(10, 4), {}, {}});
  const json object = run_json("omp D.npy Y.npy --atoms 5 --out codes.npz --certificate");
  EXPECT_EQ(object["nonzeros"].get<int>(), 20);
  EXPECT_TRUE(object["certificate"]["holds"].get<bool>());
  EXPECT_EQ(cols_of(read_matrix(path("codes.npz")).matrix), 4);
}

TEST_F(Cli, ThreadsDoNotChangeABit) {
  for (const std::string sets :
       {"--left nonneg --right sparse:5", "--left nonneg --right nonneg --weights nonneg"}) {
    run_json("factor A.npy --rank 4 " + sets + " --threads 1 --out one.npz");
    const ModelFile one = load_model(path("one.npz"));
    for (const int threads : {2, 4}) {
      run_json(fmt::format("factor A.npy --rank 4 {} --threads {} --out many.npz", sets, threads));
      const ModelFile many = load_model(path("many.npz"));
      EXPECT_EQ(one.model.left(), many.model.left());
      EXPECT_EQ(one.model.right(), many.model.right());
      EXPECT_EQ(one.model.weights, many.model.weights);
    }
  }
}

TEST_F(Cli, ConvertsBetweenAllFormats) {
  for (const std::string file : {"B.mtx", "B.mtx.gz", "B.npz", "B.csv", "B.tsv", "B.npy"}) {
    ASSERT_EQ(run("convert A.npy " + file).status, 0) << file;
    ASSERT_EQ(run("convert " + file + " back.npy").status, 0) << file;
    EXPECT_EQ(std::get<Matrix>(read_matrix(path("back.npy")).matrix),
              std::get<Matrix>(read_matrix(path("A.npy")).matrix))
        << file;
  }
}

TEST_F(Cli, InspectShowsThePathAndAPlot) {
  run_json("factor A.npy --rank 4 --left nonneg --right sparse:5 --out m.npz --plot path.svg");
  const Finished finished = run("inspect m.npz");
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out,
              testing::AllOf(HasSubstr("30 x 20"), HasSubstr("right support"), HasSubstr("rank")));
  EXPECT_THAT(read("path.svg"), HasSubstr("<svg"));
  EXPECT_EQ(json::parse(run("inspect m.npz --json").out)["atoms"].size(), 4u);
}

TEST_F(Cli, HelpOfEveryCommandHasExamples) {
  for (const std::string command :
       {"", "factor", "pca", "omp", "complete", "predict", "recommend", "evaluate", "generate",
        "generate ratings", "inspect", "reconstruct", "convert", "demo"}) {
    const Finished finished = run(command + " --help");
    EXPECT_EQ(finished.status, 0) << command;
    EXPECT_THAT(finished.out, HasSubstr("Example")) << command;
  }
}

TEST_F(Cli, DemoRecoversEveryPartAndWritesPictures) {
  const Finished finished = run("demo --out pictures");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, testing::ContainsRegex("nonneg\\+sparse .* 6 / 6"));
  EXPECT_THAT(read("pictures/atoms.svg"), HasSubstr("</svg>"));
}

TEST_F(Cli, EmptyResultsAreSensible) {
  write("zero.csv", "0,0,0\n0,0,0\n");
  const json zero = run_json("factor zero.csv --rank 2 --left nonneg --out m.npz");
  EXPECT_EQ(zero["rank"].get<int>(), 0);
  EXPECT_EQ(zero["stop"].get<std::string>(), "no_ascent");
  EXPECT_EQ(run("inspect m.npz").status, 0);
  write("row.csv", "1,2,3\n");
  EXPECT_NEAR(run_json("factor row.csv --rank 1")["relative_error"].get<double>(), 0, 1e-12);
  write("column.csv", "1\n2\n3\n");
  EXPECT_NEAR(run_json("factor column.csv --rank 1 --left nonneg")["relative_error"].get<double>(), 0, 1e-12);
}

TEST_F(Cli, BadInputGetsOneClearErrorAndNothingIsWritten) {
  write("nan.csv", "1,2\n3,nan\n");
  write("empty.csv", "");
  write("ragged.csv", "1,2\n3\n");
  write("huge.mtx",
        "%%MatrixMarket matrix coordinate real general\n1152921504606846976 4 1152921504606846976\n1 1 1\n");
  write("twice.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n");
  write("tall.csv", "1,2\n3,4\n5,6\n");
  write("skew.csv", "1,2\n0,1\n");
  write("cut.npy", read("A.npy").substr(0, 200));
  write("sound.csv", "2,1\n1,2\n");
  write("negative.csv", "1,0\n0,-1\n");
  write("constant.csv", "1,5\n2,5\n4,5\n");
  const std::vector<BadCase> cases = {
      {"missing file", "factor none.npy", 3, "none.npy"},
      {"NaN entry", "factor nan.csv --rank 1", 3, "nan"},
      {"empty file", "factor empty.csv --rank 1", 3, "empty"},
      {"ragged lines", "factor ragged.csv --rank 1", 3, "line 2"},
      {"truncated file", "factor cut.npy --rank 1", 3, "cut.npy"},
      {"absurd header", "factor huge.mtx --rank 1", 3, "huge.mtx"},
      {"duplicate entry", "factor twice.mtx --rank 1", 3, "twice.mtx"},
      {"rank too large", "factor A.npy --rank 21", 2, "at most 20"},
      {"rank zero", "factor A.npy --rank 0", 2, "rank 0"},
      {"k too large", "factor A.npy --right sparse:21", 2, "sparse:21"},
      {"k zero", "factor A.npy --right sparse:0", 2, "at least 1"},
      {"unknown set", "factor A.npy --left spherical", 2, "spherical"},
      {"unknown weights", "factor A.npy --weights heavy", 2, "heavy"},
      {"target error", "factor A.npy --target-error 1.5", 2, "target_error 1.5"},
      {"unknown option", "factor A.npy --sparse 3", 2, "--sparse"},
      {"no command", "", 2, "subcommand"},
      {"not square", "factor tall.csv --symmetric sphere", 2, "square"},
      {"not symmetric", "factor skew.csv --symmetric sphere --rank 1", 3, "not symmetric"},
      {"covariance alone", "factor A.npy --covariance", 2, "--symmetric"},
      {"output folder missing", "factor A.npy --rank 2 --out none/m.npz", 4, "none/m.npz"},
      {"output is a folder", "factor A.npy --rank 2 --out .", 4, "."},
      {"unknown output format", "convert A.npy B.xlsx", 2, "xlsx"},
      {"components", "pca A.npy --components 40", 2, "at most 20"},
      {"list too short", "pca A.npy --components 3 --nonzeros 4,5", 2, "2 numbers for 3 components"},
      {"list and set", "pca A.npy --components 2 --nonzeros 4,5 --atoms sparse:3", 2, "sparse:3"},
      {"covariance not symmetric", "pca skew.csv --covariance -c 1", 3, "symmetric"},
      {"covariance not square", "pca tall.csv --covariance -c 1", 3, "square"},
      {"negative variance", "pca negative.csv --covariance -c 1", 3, "negative diagonal"},
      {"constant column", "pca constant.csv --correlation -c 1", 3, "column 2 is constant"},
      {"scores of a covariance", "pca sound.csv --covariance -c 1 --scores S.csv", 2, "--scores"},
      {"unknown method", "pca A.npy --method magic", 2, "magic"},
      {"method without the set", "pca A.npy --method spannogram --atoms sparse:3", 2, "nonneg"},
      {"unknown deflation", "pca A.npy --method tpower --deflation flat", 2, "flat"},
      {"OMP sizes", "omp A.npy tall.csv --atoms 1", 2, "rows"},
      {"model that is none", "inspect A.npy", 3, "A.npy"},
  };
  expect_refused(cases);
}

/// Whether the process has installed a handler for Ctrl-C.
bool catches_interrupts(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);)
    if (line.rfind("SigCgt:", 0) == 0)
      return (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1U) != 0;
  return false;
}

TEST_F(Cli, InterruptKeepsTheResultSoFar) {
  Random random(5);
  write_matrix(path("big.npy"), {random.gaussian_matrix(600, 500), {}, {}});
  const std::string model = path("m.npz"), out = path("stdout.txt"), input = path("big.npy");
  const pid_t process = fork();
  if (process == 0) {
    if (std::freopen(out.c_str(), "w", stdout) == nullptr) _exit(99);
    execl(PURSUIT_PROGRAM, PURSUIT_PROGRAM, "factor", input.c_str(), "--rank", "400", "--left", "nonneg",
          "--right", "sparse:100", "--out", model.c_str(), "--json", static_cast<char*>(nullptr));
    _exit(99);
  }
  ASSERT_GT(process, 0);
  for (int i = 0; i < 3000 && !catches_interrupts(process); ++i) usleep(10000);
  ASSERT_EQ(kill(process, SIGINT), 0);
  int status = 0;
  ASSERT_EQ(waitpid(process, &status, 0), process);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 130);
  const json object = json::parse(read("stdout.txt"), nullptr, false);
  ASSERT_TRUE(object.is_object());
  EXPECT_EQ(object["stop"].get<std::string>(), "interrupted");
  EXPECT_GE(load_model(model).model.rank(), 1);
}

}  // namespace
}  // namespace pursuit
