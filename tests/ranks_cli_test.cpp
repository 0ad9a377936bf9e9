// The program under mpirun: the same bits for any number of ranks, one message for all, and ends that leave
// nothing behind. Skipped where MPI is missing.

#include <chrono>

#include "cli_support.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/model_file.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// For root, containers and more ranks than cores.
constexpr const char* kSettings =
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
    "OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none "
    "OMPI_MCA_odls_base_sigkill_timeout=1";

constexpr const char* kLongFactor =
    "factor A.npy --rank 30 --left nonneg --right nonneg --weights nonneg --polish 100000000 "
    "--polish-tolerance 0";
constexpr const char* kLongComplete = "complete ratings.csv --rank 7 --samples 1000000";
constexpr const char* kLongAtoms =
    "complete ratings.csv --left nonneg --right nonneg --weights nonneg --regularize none --rank 50 "
    "--validation 0 --max-sweeps 1000000 --tolerance 0";

/// Such a job, and what happens to it once it runs.
std::string interrupted_script(const std::string& action, const char* job, int seconds = 2) {
  return fmt::format(
      "timeout 60 mpirun -n 3 '{}' {} --out m.npz & waiter=$!\n"
      "for i in $(seq 100); do launcher=$(pgrep -P $waiter mpirun); [ -n \"$launcher\" ] && "
      "[ $(pgrep -c -P $launcher) = 3 ] && break; sleep 0.1; done\n"
      "sleep {}\n{}\nwait $waiter",
      PURSUIT_PROGRAM, job, seconds, action);
}

class UnderMpi : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const auto library = std::filesystem::path(PURSUIT_PROGRAM).parent_path() / "libpursuit_mpi.so";
    if (!std::filesystem::exists(library)) GTEST_SKIP() << "libpursuit_mpi.so was not built: MPI is missing";
    if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "mpirun is missing";
    const Matrix planted = uniform(301, 6, 1) * uniform(6, 90, 2) + 0.1 * uniform(301, 90, 3);
    write_matrix(path("A.npy"), {planted, {}, {}});
    write_matrix(path("A.csv"), {planted, {}, {}});
    write_matrix(path("S.mtx"), {to_sparse(thinned(uniform(400, 60, 4), 0.1, 5)), {}, {}});
    write("ratings.csv", ratings(9000));
  }

  /// Lines of 150 users and 120 items.
  static std::string ratings(int count) {
    const Matrix values = uniform(150, 3, 6) * uniform(3, 120, 7);
    std::string text;
    for (int e = 0; e < count; ++e) {
      const int place = (e * 7919) % 18000;
      text += fmt::format("u{},i{},{:.2f}\n", place % 150, place / 150, values(place % 150, place / 150));
    }
    return text;
  }

  Finished shell(const std::string& script) const {
    write("script.sh", fmt::format("cd '{}'; export {}\n{}\n", path("."), kSettings, script));
    const int status = std::system(
        fmt::format("bash '{0}/script.sh' > '{0}/stdout.txt' 2> '{0}/stderr.txt' < /dev/null", path("."))
            .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("stdout.txt"), read("stderr.txt")};
  }
  /// So many of them share memory at most; 0 for all.
  Finished on(int ranks, const std::string& arguments, int per_machine = 0) const {
    return shell(fmt::format("export PURSUIT_RANKS_PER_MACHINE={}\ntimeout 60 mpirun -n {} '{}' {}",
                             per_machine, ranks, PURSUIT_PROGRAM, arguments));
  }
  /// A busy machine may need long to begin the work, and a signal before leaves nothing: once more, later.
  Finished stopped_by(const std::string& signal, const char* job) const {
    // Open MPI passes Ctrl-C and SIGTERM on as SIGTERM, and kills later.
    const std::string patience = signal == "USR1" ? "" : "export OMPI_MCA_odls_base_sigkill_timeout=2\n";
    Finished done;
    for (const int seconds : {2, 8, 25}) {
      done = shell(patience + interrupted_script(fmt::format("kill -{} $launcher", signal), job, seconds));
      if (exists("m.npz")) break;
    }
    return done;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }

  static int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
};

TEST(ProgramAlone, KnowsNoMpi) {
  EXPECT_NE(std::system(fmt::format("ldd '{}' | grep -q -i mpi", PURSUIT_PROGRAM).c_str()), 0);
}

