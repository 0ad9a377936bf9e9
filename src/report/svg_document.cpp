#include "report/svg_document.hpp"

#include <fmt/format.h>

#include "report/text.hpp"

namespace pursuit::report {

double text_width(std::string_view text, double size) {
  return 0.6 * size * static_cast<double>(length(printable(text)));
}

std::string px(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string svg_text(double x, double y, Anchor anchor, std::string_view text) {
  const std::string_view name = anchor == Anchor::start    ? "start"
                                : anchor == Anchor::middle ? "middle"
                                                           : "end";
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", px(x), px(y), name,
                     xml_escaped(text));
}

std::string svg_heading(double x, std::string_view title) {
  return fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"{}\" font-weight=\"bold\">{}</text>\n",
      px(x), px(kGap + 0.8 * kTitleSize), px(kTitleSize), xml_escaped(title));
}

double heading_height(std::string_view title) {
  return title.empty() ? kGap : kGap + kTitleSize + kGap;
}

std::string svg_document(double width, double height, std::string_view title, std::string_view content) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "role=\"img\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{2}\" fill=\"{3}\">\n",
      px(width), px(height), px(kFontSize), kInk);
  if (!title.empty()) out += fmt::format("<title>{}</title>\n", xml_escaped(title));
  out += "<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  return out.append(content).append("</svg>\n");
}

}  // namespace pursuit::report
