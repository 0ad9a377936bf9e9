#pragma once
// Completion of implicit feedback: clicks, purchases, plays. What was seen is a yes, what was not seen is a
// weak no, and entries of either kind count by their weight,
//
//   sum over seen  c_ij (1 - u_i . v_j)^2  +  zeros * sum over all (u_i . v_j)^2
//     + ridge * (sum_i C_i |u_i|^2 + sum_j C_j |v_j|^2),     C_i = sum over seen c_ij + zeros * columns
//
// (Hu, Koren and Volinsky 2008; the ridge by frequency is Rendle's et al. 2022). The sum over all entries is
// never formed: it is a small matrix, the same for all rows. Some entries of some rows are held back; zeros,
// ridge and the number of atoms are those by which these come out highest among all that their row has not,
// and then all entries are used. What is predicted is an order more than a value.
//
// Time per sweep: O(entries * rank^2 / 2 + (rows + columns) * rank^3 / 3). The result is the same for any
// number of threads.

#include <optional>

#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/completion/complete.hpp"
#include "pursuit/weights/weight_rule.hpp"

namespace pursuit {

/// Where vectors of rows and columns are not free, but those of structured atoms, u_i . v_j being a sum of
/// these. Where sets know of signs at most (sphere, nonneg) all atoms of a row move at once, like vectors
/// that are free, and weights come out positive; others are found one by one (paper, Algorithm 2), as many as
/// are worth it, the same sum beside them.
struct ImplicitSets {
  Atoms left, right;
  WeightRule weights = {};
};

struct ImplicitOptions {
  Confidence confidence = {};             // c_ij, from the value of an entry
  std::optional<Index> max_rank = {};     // none: most_atoms()
  double validation = 0.1;                // share of the entries of some rows held back while all is chosen
  std::optional<ImplicitSets> sets = {};  // go without features and without a start
  std::vector<Position> predict = {};     // entries to predict with the model
  const FeatureTable* row_features = nullptr;  // they place members without entries, by a regression of the
  const FeatureTable* col_features = nullptr;  // factors of the others
  const CompletionModel* start = nullptr;  // of implicit feedback and of fewer or as many rows and columns:
                                           // its rank, ridge and zeros are kept, confidence too
  const GroupedEntries* start_entries =
      nullptr;  // what `start` was made of: if nothing is new, it is the result
  std::uint64_t seed = 0;
  int threads = 1;           // 0: all cores
  RankTeam* team = nullptr;  // as in CompletionOptions
  double time_limit = std::numeric_limits<double>::infinity();
  Observer observer = {};
  CheckpointsPtr checkpoints = {};         // where the state of the run is kept
  std::function<bool()> interrupted = {};  // as in CompletionOptions
};

/// As many atoms as are tried: max_rank, or 63, with sets 127 that move at once and 31 that come one by one.
Index most_atoms(const ImplicitOptions& options);

/// Values are counts or strengths, at least 0; an entry of 0 is as good as none. In the path of the result
/// `validation` is the mean of 1 / log2(1 + place) over entries held back: the larger, the better.
/// InvalidArgument for options, InvalidInput for entries that make no sense.
CompletionResult complete_implicit(ObservedEntries entries, const ImplicitOptions& options = {});

}  // namespace pursuit
