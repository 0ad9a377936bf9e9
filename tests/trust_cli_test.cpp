// What the program may use and load, whatever its input says.

#include <random>

#include "cli_support.hpp"
#include "io/npz_archive.hpp"

namespace pursuit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TrustTest : public ProgramTest {
 protected:
  /// A dense table of so many numbers.
  void write_table(const std::string& name, int rows, int columns) const {
    std::mt19937 random(1);
    std::string text;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        text += fmt::format("{}{}", random() % 1000, j + 1 < columns ? ',' : '\n');
    write(name, text);
  }
};

TEST_F(TrustTest, MaxMemoryIsRefusedWhereItIsNoSize) {
  write_table("x.csv", 6, 4);
  std::vector<BadCase> cases;
  for (const char* size : {"0", "-1G", "1K", "many", "1Q", "1GG", "nan", "inf", "1e300", "0x10M"})
    cases.push_back({size, fmt::format("factor x.csv --max-memory={}", size), 2, "must be a size from 16M"});
  expect_refused(cases);
}

TEST_F(TrustTest, MaxMemoryLetsThroughWhatFits) {
  write_table("x.csv", 6, 4);
  for (const char* size : {"1G", "1.5GiB", "2000MB", "'1 T'", "1073741824", "500m"})
    EXPECT_EQ(run(fmt::format("factor x.csv --header no --rank 2 --json --max-memory {}", size)).status, 0)
        << size;
  EXPECT_EQ(run("atoms nonneg --max-memory 1G").status, 0) << "of every command";
}

TEST_F(TrustTest, MaxMemoryIsNamedWhereAFileNeedsMore) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take more memory than the limit leaves";
#endif
  write_table("large.csv", 2000, 2000);  // 32 MB of numbers
  const Finished finished =
      run("factor large.csv --header no --rank 2 --threads 1 --max-memory 24M --out m.npz");
  EXPECT_EQ(finished.status, 3) << finished.err;
  EXPECT_THAT(finished.err, AllOf(HasSubstr("24 MiB"), HasSubstr("memory")));
  EXPECT_FALSE(std::filesystem::exists(path("m.npz")));
}

TEST_F(TrustTest, AHeaderDoesNotOrderMemory) {
  write("lie.mtx", "%%MatrixMarket matrix array real general\n1000000 1000000\n1\n2\n");
  write("sparse.mtx", "%%MatrixMarket matrix coordinate real general\n60000000 60000000 1000000\n1 1 1\n");
  for (const char* file : {"lie.mtx", "sparse.mtx"}) {
    const Finished finished = run(fmt::format("factor {} --rank 2 --max-memory 100M", file));
    EXPECT_EQ(finished.status, 3) << file << ": " << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(file));
  }
}

TEST_F(TrustTest, AModelLoadsNoPluginThatItNames) {
  write("evil.c",
        "#include <stdio.h>\n"
        "__attribute__((constructor)) static void ran(void) { fclose(fopen(\"ran\", \"w\")); }\n"
        "int best(const double* g, double* u, long n) { (void)g; (void)u; (void)n; return 0; }\n");
  if (std::system(fmt::format("cd '{}' && cc -shared -fPIC -o evil.so evil.c", path(".")).c_str()) != 0)
    GTEST_SKIP() << "no C compiler";
  write_table("x.csv", 6, 4);
  ASSERT_EQ(run("factor x.csv --header no --rank 2 --right sparse:3 --out m.npz").status, 0);
  NpzArchive archive = read_npz(path("m.npz"));
  std::string& metadata = std::get<std::vector<std::string>>(archive.at("metadata").values).at(0);
  ASSERT_THAT(metadata, HasSubstr("sparse:3"));
  while (metadata.find("sparse:3") != std::string::npos)
    metadata.replace(metadata.find("sparse:3"), 8, "plugin:./evil.so:best");
  write_npz(path("evil.npz"), archive);
  write("pairs.csv", "1,1\n2,3\n");
  for (const char* command : {"inspect evil.npz", "inspect evil.npz --json", "report evil.npz --out r.html",
                              "reconstruct evil.npz --out y.npy", "predict evil.npz pairs.csv --out p.csv",
                              "factor x.csv --header no --rank 3 --start evil.npz"})
    run(command);
  EXPECT_THAT(run("inspect evil.npz").out, HasSubstr("plugin:./evil.so:best")) << "the model was looked at";
  EXPECT_FALSE(std::filesystem::exists(path("ran"))) << "something of the model was loaded";
  run("atoms plugin:./evil.so:best");
  EXPECT_TRUE(std::filesystem::exists(path("ran"))) << "what the user types is loaded: the check can fail";
}

TEST_F(TrustTest, DryRunSaysWhatARunNeedsAndWritesNothing) {
  write_table("x.csv", 30, 20);
  write("r.csv", "a,x,1\na,y,2\nb,x,3\nb,z,1\nc,y,5\nc,z,4\n");
  write("t.tns", "1 1 1 1.5\n2 1 3 2\n1 2 2 1\n2 2 1 0.5\n");
  for (const auto& [command, entries] : std::initializer_list<std::pair<std::string, int>>{
           {"factor x.csv --header no --rank 3 --right nonneg --out out.npz", 600},
           {"factor t.tns --rank 2 --modes nonneg,nonneg,nonneg --weights nonneg --out out.npz", 4},
           {"pca x.csv --header no --components 2 --out out.npz", 600},
           {"complete r.csv --out out.npz", 6},
           {"complete t.tns --rank 1 --out out.npz", 4}}) {
    const auto forecast = run_json(command + " --dry-run");
    EXPECT_EQ(forecast["entries"], entries) << command;
    EXPECT_GT(forecast["rows"], 0) << command;
    EXPECT_GT(forecast["memory_bytes"], 1e6) << command;
    EXPECT_GT(forecast["seconds"], 0) << command;
    EXPECT_TRUE(forecast["measured"]) << command;
    EXPECT_FALSE(std::filesystem::exists(path("out.npz"))) << command;
    const Finished finished = run(command + " --dry-run");
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.out,
                AllOf(HasSubstr("entries:"), HasSubstr("memory: about"), HasSubstr("time: about")));
  }
  expect_refused(
      {{"a method without moments", "pca x.csv --header no --method tpower --dry-run", 2, "--dry-run"}});
}

}  // namespace
}  // namespace pursuit
