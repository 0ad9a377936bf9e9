#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "pursuit/base/error.hpp"
#include "pursuit/report/svg.hpp"
#include "report/scale.hpp"
#include "report/svg_document.hpp"
#include "report/text.hpp"

namespace pursuit {
namespace {

using report::Anchor;
using report::Interval;
using report::kFontSize;
using report::kGap;
using report::kSmallGap;
using report::px;
using report::svg_text;
using report::Tick;

constexpr double kLegendSample = 24, kLegendLine = 1.6 * kFontSize;
constexpr double kLargestDrawn = 1e300;  // leaves room to widen a range
constexpr int kMostTicks = 8, kFewestTicks = 5;
constexpr double kPixelsOfTick = 42;

/// The palette of Okabe and Ito without its yellow, which is hard to see on white.
constexpr std::array<std::string_view, 7> kPalette{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#e69f00", "#56b4e9", "#000000"};
constexpr std::array<std::string_view, 4> kDashes{"", "8 4", "2 3", "10 3 2 3"};

/// Stroke of the series number `i`: each time the colours run out, the next pattern of dashes.
std::string stroke_of(std::size_t i) {
  const std::string_view dash = kDashes[i / kPalette.size() % kDashes.size()];
  return fmt::format("stroke=\"{}\" stroke-width=\"2\"{}", kPalette[i % kPalette.size()],
                     dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash));
}

struct PlotAxis {
  Interval range;
  bool log;
  double from = 0, to = 0;  // in pixels
  bool whole = false;       // numbers of things: there is nothing between them

