#pragma once
// How good lists of recommendations are, against entries that were seen later.

#include <vector>

#include "pursuit/completion/recommend.hpp"

namespace pursuit {

/// Of lists of at most `places` columns, best first. Means are over the rows that have relevant entries; with
/// h_p = 1 where the column in place p is relevant and R relevant columns in a row,
///   NDCG     sum h_p / log2(1 + p), over the most that R columns can reach
///   recall   sum h_p / R
///   MAP      sum h_p (h_1 + .. + h_p) / p, over min(R, places)
///   coverage share of all columns that occur in any of the lists
struct RankingScore {
  Index rows = 0, places = 0;
  double ndcg = 0, recall = 0, map = 0, coverage = 0;
};

/// lists[i] is the list of row i, relevant[i] its relevant columns; -1 among them stands for one that no list
/// can hold.
RankingScore ranking_score(const std::vector<std::vector<int>>& lists,
                           const std::vector<std::vector<int>>& relevant, Index columns, Index places);

/// The same of the lists that a model makes, without what a row has in `seen` (by row), against the entries
/// of `test` of at least `relevant`. Test entries of rows that the model has never seen (-1) are left out.
RankingScore ranking_score(const CompletionModel& model, const GroupedEntries& seen,
                           const ObservedEntries& test, double relevant, Index places, int threads = 1);

/// What a rating has to be to say yes where nothing else is said: three quarters of the way from the lowest
/// to the highest. 4 of 1 to 5, 1 where all are 1.
double relevant_from(const ObservedEntries& entries);

}  // namespace pursuit
