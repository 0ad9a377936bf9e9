// Pictures composed of a few parts: do factorizations find the parts?

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "apps/console.hpp"
#include "apps/output.hpp"
#include "apps/session.hpp"
#include "pursuit/algorithms/path.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/io/atomic_file.hpp"
#include "pursuit/report/svg.hpp"
#include "pursuit/report/terminal_plot.hpp"

namespace pursuit::app {
namespace {

constexpr Index kSide = 16, kImages = 400;
constexpr double kNoise = 0.15;

/// Six overlapping parts of a 16 x 16 picture, as unit columns.
Matrix planted_parts() {
  std::vector<Matrix> parts;
  const auto draw = [&](const auto& inside) {
    Matrix part = Matrix::Zero(kSide, kSide);
    for (Index y = 0; y < kSide; ++y)
      for (Index x = 0; x < kSide; ++x) part(y, x) = inside(double(x), double(y)) ? 1 : 0;
    parts.push_back(part);
  };
  const auto distance = [](double x, double y, double cx, double cy) { return std::hypot(x - cx, y - cy); };
  draw([](double x, double y) { return y >= 2 && y <= 3 && x >= 1 && x <= 14; });      // bar
  draw([](double x, double) { return x >= 11 && x <= 12; });                           // post
  draw([&](double x, double y) { return std::abs(distance(x, y, 5, 9) - 4) < 0.8; });  // ring
  draw([](double x, double y) { return std::abs(x - y) < 1; });                        // diagonal
  draw([&](double x, double y) { return distance(x, y, 12, 12) < 2.6; });              // disc
  draw([](double x, double y) { return std::abs(x - 4) + std::abs(y - 4) < 2.5; });    // diamond
  Matrix columns(kSide * kSide, Index(parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) columns.col(Index(i)) = parts[i].reshaped().normalized();
  return columns;
}

/// Each picture is a random non-negative mixture of some of the parts, plus noise.
Matrix compose(const Matrix& parts, Random& random) {
  Matrix mixture(kImages, parts.cols());
  for (Index i = 0; i < mixture.size(); ++i)
    mixture.data()[i] = random.uniform() < 0.5 ? 0.0 : 1 + 4 * random.uniform();
  return mixture * parts.transpose() + kNoise * random.gaussian_matrix(kImages, parts.rows());
}

struct Contender {
  std::string name, left, right, weights;
};

/// For each planted part, the recovered atom closest to it, each atom used once, best matches first.
std::vector<Index> match(const Matrix& parts, const Matrix& atoms, Vector& similarity) {
  Matrix cosine = (parts.transpose() * atoms).cwiseAbs();
  std::vector<Index> matched(std::size_t(parts.cols()), 0);
  similarity = Vector::Zero(parts.cols());
  for (Index round = 0; round < std::min(parts.cols(), atoms.cols()); ++round) {
    Index part = 0, atom = 0;
    const double closest = cosine.maxCoeff(&part, &atom);
    similarity[part] = closest;
    matched[std::size_t(part)] = atom;
    cosine.row(part).setConstant(-1);
    cosine.col(atom).setConstant(-1);
  }
  return matched;
}

Matrix picture(const Vector& column) {
  return column.reshaped(kSide, kSide);
}

/// Terminal pictures next to each other, line by line.
std::string side_by_side(const std::vector<std::string>& blocks) {
  std::vector<std::vector<std::string>> lines;
  for (const auto& block : blocks) {
    std::vector<std::string> split;
    for (std::size_t begin = 0, end; (end = block.find('\n', begin)) != std::string::npos; begin = end + 1)
      split.push_back(block.substr(begin, end - begin));
    lines.push_back(split);
  }
  std::string result;
  for (std::size_t row = 0; row < lines.front().size(); ++row) {
    for (const auto& block : lines) result += (row < block.size() ? block[row] : "") + "  ";
    result += '\n';
  }
  return result;
}

/// Words for people: on standard output, or nowhere where a JSON object goes there.
template <class... Values>
void narrate(bool json, fmt::format_string<Values...> format, Values&&... values) {
  if (!json) say(format, std::forward<Values>(values)...);
}

int run(const std::string& folder, bool json) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw OutputFailure(fmt::format("{}: {}", folder, error.message()));
  const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };

