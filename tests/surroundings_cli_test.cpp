// The program in bad surroundings: streams that are closed or full, signals, little memory, outputs that
// cannot be. The result and the exit status must be right all the same.

#include <csignal>
#include <cstdio>

#include "cli_support.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class Surroundings : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    Random random(1);
    write_matrix(path("A.npy"), {random.gaussian_matrix(300, 20), {}, {}});
    std::string ratings;
    for (int k = 0; k < 400; ++k) ratings += fmt::format("r{},c{},{}\n", k % 29, k % 31, 1 + k % 5);
    write("ratings.csv", ratings);
  }

  /// The program under a shell, whose redirections and limits come before and after the arguments.
  int shell(const std::string& before, const std::string& arguments, const std::string& after) const {
    const std::string script = fmt::format("cd '{}'; {} timeout 60 '{}' {} {}", path("."), before,
                                           PURSUIT_PROGRAM, arguments, after);
    write("script.sh", script);
    const int status = std::system(("bash '" + path("script.sh") + "'").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
};

TEST_F(Surroundings, StandardErrorDecidesOverNothing) {
  for (const std::string closed : {"2>&-", "2>/dev/full", "2> >(true)"}) {
    std::filesystem::remove(path("m.npz"));
    EXPECT_EQ(shell("", "complete ratings.csv --holdout 0.1 --out m.npz", ">/dev/null " + closed), 0)
        << closed;
    EXPECT_EQ(shell("", "inspect m.npz", ">/dev/null " + closed), 0) << closed;
    EXPECT_EQ(shell("", "factor none.npy", ">/dev/null " + closed), 3) << closed;
    EXPECT_EQ(shell("", "factor A.npy --rank 0", ">/dev/null " + closed), 2) << closed;
    EXPECT_EQ(shell("", "factor A.npy --no-such-option", ">/dev/null " + closed), 2) << closed;
    EXPECT_EQ(shell("", "factor A.npy --rank 2 --out none/m.npz", ">/dev/null " + closed), 4) << closed;
  }
}

TEST_F(Surroundings, SeveralProcessesDoNotWriteOneFile) {
  const std::string arguments = "factor A.npy --rank 2 --out m.npz";
  for (const std::string launcher : {"OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=", "PMI_SIZE=2 PMI_RANK=",
                                     "SLURM_STEP_NUM_TASKS=2 SLURM_PROCID="}) {
    EXPECT_EQ(shell(launcher + "0", arguments, ">/dev/null 2>first.txt"), 2) << launcher;
    EXPECT_THAT(read("first.txt"),
                AllOf(HasSubstr("started as 2 processes"), HasSubstr("PURSUIT_RANKS=apart")));
    EXPECT_EQ(shell(launcher + "1", arguments, ">second.txt 2>&1"), 2) << launcher;
    EXPECT_EQ(read("second.txt"), "") << "one of them tells";
    EXPECT_FALSE(exists("m.npz")) << launcher;
    EXPECT_EQ(shell(launcher + "1 PURSUIT_RANKS=apart", "factor A.npy --rank 2", ">/dev/null 2>&1"), 0);
  }
  EXPECT_EQ(shell("OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0", arguments, ">/dev/null 2>&1"), 0);
  EXPECT_TRUE(exists("m.npz"));
}

TEST_F(Surroundings, OutputFilesTakeNoClosedStreamsPlace) {
  EXPECT_EQ(shell("", "complete ratings.csv --holdout 0.1 --out m.npz", "<&- >&- 2>&-"), 0);
  EXPECT_EQ(run("inspect m.npz").status, 0) << "words for people have gone into the model";
}

TEST_F(Surroundings, StandardOutputThatCannotBeWrittenShowsInTheStatus) {
  ASSERT_EQ(run("complete ratings.csv --out c.npz").status, 0);
  ASSERT_EQ(run("factor A.npy --rank 2 --out f.npz").status, 0);
  for (const std::string full : {">/dev/full", ">&-"})
    for (const std::string arguments :
         {"--help", "--version", "atoms", "atoms nonneg --json", "inspect f.npz", "inspect f.npz --json",
          "inspect c.npz", "recommend c.npz --row r1", "recommend c.npz --row r1 --json",
          "predict c.npz ratings.csv", "factor A.npy --rank 2", "factor A.npy --rank 2 --json",
          "pca A.npy --components 2", "convert A.npy B.npy --json", "factor --help"})
      EXPECT_EQ(shell("", arguments, full + " 2>err.txt"), 4)
          << arguments << " " << full << ": " << read("err.txt");
  EXPECT_THAT(read("err.txt"), HasSubstr("cannot write to standard output"));
  EXPECT_EQ(shell("", "factor A.npy --rank 2 --out kept.npz", ">/dev/full 2>/dev/null"), 4);
  EXPECT_EQ(load_model(path("kept.npz")).model.rank(), 2) << "the model is written all the same";
}

TEST_F(Surroundings, MoreThreadsThanCoresAreNoMore) {
  ASSERT_EQ(run("complete ratings.csv --out c.npz").status, 0);
  const json few = run_json("factor A.npy --rank 2 --left nonneg --threads 1");
  const json many = run_json("factor A.npy --rank 2 --left nonneg --threads 100000");
  EXPECT_EQ(few["relative_error"], many["relative_error"]);
  EXPECT_EQ(run("recommend c.npz --all --threads 2147483647 --out l.csv").status, 0);
  EXPECT_EQ(run("factor A.npy --threads -1").status, 2);
}

TEST_F(Surroundings, OutputsAreCheckedBeforeTheWork) {
  std::filesystem::create_directory(path("sub"));
  std::filesystem::create_symlink("m.npz", path("link.npz"));
  expect_refused({
      {"unknown format of loadings", "pca A.npy --loadings L.xls", 2, "L.xls"},
      {"unknown format of scores", "pca A.npy --loadings L.csv --scores S.xls", 2, "S.xls"},
      {"unknown format of codes", "omp A.npy A.npy --out codes.xls", 2, "codes.xls"},
      {"unknown format of a reconstruction", "reconstruct none.npz --out X.xls", 2, "X.xls"},
      {"one name twice", "factor A.npy --out m.npz --plot m.npz", 2, "another output"},
      {"one file under two names", "factor A.npy --out m.npz --plot sub/../m.npz", 2, "another output"},
      {"one file through a link", "factor A.npy --out m.npz --plot link.npz", 2, "another output"},
      {"two tables of one name", "pca A.npy --loadings t.csv --scores ./t.csv", 2, "another output"},
      {"the input", "factor A.npy --out ./A.npy", 2, "an input of this run"},
      {"the input of convert", "convert A.npy sub/../A.npy", 2, "an input of this run"},
      {"ratings", "complete ratings.csv --out ratings.csv", 2, "an input of this run"},
  });
  EXPECT_EQ(run("factor A.npy --rank 2 --out /dev/null --plot /dev/null").status, 0);
}

TEST_F(Surroundings, BytesThatAreNotUtf8LoseNoResult) {
  const std::string name = "caf\xe9.npz";
  ASSERT_EQ(run("factor A.npy --rank 2 --json --out " + name).status, 0);
  EXPECT_THAT(load_model(path(name)).metadata.at("command"), HasSubstr("caf\xEF\xBF\xBD.npz"));
  EXPECT_TRUE(json::parse(run("convert A.npy caf\xe9.csv --json").out, nullptr, false).is_object());
}

TEST_F(Surroundings, EveryCommandHasAJsonObject) {
  ASSERT_EQ(run("complete ratings.csv --out c.npz").status, 0);
  ASSERT_EQ(run("factor A.npy --rank 2 --out f.npz").status, 0);
  write("pairs.csv", "r1,c2\nr1,nobody\n");
  const json predicted = run_json("predict c.npz pairs.csv");
  EXPECT_EQ(predicted["count"].get<int>(), 2);
  EXPECT_EQ(predicted["unknown"].get<int>(), 1);
  EXPECT_EQ(predicted["predictions"][0]["column"].get<std::string>(), "c2");
  EXPECT_TRUE(predicted["predictions"][0]["value"].is_number());
  EXPECT_FALSE(predicted["predictions"][1]["known_column"].get<bool>());
  EXPECT_EQ(run_json("predict c.npz pairs.csv --out p.csv")["output"].get<std::string>(), "p.csv");
  EXPECT_THAT(read("p.csv"), HasSubstr("r1,c2,"));
  const json recommended = run_json("recommend c.npz --row r1 --top 3");
  EXPECT_EQ(recommended["recommendations"][0]["row"].get<std::string>(), "r1");
  EXPECT_EQ(recommended["recommendations"][0]["columns"].size(), 3u);
  EXPECT_EQ(run_json("recommend c.npz --all --out l.csv")["rows"].get<int>(), 29);
  const json converted = run_json("convert A.npy B.csv");
  EXPECT_EQ(converted["output"].get<std::string>(), "B.csv");
  EXPECT_EQ(converted["input"]["stored"].get<int>(), 6000);
  EXPECT_EQ(run_json("reconstruct f.npz --out X.npy --rank 1")["rank"].get<int>(), 1);
  EXPECT_EQ(run_json("generate ratings --rows 9 --cols 8 --entries 20 --out g.csv")["entries"].get<int>(),
            20);
  const json demo = run_json("demo --out pictures");
  EXPECT_EQ(demo["factorizations"].size(), 4u);
  EXPECT_TRUE(exists(demo["pictures"][0].get<std::string>()));
}

TEST_F(Surroundings, WhatWasTakenForNamesIsSaid) {
  write("named.csv", "id,a,b\nx,1,2\ny,3,5\n");
  const Finished finished = run("factor named.csv --rank 1 --json");
  EXPECT_THAT(finished.err, AllOf(HasSubstr("first line and the first column"), HasSubstr("2 x 2")));
  EXPECT_TRUE(json::parse(finished.out)["input"]["column_names"].get<bool>());
  write("odd.csv", "1,x\n3,4\n5,6\n");
  expect_refused({{"one odd cell", "factor odd.csv --rank 1", 3, "--header"}});
  EXPECT_EQ(run_json("factor odd.csv --rank 1 --header yes")["rows"].get<int>(), 2);
}

TEST_F(Surroundings, OtherMethodsKeepTheTimeLimit) {
  Random random(3);
  write_matrix(path("big.npy"), {random.gaussian_matrix(400, 300), {}, {}});
  for (const std::string method : {"tpower", "gpower-l0", "empca", "cone-power"}) {
    const json object =
        run_json("pca big.npy --components 200 --time-limit 1e-9 --out m.npz --method " + method +
                 (method == "cone-power" ? " --atoms nonneg" : " --atoms sparse:20"));
    EXPECT_EQ(object["stop"].get<std::string>(), "time_limit") << method;
    EXPECT_FALSE(object["interrupted"].get<bool>()) << method;
    EXPECT_LT(object["rank"].get<int>(), 200) << method;
    EXPECT_EQ(load_model(path("m.npz")).metadata.at("stop"), "time_limit") << method;
  }
}

/// Whether the process handles the signal itself.
bool catches(pid_t process, int signal) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);)
    if (line.rfind("SigCgt:", 0) == 0)
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1U) != 0;
  return false;
}

