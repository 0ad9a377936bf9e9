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
};

/// Line plot with axes, ticks, grid and legend (where a series has a name). Colours are safe for colour-blind
/// readers. InvalidArgument if there is no series, if one has no point, x and y of different sizes or a value
/// that is not finite, or if `log_y` and a y is not positive.
std::string svg_line_plot(const std::vector<Series>& series, const PlotLabels& labels, bool log_y = false);

struct Tile {
  std::string caption;
  Matrix image;
};

/// Images side by side, `columns` per row, each scaled to its own range: grey (small is dark) for one sign,
/// blue-white-red around zero where an image has both. InvalidArgument if there is no tile, if `columns` is
/// not positive, or if an image is empty or holds a value that is not finite.
std::string svg_image_grid(const std::vector<Tile>& tiles, int columns, const std::string& title);

}  // namespace pursuit
