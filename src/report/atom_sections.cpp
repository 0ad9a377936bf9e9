// The parts of a page that any model has: how it was fitted, its atoms, how they overlap, scores by label.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "pursuit/base/error.hpp"
#include "pursuit/report/svg.hpp"
#include "report/subject.hpp"
#include "report/svg_charts.hpp"
#include "report/text.hpp"

namespace pursuit::report {
namespace {

constexpr Index kMostAtomsShown = 100, kFewAtoms = 6;
constexpr double kWidthOfBars = 228;  // two sides of an atom stand beside each other, and two atoms
constexpr Index kMostPointsOfCurve = 2000;
constexpr std::size_t kMostLabels = 20;

Index support_of(const Matrix& factors, Index atom) {
  return (factors.col(atom).array() != 0).count();
}

std::string atom_name(Index atom) {
  return fmt::format("{}", atom + 1);
}

/// The heaviest atoms, at most so many, in their order.
std::vector<Index> shown_atoms(const Subject& subject, Index most) {
  std::vector<Index> atoms(std::size_t(subject.weights.size()));
  for (std::size_t i = 0; i < atoms.size(); ++i) atoms[i] = Index(i);
  if (Index(atoms.size()) <= most) return atoms;
  std::stable_sort(atoms.begin(), atoms.end(), [&](Index a, Index b) {
    return std::abs(subject.weights[a]) > std::abs(subject.weights[b]);
  });
  atoms.resize(std::size_t(most));
  std::sort(atoms.begin(), atoms.end());
  return atoms;
}

std::string only_some(std::size_t shown, Index all) {
  return Index(shown) < all ? paragraph(fmt::format("The {} heaviest of {} are shown.", shown, all)) : "";
}

/// Names as numbers, where all of them are and ascend or descend: wavelengths, times.
Vector axis_of(const SubjectMode& mode) {
  const Index count = mode.factors.rows();
  Vector axis = Vector::LinSpaced(count, 0, double(count - 1));
  if (mode.names.empty()) return axis;
  Vector numbers(count);
  for (Index i = 0; i < count; ++i) {
    const std::string& name = mode.names[std::size_t(i)];
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), numbers[i]);
    if (error != std::errc{} || end != name.data() + name.size() || !std::isfinite(numbers[i])) return axis;
  }
  const Vector steps = numbers.tail(count - 1) - numbers.head(count - 1);
  return (steps.array() > 0).all() || (steps.array() < 0).all() ? numbers : axis;
}

/// Of curves too long to draw, the point furthest from zero out of every few.
std::vector<Index> points_of_curve(ConstVectorRef values) {
  const Index count = values.size(), kept = std::min(count, kMostPointsOfCurve);
  std::vector<Index> points;
  points.reserve(std::size_t(kept));
  for (Index i = 0; i < kept; ++i) {
    const Index from = i * count / kept, to = (i + 1) * count / kept;
    Index largest = 0;
    values.segment(from, to - from).cwiseAbs().maxCoeff(&largest);
    points.push_back(from + largest);
  }
  return points;
}

std::string curve_of(const SubjectMode& mode, Index atom) {
  const Vector axis = axis_of(mode);
  const auto values = mode.factors.col(atom);
  const std::vector<Index> points = points_of_curve(values);
  Series series{"", Vector(Index(points.size())), Vector(Index(points.size()))};
  series.notes.reserve(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    series.x[Index(k)] = axis[points[k]];
    series.y[Index(k)] = values[points[k]];
    series.notes.push_back(fmt::format("{}: {}", mode.name(points[k]), number(values[points[k]])));
  }
  return svg_line_plot({series}, {"", mode.title, ""}, false, {880, 180});
}

std::string picture_of(const SubjectMode& mode, Index atom, const ReportOptions& options) {
  Matrix image(options.image_height, options.image_width);
  for (Index i = 0; i < image.rows(); ++i)
    for (Index j = 0; j < image.cols(); ++j) image(i, j) = mode.factors(i * image.cols() + j, atom);
  return svg_image_grid({{"", image}}, 1, "");
}

bool is_picture(const SubjectMode& mode, const ReportOptions& options) {
  return options.image_height > 0 && mode.factors.rows() == options.image_height * options.image_width;
}

bool is_curve(const Subject& subject, const SubjectMode& mode, const ReportOptions& options) {
  return options.lines && &mode == &subject.modes.back() && mode.factors.rows() > 1 &&
         !is_picture(mode, options);
}

std::string side_of(const Subject& subject, const SubjectMode& mode, Index atom,
                    const ReportOptions& options) {
  const Index support = support_of(mode.factors, atom);
  const std::vector<Index> heaviest = heaviest_entries(mode.factors.col(atom), options.top);
  std::vector<Bar> bars;
  bars.reserve(heaviest.size());
  for (const Index i : heaviest) bars.push_back({mode.name(i), mode.factors(i, atom)});
  const bool says_all = is_picture(mode, options) && mode.names.empty();  // pixels have no names
  const std::string more =
      says_all ? mode.title
      : support > Index(heaviest.size())
          ? fmt::format("{}, {} of {} entries", mode.title, heaviest.size(), support)
          : fmt::format("{}, {} {}", mode.title, support, support == 1 ? "entry" : "entries");
  std::string out;
  if (is_curve(subject, mode, options))
    out += fmt::format("<div class=\"whole\"><h4>{}</h4>{}</div>\n", html(mode.title), curve_of(mode, atom));
  out += fmt::format("<div><h4>{}</h4>", html(more));
  if (is_picture(mode, options)) out += picture_of(mode, atom, options);
  if (!bars.empty() && !says_all) out += svg_bars(bars, kWidthOfBars);
  return out + "</div>\n";
}