TEST_F(UnderMpi, AnyNumberOfRanksAndThreadsGivesTheSameBits) {
  for (const std::string job :
       {"factor A.npy --rank 4 --left nonneg --right nonneg+sparse:0.3 --weights nonneg",
        "factor S.mtx --rank 3 --left nonneg --right nonneg --weights nonneg", "factor A.npy --rank 5",
        "factor A.csv --rank 2", "pca A.npy --components 2 --atoms sparse:8 --effort low"}) {
    const Finished one = on(1, job + " --out one.npz");
    ASSERT_EQ(one.status, 0) << job << one.err;
    const Expansion expected = load_model(path("one.npz")).model;
    for (const int ranks : {2, 3, 4}) {
      const Finished done = on(ranks, fmt::format("{} --threads {} --out many.npz", job, ranks % 2 + 1));
      ASSERT_EQ(done.status, 0) << job << done.err;
      EXPECT_EQ(count(done.out, "model written"), job.starts_with("factor") ? 1 : 0) << "one rank tells";
      EXPECT_THAT(done.err, HasSubstr(fmt::format("{} ranks x ", ranks)));
      EXPECT_THAT(done.err, Not(HasSubstr("dealt out"))) << job;
      const Expansion model = load_model(path("many.npz")).model;
      EXPECT_TRUE(same_bits(model.left(), expected.left())) << job << ", ranks " << ranks;
      EXPECT_TRUE(same_bits(model.right(), expected.right())) << job << ", ranks " << ranks;
      EXPECT_TRUE(same_bits(model.weights, expected.weights)) << job << ", ranks " << ranks;
    }
  }
}

TEST_F(UnderMpi, CompletionHasTheSameBitsForAnyNumberOfRanksAndThreads) {
  std::filesystem::create_directories(path("parts"));
  const std::string all = ratings(9000), half = all.substr(0, all.find('\n', all.size() / 2) + 1);
  write("parts/r-1.csv", half);
  write("parts/r-2.csv", all.substr(half.size()));
  for (const std::string job : {"--rank 15 --holdout 0.1 --json", "--rank 7 --samples 4"}) {
    ASSERT_EQ(run(fmt::format("complete ratings.csv {} --out alone.npz", job)).status, 0);
    const CompletionFile alone = load_completion(path("alone.npz"));
    for (const int ranks : {1, 2, 3, 4, 7}) {
      if (ranks == 7 && job.find("samples") != std::string::npos) continue;
      const Finished done = on(ranks,
                               fmt::format("complete {} {} --threads {} --out many.npz",
                                           ranks % 2 ? "ratings.csv" : "'parts/r-*.csv'", job, ranks % 2 + 1),
                               ranks == 4   ? 1
                               : ranks == 3 ? 2
                                            : 0);
      ASSERT_EQ(done.status, 0) << job << done.err;
      const CompletionFile many = load_completion(path("many.npz"));
      EXPECT_EQ(many.rows.names(), alone.rows.names()) << "ids are numbered as one process does";
      EXPECT_TRUE(many.model.rows.mean == alone.model.rows.mean) << job << ", ranks " << ranks;
      EXPECT_TRUE(many.model.cols.mean == alone.model.cols.mean) << job << ", ranks " << ranks;
      EXPECT_TRUE(many.model.cols.pattern == alone.model.cols.pattern) << job << ", ranks " << ranks;
      EXPECT_TRUE(many.model.average_rows == alone.model.average_rows) << job << ", ranks " << ranks;
      EXPECT_EQ(many.seen.start, alone.seen.start) << "each rank wrote its own entries";
      EXPECT_EQ(many.seen.index, alone.seen.index);
      EXPECT_EQ(many.seen.value, alone.seen.value);
      EXPECT_EQ(many.held_out.index, alone.held_out.index);
      EXPECT_EQ(count(done.err, fmt::format("{} ranks x ", ranks)), ranks > 1 ? 1 : 0);
    }
  }
}

