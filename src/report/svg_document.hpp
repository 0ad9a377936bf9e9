#pragma once
// What every SVG picture of ours is made of.

#include <string>
#include <string_view>

namespace pursuit::report {

// Pixels.
inline constexpr double kFontSize = 13, kTitleSize = 16;
inline constexpr double kSmallGap = 8, kGap = 16;

/// Colour of text and axes.
inline constexpr std::string_view kInk = "#333333";

/// Rough width of `text`: fonts differ, so this errs on the wide side.
double text_width(std::string_view text, double size = kFontSize);

/// A coordinate to a hundredth of a pixel, without idle digits.
std::string px(double value);

enum class Anchor { start, middle, end };

/// One line of text, escaped, at the given place.
std::string svg_text(double x, double y, Anchor anchor, std::string_view text);

/// The same, bold and larger, centred at `x` at the top of the picture.
std::string svg_heading(double x, std::string_view title);

/// The height that a heading takes, with the gaps around it; just a gap where there is none.
double heading_height(std::string_view title);

/// `content` as a whole document with a white background; `title` is what a screen reader says.
std::string svg_document(double width, double height, std::string_view title, std::string_view content);

}  // namespace pursuit::report
