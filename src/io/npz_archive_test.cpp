#include "io/npz_archive.hpp"

#include <random>

#include "io/npy.hpp"
#include "io/test_fixtures.hpp"
#include "io/test_support.hpp"
#include "io/zip_bytes.hpp"

namespace pursuit {
namespace {

using io::content_of;
using io::message_of;
using io::ScratchDirectory;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

bool operator==(const NpyArray& a, const NpyArray& b) {
  return a.shape == b.shape && a.values == b.values;
}

std::string refused_archive(const std::string& bytes) {
  return message_of<InvalidInput>([&] { io::unzip({bytes, nullptr}, "a.npz"); });
}

/// Overwrites the number of `size` bytes at `offset` behind the first occurrence of `mark`.
std::string patched(std::string bytes, std::string_view mark, std::size_t offset, std::size_t size,
                    std::uint64_t value) {
  const std::size_t at = bytes.find(mark) + offset;
  for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

constexpr std::string_view kLocalHeader = "PK\x03\x04", kCentralHeader = "PK\x01\x02";

TEST(NpzArchive, ReadsWhatNumpyWrote) {
  const ScratchDirectory scratch;
  const NpzArchive archive = read_npz(scratch.with("a.npz", io::kNumpyDense));
  ASSERT_EQ(archive.size(), 1u);
  const NpyArray& x = archive.at("x");
  EXPECT_THAT(x.shape, ElementsAre(2, 3));
  EXPECT_THAT(std::get<std::vector<double>>(x.values), ElementsAre(1.5, 0, -2, 0, 3, 0.25));
}

TEST(NpzArchive, RoundTripOfEveryKindOfValue) {
  const ScratchDirectory scratch;
  const NpzArchive archive = {
      {"double", {{2, 2}, std::vector<double>{1, -0.5, 1e300, 5e-324}}},
      {"float", {{3}, std::vector<float>{1, 2, 3.5f}}},
      {"integer", {{1, 3}, std::vector<std::int64_t>{-1, 0, std::numeric_limits<std::int64_t>::max()}}},
      {"text", {{3}, std::vector<std::string>{"", "plain", "caf\u00e9 \U0001d11e"}}},
      {"scalar", {{}, std::vector<double>{7}}},
      {"nothing", {{0, 5}, std::vector<double>{}}},
  };
  write_npz(scratch / "a.npz", archive);
  const NpzArchive back = read_npz(scratch / "a.npz");
  ASSERT_EQ(back.size(), archive.size());
  for (const auto& [name, array] : archive) EXPECT_TRUE(back.at(name) == array) << name;
}

TEST(NpzArchive, AnEmptyArchiveRoundTrips) {
  const ScratchDirectory scratch;
  write_npz(scratch / "a.npz", {});
  EXPECT_TRUE(read_npz(scratch / "a.npz").empty());
}

TEST(NpzArchive, EqualContentGivesEqualBytesAndIsCompressed) {
  const ScratchDirectory scratch;
  const NpzArchive archive = {{"zeros", {{10000}, std::vector<double>(10000, 0.0)}}};
  write_npz(scratch / "a.npz", archive);
  write_npz(scratch / "b.npz", archive);
  EXPECT_EQ(content_of(scratch / "a.npz"), content_of(scratch / "b.npz"));
  EXPECT_LT(content_of(scratch / "a.npz").size(), 1000u);
  EXPECT_THAT(content_of(scratch / "a.npz"),
              HasSubstr(std::string("\x00\x00\x21\x00", 4)));  // 1 January 1980
}

TEST(NpzArchive, SaysWhereItCannotBeWritten) {
  EXPECT_THAT(message_of<OutputFailure>([] { write_npz("/no/such/directory/a.npz", {}); }),
              AllOf(HasSubstr("/no/such/directory/a.npz"), HasSubstr("No such file")));
}

TEST(NpzArchive, NamesTheArrayThatIsWrong) {
  const ScratchDirectory scratch;
  const auto path =
      scratch.with("a.npz", io::zip({{"good.npy", io::format_npy(io::sample_matrix())}, {"bad.npy", "x"}}));
  EXPECT_THAT(message_of<InvalidInput>([&] { read_npz(path); }),
              AllOf(HasSubstr("a.npz, array 'bad'"), HasSubstr("not a .npy")));
  const auto other = scratch.with("b.npz", io::zip({{"[Content_Types].xml", "x"}}));
  EXPECT_THAT(message_of<InvalidInput>([&] { read_npz(other); }), HasSubstr("'[Content_Types].xml'"));
}

RC_GTEST_PROP(Zip, RoundTrip, (const std::map<std::string, std::string>& contents)) {
  std::map<std::string, std::string> entries, back;
  for (const auto& [name, content] : contents)
    entries.emplace("f" + std::to_string(entries.size()), name + content);
  const std::string archive = io::zip(entries);
  for (const auto& [name, content] : io::unzip({archive, nullptr}, "a.zip")) back.emplace(name, content.view);
  RC_ASSERT(back == entries);
}

TEST(Zip, LargeEntriesAreTheSameBytesForAnyNumberOfThreads) {
  std::mt19937 random(3);
  std::string content(std::size_t{5} << 19, 'x');
  for (std::size_t k = 0; k < content.size(); k += 3) content[k] = static_cast<char>(random());
  const std::string archive = io::zip({{"a", content}, {"b", ""}});
  for (const int threads : {2, 3, 16}) EXPECT_EQ(io::zip({{"a", content}, {"b", ""}}, threads), archive);
  const auto back = io::unzip({archive, nullptr}, "a.zip", 3);
  EXPECT_EQ(back.at("a").view, content);
  EXPECT_EQ(back.at("b").view, "");
}

TEST(Zip, LargeEntriesThatPackingWouldHardlyShrinkAreStored) {
  std::mt19937 random(4);
  std::string noise((std::size_t{3} << 19) + 5, 'x'), small(1000, 'x');
  for (char& c : noise) c = static_cast<char>(random());
  for (char& c : small) c = static_cast<char>(random());
  const std::map<std::string, std::string> entries = {
      {"noise", noise}, {"pattern", std::string(noise.size(), 'x')}, {"small", small}};
  const std::string archive = io::zip(entries);
  EXPECT_NE(archive.find(noise), std::string::npos);
  EXPECT_LT(archive.size(), noise.size() + 20000);
  EXPECT_EQ(io::zip(entries, 5), archive);
  const auto back = io::unzip({archive, nullptr}, "a.zip");
  for (const auto& [name, content] : entries) EXPECT_EQ(back.at(name).view, content) << name;
}

TEST(Zip, RefusesAnythingElse) {
  EXPECT_THAT(refused_archive("PK\x03\x04 but no more"), AllOf(HasSubstr("a.npz"), HasSubstr("zip archive")));
}

TEST(Zip, RefusesAWrongChecksum) {
  const std::string bytes = patched(io::kNumpyDense, kCentralHeader, 16, 4, 0x12345678);
  EXPECT_THAT(refused_archive(bytes), AllOf(HasSubstr("'x.npy'"), HasSubstr("CRC")));
}

TEST(Zip, RefusesDamagedData) {
  std::string bytes = io::zip({{"a.npy", std::string(1000, 'x') + "something else"}});
  bytes[bytes.find("a.npy") + 8] ^= 0x55;
  EXPECT_THAT(refused_archive(bytes), AllOf(HasSubstr("'a.npy'"), HasSubstr("damaged")));
}

TEST(Zip, RefusesSizesThatCannotBeTrue) {
  const std::string huge = patched(io::kNumpyDense, kCentralHeader, 24, 4, 0xFFFFFFF0);
  EXPECT_THAT(refused_archive(huge),
              AllOf(HasSubstr("'x.npy'"), HasSubstr("4 GiB"), HasSubstr("impossible")));
  const std::string shorter = patched(io::kNumpyDense, kCentralHeader, 24, 4, 100);
  EXPECT_THAT(refused_archive(shorter), HasSubstr("'x.npy'"));
  const std::string longer = patched(io::kNumpyDense, kCentralHeader, 24, 4, 1000);
  EXPECT_THAT(refused_archive(longer), HasSubstr("'x.npy'"));
}

TEST(Zip, RefusesABombAndStatesTheLimit) {
  const std::string bytes = io::zip({{"a.npy", std::string(600, 'a')}, {"b.npy", std::string(600, 'b')}});
  EXPECT_EQ(io::unzip({bytes, nullptr}, "a.npz", std::uint64_t{1200}).size(), 2u);
  EXPECT_THAT(message_of<InvalidInput>([&] {
                io::unzip({bytes, nullptr}, "a.npz", std::uint64_t{1199});
              }),
              AllOf(HasSubstr("a.npz, entry 'b.npy'"), HasSubstr("more than 1.171 KiB")));
}

TEST(Zip, RefusesOtherPackingAndEncryption) {
  EXPECT_THAT(refused_archive(patched(io::kNumpyDense, kCentralHeader, 10, 2, 12)),
              HasSubstr("compression method 12"));
  const std::string encrypted =
      patched(patched(io::kNumpyDense, kCentralHeader, 8, 2, 1), kLocalHeader, 6, 2, 1);
  EXPECT_THAT(refused_archive(encrypted), HasSubstr("encrypted"));
}

TEST(Zip, RefusesTwoEntriesOfOneName) {
  std::string bytes = io::zip({{"a.npy", "1"}, {"b.npy", "2"}});
  for (std::size_t at; (at = bytes.find("b.npy")) != std::string::npos;) bytes[at] = 'a';
  EXPECT_THAT(refused_archive(bytes), AllOf(HasSubstr("'a.npy'"), HasSubstr("two entries")));
}

}  // namespace
}  // namespace pursuit