TEST_F(UnderMpi, FeaturesMayKnowMembersWithoutEntries) {
  std::string users = "id,age\n", items = users;
  for (int k = 0; k < 180; ++k) {  // there are 150 and 120
    users += fmt::format("u{},{}\n", k, k * k % 61);
    items += fmt::format("i{},{}\n", k, k * k % 37);
  }
  write("users.csv", users);
  write("items.csv", items);
  const std::string job =
      "complete ratings.csv --rank 3 --row-features users.csv --col-features items.csv --holdout 0.1 --out ";
  ASSERT_EQ(run(job + "alone.npz").status, 0);
  const Finished done = on(3, job + "many.npz");
  ASSERT_EQ(done.status, 0) << done.err;
  const CompletionFile alone = load_completion(path("alone.npz")), many = load_completion(path("many.npz"));
  ASSERT_EQ(many.rows.size(), 180);
  EXPECT_TRUE(many.model.rows.mean == alone.model.rows.mean);
  EXPECT_TRUE(many.model.cols.mean == alone.model.cols.mean);
  EXPECT_EQ(many.model.rows.unseen, alone.model.rows.unseen);
  EXPECT_EQ(many.seen.start, alone.seen.start);
  EXPECT_EQ(many.held_out.index, alone.held_out.index);
}

TEST_F(UnderMpi, WhatComesThroughAPipeIsRankZeros) {
  ASSERT_EQ(run("complete ratings.csv --rank 3 --out alone.npz").status, 0);
  const CompletionFile alone = load_completion(path("alone.npz"));
  for (const std::string job : {"--rank 3", "--rank 3 --duplicates last"}) {
    const Finished done = shell(fmt::format(
        "mkfifo pipe; (timeout 20 cat ratings.csv > pipe &)\n"
        "timeout 20 mpirun -n 3 '{}' complete pipe {} --out many.npz; status=$?; rm pipe; exit $status",
        PURSUIT_PROGRAM, job));
    ASSERT_EQ(done.status, 0) << job << done.err;
    const CompletionFile many = load_completion(path("many.npz"));
    EXPECT_TRUE(many.model.rows.mean == alone.model.rows.mean) << job;
    EXPECT_EQ(many.seen.value, alone.seen.value) << job;
  }
}

TEST_F(UnderMpi, ClicksTakenAsRatingsAreToldOfWhateverThePredictions) {
  std::string clicks = "u0,i0,1\n";
  for (int e = 1; e < 300; ++e) clicks += fmt::format("u{},i{},1\n", e % 20, e / 20);
  write("clicks.csv", clicks);
  for (const auto& [job, told] : {std::pair("clicks.csv", 1),
                                  {"clicks.csv --clip 0:5", 1},
                                  {"clicks.csv --loss bernoulli", 1},
                                  {"ratings.csv --clip 1:1", 0}}) {
    const Finished done = on(2, fmt::format("complete {} --rank 1", job));
    EXPECT_EQ(done.status, 0) << job << done.err;
    EXPECT_EQ(count(done.err, "every value is 1"), told) << job << done.err;
  }
}

TEST_F(UnderMpi, MethodsAreJudgedTheSame) {
  const auto scores = [](const Finished& done) {
    const auto answer = nlohmann::json::parse(done.out, nullptr, false);
    std::vector<double> errors;
    for (const auto& method : answer.value("methods", nlohmann::json::array()))
      errors.push_back(method["rmse"]);
    return errors;
  };
  const std::string job = "evaluate ratings.csv --split 80/20 --methods offsets,default --json";
  const std::vector<double> alone = scores(run(job));
  ASSERT_EQ(alone.size(), 2);
  EXPECT_EQ(scores(on(3, job)), alone);
}

TEST_F(UnderMpi, WhatTravelsInASweepIsAsComputed) {
  const auto told = [&](int per_machine) {
    const std::string job = "complete ratings.csv --rank 7 --validation 0 --json";
    return nlohmann::json::parse(on(2, job, per_machine).out, nullptr, false);
  };
  const auto said = told(1), together = told(2);
  ASSERT_TRUE(said.contains("ranks") && together.contains("ranks")) << said << together;
  const double sweeps = said["path"].back()["sweeps"], members = 150 + 120, width = 8;
  // Rank 0 gets the half that it does not own; entries and ids came from the other half of the text.
  const double tables = sweeps * members * 4 * (4 * width + 1) / 2, read = 4500 * 12 + 300 * 12;
  EXPECT_LT(said["ranks"]["bytes_received"],
            1.05 * tables + read + sweeps * 9 * 5 * width * 8 * 8 + 20 * members * width * 4);
  EXPECT_LT(said["ranks"]["collectives"], 20 * sweeps + 60);
  EXPECT_LT(double(together["ranks"]["bytes_received"]), read + 20 * members * width * 4)
      << "what stands in shared memory is not sent";
}

