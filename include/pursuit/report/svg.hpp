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

/// Line plot with axes, ticks, grid and legend. Colours are safe for colour-blind readers.
std::string svg_line_plot(const std::vector<Series>& series, const PlotLabels& labels, bool log_y = false);

struct Tile {
  std::string caption;
  Matrix image;
};

/// Images side by side, `columns` per row, each scaled to its own range: grey for one sign, blue-white-red where
/// an image has both.
std::string svg_image_grid(const std::vector<Tile>& tiles, int columns, const std::string& title);

}  // namespace pursuit