class Signals : public Surroundings {
 protected:
  /// Starts a long run, sends the signals once it handles them, and returns its status (negative: the signal
  /// that ended it).
  int run_until(const std::vector<int>& signals, bool ignored = false) {
    Random random(5);
    write_matrix(path("big.npy"), {random.gaussian_matrix(600, 500), {}, {}});
    const std::string model = path("m.npz"), out = path("stdout.txt"), input = path("big.npy");
    const pid_t process = fork();
    if (process == 0) {
      if (ignored) {
        std::signal(SIGINT, SIG_IGN);
        std::signal(SIGHUP, SIG_IGN);
      }
      if (std::freopen(out.c_str(), "w", stdout) == nullptr) _exit(99);
      execl(PURSUIT_PROGRAM, PURSUIT_PROGRAM, "factor", input.c_str(), "--rank", "400", "--left", "nonneg",
            "--right", "sparse:100", "--out", model.c_str(), "--json", static_cast<char*>(nullptr));
      _exit(99);
    }
    for (int i = 0; i < 3000 && !catches(process, SIGTERM); ++i) usleep(10000);
    for (const int signal : signals) kill(process, signal);
    int status = 0;
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
};

TEST_F(Signals, EachKeepsTheResultSoFar) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::filesystem::remove(path("m.npz"));
    EXPECT_EQ(run_until({signal}), 128 + signal);
    EXPECT_EQ(json::parse(read("stdout.txt"), nullptr, false)["stop"].get<std::string>(), "interrupted");
    EXPECT_GE(load_model(path("m.npz")).model.rank(), 1);
  }
}

