#include "pursuit/report/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Why `text` is not a well-formed document of the plain kind written here (no comments, no CDATA); empty if
/// it is.
std::string fault_of(const std::string& text) {
  static const std::regex tag_pattern(R"(<(/?)([a-zA-Z]+)((?: [-:a-zA-Z]+="[^"<]*")*)(/?)>)");
  static const std::regex bad_entity("&(?!(amp|lt|gt|quot|#39);)");
  if (std::regex_search(text, bad_entity)) return "a bare '&'";
  std::vector<std::string> open;
  bool closed_root = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '<') {
      if (text[i] == '>') return "a bare '>'";
      if (open.empty() && text[i] != '\n') return "text outside the root";
      ++i;
      continue;
    }
    std::smatch tag;
    const auto from = text.begin() + static_cast<std::ptrdiff_t>(i);
    if (!std::regex_search(from, text.end(), tag, tag_pattern, std::regex_constants::match_continuous)) {
      return "a bad tag: " + text.substr(i, 60);
    }
    if (closed_root) return "something after the root";
    if (tag[1].length() > 0) {
      if (open.empty() || open.back() != tag[2]) return "</" + tag[2].str() + "> closes nothing";
      open.pop_back();
    } else if (tag[4].length() == 0) {
      open.push_back(tag[2]);
    }
    closed_root = open.empty();
    i += static_cast<std::size_t>(tag.length());
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

std::vector<std::string> all(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    out.push_back((*it)[1]);
  return out;
}

Series series(const std::string& name, const Vector& y) {
  return {name, Vector::LinSpaced(y.size(), 1, static_cast<double>(y.size())), y};
}

TEST(WellFormedness, IsReallyChecked) {
  EXPECT_EQ(fault_of("<a b=\"c\"><d/>x &amp; y</a>\n"), "");
  EXPECT_NE(fault_of("<a><b></a></b>"), "");
  EXPECT_NE(fault_of("<a>"), "");
  EXPECT_NE(fault_of("<a>&</a>"), "");
  EXPECT_NE(fault_of("<a>x > y</a>"), "");
  EXPECT_NE(fault_of("<a b=c/>"), "");
  EXPECT_NE(fault_of("<a/><b/>"), "");
}

TEST(SvgLinePlot, IsWellFormedWithHostileText) {
  const std::string hostile = "<b> & \"q\" 'p' ]]> \x01\xFF";
  const std::string svg = svg_line_plot({series(hostile, Vector::Ones(3))}, {hostile, hostile, hostile});
  EXPECT_EQ(fault_of(svg), "");
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt; &amp; &quot;q&quot; &#39;p&#39; ]]&gt;  ?"));
}

