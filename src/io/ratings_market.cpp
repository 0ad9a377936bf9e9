#include "io/ratings_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/defect.hpp"
#include "io/field_cutter.hpp"
#include "io/ratings_text.hpp"
#include "io/sparse_assembly.hpp"

namespace pursuit::io {

namespace {

class MarketRatingsReader {
 public:
  MarketRatingsReader(TextLines& lines, RatingsCollector& ratings) : lines_(lines), ratings_(ratings) {}

  void read() {
    read_banner();
    if (!next_line()) refuse(lines_.name(), "the file ends before the line of sizes");
    const std::int64_t rows = size(0, "rows"), cols = size(1, "columns"), entries = size(2, "entries");
    require_end(3);
    require_storable(lines_.here(), rows, cols, entries);
    std::int64_t count = 0;
    for (; next_line(); ++count) {
      if (count == entries)
        refuse(lines_.here(), fmt::format("more entries than the {} that the header promises", entries));
      if (fields_[2].empty()) refuse(lines_.here(), fmt::format("the entry {} has no value", shown(line_)));
      const int row = position(0, rows, "row"), col = position(1, cols, "column");
      ratings_.add(row, col, parse_rating(fields_[2], lines_), lines_.number());
      require_end(3);
    }
    if (count != entries) {
      refuse(lines_.name(),
             fmt::format("the header promises {} entries, but the file ends after {}", entries, count));
    }
    ratings_.name_positions(1, rows, cols);
  }

 private:
  void read_banner() {
    lines_.next(line_);
    std::array<std::string_view, 5> words;
    cutter_.cut(line_, words);
    const auto require = [&](const char* what, std::size_t k, const std::vector<std::string_view>& allowed) {
      std::string word(words[k]);
      std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
      if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
        refuse(lines_.here(), fmt::format("{} {} is not supported for observed entries; supported: {}", what,
                                          shown(words[k]), fmt::join(allowed, ", ")));
      }
    };
    require("banner", 0, {"%%matrixmarket"});
    require("object", 1, {"matrix"});
    require("format", 2, {"coordinate"});
    require("entry type", 3, {"real", "integer", "unsigned-integer"});
    require("symmetry", 4, {"general"});
  }

  /// Cuts the next line that is neither blank nor a comment.
  bool next_line() {
    do {
      if (!lines_.next_filled(line_)) return false;
    } while (line_[line_.find_first_not_of(" \t")] == '%');
    fields_.fill({});
    cutter_.cut(line_, fields_);
    if (!cutter_.defect().empty()) refuse(lines_.here(), cutter_.defect());
    return true;
  }

  /// A number of the line of sizes. One too large for int64 saturates, to be refused for its size.
  std::int64_t size(std::size_t k, const char* what) const {
    std::int64_t size = 0;
    const char* last = fields_[k].data() + fields_[k].size();
    const auto [end, error] = std::from_chars(fields_[k].data(), last, size);
    if (end != last || error == std::errc::invalid_argument) {
      refuse(lines_.here(),
             fmt::format("the number of {} {} is not a whole number", what, shown(fields_[k])));
    }
    return error == std::errc{} ? size : std::numeric_limits<std::int64_t>::max();
  }

  /// A position, from 0.
  int position(std::size_t k, std::int64_t most, const char* what) const {
    int index = 0;
    const char* last = fields_[k].data() + fields_[k].size();
    const auto [end, error] = std::from_chars(fields_[k].data(), last, index);
    if (end != last || error != std::errc{} || index < 1 || index > most) {
      refuse(lines_.here(),
             fmt::format("{} {} is not a whole number from 1 to {}", what, shown(fields_[k]), most));
    }
    return index - 1;
  }

  void require_end(std::size_t count) const {
    if (!fields_[count].empty()) {
      refuse(lines_.here(), fmt::format("unexpected {} after the end of the entry", shown(fields_[count])));
    }
  }

  TextLines& lines_;
  RatingsCollector& ratings_;
  FieldCutter cutter_{Separator::kBlanks};
  std::string_view line_;
  std::array<std::string_view, 4> fields_;  // one more than an entry has
};

}  // namespace

void read_market_ratings(TextLines& lines, RatingsCollector& ratings) {
  MarketRatingsReader(lines, ratings).read();
}

}  // namespace pursuit::io
