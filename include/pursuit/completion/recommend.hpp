#pragma once
// The columns of largest predicted value, row by row. Rows in plenty are scored by products of blocks of rows
// and columns in single precision; what may be among the best is then predicted as ever. Cost per row:
// columns times rank, at the speed of dense products; memory: one number per column and factor, and a block
// of scores per thread.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "pursuit/completion/model.hpp"

namespace pursuit {

class Predictor;

struct Recommendation {
  int col;
  Prediction prediction;
};

/// The `count` columns of largest predicted value in `row`, best first; `excluded` (ascending) are left out.
/// InvalidArgument for a row outside the matrix; -1 is one never seen.
std::vector<Recommendation> recommend(const CompletionModel& model, int row, Index count,
                                      std::span<const int> excluded = {});

/// The same lists for many rows. `model` must outlive this.
class Recommender {
 public:
  explicit Recommender(const CompletionModel& model);

  /// Of rows first .. last - 1, leaving out the entries of `seen` (by row) where it is given.
  std::vector<std::vector<Recommendation>> of_rows(int first, int last, Index count,
                                                   const GroupedEntries* seen, int threads) const;

 private:
  struct Candidates;
  void fill_row(int row, Eigen::Ref<Eigen::RowVectorXf> factors) const;
  /// Scores of rows first, first + 1, ..., one for every element of `best`.
  void score(int first, std::span<Candidates> best, const GroupedEntries* seen) const;

  const CompletionModel& model_;
  std::shared_ptr<const Predictor> predictor_;
  std::vector<std::pair<const FactorMatrix*, const FactorMatrix*>> draws_;  // rows and columns of draws, or
                                                                            // of their mean
  FactorMatrix
      cols_;  // one row per column: products with what fill_row() gives are predictions, up to a constant
  double longest_column_ = 0;
};

}  // namespace pursuit
