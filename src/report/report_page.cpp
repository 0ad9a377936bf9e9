#include "pursuit/report/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "pursuit/base/error.hpp"
#include "pursuit/io/text_table.hpp"
#include "report/subject.hpp"

namespace pursuit {
namespace {

using report::Section;
using report::Subject;

Subject subject_of_any(const AnyModelFile& file) {
  return std::visit([](const auto& model) { return report::subject_of(model); }, file);
}

void check_options(const ReportOptions& options, const Subject& subject) {
  if (options.top < 1)
    throw InvalidArgument(fmt::format("report: the {} largest entries; at least 1 is needed", options.top));
  if (options.image_height < 0 || options.image_width < 0 ||
      (options.image_height == 0) != (options.image_width == 0))
    throw InvalidArgument(fmt::format("report: pictures of {} x {}; both must be positive",
                                      options.image_height, options.image_width));
  std::vector<Index> sizes;
  sizes.reserve(subject.modes.size());
  bool fits = options.image_height == 0;
  for (const auto& mode : subject.modes) {
    sizes.push_back(mode.factors.rows());
    fits = fits || mode.factors.rows() == options.image_height * options.image_width;
  }
  if (!fits)
    throw InvalidArgument(
        fmt::format("report: pictures of {} x {} have {} places; the model has {} entries along "
                    "its modes",
                    options.image_height, options.image_width, options.image_height * options.image_width,
                    fmt::join(sizes, " and ")));
  if (!options.labels.empty() && Index(options.labels.size()) != sizes.front())
    throw InvalidArgument(fmt::format("report: {} labels for {} rows; one for each is needed",
                                      options.labels.size(), sizes.front()));
}

}  // namespace

std::string report_page(const AnyModelFile& file, const ReportOptions& options) {
  const Subject subject = subject_of_any(file);
  check_options(options, subject);
  std::vector<Section> sections{report::fit_section(subject), report::path_section(subject)};
  const auto add_completion = [&] {
    if (const auto* completion = std::get_if<CompletionFile>(&file))
      for (Section& each : report::completion_sections(*completion, options))
        sections.push_back(std::move(each));
  };
  add_completion();
  if (!options.brief) sections.push_back(report::weights_section(subject));
  sections.push_back(report::atoms_section(subject, options));
  if (!options.brief) sections.push_back(report::overlap_section(subject));
  sections.push_back(report::labels_section(subject, options));
  std::erase_if(sections, [](const Section& each) { return each.content.empty(); });
  return report::html_page(options.title, subject.kind, subject.cards, sections);
}

std::vector<std::string> read_labels(const std::filesystem::path& path, const AnyModelFile& file) {
  const Subject subject = subject_of_any(file);
  const report::SubjectMode& rows = subject.modes.front();
  const auto count = std::size_t(rows.factors.rows());
  const TextTable table = read_text_table(path);
  std::unordered_map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < rows.names.size(); ++i) place.emplace(rows.names[i], i);
  const auto names_a_row = [&](const TextTable::Line& line) { return place.contains(line.fields[0]); };
  const bool header = table.lines.size() == count + 1;
  // Labels may be of several words: where no line names a row and there is one for each, they are lines.
  const bool lines_are_labels = (table.lines.size() == count || header) &&
                                std::none_of(table.lines.begin(), table.lines.end(), names_a_row);
  const bool named = !lines_are_labels && !rows.names.empty() && table.lines.front().fields.size() >= 2;
  std::vector<std::string> labels(count);
  if (!named) {
    if (table.lines.size() != count && !header)
      throw InvalidInput(fmt::format(
          "{}: has {} labels for a model of {} rows; one on every line is needed{}", path.string(),
          table.lines.size(), count, rows.names.empty() ? "" : ", or the name of a row and its label"));
    for (std::size_t i = 0; i < count; ++i) labels[i] = table.lines[i + std::size_t(header)].text;
    return labels;
  }
  Index found = 0;
  for (const TextTable::Line& line : table.lines) {
    const auto at = place.find(line.fields[0]);
    if (at == place.end()) continue;  // other rows, and a header
    if (line.fields.size() < 2)
      throw InvalidInput(fmt::format("{}: line {}: a row without a label", path.string(), line.number));
    labels[at->second] = line.fields[1];
    ++found;
  }
  if (found == 0)
    throw InvalidInput(fmt::format("{}: names none of the rows of the model, of which the first is '{}'",
                                   path.string(), rows.names.front()));
  return labels;
}

}  // namespace pursuit
