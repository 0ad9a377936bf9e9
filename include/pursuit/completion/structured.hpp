#pragma once
// Matrix completion by pursuit, as in the paper: Algorithm 2 on the observed entries, with any atom sets.
//
//   or1mp        no corrections (ApproxGMP; with economic weights the variant of Wang et al. 2014)
//   gmpr         atoms corrected after every step (ApproxGMPr)
//   gmpr-sparse  the same with right factors of at most 0.6 of their entries (ApproxGMPr(Sparse))
//
// Rank and corrections are those that predict the validation entries best.

#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/completion/complete.hpp"
#include "pursuit/correction/regularization.hpp"
#include "pursuit/weights/weight_rule.hpp"

namespace pursuit {

struct StructuredOptions {
  Atoms left = sphere(), right = sphere();
  bool symmetric = false;  // atoms u u^T, u from `left`, of a symmetric matrix
  WeightRule weights = {};
  Loss loss = {};
  std::span<const float> entry_weights = {};  // how much each entry counts, in their order; none: alike
  Regularization regularization = {};  // self-tuned with another loss, or with weights, is a ridge: that of
                                       // 1, 4, 16, ... or 1/4, 1/16, ... which predicts best
  bool exact_corrections = true;  // factors fitted under the mask; false: by the oracle, as the paper does
  bool offsets = false;           // mean, row and column offsets first; atoms for what they leave
  /// Of four ways the one that predicts the entries held back best: self-tuned regularization, with offsets
  /// or without, no offsets and a ridge that counts entries, or offsets and a plain ridge. `offsets` and
  /// `regularization` have no say then.
  bool choose = false;
  Index max_rank = 20;                 // the best rank up to this is kept
  std::vector<int> corrections = {3};  // sweeps after every atom; of several numbers the best is kept
  double polish_tolerance = 1e-5;      // settled: a sweep lowers the squared error by no more than this share
  double validation = 0.1;  // share of the entries that decides; returned before a last run of the best
  const ObservedEntries* validation_entries = nullptr;  // or these, which are never trained on
  std::optional<Range> range = {};  // of predictions; by default that of the observed entries
  std::vector<Position> predict = {};
  int polish = 0;  // if above 0, in the place of corrections: sweeps until they settle, at most so many; the
                   // clock aside, a result that has not settled says so (Stop::not_converged)
  int restarts = 4;
  std::uint64_t seed = 0;
  int threads = 1;
  RankTeam* team = nullptr;  // ranks that share plain squares and offsets; rank 0 calls
  double time_limit = std::numeric_limits<double>::infinity();
  Observer observer = {};
  CheckpointsPtr checkpoints = {};  // where the state of the run is kept
};

/// The options of a preset of the paper; InvalidArgument for any other name.
StructuredOptions completion_preset(const std::string& name);

/// As many atoms as are tried where nobody says how many: 20 where an atom reaches every entry, more of those
/// with few non-zeros. Of the options the sets count, and whether sweeps go on until they settle.
Index usual_rank(const StructuredOptions& options, Index rows, Index cols);

CompletionResult complete_structured(ObservedEntries entries, const StructuredOptions& options);

}  // namespace pursuit
