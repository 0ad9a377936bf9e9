#pragma once
// Small texts of ids and words: lists to choose from, names to show.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pursuit {

/// The lines of a text that hold anything, cut into fields by what separates those of the first line: tabs,
/// "::", ',', ';', or blanks.
struct TextTable {
  struct Line {
    std::string text;  // all of it, without surrounding blanks and quotes where it is one field
    std::vector<std::string> fields;
    std::size_t number;  // from 1
  };
  std::vector<Line> lines;
};

/// Plain or gzip. InvalidInput for a file that cannot be read, is no text or holds nothing.
TextTable read_text_table(const std::filesystem::path& path);

/// What ids, the first field of every line, are called: the field under this word of the header, or the one
/// of this number from 1; where `column` is empty the second. InvalidInput where there is no such column.
std::map<std::string, std::string, std::less<>> read_names(const std::filesystem::path& path,
                                                           const std::string& column);

}  // namespace pursuit