  Random random(7);
  const Matrix parts = planted_parts();
  const Matrix data = compose(parts, random);
  const Index sparsity = (parts.array() > 0).colwise().count().maxCoeff();
  const std::vector<Contender> contenders = {
      {"SVD", "sphere", "sphere", "free"},
      {"nonneg", "nonneg", "nonneg", "nonneg"},
      {"sparse", "sphere", fmt::format("sparse:{}", sparsity), "free"},
      {"nonneg+sparse", "nonneg", fmt::format("nonneg+sparse:{}", sparsity), "nonneg"}};
  narrate(json,
          "{} noisy pictures of {} x {} pixels, each a mixture of {} hidden parts. Which factorization finds "
          "them?\n\n",
          kImages, kSide, kSide, parts.cols());

  std::vector<Tile> tiles;
  for (Index i = 0; i < parts.cols(); ++i)
    tiles.push_back({fmt::format("part {}", i + 1), picture(parts.col(i))});
  std::vector<Series> errors;
  std::vector<std::string> shown;
  Json found = Json::array();
  narrate(json, "{:<15} {:<24} {:>9} {:>10} {:>10} {:>9}\n", "atoms", "sets (left x right)", "error",
          "recovered", "worst part", "seconds");
  for (const auto& [name, left, right, weights] : contenders) {
    const FactorResult result = factor(data, {.rank = parts.cols(),
                                              .left = parse_atoms(left),
                                              .right = parse_atoms(right),
                                              .weights = parse_weight_rule(weights)});
    Vector similarity;
    const auto matched = match(parts, result.model.right(), similarity);
    narrate(json, "{:<15} {:<24} {:>9.4f} {:>7} / {} {:>10.3f} {:>9.3f}\n", name,
            fmt::format("{} x {}", left, right), result.relative_error, (similarity.array() > 0.95).count(),
            parts.cols(), similarity.minCoeff(), result.seconds);
    found.push_back({{"name", name},
                     {"left", left},
                     {"right", right},
                     {"weights", weights},
                     {"relative_error", result.relative_error},
                     {"recovered", (similarity.array() > 0.95).count()},
                     {"worst_similarity", similarity.minCoeff()},
                     {"seconds", result.seconds}});
    const Trace steps = path_by_rank(result.trace);
    Series series{name, Vector(Index(steps.size())), Vector(Index(steps.size()))};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      series.x[Index(i)] = double(steps[i].rank);
      series.y[Index(i)] = steps[i].relative_error;
    }
    errors.push_back(series);
    for (std::size_t i = 0; i < matched.size(); ++i)
      tiles.push_back({fmt::format("{} {:.2f}", name, similarity[Index(i)]),
                       picture(result.model.right().col(matched[i]))});
    if (name == "SVD" || name == "nonneg+sparse")
      shown.push_back(terminal_image(picture(result.model.right().col(matched[2])).cwiseAbs()));
  }
  narrate(json, "\n(recovered: parts whose best atom has a cosine above 0.95 with it)\n\n");
  narrate(json, "part 3, as planted, as SVD finds it, and as nonneg+sparse finds it:\n\n{}\n",
          side_by_side({terminal_image(picture(parts.col(2))), shown[0], shown[1]}));
  narrate(json, "{}\n",
          terminal_line_plot(errors.back().y, {"error by rank, nonneg+sparse", "rank", "error"}, 50, 8));

  write_file_atomically(
      file("atoms.svg"),
      svg_image_grid(tiles, int(parts.cols()), "Planted parts (first row) and the atoms closest to them"));
  write_file_atomically(file("error_by_rank.svg"),
                        svg_line_plot(errors, {"Error by rank", "rank", "relative error"}));
  narrate(json, "pictures: {} and {}\n", file("atoms.svg"), file("error_by_rank.svg"));
  if (json)
    print_json({{"parts", parts.cols()},
                {"factorizations", found},
                {"pictures", {file("atoms.svg"), file("error_by_rank.svg")}},
                {"peak_memory_bytes", peak_memory_bytes()}});
  return success;
}

}  // namespace

void add_demo(Command& program) {
  Command sub =
      program.add_command("demo", "Find the hidden parts of made-up pictures, with pictures to look at");
  auto folder = std::make_shared<std::string>("demo-output");
  sub.footer("Example:\n  pursuit demo --out demo-output");
  sub.add_option("-o,--out", *folder, "Folder for the pictures").show_default();
  auto json = std::make_shared<bool>(false);
  add_json_option(sub, *json);
  sub.runs([folder, json] { return run(*folder, *json); });
}

}  // namespace pursuit::app
