// The guide is run, not trusted: its shell examples in order, and its C++ example as part of the consumer
// project.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "places.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/io/matrix_file.hpp"
#include "pursuit/io/tensor_file.hpp"

namespace pursuit {
namespace {

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> code_blocks(const std::string& text, const std::string& language) {
  std::vector<std::string> blocks;
  const std::string opening = "```" + language + "\n";
  for (std::size_t begin = 0; (begin = text.find(opening, begin)) != std::string::npos;) {
    begin += opening.size();
    blocks.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return blocks;
}

std::string without_spaces(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); }),
             text.end());
  return text;
}

TEST(Guide, EveryShellExampleRuns) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("pursuit_guide_test_{}", ::getpid());
  std::filesystem::create_directories(folder);
  Random random(1);
  write_matrix(folder / "A.npy", {Matrix(random.gaussian_matrix(20, 15).cwiseAbs()), {}, {}});
  write_matrix(folder / "D.npy", {random.gaussian_matrix(10, 25), {}, {}});
  write_matrix(folder / "Y.npy", {random.gaussian_matrix(10, 4), {}, {}});
  const Factors three_modes(
      std::vector<Panel>{random.gaussian_matrix(6, 3).cwiseAbs(), random.gaussian_matrix(5, 3).cwiseAbs()},
      {0, 0, 1});
  write_tensor(folder / "T.npy", {three_modes, Vector::Ones(3)});
  std::ofstream(folder / "T.tns") << "1 1 1 2\n2 1 3 1\n3 2 2 4\n1 2 4 1.5\n";
  std::ofstream(folder / "places.csv") << "1,1,1\n6,5,4\n";
  std::ofstream(folder / "trips.csv")
      << "station,day,hour,trips\nnorth,mon,8,5\nsouth,tue,9,2\nnorth,tue,9,1\n";
  std::ofstream(folder / "asked.csv") << "station,day,hour\nsouth,mon,8\n";
  const Matrix counts = random.gaussian_matrix(30, 20).cwiseAbs().array().floor().matrix();
  write_matrix(folder / "counts.mtx", {SparseMatrix((counts.array() + 1).matrix().sparseView()), {}, {}});
  write_matrix(folder / "clicks.npz", {SparseMatrix(counts.cwiseMin(1.0).sparseView()), {}, {}});
  write_matrix(folder / "trust.csv", {Matrix(Matrix::Ones(20, 1)), {}, {}});
  std::string films = "id,title,genres\n";
  for (int j = 1; j <= 200; ++j)
    films += fmt::format("{},\"Film, the {}th\",{}\n", j, j, j % 2 ? "Drama" : "Comedy|War");
  std::ofstream(folder / "films.csv") << films;
  std::ofstream(folder / "dated.csv") << "user,item,rating,time\nann,tea,5,2024-01-03 18:00\n"
                                         "ann,jam,3,2024-01-04 09:30\nbob,tea,4,2024-02-01 20:15\n";
  std::ofstream(folder / "users.txt") << "42\n43\n";
  std::ofstream(folder / "candidates.txt") << "17\n18\n19\n";
  std::ofstream(folder / "shown.csv") << "42,17\n43,18\n";
  std::ofstream(folder / "newcomer.csv") << "row,column,value\nsomebody,3,5\nsomebody,4,1\n";
  int commands = 0;
  for (const auto& block : code_blocks(read(PURSUIT_SOURCE_DIR "/docs/guide.md"), "sh")) {
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) {
      ASSERT_EQ(line.rfind("pursuit ", 0), 0U) << line;
      const std::string command =
          fmt::format("cd '{}' && '{}' {} > /dev/null", folder.string(), PURSUIT_PROGRAM, line.substr(8));
      EXPECT_EQ(std::system(command.c_str()), 0) << line;
      ++commands;
    }
  }
  EXPECT_GE(commands, 8);
  std::filesystem::remove_all(folder);
}

TEST(Guide, ItsOwnAtomSetIsTheOneThatTheConsumerProjectBuildsAndRuns) {
  const auto blocks = code_blocks(read(PURSUIT_SOURCE_DIR "/docs/guide.md"), "cpp");
  ASSERT_EQ(blocks.size(), 1U);
  const std::string body = blocks[0].substr(blocks[0].find("// Unit vectors"));
  EXPECT_NE(without_spaces(read(PURSUIT_SOURCE_DIR "/tests/consumer/main.cpp")).find(without_spaces(body)),
            std::string::npos);
}

}  // namespace
}  // namespace pursuit