TEST_F(Signals, IgnoredOnesStayIgnored) {
  EXPECT_EQ(run_until({SIGINT, SIGHUP, SIGTERM}, true), 128 + SIGTERM);
  EXPECT_TRUE(exists("m.npz"));
}

TEST_F(Signals, ASecondOneEndsAtOnceAndLeavesNothing) {
  EXPECT_LT(run_until({SIGTERM, SIGINT}), 0) << "ended by a signal";
  EXPECT_FALSE(exists("m.npz"));
  for (const auto& entry : std::filesystem::directory_iterator(path(".")))
    EXPECT_EQ(entry.path().filename().string().rfind(".pursuit-", 0), std::string::npos) << entry.path();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need more than these limits
TEST_F(Surroundings, AMatrixMayBeLargerThanTheMemoryThereIs) {
  // The limit is one of memory that is written to: a file that is mapped does not count. OpenBLAS takes 256
  // MiB.
  constexpr int kHeight = 3000, kFilled = 100, kWidth = 32'000, kMegabytes = 340;
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", kHeight, kWidth);
  header.resize(117, ' ');
  std::ofstream file(path("large.npy"), std::ios::binary);
  file << std::string_view("\x93NUMPY\x01\x00\x76\x00", 10) << header << '\n';
  std::vector<float> row(kWidth);
  for (int i = 0; i < kFilled; ++i) {
    for (int j = 0; j < kWidth; ++j) row[std::size_t(j)] = float((1 + i % 7) * (j % 11));
    file.write(reinterpret_cast<const char*>(row.data()), std::streamsize(row.size() * sizeof(float)));
  }
  file.close();
  std::filesystem::resize_file(path("large.npy"), 128 + std::uintmax_t{kHeight} * kWidth * sizeof(float));
  const int status =
      shell(fmt::format("ulimit -d {};", kMegabytes * 1024),
            "factor large.npy --rank 1 --left nonneg --right nonneg --weights nonneg --threads 1 --json",
            ">out.txt 2>err.txt </dev/null");
  ASSERT_EQ(status, 0) << read("err.txt");
  EXPECT_LT(nlohmann::json::parse(read("out.txt"))["relative_error"], 1e-3);
}

TEST_F(Surroundings, LittleMemoryEndsInAResultOrOneError) {
  ASSERT_EQ(run("complete ratings.csv --out c.npz").status, 0);
  for (const int megabytes : {64, 100, 150, 250})
    for (const std::string arguments :
         {"--version", "atoms nonneg", "factor A.npy --rank 2 --left nonneg", "pca A.npy --components 2",
          "omp A.npy A.npy --atoms 2", "complete ratings.csv", "complete ratings.csv --left nonneg --rank 2",
          "recommend c.npz --all"}) {
      const int status =
          shell(fmt::format("ulimit -v {};", megabytes * 1024), arguments, ">out.txt 2>err.txt </dev/null");
      const std::string what =
          fmt::format("{} with {} MB: {} {}", arguments, megabytes, status, read("err.txt"));
      EXPECT_TRUE(status == 0 || status == 1 || status == 3) << what;
      if (status != 0) {
        EXPECT_THAT(read("err.txt"), HasSubstr("memory")) << what;
      }
    }
}
#endif

}  // namespace
}  // namespace pursuit
