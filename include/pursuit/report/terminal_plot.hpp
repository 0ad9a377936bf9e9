#pragma once
// Plots made of characters, for people who look at a terminal.

#include <string>

#include "pursuit/base/types.hpp"

namespace pursuit {

struct PlotLabels {
  std::string title, x, y;
};

/// `y` against 1..n as a line plot of `width` x `height` character cells (Unicode braille dots), axes labelled.
std::string terminal_line_plot(ConstVectorRef y, const PlotLabels& labels, int width = 60, int height = 12);

/// A small grey-scale picture of a matrix, two pixels per character cell (half blocks), dark = small.
/// Plain ASCII shades where `unicode` is false.
std::string terminal_image(ConstMatrixRef image, bool unicode = true);

}  // namespace pursuit
