#include "completion/complete_check.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/parallel.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

void require_possible(const CompletionOptions& options) {
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw InvalidArgument(what);
  };
  require(options.loss.kind == Loss::squares || options.loss.kind == Loss::bernoulli,
          fmt::format("loss {}: the self-tuned model knows squares and bernoulli; other losses go with atom "
                      "sets",
                      options.loss.spec()));
  require(options.max_rank >= 0,
          fmt::format("max_rank {}: must be 0 (offsets only) or more", options.max_rank));
  require(options.validation >= 0 && options.validation < 1,
          fmt::format("validation {}: must be at least 0 and below 1", options.validation));
  for (const auto& [name, count] :
       {std::pair("samples", options.samples), {"stored_samples", options.stored_samples}})
    require(count >= 0 && count <= kMostSamples,
            fmt::format("{} {}: must be 0 to {}", name, count, kMostSamples));
  if (const auto& range = options.range)
    require(range->lowest <= range->highest,
            fmt::format("range {} to {}: the lowest value must not be above the highest", range->lowest,
                        range->highest));
  require(options.loss.kind == Loss::squares || options.samples == 0,
          fmt::format("samples {}: draws are of squares; of {} there are none", options.samples,
                      options.loss.spec()));
  require(options.threads >= 0, fmt::format("threads {}: must be 0 (all cores) or more", options.threads));
}

}  // namespace

WeightedEntries entries_that_count(ObservedEntries entries, const CompletionOptions& options) {
  require_valid(entries, resolve_threads(options.threads));
  require_possible(options);
  require_weights(options.entry_weights, entries);
  require_domain(options.loss, entries);
  WeightedEntries all(std::move(entries), options.entry_weights);
  all.drop_weightless();
  return all;
}

void require_possible_apart(const CompletionOptions& options) {
  require_possible(options);
  if (!options.team || !options.entry_weights.empty() || options.start)
    throw InvalidArgument(
        "entries that ranks have read: of a team, every entry counting once, without a model to start from");
}

}  // namespace pursuit
