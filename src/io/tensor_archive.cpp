#include "io/tensor_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "io/defect.hpp"
#include "io/npy.hpp"

namespace pursuit::io {
namespace {

std::string names_array(std::size_t mode) {
  return fmt::format("names_{}", mode);
}

/// How many arrays of an archive are names of modes.
std::size_t count_named_modes(const NpzEntries& entries) {
  std::size_t count = 0;
  for (std::size_t m = 0; m < std::size_t(kMostModes); ++m) count += entries.count(names_array(m));
  return count;
}

}  // namespace

ModeNames names_in(const NpzEntries& entries, const std::vector<Index>& shape, const std::string& name) {
  ModeNames result;
  if (count_named_modes(entries) == 0) return result;
  result.resize(shape.size());
  for (std::size_t m = 0; m < std::size_t(kMostModes); ++m) {
    const auto found = entries.find(names_array(m));
    if (found == entries.end()) continue;
    const std::string where = at_array(name, names_array(m));
    const NpyArray array = parse_npy(found->second.view, where);
    const auto* list = std::get_if<std::vector<std::string>>(&array.values);
    if (list == nullptr || m >= shape.size() || Index(list->size()) != shape[m])
      refuse(where, fmt::format("names of mode {} must be a list of texts, one for each of its {} indices", m,
                                m < shape.size() ? shape[m] : 0));
    result[m] = *list;
  }
  return result;
}

/// The array that an archive holds beside names.
const NpzEntries::value_type& only_array(const NpzEntries& entries, const std::string& name) {
  if (entries.size() - count_named_modes(entries) != 1)
    refuse(name,
           fmt::format("the archive holds {} arrays; an array file holds one, or coords, data and shape, "
                       "and may hold names_0, names_1, ...",
                       entries.size()));
  return *std::find_if(entries.begin(), entries.end(), [](const auto& each) {
    return !(each.first.size() == 7 && each.first.starts_with("names_"));
  });
}

bool lists_coordinates(const NpzEntries& entries) {
  return entries.contains("coords") && entries.contains("data") && entries.contains("shape");
}

}  // namespace pursuit::io