/// Inner products of unit vectors along every pair of atoms.
Matrix cosines_of(const Matrix& factors, const std::vector<Index>& atoms) {
  Matrix units(factors.rows(), Index(atoms.size()));
  for (std::size_t k = 0; k < atoms.size(); ++k)
    units.col(Index(k)) = factors.col(atoms[k]).stableNormalized();
  return (units.transpose() * units).cwiseMin(1).cwiseMax(-1);
}

std::string capital(std::string word) {
  word.front() = char(std::toupper(static_cast<unsigned char>(word.front())));
  return word;
}

/// "Atom 3", "Component 1"
std::string title_of(const Subject& subject, Index atom) {
  return fmt::format("{} {}", capital(subject.atom_word), atom + 1);
}

/// Scores of rows, group by group, of the labels that most rows have.
struct LabelGroups {
  std::vector<std::string> names;
  std::vector<std::vector<Index>> rows;
  Index labels = 0, unlabelled = 0;
};

LabelGroups groups_of(const std::vector<std::string>& labels) {
  std::map<std::string, std::vector<Index>> by_name;
  LabelGroups groups;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].empty()) {
      ++groups.unlabelled;
    } else {
      by_name[labels[i]].push_back(Index(i));
    }
  }
  groups.labels = Index(by_name.size());
  std::vector<std::pair<std::string, std::vector<Index>>> order(by_name.begin(), by_name.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  if (order.size() > kMostLabels) order.resize(kMostLabels);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [name, rows] : order) {
    groups.names.push_back(name);
    groups.rows.push_back(std::move(rows));
  }
  return groups;
}

/// The share of the variance of scores that lies between groups.
double share_between(const Vector& scores, const LabelGroups& groups) {
  double count = 0, sum = 0;
  for (const auto& rows : groups.rows)
    for (const Index i : rows) sum += scores[i], ++count;
  const double mean = sum / count;
  double between = 0, total = 0;
  for (const auto& rows : groups.rows) {
    double own = 0;
    for (const Index i : rows) own += scores[i];
    own /= double(rows.size());
    between += double(rows.size()) * (own - mean) * (own - mean);
    for (const Index i : rows) total += (scores[i] - mean) * (scores[i] - mean);
  }
  return total > 0 ? between / total : 0;
}

}  // namespace

Section fit_section(const Subject& subject) {
  std::vector<Fact> all;
  all.reserve(subject.metadata.size());
  for (const auto& [key, value] : subject.metadata) all.push_back({key, value});
  std::string content = table_of(subject.facts);
  if (!all.empty())
    content +=
        "<details><summary>All that the model says about itself</summary>\n" + table_of(all) + "</details>\n";
  return {"fit", "What was fitted", content};
}

Section path_section(const Subject& subject) {
  if (subject.shares.size() > 0) {
    Table table({"component", "variance", "together"});
    std::vector<Bar> bars;
    bars.reserve(std::size_t(subject.shares.size()));
    double together = 0;
    for (Index i = 0; i < subject.shares.size(); ++i) {
      together += subject.shares[i];
      bars.push_back({atom_name(i), subject.shares[i]});
      table.add({double(i + 1), subject.shares[i], together});
    }
    return {"path", "Variance by component",
            paragraph("Share of the variance that a component adds to those before it.") +
                figure(svg_bars(bars, 480)) + table.text()};
  }
  const Trace& steps = subject.trace;
  if (steps.size() < 2) return {};
  const std::string word = subject.squares ? "relative error" : "deviance explained";
  Series series{"", Vector(Index(steps.size())), Vector(Index(steps.size()))};
  series.notes.reserve(steps.size());
  Table table({"rank", word, "gain", "sweeps", "last sweep, %", "spread of starts", "seconds"});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double error = steps[i].relative_error, shown = subject.squares ? error : 1 - error * error;
    series.x[Index(i)] = double(steps[i].rank);
    series.y[Index(i)] = shown;
    series.notes.push_back(fmt::format("rank {}: {}", steps[i].rank, number(shown)));
    table.add({double(steps[i].rank), shown, steps[i].gain, double(steps[i].sweeps),
               100 * steps[i].last_sweep, steps[i].spread, steps[i].seconds});
  }
  return {
      "path", subject.squares ? "Error by rank" : "Deviance explained by rank",
      paragraph("As one run passed every rank: only the last was polished, so that a fit of its own may do "
                "better at the others, the more the larger the share of the loss is that their last sweep "
                "still took. pursuit choose compares ranks on entries held out.") +
          figure(svg_line_plot({series}, {"", "rank", word})) + table.text()};
}

