#pragma once
// Matrix files as ranks read them that are threads.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/test_support.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/ranked_matrix_file.hpp"
#include "rank_threads.hpp"
#include "test_support.hpp"

namespace pursuit {

/// A V and A^T U of the matrix in a file, and what else there is to know of it.
struct ReadByRanks {
  Matrix image, back;
  Index rows = 0, cols = 0, stored = 0, blocks = 0;
  bool dealt = false;
  std::vector<std::string> row_names, column_names;
  std::string refusal;  // why nothing was read
};

inline void look_at(const MatrixData& data, ReadByRanks& result) {
  result.rows = data.matrix->rows();
  result.cols = data.matrix->cols();
  data.matrix->apply(gaussian(result.cols, 2, 9), result.image);
  data.matrix->apply_transposed(gaussian(result.rows, 2, 8), result.back);
  result.stored = data.stored;
  result.row_names = data.row_names;
  result.column_names = data.column_names;
}

inline ReadByRanks read_by_one(const std::string& path, const MatrixReading& reading = {Header::find, 1}) {
  ReadByRanks result;
  try {
    look_at(read_data(path, reading), result);
  } catch (const InvalidInput& error) {
    result.refusal = error.what();
  }
  return result;
}

/// The files one after the other, whatever is wrong with some of them.
inline std::vector<ReadByRanks> read_by(int size, const std::vector<std::string>& paths,
                                        const MatrixReading& reading = {Header::find, 1}) {
  std::vector<ReadByRanks> results(paths.size());
  on_ranks(size, [&](Ranks& ranks) {
    if (!ranks.leads()) {
      EXPECT_EQ(follow(ranks), 5);
      return;
    }
    RankTeam team(ranks);
    for (std::size_t k = 0; k < paths.size(); ++k) {
      try {
        const RankedMatrixData read = read_data(paths[k], reading, team);
        look_at(read.data, results[k]);
        results[k].dealt = read.dealt;
        results[k].blocks = read.blocks;
      } catch (const InvalidInput& error) {
        results[k].refusal = error.what();
      }
      EXPECT_FALSE(team.broken());
    }
    team.dismiss(5);
  });
  return results;
}
inline ReadByRanks read_by(int size, const std::string& path,
                           const MatrixReading& reading = {Header::find, 1}) {
  return read_by(size, std::vector<std::string>{path}, reading).front();
}

inline void expect_same_matrix(const ReadByRanks& read, const ReadByRanks& expected,
                               const std::string& what) {
  ASSERT_EQ(read.refusal, "") << what;
  EXPECT_TRUE(same_bits(read.image, expected.image)) << what;
  EXPECT_TRUE(same_bits(read.back, expected.back)) << what;
  EXPECT_EQ(read.stored, expected.stored) << what;
  EXPECT_EQ(read.row_names, expected.row_names) << what;
  EXPECT_EQ(read.column_names, expected.column_names) << what;
}

/// One process's words, which may be followed by the rank that found the defect; and the file after each is
/// read.
inline void expect_same_refusals(const std::vector<std::string>& texts,
                                 const std::vector<int>& sizes = {1, 2, 3, 7}) {
  const io::ScratchDirectory scratch;
  const std::string good = scratch.with("good", "1,2\n3,4\n").string();
  std::vector<std::string> paths;
  std::vector<ReadByRanks> alone;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    paths.push_back(scratch.with("bad" + std::to_string(k), texts[k]).string());
    alone.push_back(read_by_one(paths.back()));
    paths.push_back(good);
  }
  const ReadByRanks expected = read_by(1, good);
  for (const int size : sizes) {
    const std::vector<ReadByRanks> read = read_by(size, paths, {Header::find, size % 2 + 1});
    for (std::size_t k = 0; k < texts.size(); ++k) {
      std::string told = read[2 * k].refusal;
      if (const std::size_t rank = told.rfind(" (rank "); rank != std::string::npos) told.resize(rank);
      EXPECT_EQ(told, alone[k].refusal) << texts[k] << ", ranks " << size;
      EXPECT_EQ(read[2 * k].stored, alone[k].stored) << texts[k];
      expect_same_matrix(read[2 * k + 1], expected, "ranks are ready for the next file");
    }
  }
}

}  // namespace pursuit
