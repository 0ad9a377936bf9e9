#include "completion/structured_check.hpp"

#include <fmt/format.h>

#include "algorithms/nonnegative_parts.hpp"
#include "completion/weighted_entries.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

bool by_loss(const StructuredOptions& o) {
  return o.loss.kind != Loss::squares || !o.entry_weights.empty();
}

namespace {

void check_loss(const StructuredOptions& o, const ObservedEntries& entries) {
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw InvalidArgument(what);
  };
  require(!o.symmetric, "loss: atoms u u^T go with plain squares only, without weights of entries");
  require(o.exact_corrections, "loss: the presets are of plain squares, without weights of entries");
  require(o.regularization.kind != Regularization::count_weighted_ridge,
          fmt::format("regularization {}: with a loss or weights of entries it is none, a number or auto",
                      o.regularization.spec()));
  if (o.loss.has_positive_means())
    require_nonnegative_parts(o.loss, o.weights, AtomSets(o.left, o.right), {entries.rows, entries.cols},
                              o.max_rank, {"left set", "right set"});
  require_weights(o.entry_weights, entries);
  require_domain(o.loss, entries, o.entry_weights);
}

}  // namespace

void require_possible(const StructuredOptions& o, const ObservedEntries& entries) {
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw InvalidArgument(what);
  };
  require(o.max_rank >= 1, fmt::format("rank {}: at least one atom is needed", o.max_rank));
  require(!o.corrections.empty(), "corrections: at least one number of sweeps is needed");
  for (const int sweeps : o.corrections)
    require(sweeps >= 0, fmt::format("corrections {}: must be 0 or more", sweeps));
  require(o.polish >= 0, fmt::format("polish {}: must be 0 or more", o.polish));
  require(o.polish_tolerance >= 0, fmt::format("polish_tolerance {}: must be 0 or more", o.polish_tolerance));
  require(o.validation >= 0 && o.validation < 1,
          fmt::format("validation {}: must be at least 0 and below 1", o.validation));
  require(o.restarts >= 1, fmt::format("restarts {}: must be 1 or more", o.restarts));
  require(o.threads >= 0, fmt::format("threads {}: must be 0 (all cores) or more", o.threads));
  require(!o.range || o.range->lowest <= o.range->highest,
          fmt::format("range {} to {}: the lowest value must not be above the highest",
                      o.range ? o.range->lowest : 0.0, o.range ? o.range->highest : 0.0));
  require(!o.symmetric || entries.rows == entries.cols,
          fmt::format("symmetric completion needs as many columns as rows; the matrix is {} x {}",
                      entries.rows, entries.cols));
  require(!o.symmetric || o.regularization.kind == Regularization::none ||
              o.regularization.kind == Regularization::ridge,
          fmt::format("regularization {}: atoms u u^T are regularised by a number, or not at all (none)",
                      o.regularization.spec()));
  require(o.regularization.kind == Regularization::none || o.weights.kind != WeightRule::convex,
          fmt::format("weights {}: go without regularization only; regularised weights are free or nonneg",
                      o.weights.spec()));
  require(!o.choose || !o.symmetric, "symmetric completion has no ways to choose from: choose must be false");
  o.left.require_dimension(entries.rows);
  o.right.require_dimension(entries.cols);
  if (by_loss(o)) check_loss(o, entries);
  if (const ObservedEntries* validation = o.validation_entries) {
    require_valid(*validation);
    if (validation->rows > entries.rows || validation->cols > entries.cols)
      throw InvalidInput(fmt::format("validation entries: of a {} x {} matrix, but the matrix is {} x {}",
                                     validation->rows, validation->cols, entries.rows, entries.cols));
  }
}

}  // namespace pursuit
