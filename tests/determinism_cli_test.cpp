// docs/determinism.md, line by line: the numbers of model files are the same bits however the program is
// started.

#include <sched.h>

#include <cstring>

#include "cli_support.hpp"
#include "io/npz_archive.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "test_support.hpp"

namespace pursuit {
namespace {

class Determinism : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    // Large enough that work is shared among threads.
    const Matrix parts = uniform(600, 6, 1) * uniform(6, 150, 2);
    write_matrix(path("A.npy"), {Matrix(parts + 0.2 * uniform(600, 150, 3)), {}, {}});
    write_matrix(path("S.mtx"), {to_sparse(thinned(parts, 0.1, 4)), {}, {}});
    std::string ratings, array;
    Random random(5);
    for (int i = 0; i < 300; ++i)
      for (int j = 0; j < 100; ++j)
        if (random.uniform() < 0.2) ratings += fmt::format("{},{},{}\n", i, j, 1 + random.below(5));
    write("r.csv", ratings);
    for (int e = 0; e < 2000; ++e)
      array += fmt::format("{} {} {} {}\n", 1 + e % 40, 1 + e / 40, 1 + e % 7, random.uniform());
    write("t.tns", array);
  }

  /// One job of every kind of work.
  static std::vector<std::string> jobs() {
    return {"factor A.npy --rank 4",
            "factor A.npy --rank 4 --left nonneg --right nonneg --weights nonneg --polish 20",
            "factor S.mtx --rank 3 --right sparse:10",
            "factor S.mtx --rank 2 --left nonneg --right nonneg --weights nonneg --loss poisson --polish 5",
            "factor t.tns --rank 2 --modes nonneg,nonneg,nonneg --weights nonneg --polish 20",
            "pca A.npy --components 2 --atoms sparse:20",
            "complete r.csv --rank 7",
            "complete r.csv --rank 3 --samples 3",
            "complete r.csv --implicit --rank 7",
            "complete r.csv --left nonneg --right nonneg --weights nonneg --rank 2",
            "complete t.tns --rank 2"};
  }

  /// All arrays of the model, but those that say how long it took and how it was called.
  NpzArchive model_of(const std::string& job, const std::string& options,
                      const std::string& before = "") const {
    const std::string command =
        fmt::format("cd '{}' && {} '{}' {} --out m.npz {} > stdout.txt 2> stderr.txt < /dev/null", path("."),
                    before, PURSUIT_PROGRAM, job, options);
    EXPECT_EQ(std::system(command.c_str()), 0) << command << "\n" << read("stderr.txt");
    NpzArchive archive = read_npz(path("m.npz"));
    for (const char* other : {"metadata", "trace_seconds"}) archive.erase(other);
    return archive;
  }

  void expect_same(const NpzArchive& one, const NpzArchive& other, const std::string& what) const {
    ASSERT_EQ(one.size(), other.size()) << what;
    for (const auto& [name, array] : one) {
      ASSERT_TRUE(other.contains(name)) << what << ", " << name;
      EXPECT_EQ(array.shape, other.at(name).shape) << what << ", " << name;
      const bool same = std::visit(
          [&](const auto& values) {
            using List = std::decay_t<decltype(values)>;
            const auto* others = std::get_if<List>(&other.at(name).values);
            if (!others || others->size() != values.size()) return false;
            if constexpr (std::is_same_v<List, std::vector<std::string>>)
              return values == *others;
            else  // as bits: a NaN is itself, and minus zero is not zero
              return std::memcmp(values.data(), others->data(), values.size() * sizeof(values[0])) == 0;
          },
          array.values);
      EXPECT_TRUE(same) << what << ", " << name;
    }
  }
};

TEST_F(Determinism, RepeatedRunsAndAnyNumberOfThreadsGiveTheSameBits) {
  for (const std::string& job : jobs()) {
    const NpzArchive one = model_of(job, "--threads 1");
    for (const int threads : {1, 2, 3, 5, 8, 16})
      expect_same(one, model_of(job, fmt::format("--threads {}", threads)),
                  fmt::format("{}, {} threads", job, threads));
  }
}

TEST_F(Determinism, TheCoresThatItMayRunOnDoNotMatter) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  if (std::system("taskset --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no taskset";
  for (const std::string& job : jobs())
    expect_same(model_of(job, ""), model_of(job, "", fmt::format("taskset -c {}", core)), job);
}

TEST_F(Determinism, ATerminalDoesNotMatter) {
  if (std::system("script -qec true /dev/null > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "no terminal to be had";
  for (const std::string& job : jobs()) {
    const NpzArchive plain = model_of(job, "");
    write("job.sh", fmt::format("'{}' {} --out m.npz\n", PURSUIT_PROGRAM, job));
    ASSERT_EQ(
        std::system(
            fmt::format("cd '{}' && script -qec 'sh job.sh' /dev/null > /dev/null 2>&1", path(".")).c_str()),
        0);
    NpzArchive shown = read_npz(path("m.npz"));
    for (const char* other : {"metadata", "trace_seconds"}) shown.erase(other);
    expect_same(plain, shown, job);
  }
}

TEST_F(Determinism, CompletionsAreTheSameBitsOnAnyProcessorOfOpenBlas) {
  for (const std::string job : {"complete r.csv --rank 7", "complete r.csv --rank 3 --samples 3"})
    for (const char* core : {"Prescott", "Haswell"})
      expect_same(model_of(job, ""), model_of(job, "", fmt::format("OPENBLAS_CORETYPE={}", core)),
                  job + ", " + core);
}

}  // namespace
}  // namespace pursuit
