// The gallery of structures: for each a planted atom in noise, what its set recovers of it, and what the
// plain SVD and non-negative factors recover of the same data. Writes gallery.md and pictures.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "gallery_losses.hpp"
#include "pursuit/algorithms/factor.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/report/svg.hpp"

namespace pursuit {
namespace {

constexpr Index kEntries = 96, kColumns = 40;
constexpr double kSignal = 14;  // singular value of the planted atom; the noise has entries of variance 1
constexpr int kRepeats = 20;
constexpr Index kGridRows = 8, kGridCols = 12, kGroup = 8;

using Plant = std::function<Vector(Random&)>;

struct Exhibit {
  std::string spec;
  std::string planted;  // in words
  Plant plant;
};

Vector on_entries(Random& random, const std::vector<Index>& entries) {
  Vector u = Vector::Zero(kEntries);
  for (const Index i : entries) u[i] = (random.uniform() < 0.5 ? -1 : 1) * (0.5 + random.uniform());
  return u;
}

std::vector<Index> distinct(Random& random, Index count, Index n) {
  std::vector<Index> chosen;
  while (Index(chosen.size()) < count) {
    const auto i = Index(random.below(std::uint64_t(n)));
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);
  }
  return chosen;
}

Vector peak(double centre, double width) {
  return Vector::NullaryExpr(
      kEntries, [&](Index i) { return std::exp(-0.5 * std::pow((double(i) - centre) / width, 2)); });
}

Vector stretches(Random& random, Index pieces, bool nonnegative) {
  std::vector<Index> cuts = distinct(random, pieces - 1, kEntries - 1);
  std::sort(cuts.begin(), cuts.end());
  Vector u(kEntries);
  Index at = 0;
  for (Index piece = 0; piece < pieces; ++piece) {
    const Index end = piece + 1 < pieces ? cuts[std::size_t(piece)] + 1 : kEntries;
    const double level = random.gaussian_matrix(1, 1)(0, 0);
    u.segment(at, end - at).setConstant(nonnegative ? std::abs(level) : level);
    at = end;
  }
  return u;
}

Vector windows(Random& random, Index length, Index count) {
  std::vector<Index> entries;
  for (Index w = 0; w < count; ++w) {  // one in each part of the vector
    const Index part = kEntries / count;
    const Index first = w * part + Index(random.below(std::uint64_t(part - length)));
    for (Index i = first; i < first + length; ++i) entries.push_back(i);
  }
  return on_entries(random, entries);
}

/// Grows from `first` by neighbours taken at random.
std::vector<Index> grown(Random& random, Index first, Index count,
                         const std::function<std::vector<Index>(Index)>& next) {
  std::vector<Index> chosen{first};
  while (Index(chosen.size()) < count) {
    const auto from = chosen[random.below(chosen.size())];
    const std::vector<Index> around = next(from);
    if (around.empty()) continue;
    const Index i = around[random.below(around.size())];
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) chosen.push_back(i);
  }
  return chosen;
}

std::vector<Index> children(Index i) {
  std::vector<Index> found;
  for (const Index child : {2 * i + 1, 2 * i + 2})
    if (child < kEntries) found.push_back(child);
  return found;
}

std::vector<Index> grid_neighbours(Index i) {
  std::vector<Index> found;
  if (i % kGridCols > 0) found.push_back(i - 1);
  if (i % kGridCols + 1 < kGridCols) found.push_back(i + 1);
  if (i >= kGridCols) found.push_back(i - kGridCols);
  if (i + kGridCols < kEntries) found.push_back(i + kGridCols);
  return found;
}

Vector wave(Random& random) {
  const double phase = 2 * std::numbers::pi * random.uniform();
  return Vector::NullaryExpr(kEntries, [&](Index i) {
    return std::sin(phase + 2 * std::numbers::pi * double(i) / 40) +
           0.5 * std::sin(3 * phase + double(i) / 11);
  });
}

Vector cosine(Index j) {
  return Vector::NullaryExpr(kEntries, [&](Index i) {
    return std::cos(std::numbers::pi * (double(i) + 0.5) * double(j) / double(kEntries));
  });
}

