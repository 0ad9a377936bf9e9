#include "base/machine.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pursuit/base/memory_limit.hpp"
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

/// The status of a child whose `resource` is limited to 2^40 bytes before it looks.
template <class Look>
int status_under_limit(decltype(RLIMIT_AS) resource, const Look& look) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{std::uint64_t{1} << 40, std::uint64_t{1} << 40};
    if (setrlimit(resource, &limit) != 0) _exit(2);
    _exit(look(std::uint64_t(limit.rlim_cur)) ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(AvailableMemory, EndsAtTheProgramsOwnLimit) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr std::uint64_t kLimit = std::uint64_t{1} << 30;
    limit_memory(kLimit);
    _exit(memory_limit() <= kLimit && available_memory() < kLimit && used_memory() > 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

TEST(AvailableMemory, IsBelowTheLimitsOfTheProcess) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take more address space than any limit leaves";
#endif
  EXPECT_GT(available_memory(), 0U);
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA})
    EXPECT_EQ(status_under_limit(
                  resource,
                  [](std::uint64_t limit) { return available_memory() < limit && memory_limit() == limit; }),
              0);
}

}  // namespace
}  // namespace pursuit
