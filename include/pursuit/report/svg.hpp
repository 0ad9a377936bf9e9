#pragma once
// Pictures as SVG text: no dependency, opens in every browser, sharp at any size.

#include <string>
#include <vector>

#include "pursuit/base/types.hpp"
#include "pursuit/report/terminal_plot.hpp"

namespace pursuit {

struct Series {
  std::string name;
  Vector x, y;
  Vector spread = Vector(0);            // error bars: y - spread to y + spread; none where it is empty
  std::vector<std::string> notes = {};  // what a page says of a point under the pointer; may be empty
};

/// Of the part inside the axes, in pixels.
struct PlotSize {
  double width = 560, height = 340;
};

/// Line plot with axes, ticks, grid and legend (where a series has a name). Colours are safe for colour-blind
/// readers. InvalidArgument if there is no series, if one has no point, x and y of different sizes, a value
/// that is not finite or a negative spread, or if `log_y` and a y (less its spread) is not positive.
std::string svg_line_plot(const std::vector<Series>& series, const PlotLabels& labels, bool log_y = false,
                          PlotSize size = {});

struct Tile {
  std::string caption;
  Matrix image;
};

/// Images side by side, `columns` per row, each scaled to its own range: grey (small is dark) for one sign,
/// blue-white-red around zero where an image has both. InvalidArgument if there is no tile, if `columns` is
/// not positive, or if an image is empty or holds a value that is not finite.
std::string svg_image_grid(const std::vector<Tile>& tiles, int columns, const std::string& title);

}  // namespace pursuit
