#include "pursuit/io/text_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "io/test_support.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/completion_file.hpp"

namespace pursuit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TextTables : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& text) const {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("pursuit_text_{}", ::getpid());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  void TearDown() override { std::filesystem::remove(file("")); }
};

TEST_F(TextTables, CutsLinesByTheSeparatorOfTheFirst) {
  const TextTable table = read_text_table(file("id,title\r\n\n7,\"Seven, the\"\n8,Eight\n"));
  ASSERT_EQ(table.lines.size(), 3U);
  EXPECT_THAT(table.lines[1].fields, ElementsAre("7", "Seven, the"));
  EXPECT_EQ(table.lines[1].number, 3U);
  EXPECT_EQ(read_text_table(file("  an id with blanks \n")).lines[0].text, "an id with blanks");
  EXPECT_EQ(read_text_table(file("\"quoted, one\"\n")).lines[0].text, "quoted, one");
  EXPECT_THAT(read_text_table(file("1::Toy Story (1995)::Comedy\n")).lines[0].fields,
              ElementsAre("1", "Toy Story (1995)", "Comedy"));
}

TEST_F(TextTables, NamesAreFoundByHeaderOrNumber) {
  const std::string text = "id,year,title\n7,1995,Seven\n8,1963,Eight and a half\n";
  EXPECT_EQ(read_names(file(text), "title").at("8"), "Eight and a half");
  EXPECT_EQ(read_names(file(text), "3").at("7"), "Seven");
  EXPECT_EQ(read_names(file(text), "").at("7"), "1995");
  for (const char* column : {"name", "0", "4", "-1", "2.5"})
    EXPECT_THROW(read_names(file(text), column), InvalidInput) << column;
  EXPECT_THROW(read_names(file("id,title\n7\n"), ""), InvalidInput);
  EXPECT_THROW(read_names(file("\n \n"), ""), InvalidInput);
  EXPECT_THROW(read_names(file(std::string("PK\x03\x04 no text", 12)), ""), InvalidInput);
}

TEST(AsCompletion, OffsetsMeansAndScalesArePartOfThePrediction) {
  ModelFile file{{Matrix::Ones(3, 1), Matrix::Ones(2, 1), Vector::Constant(1, 2.0)}, {}, {}, {}, {}};
  file.column_means = (Vector(2) << 10, 20).finished();
  file.column_deviations = (Vector(2) << 1, 3).finished();
  file.trace.emplace_back().objective = 3;  // six entries, each off by one
  const CompletionFile served = as_completion(file);
  EXPECT_NEAR(predict(served.model, {0, 0}).value, 12, 1e-5);
  EXPECT_NEAR(predict(served.model, {2, 1}).value, 26, 1e-5);
  EXPECT_NEAR(predict(served.model, {2, 1}).deviation, 1, 1e-5);
  EXPECT_EQ(served.rows.find("2"), 2);
  EXPECT_FALSE(served.keeps_entries);

  file.column_means = file.column_deviations = Vector(0);
  file.own_terms.row_offsets = Vector::Constant(3, 1e12);
  file.own_terms.col_offsets = Vector::Zero(2);
  EXPECT_NEAR(predict(as_completion(file).model, {1, 1}).value, 1e12 + 2, 1e6);

  file.loss = Loss::bernoulli;
  file.own_terms.row_offsets = Vector::Constant(3, -2.0);
  EXPECT_NEAR(predict(as_completion(file).model, {1, 1}).value, 0.5, 1e-9);
  file.loss = Loss::gamma;
  EXPECT_THROW(as_completion(file), InvalidInput);
}

}  // namespace
}  // namespace pursuit
