#pragma once
// Plots made of characters, for people who look at a terminal.

#include <string>

#include "pursuit/base/types.hpp"

namespace pursuit {

struct PlotLabels {
  std::string title, x, y;
};

/// `y` against 1..n as a line plot (Unicode braille dots). The plot itself is `width` x `height` character
/// cells; title, axes, tick labels and axis labels come around it. InvalidArgument if `y` is empty or holds a
/// value that is not finite, if `width` is below 10 or if `height` is below 3.
std::string terminal_line_plot(ConstVectorRef y, const PlotLabels& labels, int width = 60, int height = 12);

/// A small grey-scale picture of a matrix, scaled to its own range, small values dark (on a dark terminal).
/// Each pixel is one character twice, which makes it about square: Unicode shades, or plain ASCII where
/// `unicode` is false. There are no colour codes, so it reads the same in a file. InvalidArgument if `image`
/// is empty or holds a value that is not finite.
std::string terminal_image(ConstMatrixRef image, bool unicode = true);

}  // namespace pursuit
