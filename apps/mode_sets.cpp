#include "apps/mode_sets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"

namespace pursuit::app {
namespace {

std::vector<std::string> separated(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t first = 0;;) {
    const std::size_t comma = text.find(',', first);
    parts.push_back(text.substr(first, comma - first));
    if (comma == std::string::npos) return parts;
    first = comma + 1;
  }
}

/// The modes that share one panel, counted from 0.
std::vector<Index> shared_modes(const std::string& text, Index modes) {
  std::vector<Index> result;
  if (text.empty()) return result;
  for (const std::string& part : separated(text)) {
    const Index mode = mode_of(part, modes, "--symmetric-modes " + text);
    if (std::find(result.begin(), result.end(), mode) != result.end())
      throw InvalidArgument(fmt::format("--symmetric-modes {}: mode {} twice", text, mode));
    result.push_back(mode);
  }
  if (result.size() < 2)
    throw InvalidArgument(fmt::format("--symmetric-modes {}: two modes or more share factors", text));
  return result;
}

}  // namespace

Index mode_of(const std::string& text, Index modes, const std::string& whose) {
  Index mode = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode);
  if (error != std::errc{} || end != text.data() + text.size() || mode < 0 || mode >= modes)
    throw InvalidArgument(fmt::format("{}: '{}' is no mode; allowed are 0 to {}", whose, text, modes - 1));
  return mode;
}

AtomSets sets_of_modes(const std::string& sets, const std::string& symmetric_modes, Index modes,
                       const ModeNames& names) {
  const std::vector<std::string> specs =
      sets.empty() ? std::vector<std::string>(std::size_t(modes), "sphere") : separated(sets);
  if (Index(specs.size()) != modes)
    throw InvalidArgument(fmt::format("--modes {}: {} sets for an array of {} modes; one for each is needed",
                                      sets, specs.size(), modes));
  const std::vector<Index> shared = shared_modes(symmetric_modes, modes);
  std::vector<Atoms> of_panel;
  std::vector<Index> panel_of;
  Index panel_of_shared = -1;
  for (Index mode = 0; mode < modes; ++mode) {
    const bool is_shared = std::find(shared.begin(), shared.end(), mode) != shared.end();
    if (is_shared && specs[std::size_t(mode)] != specs[std::size_t(shared[0])])
      throw InvalidArgument(fmt::format(
          "--modes {}: modes {} and {} share their factors and need the same set", sets, shared[0], mode));
    if (is_shared && panel_of_shared >= 0) {
      panel_of.push_back(panel_of_shared);
      continue;
    }
    panel_of.push_back(Index(of_panel.size()));
    of_panel.push_back(parse_atoms_by_name(
        specs[std::size_t(mode)], names.empty() ? std::vector<std::string>{} : names[std::size_t(mode)]));
    if (is_shared) panel_of_shared = panel_of.back();
  }
  return {std::move(of_panel), std::move(panel_of)};
}

std::string specs_of(const AtomSets& sets) {
  std::vector<std::string> specs;
  specs.reserve(std::size_t(sets.modes()));
  for (Index mode = 0; mode < sets.modes(); ++mode) specs.push_back(sets.mode(mode).spec());
  return fmt::format("{}", fmt::join(specs, ","));
}

}  // namespace pursuit::app
