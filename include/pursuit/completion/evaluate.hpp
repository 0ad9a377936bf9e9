#pragma once
// How well completion predicts, by protocol: random splits into training, validation and test entries, or
// folds. The validation part is for methods that choose rank and corrections by it (the paper's); the others
// do not see it.

#include <functional>
#include <string>
#include <vector>

#include "pursuit/data/observed_entries.hpp"
#include "pursuit/objective/loss.hpp"

namespace pursuit {

struct Protocol {
  std::vector<double> split = {0.5, 0.2, 0.3};  // train, validation, test; or train, test
  int repeat = 1;                               // splits
  int folds = 0;                                // 2 or more: every entry is tested once, `split` is ignored
  Loss loss = {};                               // what models are fitted and judged by
  std::uint64_t seed = 0;                       // of the first split; the next ones follow
  int threads = 1;
};

/// Errors of one method over all splits.
struct MethodScore {
  std::string method;
  std::vector<double> rmse = {}, mae = {}, seconds = {};
  std::vector<double> error = {};                  // under the loss (error_name); of squares the RMSE
  std::vector<double> null_error = {};             // that of the constant that training entries suggest
  std::vector<double> auc = {}, calibration = {};  // of zeros and ones

  double mean_rmse() const;
  double mean_error() const;
  double variance_of_error() const;
  /// 1 - error / null error over all splits; of squares, of their squares.
  double explained(const Loss& loss) const;
  double variance_of_rmse() const;
  double mean_seconds() const;
};

/// Methods by name: or1mp, or1mp-economic, gmpr, gmpr-sparse (the paper's columns), default, high, and
/// factors: offsets and factors without structure (of losses whose means are not negative, non-negative ones
/// and no offsets) with the ridge that predicts best. Under a loss that is not squares there are default
/// (bernoulli only) and factors. `watch` is called at every step of a run and after it, with the share of all
/// runs that is done; returning false stops, and the runs that were finished are returned.
std::vector<MethodScore> evaluate(
    const ObservedEntries& entries, const std::vector<std::string>& methods, const Protocol& protocol,
    const std::function<bool(double share, const std::string& what)>& watch = {});

}  // namespace pursuit
