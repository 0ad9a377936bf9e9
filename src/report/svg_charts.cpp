#include "report/svg_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html.hpp"
#include "report/scale.hpp"
#include "report/svg_document.hpp"
#include "report/text.hpp"

namespace pursuit::report {
namespace {

constexpr double kLine = 17, kText = 12;
constexpr double kWide = 1.15;  // names in capital letters are wider than most text
constexpr std::size_t kNameColumns = 30;
constexpr double kLeastBars = 90;  // room for the longest bar, however long names are

/// Of long names both ends: those of one kind often begin alike.
std::string shown_name(const std::string& name) {
  return clipped_inside(printable(name), kNameColumns);
}

/// The place of names at the left: as wide as the longest needs, of those clipped.
double name_width(const std::vector<std::string>& names) {
  double width = 0;
  for (const std::string& name : names) width = std::max(width, kWide * text_width(shown_name(name), kText));
  return width;
}

std::string name_at(double x, double y, const std::string& name) {
  return svg_text(x, y, Anchor::end, shown_name(name));
}

/// Inside a page: no background, the font of the page, and as large as it is.
std::string inline_svg(double width, double height, std::string_view label, std::string_view content) {
  return fmt::format(
      "<svg width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\" "
      "font-size=\"{3}\">\n{4}</svg>\n",
      px(width), px(height), html(label), px(kText), content);
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * double(sorted.size() - 1);
  const auto below = std::size_t(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - double(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::string svg_bars(const std::vector<Bar>& bars, double width) {
  std::vector<std::string> names;
  names.reserve(bars.size());
  double lowest = 0, highest = 0, number_width = 0;
  for (const Bar& bar : bars) {
    names.push_back(bar.name);
    lowest = std::min(lowest, bar.value);
    highest = std::max(highest, bar.value);
    number_width = std::max(number_width, text_width(number(bar.value), kText));
  }
  const double left = name_width(names) + kSmallGap;
  width = std::max(width, left + kLeastBars + kSmallGap + number_width);
  const double right = width - number_width - kSmallGap;
  const Interval range = drawable({lowest, highest});
  const auto at = [&](double value) { return left + range.position(value) * (right - left); };
  std::string content;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double top = kLine * double(i), text = top + 0.72 * kLine;
    const double from = std::min(at(0), at(bars[i].value)), to = std::max(at(0), at(bars[i].value));
    content += fmt::format("<g><title>{}: {}</title>", html(bars[i].name), number(bars[i].value));
    content += fmt::format("<rect x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"transparent\"/>",
                           px(top), px(width), px(kLine));
    content += name_at(left - kSmallGap / 2, text, bars[i].name);
    content += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                           bars[i].value < 0 ? "down" : "up", px(from), px(top + 2.5),
                           px(std::max(to - from, 0.5)), px(kLine - 5));
    content += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text></g>\n",
                           px(width), px(text), number(bars[i].value));
  }
  const double height = kLine * double(bars.size());
  if (lowest < 0) content += fmt::format("<path class=\"zero\" d=\"M{} 0V{}\"/>\n", px(at(0)), px(height));
  return inline_svg(width, height, "bars", content);
}

std::string svg_heat_map(const Matrix& values, const std::vector<std::string>& names) {
  const Index count = values.rows();
  const double cell = std::clamp(560.0 / double(std::max<Index>(count, 1)), 5.0, 30.0);
  const bool named = cell >= 11;
  const double left = named ? name_width(names) + kSmallGap : 1, top = named ? 1.5 * kText : 1;
  std::string content;
  for (Index i = 0; i < count; ++i) {
    if (named) {
      content +=
          name_at(left - kSmallGap / 2, top + (double(i) + 0.5) * cell + 0.35 * kText, names[std::size_t(i)]);
      const bool fits = text_width(names[std::size_t(i)], kText) <= cell;
      if (fits) {
        content += svg_text(left + (double(i) + 0.5) * cell, top - 0.4 * kText, Anchor::middle,
                            names[std::size_t(i)]);
      }
    }
    for (Index j = 0; j < count; ++j) {
      content += fmt::format(
          "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"{:.3f}\"><title>{} "
          "and {}: {}</title></rect>\n",
          values(i, j) < 0 ? "down" : "up", px(left + double(j) * cell), px(top + double(i) * cell),
          px(cell - 0.5), px(cell - 0.5), std::min(1.0, std::abs(values(i, j))), html(names[std::size_t(i)]),
          html(names[std::size_t(j)]), number(values(i, j)));
    }
  }
  const double size = cell * double(count);
  content += fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                         px(left - 0.5), px(top - 0.5), px(size + 0.5), px(size + 0.5));
  return inline_svg(left + size + 1, top + size + 1, "overlap", content);
}

Spread spread_of(std::string name, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {std::move(name),      Index(values.size()),  quantile(values, .05), quantile(values, .25),
          quantile(values, .5), quantile(values, .75), quantile(values, .95)};
}

std::string svg_boxes(const std::vector<Spread>& groups, double width) {
  std::vector<std::string> names;
  names.reserve(groups.size());
  double lowest = 0, highest = 0;
  for (const Spread& group : groups) {
    names.push_back(group.name);
    lowest = std::min(lowest, group.low);
    highest = std::max(highest, group.high);
  }
  const double left = name_width(names) + kSmallGap;
  const double bottom = kLine * double(groups.size());
  const Interval range = drawable({lowest, highest});
  const auto at = [&](double value) { return left + range.position(value) * (width - left - 14) + 4; };
  std::string content = fmt::format("<path class=\"zero\" d=\"M{} 0V{}\"/>\n", px(at(0)), px(bottom));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Spread& g = groups[i];
    const double top = kLine * double(i), middle = top + kLine / 2;
    content += fmt::format(
        "<g><title>{} ({}): median {}, half of them {} to {}, nine in ten {} to {}</title>", html(g.name),
        g.count, number(g.middle), number(g.lower), number(g.upper), number(g.low), number(g.high));
    content += fmt::format("<rect x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"transparent\"/>",
                           px(top), px(width), px(kLine));
    content += name_at(left - kSmallGap / 2, top + 0.72 * kLine, g.name);
    content +=
        fmt::format("<path class=\"zero\" d=\"M{} {}H{}\"/>", px(at(g.low)), px(middle), px(at(g.high)));
    content +=
        fmt::format("<rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", px(at(g.lower)),
                    px(top + 3), px(std::max(0.5, at(g.upper) - at(g.lower))), px(kLine - 6));
    content += fmt::format("<path class=\"middle\" d=\"M{} {}V{}\"/></g>\n", px(at(g.middle)), px(top + 2),
                           px(top + kLine - 2));
  }
  for (const Tick& tick : linear_ticks(range, 5)) {
    content += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                           px(at(tick.value)), px(bottom + kText + 2), html(tick.label));
  }
  return inline_svg(width, bottom + kText + 6, "scores by label", content);
}

}  // namespace pursuit::report
