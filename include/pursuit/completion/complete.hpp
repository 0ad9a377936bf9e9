#pragma once
// Matrix completion that tunes itself: predict the entries of a matrix that were not observed.
//
// Mean, row and column offsets and rank-one atoms, each with its own prior variance; what a row (column) has
// entries for counts as information about it; noise may differ from row to row and from column to column. All
// of it is estimated from the entries, by variational Bayes. A small share of the entries is held back while
// atoms are added, eight at first and then twice as many each time, for as long as they help to predict it;
// then all entries are used. With `samples` > 0, Gibbs sampling started from that solution follows, and
// predictions are averages over its draws: slower, and more accurate.
//
// What is not observed is unknown, never zero. Time per sweep: O(entries * rank^2 / 2); memory: 16 bytes per
// entry (20 at the start) and some 40 bytes per member and atom. The result is the same for any number of
// threads, and of ranks.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "pursuit/base/run.hpp"
#include "pursuit/completion/model.hpp"
#include "pursuit/data/ranked_entries.hpp"

namespace pursuit {

class EntryPool;
class RankTeam;

/// Side information: entries (member, feature, value) of a table with one row per member.
using FeatureTable = ObservedEntries;

constexpr int kMostSamples = 1'000'000;

struct CompletionOptions {
  Loss loss = {};           // squares, or bernoulli for zeros and ones
  Index max_rank = 31;      // at most so many atoms beyond the offsets
  bool use_pattern = true;  // whether having an entry counts as information
  double validation = 0.1;  // share of the entries held back while the rank is chosen (at most 30000 of them)
  int samples = 0;          // draws to average over, at most kMostSamples
  int stored_samples = 16;  // evenly spaced draws kept in the model, for deviations; values are of all draws
  std::optional<Range> range = {};            // of predictions; by default that of the observed entries
  std::span<const float> entry_weights = {};  // how often each entry counts, in their order: 2 like one that
                                              // was seen twice, 0 like one that was not seen; none: once
  const FeatureTable* row_features = nullptr;
  const FeatureTable* col_features = nullptr;
  std::vector<Position> predict = {};      // entries to predict with the model
  const CompletionModel* start = nullptr;  // of fewer or as many rows and columns: refined for the new
                                           // entries, unless they are of quite another size; its features
                                           // are the first of row_features and col_features
  const GroupedEntries* start_entries = nullptr;  // what `start` was made of: the less is new, the fewer
                                                  // sweeps it takes; where nothing is, it is the result
  std::uint64_t seed = 0;
  int threads = 1;           // 0: all cores
  RankTeam* team = nullptr;  // ranks that share the sweeps, each with so many threads; rank 0 calls
  double time_limit = std::numeric_limits<double>::infinity();
  Observer observer = {};
  CheckpointsPtr checkpoints = {};         // where the state of the run is kept
  std::function<bool()> interrupted = {};  // asked by all threads, often: true ends a sweep half done, where
                                           // the observer would only be asked after it; of a team every
                                           // sweep is finished
};

/// One rank that was tried.
struct CompletionStage {
  Index rank;
  int sweeps;
  double noise;       // standard deviation, in units of the data; of squares
  double validation;  // RMSE on the entries held back; of bernoulli minus their mean log-likelihood
  double seconds;     // since the start
};

struct CompletionResult {
  CompletionModel model;
  std::vector<CompletionStage> path;
  std::vector<Prediction> predictions;             // of options.predict
  GroupedEntries seen;                             // the entries, by row: given back, for they may be large
  std::shared_ptr<const EntryPool> seen_by_ranks;  // where ranks keep them, and `seen` is empty: what rank 0
                                                   // has of them
  Index known = 0;                                 // entries of options.predict that are among these
  Range observed = {0, 0};                         // the smallest and the largest of these
  Stop stop = Stop::all_sweeps;
  double seconds = 0;

  /// By the observer or the time limit; what there was by then is kept.
  bool interrupted() const { return stop == Stop::time_limit || stop == Stop::interrupted; }
};

/// Draws that are worth their time: some 200 for a million entries, more for fewer.
int draws_for_high_effort(Index entries);

/// InvalidArgument for options, InvalidInput for entries that make no sense.
CompletionResult complete(ObservedEntries entries, const CompletionOptions& options = {});
/// Entries that ranks of options.team have read, and keep: without entry_weights and start.
CompletionResult complete_ranked(RankedEntries entries, const CompletionOptions& options);

}  // namespace pursuit
