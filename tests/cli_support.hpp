#pragma once
// Runs the program in a folder of its own.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "places.hpp"

namespace pursuit {

struct Finished {
  int status;
  std::string out, err;
};

struct BadCase {
  std::string what, arguments;
  int status;
  std::string message;
};

class ProgramTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

  /// Runs the program in the test's folder.
  Finished run(const std::string& arguments) const {
    const std::string command = fmt::format("cd '{}' && '{}' {} > stdout.txt 2> stderr.txt < /dev/null",
                                            folder_.string(), PURSUIT_PROGRAM, arguments);
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("stdout.txt"), read("stderr.txt")};
  }
  nlohmann::json run_json(const std::string& arguments) const {
    const Finished finished = run(arguments + " --json");
    EXPECT_EQ(finished.status, 0) << arguments << "\n" << finished.err;
    return nlohmann::json::parse(finished.out, nullptr, false);
  }

  /// Each with its status and one message, nothing on standard output, and no file written.
  void expect_refused(const std::vector<BadCase>& cases) const {
    const auto listing = [&] {
      std::vector<std::string> names;
      for (const auto& entry : std::filesystem::directory_iterator(path(".")))
        names.push_back(entry.path().filename());
      std::sort(names.begin(), names.end());
      return names;
    };
    run("--version");
    const auto before = listing();
    for (const auto& bad : cases) {
      const Finished finished = run(bad.arguments);
      EXPECT_EQ(finished.status, bad.status) << bad.what << ": " << finished.err;
      EXPECT_THAT(finished.err, testing::HasSubstr(bad.message)) << bad.what;
      EXPECT_EQ(finished.out, "") << bad.what;
    }
    EXPECT_EQ(listing(), before);
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("pursuit_cli_test_{}", ::getpid());
};

}  // namespace pursuit
