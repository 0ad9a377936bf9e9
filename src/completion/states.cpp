#include "completion/states.hpp"

#include <fmt/format.h>

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

void visit(StateArchive& archive, Regularization& price) {
  archive("price", price.kind, 0, Index(Regularization::self_tuned));
  archive("lambda", price.lambda);
}

void identify(const std::string& name, const ObservedEntries& entries, Identity& identity) {
  identity.add_list(name, entries.row);
  identity.add_list(name, entries.col);
  identity.add_list(name, entries.value);
}

Identity identity_of(const EntryPool& entries, std::uint64_t fingerprint, const CompletionOptions& options) {
  Identity identity;
  identity.add("command", "complete");
  identity.add("shape", fmt::format("{} x {}", entries.rows(), entries.cols()));
  identity.add("entries", fmt::format("{:x}", fingerprint));
  identity.add("loss", options.loss.spec());
  identity.add("max_rank", double(options.max_rank));
  identity.add("use_pattern", double(options.use_pattern));
  identity.add("validation", options.validation);
  identity.add("samples", double(options.samples));
  identity.add("stored_samples", double(options.stored_samples));
  if (options.range)
    identity.add("range", fmt::format("{}:{}", options.range->lowest, options.range->highest));
  if (options.row_features) identify("row_features", *options.row_features, identity);
  if (options.col_features) identify("col_features", *options.col_features, identity);
  if (const CompletionModel* start = options.start)
    for (const CompletionSide* side : {&start->rows, &start->cols})
      identity.add_bytes("start", side->mean.data(), std::size_t(side->mean.size()) * sizeof(float));
  if (const GroupedEntries* before = options.start_entries) identity.add_list("start_entries", before->value);
  identity.add("seed", std::to_string(options.seed));
  return identity;
}

}  // namespace pursuit
