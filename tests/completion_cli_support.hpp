#pragma once
// Ratings to complete, and what the program prints about them.

#include "cli_support.hpp"

namespace pursuit {

class CompletionCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(
        run("generate ratings --rows 120 --cols 80 --entries 4800 --rank 3 --noise 0.3 --seed 3 --out r.csv")
            .status,
        0);
  }
  /// The lines of a CSV file or of CSV output, without the header.
  static std::vector<std::vector<std::string>> table(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      rows.emplace_back();
      for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
    }
    return rows;
  }
};

}  // namespace pursuit
