#include "report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pursuit/base/version.hpp"
#include "report/page_style.hpp"
#include "report/text.hpp"

namespace pursuit::report {

std::string number(double value) {
  const double size = std::abs(value);
  if (size >= 1e4 && size < 1e7)
    return fmt::format("{:.0f}", value);  // people read these more easily than powers
  const std::string text = fmt::format("{:.4g}", value);
  return text == "-0" ? "0" : text;
}

std::string html(std::string_view text) {
  return xml_escaped(text);
}

Cell::Cell(double shown) : text(number(shown)), value(fmt::format("{}", shown)), is_number(true) {}

std::string Table::text() const {
  const auto is_number_column = [&](std::size_t column) {
    return std::all_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row[column].is_number; });
  };
  std::string out = "<div class=\"scroll\"><table class=\"sortable\"><thead><tr>";
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    out += fmt::format("<th{}>{}</th>", is_number_column(i) ? " class=\"number\"" : "", html(heads_[i]));
  }
  out += "</tr></thead><tbody>\n";
  for (const auto& row : rows_) {
    out += "<tr>";
    for (const Cell& cell : row) {
      out += cell.is_number ? fmt::format("<td class=\"number\" data-value=\"{}\">{}</td>", html(cell.value),
                                          html(cell.text))
                            : fmt::format("<td>{}</td>", html(cell.text));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string cards_of(const std::vector<Fact>& facts) {
  std::string out = "<div class=\"cards\">\n";
  for (const Fact& fact : facts) {
    out += fmt::format("<div class=\"fact\"><b>{}</b><span>{}</span></div>\n", html(fact.value),
                       html(fact.name));
  }
  return out + "</div>\n";
}

std::string table_of(const std::vector<Fact>& facts) {
  std::string out = "<div class=\"scroll\"><table class=\"facts\">\n";
  for (const Fact& fact : facts) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", html(fact.name), html(fact.value));
  }
  return out + "</table></div>\n";
}

std::string paragraph(std::string_view words) {
  return fmt::format("<p>{}</p>\n", html(words));
}

std::string figure(const std::string& svg, std::string_view caption) {
  const std::string words = caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>", html(caption));
  return fmt::format("<figure>{}{}</figure>\n", svg, words);
}

std::string html_page(const std::string& title, const std::string& subtitle, const std::vector<Fact>& cards,
                      const std::vector<Section>& sections) {
  // Nothing is ever asked of a network: the policy forbids it to the page itself.
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"pursuit {}\">\n<title>{}</title>\n<style>",
      html(version()), html(title));
  out += fmt::format(
      ":root{{{0}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{1}}}}}\n"
      ":root[data-theme=dark]{{{1}}}\n@media print{{:root:root{{{0}}}}}",
      kLightColours, kDarkColours);
  out += fmt::format(
      "{}</style>\n</head>\n<body>\n<main>\n<header><div><h1>{}</h1><p class=\"kind\">{}</p></div>"
      "<button id=\"theme\" type=\"button\">light / dark</button></header>\n",
      kPageStyle, html(title), html(subtitle));
  out += cards_of(cards) + "<nav>";
  for (const Section& each : sections) {
    out += fmt::format("<a href=\"#{}\">{}</a>", html(each.id), html(each.title));
  }
  out += "</nav>\n";
  for (const Section& each : sections) {
    out += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", html(each.id), html(each.title),
                       each.content);
  }
  out += fmt::format(
      "<footer>Written by pursuit {}. The page needs no network and holds all it shows.</footer>\n"
      "</main>\n<div id=\"tip\" role=\"tooltip\"></div>\n<script>{}</script>\n</body>\n</html>\n",
      html(version()), kPageScript);
  return out;
}

}  // namespace pursuit::report
