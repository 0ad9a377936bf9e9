// Rows that every rank takes from an archive are what one process reads, and are refused with its words.

#include "io/sparse_archive_over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>

#include "io/npy.hpp"
#include "io/npy_header.hpp"
#include "io/ranked_test_support.hpp"
#include "io/test_support.hpp"

namespace pursuit::io {
namespace {

using testing::HasSubstr;
using Arrays = std::map<std::string, std::string>;  // .npy files by their names

void put_number(std::string& text, std::uint64_t number, int bytes) {
  for (int k = 0; k < bytes; ++k, number >>= 8) text += char(number & 0xFF);
}

/// An archive as numpy.savez writes it, nothing packed.
std::string stored_zip(const Arrays& arrays) {
  std::string archive, list;
  for (const auto& [array, content] : arrays) {
    const std::string name = array + ".npy";
    std::string common;
    for (const std::uint64_t number : {20, 0, 0, 0, 33}) put_number(common, number, 2);
    put_number(common, zip_checksum(content), 4);
    put_number(common, content.size(), 4);
    put_number(common, content.size(), 4);
    put_number(common, name.size(), 2);
    put_number(common, 0, 2);
    list += "PK\x01\x02";
    put_number(list, 20, 2);
    list += common;
    put_number(list, 0, 8);
    put_number(list, 0, 2);
    put_number(list, archive.size(), 4);
    list += name;
    archive += "PK\x03\x04" + common + name + content;
  }
  const std::size_t where = archive.size();
  archive += list + "PK\x05\x06";
  for (const std::size_t number : {std::size_t{0}, std::size_t{0}, arrays.size(), arrays.size()})
    put_number(archive, number, 2);
  put_number(archive, list.size(), 4);
  put_number(archive, where, 4);
  put_number(archive, 0, 2);
  return archive;
}

template <class Number>
std::string array_file(const char* type, const std::vector<Number>& numbers) {
  std::string file = format_npy_header(type, false, {Index(numbers.size())});
  return file.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
}

std::string text_file(const std::string& text) {
  return format_npy(NpyArray{{}, std::vector<std::string>{text}});
}

/// Rows with their columns in any order; where `repeats`, some of them more than once.
template <class Stored, class Place>
Arrays csr_arrays(Index rows, Index cols, const char* type, const char* places, bool repeats = false) {
  std::mt19937 random(3);
  std::vector<Place> starts{0}, columns;
  std::vector<Stored> values;
  for (Index i = 0; i < rows; ++i) {
    std::vector<Place> row;
    for (Index j = 0; j < cols; ++j)
      if (random() % 4 == 0 && i % 10 < 8) row.insert(row.end(), repeats && i % 3 == 0 ? 2 : 1, Place(j));
    std::shuffle(row.begin(), row.end(), random);
    columns.insert(columns.end(), row.begin(), row.end());
    starts.push_back(Place(columns.size()));
  }
  for (std::size_t k = 0; k < columns.size(); ++k) values.push_back(Stored(double(random() % 100) / 8));
  return {{"format", text_file("csr")},
          {"shape", array_file<std::int64_t>("<i8", {rows, cols})},
          {"indptr", array_file(places, starts)},
          {"indices", array_file(places, columns)},
          {"data", array_file(type, values)}};
}

void expect_rows_as_one_reads_them(const Arrays& arrays, const std::string& what, bool dealt = false) {
  const ScratchDirectory scratch;
  std::map<std::string, std::string> files;
  for (const auto& [array, content] : arrays) files[array + ".npy"] = content;
  const std::string stored = scratch.with("a.npz", stored_zip(arrays)).string(),
                    packed = scratch.with("b.npz", zip(files)).string();
  const ReadByRanks alone = read_by_one(stored);
  for (const int size : {1, 2, 3, 7, 16}) {
    const std::vector<ReadByRanks> read = read_by(size, {stored, packed}, {Header::find, size % 2 + 1});
    expect_same_matrix(read[0], alone, fmt::format("{}, ranks {}", what, size));
    EXPECT_EQ(read[0].blocks, read[1].blocks) << what;
    EXPECT_EQ(read[0].dealt, dealt) << what;
    EXPECT_TRUE(read[1].dealt) << what;
  }
}

TEST(SparseArchiveOverRanks, RowsAreWhatOneProcessReads) {
  expect_rows_as_one_reads_them(csr_arrays<double, std::int64_t>(130, 11, "<f8", "<i8"), "64 bits");
  expect_rows_as_one_reads_them(csr_arrays<float, std::int32_t>(130, 11, "<f4", "<i4"), "32 bits");
  expect_rows_as_one_reads_them(csr_arrays<std::int16_t, std::uint32_t>(130, 11, "<i2", "<u4"), "whole");
  expect_rows_as_one_reads_them(csr_arrays<double, std::int32_t>(130, 11, "<f8", "<i4", true), "summed");
  expect_rows_as_one_reads_them(csr_arrays<float, std::int64_t>(3, 2, "<f4", "<i8"), "few rows");
  Arrays empty = csr_arrays<double, std::int64_t>(1, 1, "<f8", "<i8");
  empty["shape"] = array_file<std::int64_t>("<i8", {70, 4});
  empty["indptr"] = array_file("<i8", std::vector<std::int64_t>(71, 0));
  empty["indices"] = array_file("<i8", std::vector<std::int64_t>{3, 1});
  empty["data"] = array_file("<f8", std::vector<double>{1, 2});
  expect_rows_as_one_reads_them(empty, "no entry in use");
  Arrays by_columns = csr_arrays<double, std::int64_t>(40, 40, "<f8", "<i8");
  by_columns["format"] = text_file("csc");
  expect_rows_as_one_reads_them(by_columns, "by columns", true);
}

TEST(SparseArchiveOverRanks, DefectsAreToldInTheWordsOfOneProcess) {
  const Arrays good = csr_arrays<double, std::int64_t>(130, 11, "<f8", "<i8");
  std::vector<std::string> archives;
  const auto with = [&](const std::string& array, const std::string& content) {
    Arrays changed = good;
    changed[array] = content;
    archives.push_back(stored_zip(changed));
  };
  const auto number_at = [&](const std::string& array, double share, auto number) {
    std::string content = good.at(array);
    const std::size_t head = parse_npy_header(content, array).data.data() - content.data(),
                      count = (content.size() - head) / 8;
    std::memcpy(content.data() + head + 8 * std::size_t(share * double(count - 1)), &number, 8);
    with(array, content);
  };
  for (const double share : {0.0, 0.4, 0.9, 1.0}) {
    number_at("indices", share, std::int64_t{11});
    number_at("indices", share, std::int64_t{-1});
    number_at("indptr", share, std::int64_t{1} << 40);
    number_at("indptr", share, std::int64_t{5});
    number_at("data", share, std::numeric_limits<double>::quiet_NaN());
  }
  with("data", array_file("<f8", std::vector<double>{1, 2}));
  with("data", text_file("x"));
  with("indices", array_file("<f8", std::vector<double>{1, 2}));
  with("indptr", array_file("<i8", std::vector<std::int64_t>{0, 2}));
  with("shape", array_file("<i8", std::vector<std::int64_t>{130, 0}));
  with("shape", array_file("<i8", std::vector<std::int64_t>{130, 11, 2}));
  with("format", text_file("bsr"));
  for (const char* array : {"shape", "indptr", "indices", "data"}) {
    Arrays fewer = good;
    fewer.erase(array);
    archives.push_back(stored_zip(fewer));
    for (const double share : {0.1, 0.5, 0.99}) {  // behind its checksum
      std::string damaged = stored_zip(good);
      const std::string& content = good.at(array);
      damaged[damaged.find(content) + std::size_t(share * double(content.size()))] ^= 4;
      archives.push_back(damaged);
    }
  }
  archives.push_back(stored_zip(good).substr(0, 3000));
  expect_same_refusals(archives);
}

}  // namespace
}  // namespace pursuit::io
