#include "completion/implicit_check.hpp"

#include <fmt/format.h>

#include "pursuit/base/error.hpp"

namespace pursuit {

void require_possible(const ImplicitOptions& options, const ObservedEntries& entries) {
  if (options.max_rank && *options.max_rank < 1)
    throw InvalidArgument(fmt::format("max_rank {}: must be 1 or more", *options.max_rank));
  if (!(options.validation >= 0 && options.validation < 1))
    throw InvalidArgument(fmt::format("validation {}: must be at least 0 and below 1", options.validation));
  for (std::size_t e = 0; e < entries.value.size(); ++e)
    if (!(entries.value[e] >= 0))
      throw InvalidInput(
          fmt::format("the entry at row {}, column {} is {}: implicit feedback is of numbers of at least 0 "
                      "(how often, how "
                      "long), for what was not seen counts as less than anything that was",
                      entries.row[e], entries.col[e], entries.value[e]));
  if (options.sets) {
    if (options.row_features || options.col_features || options.start)
      throw InvalidArgument(
          "sets: features and a model to start from are for factors that are free, not for structured atoms");
    if (options.sets->weights.kind == WeightRule::convex)
      throw InvalidArgument(fmt::format(
          "weights {}: structured atoms of implicit feedback pay for their size, and their weights are free "
          "or nonneg",
          options.sets->weights.spec()));
    options.sets->left.require_dimension(entries.rows);
    options.sets->right.require_dimension(entries.cols);
  }
  if (const CompletionModel* start = options.start) {
    if (start->is_implicit() && start->atoms.rank() > 0)
      throw InvalidArgument("start: a model of structured atoms; one of factors that are free can go on");
    if (!start->is_implicit())
      throw InvalidArgument("start: the model is not of implicit feedback and cannot start one that is");
    if (start->rows.size() > entries.rows || start->cols.size() > entries.cols)
      throw InvalidArgument(
          fmt::format("start: a model of {} x {} cannot start a {} x {} one; it must be as "
                      "large or smaller",
                      start->rows.size(), start->cols.size(), entries.rows, entries.cols));
  }
}

ObservedEntries without_zeros(ObservedEntries entries) {
  std::size_t kept = 0;
  for (std::size_t e = 0; e < entries.value.size(); ++e) {
    if (entries.value[e] == 0) continue;
    entries.row[kept] = entries.row[e];
    entries.col[kept] = entries.col[e];
    entries.value[kept++] = entries.value[e];
  }
  if (kept == 0) throw InvalidInput("every entry is 0: of implicit feedback nothing was seen then");
  entries.row.resize(kept);
  entries.col.resize(kept);
  entries.value.resize(kept);
  return entries;
}

}  // namespace pursuit
