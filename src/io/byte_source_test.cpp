#include "io/byte_source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "io/test_support.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit::io {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string all_of(ByteSource source) {
  return std::string(source.take_all().view);
}

std::string refused_file(const fs::path& path) {
  return message_of<InvalidInput>([&] { all_of(ByteSource(path)); });
}

template <class... Limit>
std::string gunzip(std::string_view bytes, Limit... limit) {
  return all_of(ByteSource(bytes, "x.gz", limit...));
}

std::string gunzip_refusal(std::string_view bytes) {
  return message_of<InvalidInput>([&] { gunzip(bytes); });
}

TEST(ReadFile, GivesEveryByte) {
  const ScratchDirectory scratch;
  const std::string content = std::string("a\0b\n", 4) + std::string(200000, 'x');
  EXPECT_EQ(all_of(ByteSource(scratch.with("a", content))), content);
  EXPECT_EQ(all_of(ByteSource(scratch.with("b", gzip(content)))), content);
}

TEST(ReadFile, GivesEveryByteOfAPipeInBlocksOfAnySize) {
  const ScratchDirectory scratch;
  const std::string content = std::string("a\0b\n", 4) + std::string(700000, 'x');
  for (const std::string& stored : {content, gzip(content)}) {
    ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(scratch / "pipe", std::ios::binary) << stored; });
    ByteSource source(scratch / "pipe");
    EXPECT_FALSE(source.in_place());
    std::string bytes;
    for (std::size_t size = 1; source.read(bytes, size); size *= 3) {
    }
    writer.join();
    EXPECT_EQ(bytes, content);
    fs::remove(scratch / "pipe");
  }
}

TEST(ReadFile, AFileIsMappedAndMayBeForgottenBehindTheReader) {
  const ScratchDirectory scratch;
  const std::string content(1 << 20, 'x');
  ByteSource source(scratch.with("a", content));
  ASSERT_TRUE(source.in_place());
  source.forget(0, content.size());
  EXPECT_EQ(*source.in_place(), content);
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
  EXPECT_THAT(message_of<InvalidInput>([] { read_matrix("/dev/zero"); }), HasSubstr("byte 0 is zero"));
  EXPECT_THAT(message_of<InvalidInput>([] { read_ratings("/dev/zero"); }), HasSubstr("byte 0 is zero"));
}

TEST(ReadFile, AnEmptyFileOfAnySizeIsRefusedAtItsFirstByte) {
  const ScratchDirectory scratch;
  const std::filesystem::path hole = scratch.with("hole", "");
  std::error_code failed;
  std::filesystem::resize_file(hole, std::uintmax_t{1} << 43, failed);
  if (failed) GTEST_SKIP() << "the file system has no such files";
  EXPECT_THAT(message_of<InvalidInput>([&] { read_matrix(hole); }), HasSubstr("byte 0 is zero"));
  EXPECT_THAT(message_of<InvalidInput>([&] { read_ratings(hole); }), HasSubstr("byte 0 is zero"));
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
  if (bytes.empty()) {
    RC_ASSERT_THROWS_AS(gunzip(packed), InvalidInput);
  } else if (!is_gzip(bytes)) {
    RC_ASSERT(gunzip(packed) == bytes);
  }
  RC_ASSERT(gzip(bytes) == packed);
}

TEST(Gzip, ReadsSeveralMembersAndPadding) {
  EXPECT_EQ(gunzip(gzip("one ") + gzip("") + gzip("two")), "one two");
  EXPECT_EQ(gunzip(gzip("one") + std::string(512, '\0')), "one");
}

TEST(Gzip, RefusesDamage) {
  const std::string good = gzip("some text that is long enough to be packed, packed, packed");
  for (std::size_t size = 2; size < good.size(); ++size) {
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
  EXPECT_EQ(gunzip(bomb, std::uint64_t{1} << 20).size(), 1u << 20);
  const std::string message = message_of<InvalidInput>([&] { gunzip(bomb, (std::uint64_t{1} << 20) - 1); });
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