TEST_F(UnderMpi, AgreesWithOneProcessThatKnowsNoRanks) {
  const std::string job = "factor A.npy --rank 5 --out ";
  ASSERT_EQ(run(job + "alone.npz").status, 0);
  ASSERT_EQ(on(2, job + "two.npz").status, 0);
  const Expansion alone = load_model(path("alone.npz")).model, two = load_model(path("two.npz")).model;
  EXPECT_LT(max_difference(alone.weights, two.weights), 1e-10);
  EXPECT_LT(max_difference(alone.right(), two.right()), 1e-8);

  const auto told = nlohmann::json::parse(on(2, "factor A.npy --rank 2 --json").out, nullptr, false);
  ASSERT_TRUE(told.contains("ranks")) << told;
  EXPECT_EQ(told["ranks"]["count"], 2);
  EXPECT_GT(told["ranks"]["bytes_received"], 8 * 90) << "sums over rows of the other";
}

TEST_F(UnderMpi, RanksWithOtherBlasKernelsAgree) {
  const std::string job = fmt::format(
      "'{}' factor A.npy --rank 4 --left nonneg --right nonneg --weights nonneg --out ", PURSUIT_PROGRAM);
  ASSERT_EQ(shell("mpirun -n 2 " + job + "same.npz").status, 0);
  const Finished mixed =
      shell(fmt::format("timeout 60 mpirun -n 1 -x OPENBLAS_CORETYPE=Nehalem {0}mixed.npz : -n 1 -x "
                        "OPENBLAS_CORETYPE=Haswell {0}mixed.npz",
                        job));
  ASSERT_EQ(mixed.status, 0) << mixed.err;
  const Expansion a = load_model(path("same.npz")).model, b = load_model(path("mixed.npz")).model;
  EXPECT_LT(max_difference(a.weights, b.weights), 1e-9 * a.weights.maxCoeff());
}

TEST_F(UnderMpi, WhatIsWrongIsToldOnce) {
  Matrix bad = uniform(301, 90, 1);
  bad(290, 3) = std::numeric_limits<double>::infinity();
  write_matrix(path("bad.npy"), {bad, {}, {}});
  write("bad.csv", ratings(5000) + "u1,i1,x\n");
  write("again.csv", ratings(5000) + "u0,i0,2\n");
  const std::string entries = read("S.mtx");
  write("bad.mtx", entries + "1 2 x\n");
  write("twice.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1\n2 2 1\n1 2 1\n");
  write("pairs.csv", "u1,i1\nu2\n");
  ASSERT_EQ(run("complete ratings.csv --rank 3 --out model.npz").status, 0);
  for (const BadCase& wrong : std::vector<BadCase>{
           {"an entry of the last rank", "factor bad.npy --rank 2 --out m.npz", 3, "row 291, column 4"},
           {"a line of coordinates", "factor bad.mtx --rank 2 --out m.npz", 3,
            fmt::format("bad.mtx, line {}: more entries than", count(entries, "\n") + 1)},
           {"an entry of two ranks", "factor twice.mtx --rank 1 --out m.npz", 3,
            "twice.mtx, line 5: entry (1, 2) was already given on line 3"},
           {"no file", "factor none.npy --rank 2 --out m.npz", 3, "cannot read 'none.npy'"},
           {"an option", "factor A.npy --rank 0 --out m.npz", 2, "at least one atom is needed"},
           {"no place to write", "factor A.npy --rank 2 --out none/m.npz", 4, "none/m.npz"},
           {"a line, with atom sets", "complete bad.csv --left nonneg --out m.npz", 3,
            "bad.csv, line 5001: the value 'x'"},
           {"an entry that two ranks have read", "complete again.csv --out m.npz", 3,
            "again.csv, line 5001: row 'u0', column 'i0' was already given on line 1"},
           {"the same, to test with", "complete again.csv --holdout 0.9 --out m.npz", 3,
            "again.csv, line 5001: row 'u0', column 'i0' was already given on line 1"},
           {"a full disk", "complete ratings.csv --rank 3 --out /dev/full", 4, "'/dev/full': No space left"},
           {"no model to predict with", "predict none.npz ratings.csv --out m.npz", 3, "none.npz"},
           {"a line of pairs", "predict model.npz pairs.csv --out m.npz", 3, "pairs.csv, line 2"},
           {"a row that is not there", "recommend model.npz --row nobody --out m.npz", 3, "--row nobody"},
           {"an option of lists", "recommend model.npz --all --top 0 --out m.npz", 2, "--top 0"},
           {"no place for lists", "recommend model.npz --all --out none/m.npz", 4, "none/m.npz"},
           {"a line of the last rank", "complete bad.csv --out m.npz", 3,
            "bad.csv, line 5001: the value 'x'"}}) {
    const Finished done = on(3, wrong.arguments);
    EXPECT_EQ(done.status, wrong.status) << wrong.what << done.err;
    EXPECT_THAT(done.err, HasSubstr(wrong.message)) << wrong.what;
    EXPECT_EQ(count(done.err, wrong.message), 1) << wrong.what << done.err;
    EXPECT_EQ(done.out, "") << wrong.what;
    EXPECT_FALSE(exists("m.npz")) << wrong.what;
  }
}

