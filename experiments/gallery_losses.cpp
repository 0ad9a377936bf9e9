#include "gallery_losses.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/objective/means.hpp"
#include "pursuit/report/svg.hpp"

namespace pursuit {
namespace {

constexpr Index kRows = 96, kCols = 40;
constexpr int kDraws = 20;

Vector two_waves() {
  const Vector t = Vector::LinSpaced(kRows, 0, 2 * std::numbers::pi);
  return (t.array().sin() + 0.5 * (3 * t.array()).cos()).matrix().normalized();
}

Vector left_factor(const Matrix& Y, const Loss& loss, const Vector& planted) {
  const FactorResult result = factor(Y, {.rank = 1, .loss = loss, .threads = 1});
  const Vector u = result.model.left().col(0);
  return u.dot(planted) < 0 ? Vector(-u) : u;
}

std::string about_gross_errors() {
  constexpr double kGross = 20, kShare = 0.1, kSize = 40, kNoise = 0.5;
  const Vector planted = two_waves();
  double squares = 0, huber = 0, absolute = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    Random random{std::uint64_t(draw)};
    const Vector v = Vector(random.gaussian_matrix(kCols, 1)).normalized();
    Matrix Y = kSize * planted * v.transpose() + kNoise * random.gaussian_matrix(kRows, kCols);
    for (Index i = 0; i < Y.size(); ++i)
      if (random.uniform() < kShare) Y.data()[i] += kGross * random.gaussian_matrix(1, 1)(0, 0);
    const Vector by_squares = left_factor(Y, Loss::squares, planted),
                 by_huber = left_factor(Y, parse_loss("huber:0.75"), planted);
    squares += by_squares.dot(planted) / kDraws;
    huber += by_huber.dot(planted) / kDraws;
    absolute += left_factor(Y, Loss::absolute, planted).dot(planted) / kDraws;
    if (draw > 0) continue;
    const Vector x = Vector::LinSpaced(kRows, 0, double(kRows - 1));
    std::ofstream("loss-huber.svg") << svg_line_plot(
        {{"squares", x, by_squares}, {"huber:0.75", x, by_huber}, {"planted", x, planted}},
        {.title = "10 % gross errors", .x = "entry", .y = "u"});
  }
  fmt::print("gross errors: squares {:.3f}, huber {:.3f}, absolute {:.3f}\n", squares, huber, absolute);
  return fmt::format(
      "\n### Gross errors\n\nY = {} u v^T + noise of deviation {}, and one entry in ten is off by {} "
      "deviations more. Mean of "
      "|cos(u, planted u)| over {} draws:\n`squares` {:.3f}, `huber:0.75` **{:.3f}**, `absolute` {:.3f}. In "
      "the shell: "
      "`pursuit factor Y.npy --rank 1 --loss huber:0.75`.\n\n![gross errors](gallery/loss-huber.svg)\n",
      kSize, kNoise, kGross / kNoise, kDraws, squares, huber, absolute);
}

std::string about_quantiles() {
  constexpr double kSize = 30;
  Random random{7};
  const Vector u = two_waves(), v = Vector(random.gaussian_matrix(kCols, 1)).cwiseAbs().normalized();
  // Noise grows along the rows.
  const Vector noise = Vector::LinSpaced(kRows, 0.1, 1.0);
  const auto draw = [&]() -> Matrix {
    return kSize * u * v.transpose() + noise.asDiagonal() * random.gaussian_matrix(kRows, kCols);
  };
  const Matrix Y = draw(), fresh = draw();
  const Vector x = Vector::LinSpaced(kRows, 0, double(kRows - 1));
  Index shown = 0;
  v.maxCoeff(&shown);
  std::vector<Series> series{{"entries", x, Vector(Y.col(shown))}};
  std::string shares;
  for (const double share : {0.1, 0.5, 0.9}) {
    const Loss loss(Loss::quantile, share);
    const FactorResult result = factor(Y, {.rank = 1, .loss = loss, .offsets = true, .threads = 1});
    const Matrix quantiles = means_of(result.model, loss, result.own_terms, Vector(0));
    const double below = (fresh.array() < quantiles.array()).cast<double>().mean();
    fmt::print("{}: {:.3f} of fresh entries below\n", loss.spec(), below);
    shares += fmt::format("{}`{}` {:.3f}", shares.empty() ? "" : ", ", loss.spec(), below);
    series.push_back({loss.spec(), x, Vector(quantiles.col(shown))});
  }
  std::ofstream("loss-quantile.svg") << svg_line_plot(
      series, {.title = "Bands of quantiles, one column", .x = "row", .y = "entry"});
  return fmt::format(
      "\n### Quantiles\n\nOne atom, noise that grows along the rows, three fits with offsets. Share of "
      "entries drawn anew that "
      "lies below: {}.\nIn the shell: `pursuit factor Y.npy --rank 1 --loss quantile:0.9 --offsets`.\n\n"
      "![quantiles](gallery/loss-quantile.svg)\n",
      shares);
}

}  // namespace

std::string section_about_losses() {
  return "\n## Losses\n" + about_gross_errors() + about_quantiles();
}

}  // namespace pursuit
