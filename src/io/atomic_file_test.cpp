#include "pursuit/io/atomic_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/test_support.hpp"

namespace pursuit {
namespace {

namespace fs = std::filesystem;
using io::content_of;
using io::message_of;
using io::ScratchDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string failure(const fs::path& path) {
  return message_of<OutputFailure>([&] { write_file_atomically(path, "content"); });
}

TEST(AtomicFile, WritesAndReplaces) {
  const ScratchDirectory scratch;
  write_file_atomically(scratch / "a.txt", "first");
  EXPECT_EQ(content_of(scratch / "a.txt"), "first");
  write_file_atomically(scratch / "a.txt", std::string("se\0cond", 7));
  EXPECT_EQ(content_of(scratch / "a.txt"), std::string("se\0cond", 7));
  write_file_atomically(scratch / "a.txt", "");
  EXPECT_EQ(content_of(scratch / "a.txt"), "");
  EXPECT_THAT(scratch.files(), ElementsAre("a.txt"));
}

TEST(AtomicFile, WritesBesideAFileOfTheLongestName) {
  const ScratchDirectory scratch;
  const std::string longest(255, 'n');
  write_file_atomically(scratch / longest, "x");
  EXPECT_EQ(content_of(scratch / longest), "x");
}

TEST(AtomicFile, KeepsThePermissionsOfTheFileItReplaces) {
  const ScratchDirectory scratch;
  const fs::path path = scratch.with("a", "old");
  fs::permissions(path, fs::perms(0640));
  write_file_atomically(path, "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

TEST(AtomicFile, FollowsASymbolicLink) {
  const ScratchDirectory scratch;
  fs::create_directory(scratch / "elsewhere");
  const fs::path target = scratch.with("elsewhere/real", "old");
  fs::create_symlink(target, scratch / "link");
  write_file_atomically(scratch / "link", "new");
  EXPECT_TRUE(fs::is_symlink(scratch / "link"));
  EXPECT_EQ(content_of(target), "new");
}

TEST(AtomicFile, FollowsASymbolicLinkThatLeadsNowhereYet) {
  const ScratchDirectory scratch;
  fs::create_directory(scratch / "store");
  fs::create_symlink("store/model", scratch / "second");
  fs::create_symlink("second", scratch / "first");
  EXPECT_EQ(destination_of(scratch / "first"), fs::canonical(scratch / "store") / "model");
  require_writable(scratch / "first");
  write_file_atomically(scratch / "first", "new");
  EXPECT_TRUE(fs::is_symlink(scratch / "first"));
  EXPECT_EQ(content_of(scratch / "store/model"), "new");
}

TEST(AtomicFile, OneFileHasOneDestination) {
  const ScratchDirectory scratch;
  fs::create_directory(scratch / "store");
  const fs::path plain = destination_of(scratch / "a.npz");
  EXPECT_EQ(destination_of(scratch / "./store/../a.npz"), plain);
  EXPECT_NE(destination_of(scratch / "b.npz"), plain);
}

TEST(AtomicFile, NothingIsLeftOfAProcessThatIsKilledWhileWriting) {
  const ScratchDirectory scratch;
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(scratch / "a.txt");
    file.write("half");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_THAT(scratch.files(), IsEmpty());
}

/// Where files without a name are not to be had, a process that is killed leaves one.
TEST(AtomicFile, SweepsWhatKilledProcessesHaveLeftAndNothingElse) {
  const ScratchDirectory fresh;  // where nothing was written yet
  for (const char* name : {".pursuit-1-0.tmp", ".pursuit-99999999-7.tmp"})
    std::ofstream(fresh / name) << "half";
  std::ofstream(fresh / ".pursuit-12-0.txt") << "no temporary";
  std::ofstream(fresh / "a.tmp") << "nor this";
  std::ofstream(fresh / ".pursuit-5-0.tmp") << "being written";
  const int held = ::open((fresh / ".pursuit-5-0.tmp").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  write_file_atomically(fresh / "result", "whole");
  ::close(held);
  EXPECT_THAT(fresh.files(),
              testing::UnorderedElementsAre("result", ".pursuit-5-0.tmp", ".pursuit-12-0.txt", "a.tmp"));
}

TEST(AtomicFile, NamesThePathAndTheReason) {
  const ScratchDirectory scratch;
  EXPECT_THAT(failure(scratch / "no/such/a.txt"), HasSubstr("no/such/a.txt"));
  EXPECT_THAT(failure(scratch / "no/such/a.txt"), HasSubstr("No such file or directory"));
  EXPECT_THAT(failure(scratch.path()), HasSubstr("Is a directory"));
  EXPECT_THAT(failure(scratch.with("file", "") / "a.txt"), HasSubstr("Not a directory"));
  EXPECT_THAT(failure(scratch / std::string(256, 'n')), HasSubstr("File name too long"));
  EXPECT_THAT(failure(""), HasSubstr("name is empty"));
  EXPECT_THAT(failure("/dev/full"), HasSubstr("No space left on device"));
}

TEST(AtomicFile, SaysWhenADirectoryIsNotOurs) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to root";
  const ScratchDirectory scratch;
  fs::permissions(scratch.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(failure(scratch / "a.txt"), HasSubstr("Permission denied"));
  EXPECT_THAT(message_of<OutputFailure>([&] { require_writable(scratch / "a.txt"); }),
              HasSubstr("Permission denied"));
  fs::permissions(scratch.path(), fs::perms::owner_all);
}

TEST(AtomicFile, LeavesTheOldFileAndNoOtherWhenWritingFails) {
  const ScratchDirectory scratch;
  const fs::path path = scratch.with("a.txt", "old");
  rlimit usual;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit tight{1000, usual.rlim_max};
  const auto usual_handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const std::string message =
      message_of<OutputFailure>([&] { write_file_atomically(path, std::string(5000, 'x')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  ::signal(SIGXFSZ, usual_handler);

  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_EQ(content_of(path), "old");
  EXPECT_THAT(scratch.files(), ElementsAre("a.txt"));
}

TEST(AtomicFile, WrittenInPiecesAppearsOnCommit) {
  const ScratchDirectory scratch;
  const fs::path path = scratch.with("a.txt", "old");
  AtomicFile file(path);
  file.write("first, ");
  file.write("second");
  EXPECT_EQ(content_of(path), "old");
  file.commit();
  EXPECT_EQ(content_of(path), "first, second");
  EXPECT_THAT(scratch.files(), ElementsAre("a.txt"));
}

TEST(AtomicFile, WithoutCommitLeavesNoTrace) {
  const ScratchDirectory scratch;
  const fs::path path = scratch.with("a.txt", "old");
  AtomicFile(path).write("new");
  EXPECT_EQ(content_of(path), "old");
  EXPECT_THAT(scratch.files(), ElementsAre("a.txt"));
}

TEST(RequireWritable, LeavesNoTrace) {
  const ScratchDirectory scratch;
  require_writable(scratch / "new.npz");
  EXPECT_THAT(scratch.files(), IsEmpty());
  require_writable(scratch.with("old.npz", "content"));
  EXPECT_EQ(content_of(scratch / "old.npz"), "content");
  require_writable("/dev/null");
}

TEST(RequireWritable, SaysWhatIsWrong) {
  const ScratchDirectory scratch;
  const auto problem = [](const fs::path& path) {
    return message_of<OutputFailure>([&] { require_writable(path); });
  };
  EXPECT_THAT(problem(scratch / "missing/a.npz"), HasSubstr("No such file or directory"));
  EXPECT_THAT(problem(scratch.path()), HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace pursuit
