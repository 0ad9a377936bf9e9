#include "apps/mode_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

namespace pursuit::app {

void take_mode_names(const ModeNames& names, const std::vector<std::string>& labels, ModelFile& file) {
  if (!labels.empty()) file.metadata["labels"] = fmt::format("{}", fmt::join(labels, ","));
  if (file.model.factors.modes() > 2) {
    file.mode_names = names;
  } else if (!names.empty()) {
    file.row_names = names[0];
    file.column_names = names[1];
  }
}

std::vector<std::string> labels_of(const ModelFile& file) {
  std::vector<std::string> labels;
  const auto found = file.metadata.find("labels");
  if (found == file.metadata.end()) return labels;
  const std::string& text = found->second;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    labels.push_back(text.substr(first, comma - first));
    first = comma + 1;
  }
  if (Index(labels.size()) != file.model.factors.modes()) labels.clear();
  return labels;
}

ModePlaces places_of(const ModelFile& file) {
  std::vector<Index> shape;
  shape.reserve(std::size_t(file.model.factors.modes()));
  for (Index mode = 0; mode < file.model.factors.modes(); ++mode)
    shape.push_back(file.model.factors[mode].rows());
  return {file.mode_names, std::move(shape)};
}

}  // namespace pursuit::app
