#include "base/machine.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_support.hpp"

namespace pursuit {
namespace {

TEST(CoresOfQuota, RoundsUpAndKnowsNoQuota) {
  EXPECT_EQ(cores_of_quota("150000 100000\n"), 2);
  EXPECT_EQ(cores_of_quota("100000 100000"), 1);
  EXPECT_EQ(cores_of_quota("5000 100000"), 1);
  EXPECT_EQ(cores_of_quota("max 100000"), std::nullopt);
  EXPECT_EQ(cores_of_quota("-1\n 100000"), std::nullopt);
  EXPECT_EQ(cores_of_quota(""), std::nullopt);
  EXPECT_EQ(cores_of_quota("100000 0"), std::nullopt);
}

TEST(UsableCores, AreNoMoreThanTheProcessMayRunOn) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), CPU_COUNT(&allowed));
}

TEST(AvailableMemory, IsBelowTheLimitOfTheAddressSpace) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take more address space than any limit leaves";
#endif
  EXPECT_GT(available_memory(), 0U);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{std::uint64_t{1} << 40, std::uint64_t{1} << 40};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    _exit(available_memory() < limit.rlim_cur ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

}  // namespace
}  // namespace pursuit