TEST_F(UnderMpi, AtomsAndClicksHaveTheBitsOfOneProcess) {
  for (const std::string job : {"--left nonneg --right nonneg --weights nonneg --regularize none --rank 3",
                                "--right sparse:20 --rank 2", "--implicit --rank 7"}) {
    ASSERT_EQ(run(fmt::format("complete ratings.csv {} --out alone.npz", job)).status, 0);
    const Finished done = on(3, fmt::format("complete ratings.csv {} --out many.npz", job));
    ASSERT_EQ(done.status, 0) << job << done.err;
    EXPECT_THAT(done.err, Not(HasSubstr("does all of it"))) << job;
    const CompletionModel alone = load_completion(path("alone.npz")).model,
                          many = load_completion(path("many.npz")).model;
    EXPECT_TRUE(many.rows.mean == alone.rows.mean && many.cols.mean == alone.cols.mean) << job;
    EXPECT_TRUE(same_bits(many.atoms.left(), alone.atoms.left())) << job;
    EXPECT_TRUE(same_bits(many.atoms.right(), alone.atoms.right())) << job;
    EXPECT_TRUE(same_bits(many.atoms.weights, alone.atoms.weights)) << job;
  }
}

TEST_F(UnderMpi, PredictionsAndListsAreTheBytesOfOneProcess) {
  ASSERT_EQ(run("complete ratings.csv --rank 7 --out model.npz").status, 0);
  write("pairs.csv", ratings(700) + "nobody,i3,1\n");
  for (const std::string job : {"predict model.npz pairs.csv", "recommend model.npz --all --top 7",
                                "recommend model.npz --all --top 2 --explain 2"}) {
    ASSERT_EQ(run(job + " --out alone.csv").status, 0);
    const Finished done = on(3, job + " --out many.csv --json");
    ASSERT_EQ(done.status, 0) << job << done.err;
    EXPECT_EQ(read("many.csv"), read("alone.csv")) << job;
    EXPECT_EQ(nlohmann::json::parse(done.out, nullptr, false)["ranks"]["count"], 3) << job << done.out;
  }
  const Finished printed = on(2, "predict model.npz pairs.csv");
  EXPECT_EQ(printed.out, run("predict model.npz pairs.csv").out) << "on standard output too";
  EXPECT_EQ(count(printed.err, "have an id that the model has never seen"), 1) << printed.err;
  EXPECT_EQ(on(2, "recommend model.npz --row u3 --json").status, 0) << "a list within the object";
}

TEST_F(UnderMpi, WhatIsNotSharedIsDoneByOneWhichSaysSo) {
  for (const auto& [job, what] :
       {std::pair("factor A.npy --rank 1 --loss huber:1 --out m.npz", "factor with a loss"),
        {"convert A.npy m.npz", "convert"}}) {
    const Finished done = on(3, job);
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr(what));
    EXPECT_EQ(count(done.err, "does not share its work: rank 0 of 3 does all of it"), 1) << done.err;
    EXPECT_TRUE(exists("m.npz")) << job;
    std::filesystem::remove(path("m.npz"));
  }
}

TEST_F(UnderMpi, OtherArgumentsForOneRankAreRefused) {
  const Finished done =
      shell(fmt::format("timeout 60 mpirun -n 1 '{0}' factor A.npy --rank 2 --out m.npz : -n 2 '{0}' factor "
                        "A.npy --rank 3 --out "
                        "m.npz",
                        PURSUIT_PROGRAM));
  EXPECT_EQ(done.status, 2) << done.err;
  EXPECT_EQ(count(done.err, "with different arguments (rank 1 has others"), 1) << done.err;
  EXPECT_FALSE(exists("m.npz"));
}

