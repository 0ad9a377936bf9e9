#pragma once
// How well methods of completion predict values and make lists, by protocol: entries are split into training,
// validation and test entries, at random, by time or member by member, and every method learns from the
// first. The validation part is for methods that choose rank and corrections by it (the paper's); the others
// do not see it.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pursuit/completion/model.hpp"
#include "pursuit/completion/ranking.hpp"
#include "pursuit/data/observed_entries.hpp"
#include "pursuit/objective/loss.hpp"

namespace pursuit {

class RankTeam;

struct Protocol {
  enum Kind {
    random,         // parts of all entries, or folds
    time,           // the earliest entries, the next, the last
    time_per_row,   // the same of the entries of every row
    leave_one_out,  // one relevant entry of every row that has two or more entries is tested, at random
    cold_rows,      // all entries of some rows are tested: rows that the model has never seen
    cold_columns,
  };
  std::vector<double> split = {0.5, 0.2, 0.3};  // train, validation, test; or train, test
  int repeat = 1;                               // splits
  int folds = 0;                                // 2 or more: every entry is tested once, `split` is ignored
  Loss loss = {};                               // what models are fitted and judged by
  std::uint64_t seed = 0;                       // of the first split; the next ones follow
  int threads = 1;
  RankTeam* team = nullptr;  // ranks that share what is self-tuned
  Kind kind = random;
  std::span<const double> times = {};  // of the entries; for splits by time, which know only one split, and
                                       // for drift
  Index places = 10;                   // length of lists
  std::optional<double> relevant =
      {};  // values from here on say yes; by default relevant_from() of all entries
};

struct Parts {
  ObservedEntries train, validation, test;
  std::vector<double> train_times = {}, test_times = {};  // where the protocol has times
};

/// One split. InvalidArgument for a protocol that makes no sense of these entries.
Parts parts_by(const Protocol& protocol, const ObservedEntries& entries, std::uint64_t seed, int fold = 0);

/// One method over all splits. A method that has lists only says nothing of values: they are NaN.
struct MethodScore {
  std::string method;
  std::vector<double> rmse = {}, mae = {}, seconds = {};
  std::vector<double> error = {};                  // under the loss (error_name); of squares the RMSE
  std::vector<double> null_error = {};             // that of the constant that training entries suggest
  std::vector<double> auc = {}, calibration = {};  // of zeros and ones
  std::vector<Accuracy> values = {};               // of every split
  std::vector<RankingScore> lists = {};            // of squares

  double mean_rmse() const;
  double mean_error() const;
  double variance_of_error() const;
  /// 1 - error / null error over all splits; of squares, of their squares.
  double explained(const Loss& loss) const;
  double variance_of_rmse() const;
  double mean_seconds() const;
  bool has_values() const;
};

/// Mean over splits, and its standard error; NaN for the error of one split.
struct Estimate {
  double mean, error;
};
Estimate estimate_of(std::span<const double> figures);

/// Methods by name: popularity and offsets (what any other should beat), implicit (lists only: from entries
/// that are relevant), or1mp, or1mp-economic, gmpr, gmpr-sparse (the paper's columns), default, high, drift
/// (default with offsets that drift where that pays; it needs times), and factors: offsets and factors
/// without structure (of losses whose means are not negative, non-negative ones and no offsets) with the
/// ridge that predicts best. Under a loss that is not squares there are default (bernoulli only) and factors.
/// Lists leave out what a row has in training and validation. `watch` is called at every step of a run and
/// after it, with the share of all runs that is done; returning false stops, and the runs that were finished
/// are returned.
std::vector<MethodScore> evaluate(
    const ObservedEntries& entries, const std::vector<std::string>& methods, const Protocol& protocol,
    const std::function<bool(double share, const std::string& what)>& watch = {});

}  // namespace pursuit