constexpr Index kSpanned = 4;

/// The columns of the file that span: exhibits.
Matrix spanning_columns() {
  return Random(7).gaussian_matrix(kEntries, kSpanned);
}

constexpr Index kSet = 12, kSetStep = 8, kSets = (kEntries - kSet) / kSetStep + 1;

void write_files() {
  std::ofstream groups("groups.txt"), tree("tree.txt"), graph("grid.txt"), mask("mask.csv"),
      columns("columns.csv");
  for (Index g = 0; g < kEntries / kGroup; ++g) {
    for (Index i = 0; i < kGroup; ++i) groups << g * kGroup + i << (i + 1 < kGroup ? ' ' : '\n');
  }
  std::ofstream sets("sets.txt");  // of 12 entries, each of which shares 4 with the next
  for (Index s = 0; s < kSets; ++s)
    for (Index i = 0; i < kSet; ++i) sets << s * kSetStep + i << (i + 1 < kSet ? ' ' : '\n');
  for (Index i = 0; i < kEntries; ++i) {
    tree << (i == 0 ? -1 : (i - 1) / 2) << '\n';
    mask << (i % 4 == 1 ? 1 : 0) << '\n';
    for (const Index j : grid_neighbours(i))
      if (j > i) graph << i << ' ' << j << '\n';
  }
  const Matrix spanning = spanning_columns();
  for (Index i = 0; i < kEntries; ++i)
    for (Index j = 0; j < kSpanned; ++j)
      columns << fmt::format("{}{}", spanning(i, j), j + 1 < kSpanned ? "," : "\n");
}

