#pragma once
// The first fields of a line of text: plain or quoted, set apart by a separator that is found from the first
// line.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pursuit::io {

enum class Separator { kColons, kTab, kSemicolon, kComma, kBlanks };  // colons: "::"; blanks: any run of them

/// How a message names it: "'::'", "blanks".
const char* shown(Separator separator);

class FieldCutter {
 public:
  /// Finds the separator: the first of those above that gives `line` at least `needed` fields; where none
  /// does, the one that gives it most.
  FieldCutter(std::string_view line, std::size_t needed);
  explicit FieldCutter(Separator separator) : separator_(separator) {}

  Separator separator() const { return separator_; }

  /// Fills `fields` with the first of the line, without quotes and the blanks around them; returns how many
  /// there are. They are valid as long as the line is, and until the next call.
  std::size_t cut(std::string_view line, std::span<std::string_view> fields);

  /// What was wrong with the quotes of the line last cut; empty where nothing was.
  const std::string& defect() const { return defect_; }

 private:
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != Separator::kTab); }
  const char* skip_blanks(const char* at, const char* end) const;
  const char* find_separator(const char* at, const char* end) const;
  const char* unquote(const char* at, const char* end, std::string& text);

  Separator separator_ = Separator::kBlanks;
  std::vector<std::string> unquoted_;  // text of the quoted fields
  std::string defect_;
};

}  // namespace pursuit::io
