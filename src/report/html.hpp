#pragma once
// Pages that stand alone: no file beside them, no network, and no text that means more than it says.

#include <string>
#include <string_view>
#include <vector>

namespace pursuit::report {

/// Four digits, or a whole number, without a sign where nothing is left of a number.
std::string number(double value);

/// Text with the characters escaped that mean something in HTML.
std::string html(std::string_view text);

/// A cell of a table: its text and, of numbers, what it is sorted by.
struct Cell {
  std::string text, value;
  bool is_number = false;

  Cell(std::string words) : text(std::move(words)) {}
  Cell(const char* words) : text(words) {}
  Cell(double shown);
};

/// A table whose columns sort by a click; columns of numbers stand on the right.
class Table {
 public:
  explicit Table(std::vector<std::string> heads) : heads_(std::move(heads)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  std::vector<std::string> heads_;
  std::vector<std::vector<Cell>> rows_;
};

struct Fact {
  std::string name, value;
};

/// Few facts, large.
std::string cards_of(const std::vector<Fact>& facts);
/// Facts in a table of two columns.
std::string table_of(const std::vector<Fact>& facts);

/// A paragraph of words.
std::string paragraph(std::string_view words);
std::string figure(const std::string& svg, std::string_view caption = "");

/// One part of a page, in the order of its list of contents.
struct Section {
  std::string id, title, content;  // the content is HTML
};

/// The whole page.
std::string html_page(const std::string& title, const std::string& subtitle, const std::vector<Fact>& cards,
                      const std::vector<Section>& sections);

}  // namespace pursuit::report