std::vector<Exhibit> exhibits() {
  const auto gaussian = [](Random& random) -> Vector { return random.gaussian_matrix(kEntries, 1); };
  const auto absolute = [=](Random& random) -> Vector { return gaussian(random).cwiseAbs(); };
  const auto few = [](Index count) {
    return [count](Random& random) { return on_entries(random, distinct(random, count, kEntries)); };
  };
  const auto up = [](Random& random) -> Vector {
    Vector steps = random.gaussian_matrix(kEntries, 1).cwiseAbs2().cwiseAbs2();
    for (Index i = 1; i < kEntries; ++i) steps[i] += steps[i - 1];
    return steps.array() - steps.mean();
  };
  const auto any_peak = [](Random& random) {
    return peak(20 + 56 * random.uniform(), 4 + 10 * random.uniform());
  };
  const auto bowl = [](Random& random) {
    const double centre = 20 + 56 * random.uniform();
    return Vector(
        Vector::NullaryExpr(kEntries, [&](Index i) { return std::abs(double(i) - centre) / 30 - 0.7; }));
  };
  return {
      {"sphere", "any vector", gaussian},
      {"nonneg", "a vector without a negative entry", absolute},
      {"sparse:8", "8 entries of either sign", few(8)},
      {"nonneg+sparse:8", "8 positive entries",
       [=](Random& random) -> Vector { return few(8)(random).cwiseAbs(); }},
      {"l1ball:4", "a few large entries among many small ones",
       [=](Random& random) -> Vector {
         return gaussian(random).array().cube().cube() + 5 * few(4)(random).array();
       }},
      {"lp:1.5", "any vector, scaled to p-norm 1", gaussian},
      {"group:groups.txt:2", "2 of 12 groups of 8 entries",
       [](Random& random) {
         std::vector<Index> entries;
         for (const Index g : distinct(random, 2, kEntries / kGroup))
           for (Index i = 0; i < kGroup; ++i) entries.push_back(g * kGroup + i);
         return on_entries(random, entries);
       }},
      {"sets:sets.txt:2", "2 of 11 sets of 12 entries, which overlap",
       [](Random& random) {
         std::set<Index> entries;
         for (const Index s : distinct(random, 2, kSets))
           for (Index i = 0; i < kSet; ++i) entries.insert(s * kSetStep + i);
         return on_entries(random, {entries.begin(), entries.end()});
       }},
      {"tree:tree.txt:12", "12 nodes of a binary tree, from its root down",
       [](Random& random) { return on_entries(random, grown(random, 0, 12, children)); }},
      {"graph:grid.txt:14", "14 vertices of an 8 x 12 grid that hang together",
       [](Random& random) {
         return on_entries(random, grown(random, Index(random.below(kEntries)), 14, grid_neighbours));
       }},
      {"block:12", "a window of 12 entries", [](Random& random) { return windows(random, 12, 1); }},
      {"blocks:6:3", "3 windows of 6 entries", [](Random& random) { return windows(random, 6, 3); }},
      {"monotone", "a vector that never falls", up},
      {"unimodal", "a peak on a slope",
       [=](Random& random) -> Vector { return any_peak(random).array() - 0.4; }},
      {"nonneg+unimodal", "a peak", any_peak},
      {"convex-shape", "a valley of straight sides", bowl},
      {"concave-shape", "a roof", [=](Random& random) -> Vector { return -bowl(random); }},
      {"smooth:0.03", "two slow waves", wave},
      {"fused:5", "5 levels", [](Random& random) { return stretches(random, 5, false); }},
      {"nonneg+fused:5", "5 levels, none negative",
       [](Random& random) { return stretches(random, 5, true); }},
      {"simplex", "shares of a whole",
       [=](Random& random) -> Vector { return gaussian(random).cwiseAbs2(); }},
      {"box:1:2", "entries between 1 and 2",
       [](Random& random) -> Vector {
         return 1.5 + 0.5 * random.gaussian_matrix(kEntries, 1).array().sin();
       }},
      {"sign", "signs", [=](Random& random) -> Vector { return gaussian(random).cwiseSign(); }},
      {"binary", "20 entries at one level",
       [=](Random& random) -> Vector { return few(20)(random).cwiseSign().cwiseAbs(); }},
      {"onehot", "a single entry", [=](Random& random) -> Vector { return few(1)(random).cwiseAbs(); }},
      {"support:mask.csv", "every fourth entry",
       [](Random& random) {
         std::vector<Index> entries;
         for (Index i = 1; i < kEntries; i += 4) entries.push_back(i);
         return on_entries(random, entries);
       }},
      {"dictionary:dct", "a cosine", [](Random& random) { return cosine(Index(1 + random.below(40))); }},
      {"span:columns.csv", "a combination of 4 given vectors",
       [](Random& random) -> Vector { return spanning_columns() * random.gaussian_matrix(kSpanned, 1); }},
      {"sparse-in:dct:3", "a combination of 3 cosines",
       [](Random& random) {
         Vector u = Vector::Zero(kEntries);
         for (const Index j : distinct(random, 3, 60)) u += (0.5 + random.uniform()) * cosine(j + 1);
         return u;
       }},
      {"0-47:nonneg+unimodal|48-:sparse:4", "a peak in the first half, 4 entries in the second",
       [=](Random& random) {
         Vector u = peak(12 + 24 * random.uniform(), 5);
         u.tail(kEntries / 2).setZero();
         for (const Index i : distinct(random, 4, kEntries / 2))
           u[kEntries / 2 + i] = random.uniform() < 0.5 ? -1 : 1;
         return u;
       }},
  };
}

/// The left factor of the best single atom, on the side of the planted one.
Vector recovered(const Matrix& Y, const Atoms& left, const Vector& planted) {
  const FactorResult result = factor(Y, {.rank = 1, .left = left, .restarts = 16, .threads = 1});
  Vector u = result.model.left().col(0);
  u /= u.norm();
  return u.dot(planted) < 0 ? Vector(-u) : u;
}

struct Scores {
  double own = 0, svd = 0, nonneg = 0;  // mean |cos| of the angle to the planted atom
};

std::string file_name(std::string spec) {
  for (char& c : spec)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '-';
  return spec + ".svg";
}

