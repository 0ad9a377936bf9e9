#include "io/byte_source.hpp"

#include <unistd.h>

#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string refused_file(const fs::path& path) {
  return message_of<InvalidInput>([&] { read_file(path); });
}

std::string gunzip_refusal(std::string_view bytes) {
  return message_of<InvalidInput>([&] { gunzip(bytes, "x.gz"); });
}

TEST(ReadFile, GivesEveryByte) {
  const ScratchDirectory scratch;
  const std::string content = std::string("a\0b\n", 4) + std::string(200000, 'x');
  EXPECT_EQ(read_file(scratch.with("a", content)), content);
}

TEST(ReadFile, SaysWhyItCannot) {
  const ScratchDirectory scratch;
  EXPECT_THAT(refused_file(scratch / "none.mtx"),
              AllOf(HasSubstr("none.mtx"), HasSubstr("No such file or directory")));
  EXPECT_THAT(refused_file(scratch.path()), HasSubstr("Is a directory"));
  EXPECT_THAT(refused_file(scratch.with("empty.csv", "")),
              AllOf(HasSubstr("empty.csv"), HasSubstr("is empty")));
}

TEST(ReadFile, EndsOnADeviceThatHasNoEnd) {
  EXPECT_THAT(message_of<InvalidInput>([] { read_file("/dev/zero"); }), HasSubstr("byte 0 is zero"));
}

TEST(ReadFile, RefusesWhatMemoryCannotHold) {
  const ScratchDirectory scratch;
  const std::filesystem::path hole = scratch.with("hole", "");
  std::error_code failed;
  std::filesystem::resize_file(hole, std::uintmax_t{1} << 43, failed);
  if (failed) GTEST_SKIP() << "the file system has no such files";
  EXPECT_THAT(message_of<InvalidInput>([&] { read_file(hole); }),
              AllOf(HasSubstr("more memory than there is"), HasSubstr("8 TiB")));
}

TEST(ReadFile, SaysWhenAFileMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is unreadable to root";
  const ScratchDirectory scratch;
  const fs::path secret = scratch.with("secret", "x");
  fs::permissions(secret, fs::perms::none);
  EXPECT_THAT(refused_file(secret), HasSubstr("Permission denied"));
}

RC_GTEST_PROP(Gzip, RoundTrip, (const std::string& bytes)) {
  const std::string packed = gzip(bytes);
  RC_ASSERT(is_gzip(packed));
  RC_ASSERT(gunzip(packed, "x.gz") == bytes);
  RC_ASSERT(gzip(bytes) == packed);
}

TEST(Gzip, ReadsSeveralMembersAndPadding) {
  EXPECT_EQ(gunzip(gzip("one ") + gzip("") + gzip("two"), "x.gz"), "one two");
  EXPECT_EQ(gunzip(gzip("one") + std::string(512, '\0'), "x.gz"), "one");
}

TEST(Gzip, RefusesDamage) {
  const std::string good = gzip("some text that is long enough to be packed, packed, packed");
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(gunzip_refusal(good.substr(0, size)), AllOf(HasSubstr("x.gz"), HasSubstr("truncated")));
  }
  std::string wrong_checksum = good;
  wrong_checksum[good.size() - 8] ^= 1;
  EXPECT_THAT(gunzip_refusal(wrong_checksum), HasSubstr("incorrect data check"));
  std::string wrong_length = good;
  wrong_length[good.size() - 4] ^= 1;
  EXPECT_THAT(gunzip_refusal(wrong_length), HasSubstr("incorrect length check"));
  EXPECT_THAT(gunzip_refusal(good + "garbage"), HasSubstr("starts no gzip member"));
}

TEST(Gzip, RefusesABombAndStatesTheLimit) {
  const std::string bomb = gzip(std::string(1 << 20, 'x'));
  EXPECT_EQ(gunzip(bomb, "x.gz", 1 << 20).size(), 1u << 20);
  const std::string message = message_of<InvalidInput>([&] { gunzip(bomb, "x.gz", (1 << 20) - 1); });
  EXPECT_THAT(message, AllOf(HasSubstr("x.gz"), HasSubstr("more than 1024 KiB")));
  EXPECT_EQ(expansion_limit(1000), 1u << 30);
  EXPECT_EQ(expansion_limit(100'000'000), 25'000'000'000u);
}

TEST(HumanSize, PicksTheUnit) {
  EXPECT_EQ(human_size(17), "17 bytes");
  EXPECT_EQ(human_size(1536), "1.5 KiB");
  EXPECT_EQ(human_size(std::uint64_t{1} << 30), "1 GiB");
  EXPECT_EQ(human_size(~std::uint64_t{0}), "16 EiB");
}

}  // namespace
}  // namespace pursuit::io
