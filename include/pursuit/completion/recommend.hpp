#pragma once
// The columns of largest predicted value, row by row. Rows in plenty are scored by products of blocks of rows
// and columns in single precision; what may be among the best is then predicted as ever. Cost per row:
// columns times rank, at the speed of dense products; memory: one number per column and factor, and a block
// of scores per thread. For lists of rows by column, see transposed().

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "pursuit/completion/model.hpp"

namespace pursuit {

class BestProducts;
class Predictor;

struct Recommendation {
  int col;
  Prediction prediction;
};

/// What lists are to hold.
struct ListOptions {
  Index count = 10;
  const GroupedEntries* left_out = nullptr;   // by row: not in the list of that row
  const std::vector<int>* columns = nullptr;  // ascending: no others are in any list
  double optimism = 0;  // lists are by value + optimism * deviation: what is not known well gets a chance
};

/// The `count` columns of largest predicted value in `row`, best first; `excluded` (ascending) are left out.
/// InvalidArgument for a row outside the matrix; -1 is one never seen.
std::vector<Recommendation> recommend(const CompletionModel& model, int row, Index count,
                                      std::span<const int> excluded = {});

/// The same lists for many rows. `model` must outlive this.
class Recommender {
 public:
  explicit Recommender(const CompletionModel& model);

  /// Of these rows, in their order. InvalidArgument for rows outside the matrix and options that make no
  /// sense.
  std::vector<std::vector<Recommendation>> lists(std::span<const int> rows, const ListOptions& options,
                                                 int threads = 1) const;

  /// Of rows first .. last - 1, leaving out the entries of `seen` (by row) where it is given.
  std::vector<std::vector<Recommendation>> of_rows(int first, int last, Index count,
                                                   const GroupedEntries* seen, int threads) const;

  /// Vectors of rows and of columns whose inner products are the predictions before they are kept within the
  /// range (with a link: the log-odds), in single precision: for searches elsewhere.
  struct Vectors {
    FactorMatrix rows, cols;
  };
  Vectors vectors() const;

 private:
  void fill_row(int row, Eigen::Ref<Eigen::RowVectorXf> factors) const;
  /// Whether products say it: not of rows without entries where columns have draws.
  bool has_product(int row) const;
  std::vector<Recommendation> best_of_all(int row, const ListOptions& options) const;

  const CompletionModel& model_;
  std::shared_ptr<const Predictor> predictor_;
  std::vector<std::pair<const FactorMatrix*, const FactorMatrix*>> draws_;  // rows and columns of draws, or
                                                                            // of their mean
  std::shared_ptr<const BestProducts> products_;  // of columns; with what fill_row() gives they are
                                                  // predictions, up to a constant
};

}  // namespace pursuit
