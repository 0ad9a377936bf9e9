#include "pursuit/report/terminal_plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "pursuit/base/error.hpp"
#include "report/text.hpp"

namespace pursuit {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

/// Number of braille dots in the drawing.
int dots(const std::string& text) {
  int count = 0;
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[i + k]); };
    if (byte(0) != 0xE2U || (byte(1) & 0xFCU) != 0xA0U) continue;
    const unsigned cell = ((byte(1) & 0x03U) << 6U) | (byte(2) & 0x3FU);
    count += __builtin_popcount(cell);
  }
  return count;
}

TEST(TerminalLinePlot, DrawsAStraightLineFromCornerToCorner) {
  const std::string plot =
      terminal_line_plot(Vector::LinSpaced(20, 0, 1), {"Title", "atoms", "error"}, 10, 5);
  EXPECT_EQ(plot,
            "Title\n"
            "error\n"
            "1.0 ┤        ⡠⠊\n"
            "    │      ⡠⠊\n"
            "0.5 ┤    ⡠⠊\n"
            "    │  ⡠⠊\n"
            "  0 ┤⡠⠊\n"
            "    └──────────\n"
            "     1 atoms 20\n")
      << plot;
}

TEST(TerminalLinePlot, LabelsTheRangeOfX) {
  const auto plot = lines(terminal_line_plot(Vector::LinSpaced(345, 5, 9), {"", "iteration", ""}, 60, 8));
  ASSERT_EQ(plot.size(), 10U) << "no empty lines for labels that are not there";
  EXPECT_THAT(plot.back(), HasSubstr(" 1  "));
  EXPECT_THAT(plot.back(), HasSubstr("iteration"));
  EXPECT_THAT(plot.back(), EndsWith("345"));
}

TEST(TerminalLinePlot, HasTheSizeAsked) {
  for (const int width : {10, 33, 60, 200}) {
    for (const int height : {3, 12, 40}) {
      const auto plot = lines(terminal_line_plot(Vector::Random(500), {"", "", ""}, width, height));
      ASSERT_EQ(plot.size(), static_cast<std::size_t>(height) + 2);
      const std::string& axis = plot[static_cast<std::size_t>(height)];
      const std::size_t corner = axis.find("└");
      EXPECT_EQ(report::length(axis.substr(corner)), static_cast<std::size_t>(width) + 1);
      for (const auto& line : plot) EXPECT_LE(report::length(line), report::length(axis));
    }
  }
}

TEST(TerminalLinePlot, OnePoint) {
  const std::string plot = terminal_line_plot(Vector::Constant(1, 3), {"", "", ""}, 20, 5);
  EXPECT_EQ(dots(plot), 1);
  EXPECT_THAT(lines(plot)[2], StartsWith("3 ┤")) << "in the middle row, labelled with its value";
  EXPECT_THAT(lines(plot).back(), EndsWith(" 1"));
}

TEST(TerminalLinePlot, ConstantIsAHorizontalLine) {
  for (const double value : {0.0, 5.0, -2.5e-9, 1e300, -1e-320}) {
    const std::string plot = terminal_line_plot(Vector::Constant(7, value), {"", "", ""}, 30, 7);
    EXPECT_EQ(dots(plot), 60) << plot;
    EXPECT_EQ(dots(lines(plot)[3]), 60) << "all in the middle row:\n" << plot;
    EXPECT_THAT(lines(plot)[3], HasSubstr("┤")) << "which has a tick:\n" << plot;
  }
}

TEST(TerminalLinePlot, ExtremeValues) {
  Vector y(4);
  y << -std::numeric_limits<double>::max(), std::numeric_limits<double>::max(), 0, 1e-320;
  EXPECT_GT(dots(terminal_line_plot(y, {"", "", ""})), 60);
}

TEST(TerminalLinePlot, DifferentDataGiveDifferentPictures) {
  const Vector x = Vector::LinSpaced(30, 0, 1);
  const std::string rising = terminal_line_plot(x, {"", "", ""});
  const std::string falling = terminal_line_plot(Vector(1 - x.array()), {"", "", ""});
  const std::string curved = terminal_line_plot(Vector(x.array().square()), {"", "", ""});
  EXPECT_NE(rising, falling);
  EXPECT_NE(rising, curved);
}

TEST(TerminalLinePlot, RefusesWhatItCannotDraw) {
  const PlotLabels labels{"", "", ""};
  EXPECT_THROW(terminal_line_plot(Vector(), labels), InvalidArgument);
  EXPECT_THROW(terminal_line_plot(Vector::Constant(3, std::nan("")), labels), InvalidArgument);
  EXPECT_THROW(terminal_line_plot(Vector::Constant(3, INFINITY), labels), InvalidArgument);
  EXPECT_THROW(terminal_line_plot(Vector::Ones(3), labels, 9, 12), InvalidArgument);
  EXPECT_THROW(terminal_line_plot(Vector::Ones(3), labels, 60, 2), InvalidArgument);
}

TEST(TerminalLinePlot, LabelsCannotBreakTheLayout) {
  const auto plot =
      lines(terminal_line_plot(Vector::Ones(3), {"two\nlines", std::string(500, 'x'), "\x1b[2J"}, 40, 5));
  EXPECT_EQ(plot[0], "two lines");
  EXPECT_EQ(plot[1], " [2J");
  EXPECT_LE(report::length(plot.back()), report::length(plot[plot.size() - 2]));
}

TEST(TerminalImage, ShadesInBothAlphabets) {
  Matrix image(2, 5);
  image << 0, 1, 2, 3, 4, 4, 3, 2, 1, 0;
  EXPECT_EQ(terminal_image(image),
            "  ░░▒▒▓▓██\n"
            "██▓▓▒▒░░  \n");
  EXPECT_EQ(terminal_image(image, false),
            "  ::++##@@\n"
            "@@##++::  \n");
}

TEST(TerminalImage, ScalesToItsOwnRange) {
  const Matrix image = Matrix::Random(8, 9);
  EXPECT_EQ(terminal_image(image), terminal_image(1000 * image.array() + 5e4));
  EXPECT_NE(terminal_image(image), terminal_image(-image));
}

TEST(TerminalImage, ConstantIsDarkOnlyIfZero) {
  EXPECT_EQ(terminal_image(Matrix::Zero(1, 2)), "    \n");
  EXPECT_EQ(terminal_image(Matrix::Constant(1, 2, 0.25)), "████\n");
}

TEST(TerminalImage, RefusesWhatItCannotDraw) {
  EXPECT_THROW(terminal_image(Matrix(0, 0)), InvalidArgument);
  EXPECT_THROW(terminal_image(Matrix::Constant(2, 2, std::nan(""))), InvalidArgument);
}

}  // namespace
}  // namespace pursuit
