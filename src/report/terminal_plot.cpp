#include "pursuit/report/terminal_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "pursuit/base/error.hpp"
#include "report/scale.hpp"
#include "report/text.hpp"

namespace pursuit {
namespace {

using report::Interval;

/// A grid of dots, eight (2 x 4) to a character cell.
class BrailleCanvas {
 public:
  BrailleCanvas(int width, int height)
      : width_(width),
        height_(height),
        cells_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {}

  int columns() const { return 2 * width_; }
  int rows() const { return 4 * height_; }

  /// Dot at column `x` from the left, row `y` from the top.
  void set(int x, int y) {
    constexpr std::array<std::array<unsigned char, 2>, 4> kBits{
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    cells_[index(x / 2, y / 4)] |= kBits[static_cast<std::size_t>(y % 4)][static_cast<std::size_t>(x % 2)];
  }

  /// Straight line of dots (Bresenham), both ends included.
  void line(int x0, int y0, int x1, int y1) {
    const int dx = std::abs(x1 - x0), dy = -std::abs(y1 - y0);
    const int sx = x0 < x1 ? 1 : -1, sy = y0 < y1 ? 1 : -1;
    int error = dx + dy;
    for (;;) {
      set(x0, y0);
      if (x0 == x1 && y0 == y1) return;
      const int twice = 2 * error;
      if (twice >= dy) {
        error += dy;
        x0 += sx;
      }
      if (twice <= dx) {
        error += dx;
        y0 += sy;
      }
    }
  }

  /// Row of cells as UTF-8; empty cells are plain spaces and none of them ends the row.
  std::string row(int cell_row) const {
    std::string out;
    for (int x = 0; x < width_; ++x) {
      const unsigned dots = cells_[index(x, cell_row)];
      if (dots == 0) {
        out += ' ';
        continue;
      }
      // U+2800 + dots, in three bytes.
      out += static_cast<char>(0xE2);
      out += static_cast<char>(0xA0U | (dots >> 6U));
      out += static_cast<char>(0x80U | (dots & 0x3FU));
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  }

 private:
  std::size_t index(int cell_x, int cell_y) const {
    return static_cast<std::size_t>(cell_y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(cell_x);
  }

  int width_, height_;
  std::vector<unsigned char> cells_;
};

int to_dot(double position, int dots) {
  return std::clamp(static_cast<int>(std::lround(position * (dots - 1))), 0, dots - 1);
}

void draw_curve(BrailleCanvas& canvas, ConstVectorRef y, Interval range) {
  const Index n = y.size();
  const auto dot_x = [&](Index i) {
    return n == 1 ? 0 : to_dot(static_cast<double>(i) / static_cast<double>(n - 1), canvas.columns());
  };
  const auto dot_y = [&](Index i) { return to_dot(1 - range.position(y(i)), canvas.rows()); };
  canvas.set(dot_x(0), dot_y(0));
  for (Index i = 1; i < n; ++i) canvas.line(dot_x(i - 1), dot_y(i - 1), dot_x(i), dot_y(i));
}

/// Tick labels by row of cells, empty where a row has no tick.
std::vector<std::string> row_labels(Interval range, int height) {
  std::vector<std::string> labels(static_cast<std::size_t>(height));
  for (const auto& tick : report::linear_ticks(range, std::max(5, height / 2))) {
    auto& label = labels[static_cast<std::size_t>(to_dot(1 - range.position(tick.value), 4 * height) / 4)];
    if (label.empty()) label = tick.label;
  }
  return labels;
}

/// `left` and `right` at the two ends of `width` columns, `middle` between them as far as there is room.
std::string three_in_a_row(const std::string& left, const std::string& middle, const std::string& right,
                           int width) {
  const auto free = static_cast<std::size_t>(width) -
                    std::min<std::size_t>(static_cast<std::size_t>(width), left.size() + right.size());
  const std::string label = free > 2 ? report::clipped(middle, free - 2) : "";
  const std::size_t before = (free - report::length(label)) / 2;
  const std::size_t after = free - report::length(label) - before;
  std::string out = left + std::string(before, ' ') + label + std::string(after, ' ') + right;
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

}  // namespace

std::string terminal_line_plot(ConstVectorRef y, const PlotLabels& labels, int width, int height) {
  if (width < 10 || height < 3) {
    throw InvalidArgument(fmt::format(
        "terminal_line_plot: a plot of {} x {} cells; at least 10 x 3 are needed", width, height));
  }
  const Interval range = report::drawable(report::range_of(y, "terminal_line_plot: y"));

  BrailleCanvas canvas(width, height);
  draw_curve(canvas, y, range);

  const std::vector<std::string> ticks = row_labels(range, height);
  const std::size_t margin = std::max_element(ticks.begin(), ticks.end(), [](const auto& a, const auto& b) {
                               return a.size() < b.size();
                             })->size();

  std::string out;
  if (!labels.title.empty()) out += report::printable(labels.title) + '\n';
  if (!labels.y.empty()) out += report::printable(labels.y) + '\n';
  for (int row = 0; row < height; ++row) {
    const std::string& tick = ticks[static_cast<std::size_t>(row)];
    out += fmt::format("{:>{}} {}{}\n", tick, margin, tick.empty() ? "│" : "┤", canvas.row(row));
  }
  out += std::string(margin + 1, ' ') + "└";
  for (int x = 0; x < width; ++x) out += "─";
  out += '\n';
  const std::string last = y.size() > 1 ? std::to_string(y.size()) : "";
  out += std::string(margin + 2, ' ') + three_in_a_row("1", report::printable(labels.x), last, width) + '\n';
  return out;
}

std::string terminal_image(ConstMatrixRef image, bool unicode) {
  static constexpr std::array<std::string_view, 5> kBlocks{" ", "░", "▒", "▓", "█"};
  static constexpr std::array<std::string_view, 10> kAscii{" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
  const int shades = static_cast<int>(unicode ? kBlocks.size() : kAscii.size());

  const Interval range = report::range_of(image, "terminal_image: image");
  std::string out;
  for (Index i = 0; i < image.rows(); ++i) {
    for (Index j = 0; j < image.cols(); ++j) {
      const auto level = static_cast<std::size_t>(
          std::min(shades - 1, static_cast<int>(report::shade(image(i, j), range) * shades)));
      const std::string_view pixel = unicode ? kBlocks[level] : kAscii[level];
      out.append(pixel).append(pixel);
    }
    out += '\n';
  }
  return out;
}

}  // namespace pursuit
