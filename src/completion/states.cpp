#include "completion/states.hpp"

namespace pursuit {

void visit(StateArchive& archive, const std::string& name, std::vector<CompletionStage>& path) {
  Index stages = Index(path.size());
  archive(name + ".stages", stages, 0, 1 << 16);
  path.resize(std::size_t(stages));
  for (Index k = 0; k < stages; ++k) {
    CompletionStage& stage = path[std::size_t(k)];
    StateArchive own = archive.in(name, k);
    own("rank", stage.rank);
    own("sweeps", stage.sweeps);
    own("noise", stage.noise);
    own("validation", stage.validation);
    own("seconds", stage.seconds);
  }
}

void visit(StateArchive& archive, const std::string& name, OwnTerms& terms) {
  StateArchive own = archive.in(name);
  own("row_offsets", terms.row_offsets);
  own("col_offsets", terms.col_offsets);
  Index further = Index(terms.further_offsets.size());
  own("further", further, 0, 64);
  terms.further_offsets.resize(std::size_t(further));
  for (Index k = 0; k < further; ++k)
    own("offsets" + std::to_string(k), terms.further_offsets[std::size_t(k)]);
  own("grades", terms.grades);
  own("thresholds", terms.thresholds);
  own("size", terms.size);
}

void identify(const std::string& name, const ObservedEntries& entries, Identity& identity) {
  identity.add_list(name, entries.row);
  identity.add_list(name, entries.col);
  identity.add_list(name, entries.value);
}

}  // namespace pursuit