Section weights_section(const Subject& subject) {
  const std::vector<Index> atoms = shown_atoms(subject, kMostAtomsShown);
  if (atoms.empty()) return {};
  std::vector<std::string> heads{subject.atom_word, subject.weight_word};
  for (const SubjectMode& mode : subject.modes) heads.push_back("entries of " + mode.title);
  Table table(heads);
  std::vector<Bar> bars;
  bars.reserve(atoms.size());
  for (const Index atom : atoms) bars.push_back({atom_name(atom), subject.weights[atom]});
  for (Index atom = 0; atom < subject.weights.size(); ++atom) {
    std::vector<Cell> row{double(atom + 1), subject.weights[atom]};
    for (const SubjectMode& mode : subject.modes) row.push_back(double(support_of(mode.factors, atom)));
    table.add(std::move(row));
  }
  return {"weights", subject.weight_word == "size" ? "Sizes and supports" : "Weights and supports",
          only_some(atoms.size(), subject.weights.size()) + figure(svg_bars(bars, 480)) + table.text()};
}

Section overlap_section(const Subject& subject) {
  const std::vector<Index> atoms = shown_atoms(subject, kMostAtomsShown);
  if (atoms.size() < 2) return {};
  std::vector<std::string> names;
  names.reserve(atoms.size());
  for (const Index atom : atoms) names.push_back(atom_name(atom));
  std::string content =
      paragraph(
          "Cosines between the factors of each two: 0 where they have nothing in common, 1 "
          "where they are the same, below 0 (the other colour) where they point against each "
          "other.") +
      only_some(atoms.size(), subject.weights.size()) + "<div class=\"side\">\n";
  for (const SubjectMode& mode : subject.modes)
    content += fmt::format("<div><h4>{}</h4>{}</div>\n", html(mode.title),
                           figure(svg_heat_map(cosines_of(mode.factors, atoms), names)));
  return {"overlap", fmt::format("Overlap of {}s", subject.atom_word), content + "</div>\n"};
}

Section atoms_section(const Subject& subject, const ReportOptions& options) {
  const std::vector<Index> atoms = shown_atoms(subject, options.brief ? kFewAtoms : kMostAtomsShown);
  if (atoms.empty()) return {};
  const bool wide = subject.modes.size() > 2 || options.lines;
  std::string content = only_some(atoms.size(), subject.weights.size()) + "<div class=\"atoms pairs\">\n";
  for (const Index atom : atoms) {
    content +=
        fmt::format("<div class=\"atom{}\"><h3>{}, {} {}</h3><div class=\"side\">\n", wide ? " wide" : "",
                    title_of(subject, atom), subject.weight_word, number(subject.weights[atom]));
    // What is asked for first stands first: columns, then rows; a curve takes a line of its own.
    for (auto mode = subject.modes.rbegin(); mode != subject.modes.rend(); ++mode)
      content += side_of(subject, *mode, atom, options);
    content += "</div></div>\n";
  }
  return {"atoms", capital(subject.atom_word) + "s", content + "</div>\n"};
}

Section labels_section(const Subject& subject, const ReportOptions& options) {
  if (options.labels.empty()) return {};
  const SubjectMode& rows = subject.modes.front();
  const LabelGroups groups = groups_of(options.labels);
  if (groups.rows.empty()) throw InvalidInput("labels: no row has one");
  std::vector<std::string> heads{subject.atom_word, "share between labels"};
  for (const std::string& name : groups.names) heads.push_back("mean of " + name);
  Table table(heads);
  std::string boxes = "<div class=\"atoms\">\n";
  for (const Index atom : shown_atoms(subject, kMostAtomsShown)) {
    const Vector scores = subject.weights[atom] * rows.factors.col(atom);
    const double share = share_between(scores, groups);
    std::vector<Cell> line{double(atom + 1), share};
    std::vector<Spread> spreads;
    spreads.reserve(groups.rows.size());
    for (std::size_t g = 0; g < groups.rows.size(); ++g) {
      std::vector<double> own;
      own.reserve(groups.rows[g].size());
      double sum = 0;
      for (const Index i : groups.rows[g]) {
        own.push_back(scores[i]);
        sum += scores[i];
      }
      line.push_back(sum / double(own.size()));
      spreads.push_back(spread_of(groups.names[g], std::move(own)));
    }
    table.add(std::move(line));
    boxes +=
        fmt::format("<div class=\"atom\"><h3>{}</h3><h4>{} of the variance is between labels</h4>{}</div>\n",
                    title_of(subject, atom), number(share), svg_boxes(spreads));
  }
  std::string words =
      "Scores of rows (weight times entry): the middle of each label, a box around half of its "
      "rows, a line through nine in ten.";
  if (groups.unlabelled > 0) words += fmt::format(" {} rows have no label.", groups.unlabelled);
  if (groups.labels > Index(groups.names.size()))
    words += fmt::format(" Of {} labels the {} most frequent are shown.", groups.labels, groups.names.size());
  return {"labels", "Scores by label", paragraph(words) + table.text() + boxes + "</div>\n"};
}

}  // namespace pursuit::report
