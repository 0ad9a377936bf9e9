#include "io/cell_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/defect.hpp"

namespace pursuit::io {

const char* shown(Separator separator) {
  constexpr std::array kNames = {"'::'", "tabs", "';'", "','", "blanks"};
  return kNames[static_cast<std::size_t>(separator)];
}

CellScanner::CellScanner(std::string_view text, Separator separator, Quotes quotes, const std::string* name,
                         std::size_t lines_before)
    : text_(text.data()),
      at_(text.data()),
      end_(text.data() + text.size()),
      record_(at_),
      separator_(separator),
      quotes_(quotes),
      stop_(":\t;, "[static_cast<std::size_t>(separator)]),
      line_(lines_before),
      record_line_(lines_before),
      name_(name) {}

Cell CellScanner::quoted_cell() {
  const char* open = at_;
  const std::size_t first_line = line_;
  const char* text_end = quotes_ == Quotes::span_lines ? end_ : std::find(at_, end_, '\n');
  const std::string_view text(open, static_cast<std::size_t>(text_end - open));
  const std::size_t close = behind_closing_quote(text, 0);
  at_ = close == std::string_view::npos ? text_end : open + close;
  line_ += static_cast<std::size_t>(std::count(open, at_, '\n'));
  if (close == std::string_view::npos)
    refuse_quotes(first_line, quotes_ == Quotes::span_lines
                                  ? "the quote that opens the cell is never closed"
                                  : "a quote is opened, but not closed on the same line");

  std::string_view content(open + 1,
                           static_cast<std::size_t>(at_ - open - (close == std::string_view::npos ? 1 : 2)));
  if (content.find('"') != std::string_view::npos) {
    std::string& plain = unquoted_.emplace_front();
    for (std::size_t k = 0; k < content.size(); ++k) {
      plain += content[k];
      k += content[k] == '"' ? 1 : 0;  // of two that stand for one
    }
    content = plain;
  }
  const char* behind = at_;
  if (!finish_cell()) {
    refuse_quotes(first_line, fmt::format("{} follows the closing quote of the cell",
                                          io::shown({behind, std::find(behind, end_, '\n')})));
    find_separator();
    finish_cell();
  }
  return {content, true};
}

void CellScanner::refuse_quotes(std::size_t line, const std::string& why) {
  quotes_are_sound_ = false;
  if (name_ == nullptr) return;
  refuse(quotes_ == Quotes::span_lines ? at_cell(*name_, line + 1, column_ + 1) : at_line(*name_, line + 1),
         why);
}

std::string_view CellScanner::record_text() const {
  std::string_view line(record_, static_cast<std::size_t>(std::find(record_, end_, '\n') - record_));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Separator find_separator(std::string_view line, std::size_t needed) {
  Separator best = Separator::kBlanks;
  std::size_t most = 0;
  for (const Separator candidate : kSeparators) {
    CellScanner cells(line, candidate, CellScanner::Quotes::end_with_line);
    if (!cells.seek_record()) continue;
    while (cells.has_cell() && cells.column() < needed) cells.next_cell();
    if (cells.column() <= most) continue;
    most = cells.column();
    best = candidate;
  }
  return best;
}

bool opens_cell(std::string_view text, std::size_t quote, Separator separator) {
  std::size_t at = quote;
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\r' ||
                    (text[at - 1] == '\t' && separator != Separator::kTab)))
    --at;
  if (at == 0 || text[at - 1] == '\n') return true;
  switch (separator) {
    case Separator::kColons: return at > 1 && text[at - 1] == ':' && text[at - 2] == ':';
    case Separator::kTab: return text[at - 1] == '\t';
    case Separator::kSemicolon: return text[at - 1] == ';';
    case Separator::kComma: return text[at - 1] == ',';
    default: return at != quote;
  }
}

std::size_t behind_closing_quote(std::string_view text, std::size_t open) {
  for (std::size_t at = open + 1; (at = text.find('"', at)) != std::string_view::npos; at += 2)
    if (at + 1 == text.size() || text[at + 1] != '"') return at + 1;
  return std::string_view::npos;
}

}  // namespace pursuit::io