  double at(double value) const {
    const double position = log ? Interval{std::log(range.lo), std::log(range.hi)}.position(std::log(value))
                                : range.position(value);
    return from + position * (to - from);
  }
  std::vector<Tick> ticks() const {
    const int room = std::clamp(int(std::abs(to - from) / kPixelsOfTick), kFewestTicks, kMostTicks);
    std::vector<Tick> ticks = log ? report::log_ticks(range, room) : report::linear_ticks(range, room);
    if (!whole) return ticks;
    std::erase_if(ticks, [](const Tick& tick) { return tick.value != std::round(tick.value); });
    for (Tick& tick : ticks)
      if (tick.label.find('e') == std::string::npos)
        tick.label.erase(std::min(tick.label.find('.'), tick.label.size()));
    return ticks;
  }
};

struct Ranges {
  Interval x, y;
};

Interval joined(Interval a, Interval b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

/// Ranges of one series, which is refused where it cannot be drawn.
Ranges checked_ranges(const Series& series, bool log_y) {
  const std::string who = fmt::format("svg_line_plot: series '{}': ", series.name);
  if (series.x.size() != series.y.size()) {
    throw InvalidArgument(fmt::format("{}x holds {} values and y {}; as many are needed", who,
                                      series.x.size(), series.y.size()));
  }
  if (series.spread.size() != 0 && series.spread.size() != series.y.size()) {
    throw InvalidArgument(fmt::format("{}y holds {} values and their spread {}; as many are needed", who,
                                      series.y.size(), series.spread.size()));
  }
  Ranges ranges{report::range_of(series.x, who + "x"), report::range_of(series.y, who + "y")};
  if (series.spread.size() > 0) {
    if (report::range_of(series.spread, who + "spread").lo < 0) {
      throw InvalidArgument(fmt::format("{}a spread is negative; 0 or more is needed", who));
    }
    ranges.y = joined(report::range_of(series.y - series.spread, who + "y less its spread"),
                      report::range_of(series.y + series.spread, who + "y and its spread"));
  }
  const Interval both = joined(ranges.x, ranges.y);
  if (std::max(-both.lo, both.hi) > kLargestDrawn) {
    throw InvalidArgument(fmt::format("{}values go from {} to {}; at most {} can be drawn", who, both.lo,
                                      both.hi, kLargestDrawn));
  }
  if (log_y && ranges.y.lo < report::kSmallestOnLogAxis) {
    throw InvalidArgument(fmt::format("{}y goes down to {}; at least {} is needed on a logarithmic axis", who,
                                      ranges.y.lo, report::kSmallestOnLogAxis));
  }
  return ranges;
}

/// Some air above and below the curves; numbers that are not negative do not get a negative axis.
Interval with_air(Interval range, bool log) {
  constexpr double kShare = 0.04;
  if (log) {
    const double length = std::log(range.hi) - std::log(range.lo);
    const double factor = length < 1e-9 ? 2 : std::exp(kShare * length);
    return {range.lo / factor, std::min(range.hi * factor, std::numeric_limits<double>::max())};
  }
  const Interval wide = report::drawable(range);
  const double air = kShare * (wide.hi - wide.lo);
  return {range.lo >= 0 ? std::max(0.0, wide.lo - air) : wide.lo - air, wide.hi + air};
}

std::string draw_axes(const PlotAxis& x, const PlotAxis& y, const PlotLabels& labels) {
  std::string grid, text;
  for (const Tick& tick : x.ticks()) {
    const double at = x.at(tick.value);
    grid += fmt::format("M{} {}V{}", px(at), px(y.from), px(y.to));
    text += svg_text(at, y.from + kSmallGap + kFontSize, Anchor::middle, tick.label);
  }
  for (const Tick& tick : y.ticks()) {
    const double at = y.at(tick.value);
    grid += fmt::format("M{} {}H{}", px(x.from), px(at), px(x.to));
    text += svg_text(x.from - kSmallGap, at + 0.35 * kFontSize, Anchor::end, tick.label);
  }
  std::string out = fmt::format("<path class=\"grid\" d=\"{}\" stroke=\"#e3e3e3\" fill=\"none\"/>\n", grid);
  out += fmt::format("<path class=\"axes\" d=\"M{} {}V{}H{}\" stroke=\"{}\" fill=\"none\"/>\n", px(x.from),
                     px(y.to), px(y.from), px(x.to), report::kInk);
  out += text;
  if (!labels.x.empty()) {
    out += svg_text((x.from + x.to) / 2, y.from + 2 * kSmallGap + 2 * kFontSize, Anchor::middle, labels.x);
  }
  if (!labels.y.empty()) {
    out += fmt::format("<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                       px(kGap + 0.5 * kFontSize), px((y.from + y.to) / 2), report::xml_escaped(labels.y));
  }
  return out;
}

std::string draw_series(const Series& series, std::size_t number, const PlotAxis& x, const PlotAxis& y) {
  constexpr Index kMarkedUpTo = 30;  // few points are marked one by one
  std::string points, dots, bars;
  for (Index i = 0; i < series.x.size(); ++i) {
    const std::string across = px(x.at(series.x(i))), down = px(y.at(series.y(i)));
    points += fmt::format("{}{},{}", i == 0 ? "" : " ", across, down);
    if (series.spread.size() > 0) {
      const double low = y.at(series.y(i) - series.spread(i)), high = y.at(series.y(i) + series.spread(i));
      constexpr double kCap = 8;
      bars += fmt::format("M{} {}V{}m{} 0h{}M{} {}h{}", across, px(low), px(high), px(-kCap / 2), px(kCap),
                          px(x.at(series.x(i)) - kCap / 2), px(low), px(kCap));
    }
    if (series.x.size() <= kMarkedUpTo) {
      const std::string place = fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"3\"", across, down);
      const auto note = static_cast<std::size_t>(i);
      dots += note < series.notes.size() ? fmt::format("{}><title>{}</title></circle>", place,
                                                       report::xml_escaped(series.notes[note]))
                                         : place + "/>";
    }
  }
  // Of many points the page itself finds the nearest: their notes, one on every line.
  std::string notes;
  if (series.x.size() > kMarkedUpTo && !series.notes.empty()) {
    notes = " data-notes=\"";
    for (const std::string& note : series.notes) notes += report::xml_escaped(note) + "&#10;";
    notes += "\"";
  }
  std::string out = fmt::format("<polyline points=\"{}\"{} {} stroke-linejoin=\"round\" fill=\"none\"/>\n",
                                points, notes, stroke_of(number));
  if (!bars.empty()) {
    out += fmt::format("<path class=\"error-bars\" d=\"{}\" stroke=\"{}\" fill=\"none\"/>\n", bars,
                       kPalette[number % kPalette.size()]);
  }
  if (!dots.empty()) out += fmt::format("<g fill=\"{}\">{}</g>\n", kPalette[number % kPalette.size()], dots);
  return out;
}

std::string draw_legend(const std::vector<Series>& series, double left, double top) {
  std::string out;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double y = top + kLegendLine * (static_cast<double>(i) + 0.5);
    out += fmt::format("<path d=\"M{} {}h{}\" {}/>\n", px(left), px(y), px(kLegendSample), stroke_of(i));
    out += svg_text(left + kLegendSample + kSmallGap, y + 0.35 * kFontSize, Anchor::start, series[i].name);
  }
  return out;
}

}  // namespace

std::string svg_line_plot(const std::vector<Series>& series, const PlotLabels& labels, bool log_y,
                          PlotSize size) {
  if (series.empty()) throw InvalidArgument("svg_line_plot: no series; at least one is needed");
  Ranges ranges = checked_ranges(series.front(), log_y);
  for (const Series& s : series) {
    const Ranges own = checked_ranges(s, log_y);
    ranges = {joined(ranges.x, own.x), joined(ranges.y, own.y)};
  }
  const bool whole = std::all_of(series.begin(), series.end(),
                                 [](const Series& s) { return (s.x.array() == s.x.array().round()).all(); });
  PlotAxis x{report::drawable(ranges.x), false, 0, size.width, whole && ranges.x.hi > ranges.x.lo};
  PlotAxis y{with_air(ranges.y, log_y), log_y, size.height, 0};

  // The plot has a fixed size; what stands around it takes the room it needs.
  double tick_width = 0, name_width = 0;
  for (const Tick& tick : y.ticks()) tick_width = std::max(tick_width, report::text_width(tick.label));
  for (const Series& s : series) name_width = std::max(name_width, report::text_width(s.name));
  const bool legend = name_width > 0;
  x.from = kGap + (labels.y.empty() ? 0 : 1.6 * kFontSize) + tick_width + kSmallGap;
  x.to = x.from + size.width;
  y.to = report::heading_height(labels.title);
  y.from = y.to + size.height;
  double tick_overhang = 0;
  for (const Tick& tick : x.ticks()) {
    tick_overhang = std::max(tick_overhang, report::text_width(tick.label) / 2);
  }
  const double width = x.to + (legend ? kGap + kLegendSample + kSmallGap + name_width : tick_overhang) + kGap;
  const double below = y.from + kGap + kFontSize + (labels.x.empty() ? 0 : kSmallGap + kFontSize);
  const double height =
      std::max(below, legend ? y.to + kLegendLine * static_cast<double>(series.size()) : 0) + kSmallGap;

  std::string content;
  if (!labels.title.empty()) content += report::svg_heading((x.from + x.to) / 2, labels.title);
  content += draw_axes(x, y, labels);
  for (std::size_t i = 0; i < series.size(); ++i) content += draw_series(series[i], i, x, y);
  if (legend) content += draw_legend(series, x.to + kGap, y.to);
  return report::svg_document(width, height, labels.title, content);
}

}  // namespace pursuit