TEST_F(UnderMpi, ACheckpointGoesOnWithAnotherNumberOfRanks) {
  for (const std::string job :
       {"factor A.npy --rank 4 --left nonneg --right sparse:20", "complete ratings.csv --rank 7 --samples 9",
        "complete ratings.csv --left nonneg --right nonneg --weights nonneg --rank 3"}) {
    const Finished whole = on(3, job + " --out whole.npz --checkpoint state --checkpoint-every 4");
    ASSERT_EQ(whole.status, 0) << job << whole.err;
    ASSERT_TRUE(exists("state")) << job << whole.err;
    const Finished done = on(2, job + " --out done.npz --resume state");
    ASSERT_EQ(done.status, 0) << job << done.err;
    if (job.starts_with("factor")) {
      const Expansion a = load_model(path("done.npz")).model, b = load_model(path("whole.npz")).model;
      EXPECT_TRUE(same_bits(a.left(), b.left()) && same_bits(a.right(), b.right())) << job;
      EXPECT_TRUE(same_bits(a.weights, b.weights)) << job;
    } else {
      const CompletionModel a = load_completion(path("done.npz")).model,
                            b = load_completion(path("whole.npz")).model;
      EXPECT_TRUE(a.rows.mean == b.rows.mean && a.cols.mean == b.cols.mean) << job;
      EXPECT_TRUE(a.average_rows == b.average_rows) << job;
      EXPECT_TRUE(same_bits(a.atoms.left(), b.atoms.left()) && same_bits(a.atoms.right(), b.atoms.right()))
          << job;
    }
    std::filesystem::remove(path("state"));
  }
}

TEST_F(UnderMpi, WithoutItsLibraryItIsRefused) {
  std::filesystem::create_directories(path("elsewhere"));
  std::filesystem::copy_file(PURSUIT_PROGRAM, path("elsewhere/pursuit"));
  const Finished done = shell("timeout 60 mpirun -n 2 elsewhere/pursuit factor A.npy --rank 2 --out m.npz");
  EXPECT_EQ(done.status, 2) << done.err;
  EXPECT_EQ(count(done.err, "started as 2 processes"), 1);
  EXPECT_THAT(done.err, HasSubstr("libpursuit_mpi.so"));
  EXPECT_FALSE(exists("m.npz"));
}

/// Jobs that do not end by themselves.
TEST_F(UnderMpi, ARankThatIsKilledEndsAll) {
  for (const char* job : {kLongFactor, kLongComplete, kLongAtoms}) {
    const auto start = std::chrono::steady_clock::now();
    const Finished done = shell(interrupted_script("kill -9 $(pgrep -P $launcher | tail -n 1)", job));
    EXPECT_NE(done.status, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50))
        << "it did not wait for the end";
    for (const auto& entry : std::filesystem::directory_iterator(path(".")))
      EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("m.npz"))) << "half a file";
  }
}

TEST_F(UnderMpi, ASignalKeepsWhatThereIs) {
  const Finished done = stopped_by("USR1", kLongFactor);
  EXPECT_EQ(done.status, 138) << done.err;
  EXPECT_THAT(done.out, HasSubstr("the run was interrupted"));
  EXPECT_GE(load_model(path("m.npz")).model.rank(), 1);
}

TEST_F(UnderMpi, ASignalKeepsTheAtomsThatThereAre) {
  const Finished done = stopped_by("USR1", kLongAtoms);
  EXPECT_EQ(done.status, 138) << done.err;
  ASSERT_TRUE(exists("m.npz")) << done.err;
  EXPECT_GE(load_completion(path("m.npz")).model.atoms.rank(), 1);
}

TEST_F(UnderMpi, ASignalKeepsTheModelOfTheLastWholeSweep) {
  for (const std::string signal : {"USR1", "TERM", "INT"}) {
    const Finished done = stopped_by(signal, kLongComplete);
    EXPECT_TRUE(signal == "USR1" ? done.status == 138 : done.status != 0)
        << signal << done.status << done.err;
    ASSERT_TRUE(exists("m.npz")) << signal << done.err;
    EXPECT_EQ(load_completion(path("m.npz")).model.rows.size(), 150) << signal;
    std::filesystem::remove(path("m.npz"));
  }
}

}  // namespace
}  // namespace pursuit