TEST(SvgLinePlot, ShowsLabelsAndLegend) {
  const Vector y = Vector::LinSpaced(10, 0, 1);
  const std::string svg =
      svg_line_plot({series("first", y), series("second", 1 - y.array())}, {"Top", "Across", "Up"});
  EXPECT_EQ(fault_of(svg), "");
  for (const char* text : {"<title>Top</title>", ">Top</text>", ">Across</text>", ">Up</text>",
                           ">first</text>", ">second</text>"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_EQ(all(svg, "<polyline points=\"([^\"]*)\"").size(), 2U);
}

TEST(SvgLinePlot, DrawsErrorBarsInsideTheAxes) {
  Vector y(3), spread(3);
  y << 1, 2, 3;
  spread << 0.5, 0, 2;
  Series with = series("", y);
  with.spread = spread;
  const std::string svg = svg_line_plot({with}, {"", "", ""});
  EXPECT_EQ(fault_of(svg), "");
  EXPECT_THAT(svg, HasSubstr("class=\"error-bars\""));
  EXPECT_THAT(svg, HasSubstr(">5</text>")) << "the axis has room for the bar up to 5";
  EXPECT_THAT(svg_line_plot({series("", y)}, {"", "", ""}), Not(HasSubstr("error-bars")));
  with.spread = Vector::Ones(2);
  EXPECT_THROW(svg_line_plot({with}, {"", "", ""}), InvalidArgument);
  with.spread = Vector::Constant(3, -1);
  EXPECT_THROW(svg_line_plot({with}, {"", "", ""}), InvalidArgument);
  with.spread = Vector::Ones(3);
  EXPECT_THROW(svg_line_plot({with}, {"", "", ""}, true), InvalidArgument) << "1 - 1 has no logarithm";
}

TEST(SvgLinePlot, TellsNotesOfPoints) {
  Series few = series("", Vector::LinSpaced(3, 0, 1)), many = series("", Vector::LinSpaced(100, 0, 1));
  few.notes = {"a<b", "second", "third"};
  for (int i = 0; i < 100; ++i) many.notes.push_back("point " + std::to_string(i));
  const std::string svg = svg_line_plot({few, many}, {"", "", ""}, false, {300, 100});
  EXPECT_THAT(svg, HasSubstr("<title>a&lt;b</title></circle>"));
  EXPECT_THAT(svg, HasSubstr("point 98&#10;point 99&#10;\""));
}

TEST(SvgLinePlot, NumbersOfThingsHaveWholeTicks) {
  const std::string ranks =
      svg_line_plot({{"", Vector::LinSpaced(3, 1, 3), Vector::Constant(3, 7)}}, {"", "", ""});
  EXPECT_THAT(ranks, HasSubstr(">2</text>"));
  EXPECT_THAT(ranks, Not(HasSubstr(">1.5</text>")));
  EXPECT_THAT(svg_line_plot({{"", Vector::LinSpaced(3, 1, 2), Vector::Constant(3, 7)}}, {"", "", ""}),
              HasSubstr(">1.4</text>"));
}

TEST(SvgLinePlot, NoRoomIsTakenByWhatIsNotThere) {
  const Vector y = Vector::LinSpaced(10, 0, 1);
  const std::string bare = svg_line_plot({series("", y)}, {"", "", ""});
  const std::string full = svg_line_plot({series("name", y)}, {"Top", "Across", "Up"});
  EXPECT_EQ(fault_of(bare), "");
  EXPECT_THAT(bare, Not(HasSubstr("<title>")));
  const auto size = [](const std::string& svg, const char* what) {
    return std::stod(all(svg, std::string(what) + "=\"([0-9.]+)\"").front());
  };
  EXPECT_LT(size(bare, "width"), size(full, "width"));
  EXPECT_LT(size(bare, "height"), size(full, "height"));
}

TEST(SvgLinePlot, TicksStandWhereTheirValueIs) {
  // Points at the values of the ticks must lie on the lines of the grid.
  Vector y(3);
  y << 0, 0.4, 1;
  for (const bool log_y : {false, true}) {
    const std::string svg = svg_line_plot({{"", y * 10, y.array() + 1}}, {"", "", ""}, log_y);
    const auto grid_x = all(svg, "M([0-9.]+) [0-9.]+V"), grid_y = all(svg, "M[0-9.]+ ([0-9.]+)H");
    const auto points = all(svg, "<circle (cx=\"[0-9.]+\" cy=\"[0-9.]+\")");
    ASSERT_EQ(points.size(), 3U);
    for (const std::string& point : points) {
      EXPECT_THAT(grid_x, testing::Contains(all(point, "cx=\"([0-9.]+)\"").front()));
      EXPECT_THAT(grid_y, testing::Contains(all(point, "cy=\"([0-9.]+)\"").front()));
    }
    for (const char* label : {">0</text>", ">4</text>", ">10</text>", ">1.4</text>"})
      EXPECT_THAT(svg, HasSubstr(label));
  }
}

TEST(SvgLinePlot, AllPointsLieInsideTheAxes) {
  for (const bool log_y : {false, true}) {
    const Vector y = Vector::Random(200).array().abs() * 1e3 + 1e-4;
    const std::string svg = svg_line_plot({series("a", y), series("b", y / 7)}, {"", "", ""}, log_y);
    std::smatch axes;
    ASSERT_TRUE(
        std::regex_search(svg, axes, std::regex("\"axes\" d=\"M([0-9.]+) ([0-9.]+)V([0-9.]+)H([0-9.]+)\"")));
    const double left = std::stod(axes[1]), top = std::stod(axes[2]), bottom = std::stod(axes[3]),
                 right = std::stod(axes[4]);
    for (const std::string& points : all(svg, "<polyline points=\"([^\"]*)\"")) {
      for (const std::string& point : all(points, "([0-9.]+,[0-9.]+)")) {
        const double x = std::stod(point), down = std::stod(point.substr(point.find(',') + 1));
        EXPECT_TRUE(left <= x && x <= right && top <= down && down <= bottom) << point;
      }
    }
  }
}

TEST(SvgLinePlot, LogAxisMakesExponentialsStraight) {
  const Vector x = Vector::LinSpaced(3, 0, 2);
  const std::string svg = svg_line_plot({{"", x, (-3 * x.array()).exp()}}, {"", "", ""}, true);
  const auto cy = all(svg, "cy=\"([0-9.]+)\"");
  ASSERT_EQ(cy.size(), 3U);
  EXPECT_NEAR(std::stod(cy[1]) - std::stod(cy[0]), std::stod(cy[2]) - std::stod(cy[1]), 0.02);
}

TEST(SvgLinePlot, EverySeriesLooksDifferent) {
  std::vector<Series> many;
  for (int k = 0; k < 28; ++k) many.push_back(series("s" + std::to_string(k), Vector::LinSpaced(40, 0, k)));
  const std::string svg = svg_line_plot(many, {"", "", ""});
  EXPECT_EQ(fault_of(svg), "");
  const auto strokes = all(svg, "<polyline points=\"[^\"]*\" (stroke=[^/]*) stroke-linejoin");
  EXPECT_EQ(std::set<std::string>(strokes.begin(), strokes.end()).size(), 28U);
}

TEST(SvgLinePlot, DifferentDataGiveDifferentPictures) {
  const Vector y = Vector::LinSpaced(10, 0, 1);
  const PlotLabels none{"", "", ""};
  EXPECT_NE(svg_line_plot({series("", y)}, none), svg_line_plot({series("", y.array().square())}, none));
  EXPECT_NE(svg_line_plot({series("", y.array() + 1)}, none),
            svg_line_plot({series("", y.array() + 1)}, none, true));
  EXPECT_EQ(svg_line_plot({series("", y)}, none), svg_line_plot({series("", y)}, none));
}

TEST(SvgLinePlot, OnePointAndConstants) {
  for (const double value : {0.0, 5.0, -1e-9, 1e300}) {
    for (const Index n : {1, 2, 50}) {
      const std::string svg = svg_line_plot({series("", Vector::Constant(n, value))}, {"", "", ""});
      EXPECT_EQ(fault_of(svg), "");
      EXPECT_THAT(svg, Not(HasSubstr("nan")));
      EXPECT_THAT(svg, Not(HasSubstr("inf")));
    }
  }
  EXPECT_EQ(fault_of(svg_line_plot({series("", Vector::Constant(3, 1e-280))}, {"", "", ""}, true)), "");
  EXPECT_EQ(fault_of(svg_line_plot({series("", Vector::Constant(3, 1e300))}, {"", "", ""}, true)), "");
}

TEST(SvgLinePlot, ExtremeValues) {
  Vector y(2);
  y << 1e-280, 1e300;
  for (const bool log_y : {false, true}) {
    const std::string svg = svg_line_plot({series("", y)}, {"", "", ""}, log_y);
    EXPECT_EQ(fault_of(svg), "");
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(SvgLinePlot, RefusesWhatItCannotDraw) {
  const PlotLabels none{"", "", ""};
  EXPECT_THROW(svg_line_plot({}, none), InvalidArgument);
  EXPECT_THROW(svg_line_plot({{"empty", Vector(), Vector()}}, none), InvalidArgument);
  EXPECT_THROW(svg_line_plot({{"short", Vector::Ones(3), Vector::Ones(2)}}, none), InvalidArgument);
  EXPECT_THROW(svg_line_plot({series("nan", Vector::Constant(2, std::nan("")))}, none), InvalidArgument);
  EXPECT_THROW(svg_line_plot({{"inf", Vector::Constant(2, INFINITY), Vector::Ones(2)}}, none),
               InvalidArgument);
  EXPECT_THROW(svg_line_plot({series("huge", Vector::Constant(2, -1e301))}, none), InvalidArgument);
  EXPECT_THROW(svg_line_plot({series("zero", Vector::Zero(2))}, none, true), InvalidArgument);
  try {
    svg_line_plot({series("fine", Vector::Ones(2)), series("negative", Vector::Constant(2, -4))}, none, true);
    FAIL() << "a negative value was accepted on a logarithmic axis";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("series 'negative': y goes down to -4"));
  }
}

/// Colours used for pixels: backgrounds and strokes.
std::set<std::string> colours(const std::string& svg) {
  std::set<std::string> out;
  for (const auto& colour : all(svg, "<rect width=\"[0-9]+\" height=\"[0-9]+\" fill=\"(#[0-9a-f]+)\""))
    out.insert(colour);
  for (const auto& colour : all(svg, "<path stroke=\"(#[0-9a-f]+)\"")) out.insert(colour);
  return out;
}

TEST(SvgImageGrid, IsWellFormedWithHostileText) {
  const std::string svg =
      svg_image_grid({{"<&>", Matrix::Random(4, 5)}, {"\"", Matrix::Ones(1, 1)}}, 2, "a < b");
  EXPECT_EQ(fault_of(svg), "");
  EXPECT_THAT(svg, HasSubstr("<title>a &lt; b</title>"));
  EXPECT_THAT(svg, HasSubstr(">&lt;&amp;&gt;</text>"));
}

TEST(SvgImageGrid, GreyForOneSignBlueWhiteRedForTwo) {
  Matrix image(1, 3);
  image << 0, 1, 2;
  EXPECT_THAT(colours(svg_image_grid({{"", image}}, 1, "")),
              testing::ElementsAre("#000000", "#828282", "#ffffff"));
  EXPECT_EQ(colours(svg_image_grid({{"", -image}}, 1, "")), colours(svg_image_grid({{"", image}}, 1, "")));
  image << -2, 0, 2;
  EXPECT_THAT(colours(svg_image_grid({{"", image}}, 1, "")),
              testing::ElementsAre("#2166ac", "#b2182b", "#ffffff"));
  image << -1e-17, 0, 2;
  EXPECT_THAT(colours(svg_image_grid({{"", image}}, 1, "")), testing::ElementsAre("#000000", "#ffffff"))
      << "a rounding error is not a sign";
}

TEST(SvgImageGrid, EveryPixelIsDrawnOnceInItsPlace) {
  const Matrix image = Matrix::Random(19, 17);
  const std::string svg = svg_image_grid({{"", image}}, 1, "");
  Matrix drawn = Matrix::Zero(19, 17);
  const std::regex run("M([0-9]+) ([0-9]+)h([0-9]+)");
  for (const std::string& path : all(svg, "<path stroke=\"#[0-9a-f]+\" d=\"([^\"]*)\"")) {
    for (std::sregex_iterator it(path.begin(), path.end(), run), end; it != end; ++it) {
      drawn.block(std::stol((*it)[2]), std::stol((*it)[1]), 1, std::stol((*it)[3])).array() += 1;
    }
  }
  EXPECT_LE(drawn.maxCoeff(), 1);
  // What is left over is the background, all of one colour: nearly equal values.
  double lo = 2, hi = -2;
  for (Index j = 0; j < image.cols(); ++j) {
    for (Index i = 0; i < image.rows(); ++i) {
      if (drawn(i, j) > 0) continue;
      lo = std::min(lo, image(i, j));
      hi = std::max(hi, image(i, j));
    }
  }
  EXPECT_LE(lo, hi) << "some pixels are background";
  EXPECT_LT(hi - lo, 2.0 / 63);
}

TEST(SvgImageGrid, LaysTilesOutInRows) {
  std::vector<Tile> tiles;
  for (int k = 0; k < 7; ++k) tiles.push_back({"tile " + std::to_string(k), Matrix::Random(19, 19)});
  const std::string svg = svg_image_grid(tiles, 3, "seven");
  EXPECT_EQ(fault_of(svg), "");
  const auto left = all(svg, "translate\\(([0-9.]+) [0-9.]+\\) scale"),
             top = all(svg, "translate\\([0-9.]+ ([0-9.]+)\\) scale");
  ASSERT_EQ(left.size(), 7U);
  EXPECT_EQ(std::set<std::string>(left.begin(), left.end()).size(), 3U);
  EXPECT_EQ(std::set<std::string>(top.begin(), top.end()).size(), 3U);
  EXPECT_EQ(left[0], left[3]);
  EXPECT_EQ(top[0], top[2]);
  EXPECT_EQ(svg_image_grid(tiles, 7, ""), svg_image_grid(tiles, 100, ""))
      << "no room for columns that are not there";
}

TEST(SvgImageGrid, StaysSmall) {
  const std::string dense = svg_image_grid({{"", Matrix::Random(64, 64)}}, 1, "");
  EXPECT_LT(dense.size(), 45000U) << "noise: about ten bytes a pixel";
  Matrix sparse = Matrix::Zero(64, 64);
  sparse.block(20, 20, 8, 8).setOnes();
  EXPECT_LT(svg_image_grid({{"", sparse}}, 1, "").size(), 1200U);
}

TEST(SvgImageGrid, DifferentDataGiveDifferentPictures) {
  const Matrix image = Matrix::Random(5, 5);
  EXPECT_NE(svg_image_grid({{"", image}}, 1, ""), svg_image_grid({{"", image.transpose()}}, 1, ""));
  EXPECT_NE(svg_image_grid({{"", image}}, 1, ""), svg_image_grid({{"", -image}}, 1, ""));
  EXPECT_EQ(svg_image_grid({{"", image}}, 1, ""), svg_image_grid({{"", image * 8}}, 1, "")) << "own range";
}

TEST(SvgImageGrid, RefusesWhatItCannotDraw) {
  const Tile fine{"fine", Matrix::Ones(2, 2)};
  EXPECT_THROW(svg_image_grid({}, 1, ""), InvalidArgument);
  EXPECT_THROW(svg_image_grid({fine}, 0, ""), InvalidArgument);
  EXPECT_THROW(svg_image_grid({fine, {"empty", Matrix(0, 0)}}, 1, ""), InvalidArgument);
  EXPECT_THROW(svg_image_grid({fine, {"nan", Matrix::Constant(1, 1, std::nan(""))}}, 1, ""), InvalidArgument);
}

}  // namespace
}  // namespace pursuit
