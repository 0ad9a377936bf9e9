#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <iterator>
#include <map>

#include "pursuit/base/error.hpp"
#include "pursuit/report/svg.hpp"
#include "report/scale.hpp"
#include "report/svg_document.hpp"

namespace pursuit {
namespace {

using report::Interval;
using report::kFontSize;
using report::kGap;
using report::px;

struct Colour {
  int red, green, blue;
  auto operator<=>(const Colour&) const = default;
};

std::string hex(Colour c) {
  return fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue);
}

/// From `a` to `b` in steps small enough not to be seen and few enough to give runs of equal pixels.
Colour mix(Colour a, Colour b, double share) {
  constexpr double kSteps = 63;
  const double t = std::round(share * kSteps) / kSteps;
  const auto channel = [t](int from, int to) {
    return static_cast<int>(std::lround(from + t * (to - from)));
  };
  return {channel(a.red, b.red), channel(a.green, b.green), channel(a.blue, b.blue)};
}

/// How the values of one image become colours.
class ColourScale {
 public:
  explicit ColourScale(Interval range)
      : range_(range),
        largest_(std::max(-range.lo, range.hi)),
        // Rounding errors beyond zero do not make an image one of two signs.
        two_signs_(std::min(-range.lo, range.hi) > 1e-9 * largest_) {}

  Colour operator()(double value) const {
    constexpr Colour kBlack{0, 0, 0}, kWhite{255, 255, 255}, kBlue{33, 102, 172}, kRed{178, 24, 43};
    if (!two_signs_) return mix(kBlack, kWhite, report::shade(value, range_));
    return mix(kWhite, value < 0 ? kBlue : kRed, std::abs(value) / largest_);
  }

 private:
  Interval range_;
  double largest_;
  bool two_signs_;
};

/// The image with pixels of size 1 at the origin: the most frequent colour as background, then for each other
/// colour one path of horizontal strokes, one stroke per run of equal pixels.
std::string draw_pixels(const Matrix& image, const ColourScale& colour) {
  std::map<Colour, std::string> strokes;
  std::map<Colour, Index> pixels;
  for (Index i = 0; i < image.rows(); ++i) {
    for (Index j = 0; j < image.cols();) {
      const Colour c = colour(image(i, j));
      Index end = j + 1;
      while (end < image.cols() && colour(image(i, end)) == c) ++end;
      fmt::format_to(std::back_inserter(strokes[c]), "M{} {}h{}", j, i, end - j);
      pixels[c] += end - j;
      j = end;
    }
  }
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const Colour background = std::max_element(pixels.begin(), pixels.end(), fewer)->first;
  strokes.erase(background);

  std::string out = fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", image.cols(),
                                image.rows(), hex(background));
  if (strokes.empty()) return out;
  out += "<g transform=\"translate(0 .5)\">\n";
  for (const auto& [c, path] : strokes) out += fmt::format("<path stroke=\"{}\" d=\"{}\"/>\n", hex(c), path);
  return out + "</g>\n";
}

/// Screen pixels to a pixel of `image`: a whole number, so that nothing is blurred, that brings it near a
/// common size.
Index scale_of(const Matrix& image) {
  constexpr Index kWantedSize = 128;
  return std::max<Index>(1, kWantedSize / std::max(image.rows(), image.cols()));
}

/// `image` in a thin frame, centred at the given place.
std::string draw_tile(const Matrix& image, const ColourScale& colour, double middle_x, double middle_y) {
  const Index scale = scale_of(image), width = scale * image.cols(), height = scale * image.rows();
  const double left = std::round(middle_x - static_cast<double>(width) / 2);
  const double top = std::round(middle_y - static_cast<double>(height) / 2);
  std::string out =
      fmt::format("<g transform=\"translate({} {}) scale({})\" shape-rendering=\"crispEdges\">\n", px(left),
                  px(top), scale);
  out += draw_pixels(image, colour) + "</g>\n";
  return out + fmt::format(
                   "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999999\"/>\n",
                   px(left - 0.5), px(top - 0.5), width + 1, height + 1);
}

}  // namespace

std::string svg_image_grid(const std::vector<Tile>& tiles, int columns, const std::string& title) {
  if (tiles.empty()) throw InvalidArgument("svg_image_grid: no tile; at least one is needed");
  if (columns < 1) {
    throw InvalidArgument(fmt::format("svg_image_grid: {} columns; at least 1 is needed", columns));
  }

  std::vector<ColourScale> colours;
  double cell_width = 0, tile_height = 0, caption_height = 0;
  for (const Tile& tile : tiles) {
    colours.emplace_back(report::range_of(
        tile.image, fmt::format("svg_image_grid: tile {} ('{}')", colours.size(), tile.caption)));
    const auto scale = static_cast<double>(scale_of(tile.image));
    tile_height = std::max(tile_height, scale * static_cast<double>(tile.image.rows()));
    cell_width = std::max({cell_width, scale * static_cast<double>(tile.image.cols()),
                           std::ceil(report::text_width(tile.caption))});
    if (!tile.caption.empty()) caption_height = std::ceil(1.6 * kFontSize);
  }
  const double cell_height = tile_height + caption_height;

  const std::size_t per_row = std::min(static_cast<std::size_t>(columns), tiles.size());
  const std::size_t rows = (tiles.size() + per_row - 1) / per_row;
  const double grid_width = static_cast<double>(per_row) * (cell_width + kGap) - kGap;
  const double width =
      std::ceil(std::max(grid_width, report::text_width(title, report::kTitleSize))) + 2 * kGap;
  const double top = report::heading_height(title);
  const double height = top + static_cast<double>(rows) * (cell_height + kGap);

  std::string content;
  if (!title.empty()) content += report::svg_heading(width / 2, title);
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    const std::size_t row = k / per_row, column = k % per_row;
    const double x = (width - grid_width) / 2 + static_cast<double>(column) * (cell_width + kGap);
    const double y = top + static_cast<double>(row) * (cell_height + kGap);
    const double middle = x + cell_width / 2;
    content += draw_tile(tiles[k].image, colours[k], middle, y + tile_height / 2);
    if (!tiles[k].caption.empty()) {
      content += report::svg_text(middle, y + tile_height + 1.3 * kFontSize, report::Anchor::middle,
                                  tiles[k].caption);
    }
  }
  return report::svg_document(width, height, title, content);
}

}  // namespace pursuit