Scores show(const Exhibit& exhibit) {
  const Atoms set = parse_atoms(exhibit.spec);
  Scores scores;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Random random{std::uint64_t(repeat)};
    const Vector planted = exhibit.plant(random).normalized(),
                 v = Vector(random.gaussian_matrix(kColumns, 1)).normalized();
    const Matrix Y = kSignal * planted * v.transpose() + random.gaussian_matrix(kEntries, kColumns);
    const Vector own = recovered(Y, set, planted), svd = recovered(Y, sphere(), planted);
    scores.own += own.dot(planted) / kRepeats;
    scores.svd += svd.dot(planted) / kRepeats;
    scores.nonneg += recovered(Y, nonneg(), planted).dot(planted) / kRepeats;
    if (repeat > 0) continue;
    const Vector x = Vector::LinSpaced(kEntries, 0, double(kEntries - 1));
    std::ofstream(file_name(exhibit.spec))
        << svg_line_plot({{"SVD", x, svd}, {exhibit.spec, x, own}, {"planted", x, planted}},
                         {.title = exhibit.spec, .x = "entry", .y = "u"});
  }
  return scores;
}

std::string text_of(const CatalogueEntry& entry) {
  return fmt::format("`{}`: {}. {}", entry.form, entry.summary, entry.description);
}

/// The entries of the catalogue that the spec begins with, for its caption.
std::string words_about(const std::string& spec) {
  for (const CatalogueEntry& entry : catalogue())
    if (spec == entry.name || spec.starts_with(entry.name + ":")) return text_of(entry);
  return "";
}

int run(const std::filesystem::path& out) {
  std::filesystem::create_directories(out / "gallery");
  std::filesystem::current_path(out / "gallery");
  write_files();
  std::string table, pages;
  for (const Exhibit& exhibit : exhibits()) {
    const Scores scores = show(exhibit);
    fmt::print("{:<36} {:.3f}  SVD {:.3f}  nonneg {:.3f}\n", exhibit.spec, scores.own, scores.svd,
               scores.nonneg);
    const std::string shown =
        exhibit.spec.find('|') == std::string::npos ? exhibit.spec : "0-47:nonneg+unimodal\\|48-:sparse:4";
    table += fmt::format("| `{}` | {} | **{:.3f}** | {:.3f} | {:.3f} |\n", shown, exhibit.planted, scores.own,
                         scores.svd, scores.nonneg);
    const std::string words = words_about(exhibit.spec);
    pages += fmt::format("\n### {}\n\n{}{}Planted: {}.\n\n![{}](gallery/{})\n", exhibit.spec, words,
                         words.empty() ? "" : "\n\n", exhibit.planted, exhibit.spec, file_name(exhibit.spec));
  }
  const std::string own_set = text_of(catalogue().back());
  std::ofstream(out / "gallery.md") << fmt::format(
      "# Gallery of atom sets\n\n"
      "Every page plants one atom u of its structure, Y = {} u v^T + noise with entries of variance 1, {} x "
      "{}, v any\n"
      "direction, and asks for the best single atom with left factors from the set. Figures are the mean of\n"
      "|cos(u, planted u)| over {} draws, for the set, for the plain SVD of the same matrix, and for "
      "`nonneg`. Pictures show\n"
      "the first draw. `scripts/gallery` makes this page and its pictures again; the files that specs name "
      "are in\n"
      "`docs/gallery`. In the shell: `pursuit factor Y.npy --rank 1 --left SPEC`, and `pursuit atoms SPEC` "
      "explains a set.\n\n"
      "| set | planted | recovered by the set | by the SVD | by nonneg |\n|---|---|---|---|---|\n{}\n"
      "## Page by page\n{}\n### plugin\n\n{} A template is in `examples/plugin`.\n{}",
      kSignal, kEntries, kColumns, kRepeats, table, pages, own_set, section_about_losses());
  return 0;
}

}  // namespace
}  // namespace pursuit

int main(int argc, char** argv) {
  try {
    if (argc != 2)
      throw std::runtime_error("usage: gallery FOLDER, where gallery.md and gallery/ are written");
    return pursuit::run(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "gallery: {}\n", error.what());
    return 1;
  }
}
