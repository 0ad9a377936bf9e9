#pragma once
// Completion of entries that have times: offsets of rows, of columns and of all may drift (drift.hpp).
//
// The last entries of all, and the last ones of every row, are held back. Drift of each kind has the reach
// and the ridge by which it predicts them best, and where it does not pay beyond chance there is none. Then
// all entries are used.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "pursuit/completion/complete.hpp"

namespace pursuit {

/// Of squares, and without a start. `predict_times` are those of options.predict; none: the newest.
/// InvalidArgument and InvalidInput as complete(), and for times that are not finite or not as many as
/// entries.
CompletionResult complete_in_time(ObservedEntries entries, std::span<const double> times,
                                  const CompletionOptions& options = {},
                                  std::span<const double> predict_times = {});

/// The model as it is at a time: an ordinary one, with moved offsets.
CompletionModel at_time(CompletionModel model, double time);

/// Predictions, each at a time of its own.
std::vector<Prediction> predict(const CompletionModel& model, std::span<const Position> positions,
                                std::span<const double> times, int threads = 1);

/// Times of entries, to be found again by position when these have been split.
class TimesOfEntries {
 public:
  TimesOfEntries(const ObservedEntries& entries, std::span<const double> times);

  /// None where there were none.
  std::vector<double> of(const ObservedEntries& part) const;

 private:
  static std::uint64_t key(const ObservedEntries& entries, std::size_t e) {
    return std::uint64_t(std::uint32_t(entries.row[e])) << 32 | std::uint32_t(entries.col[e]);
  }

  std::unordered_map<std::uint64_t, double> times_;
};

}  // namespace pursuit
