#pragma once
// Which entries of a row have moved a prediction. The posterior mean of a row is linear in its entries
// (new_rows.hpp), and so is what is predicted from it:
//
//   prediction = expected without entries + sum over entries j of effect_j
//   effect_j = z_t . A^-1 (w_j / sigma^2 (z_j (y_j - c_j - z_j . p) - var z_j * p) + pattern_j / tau)
//
// in the words of row_posteriors.hpp, p being what is known of a row without entries. An effect is of the
// value of an entry and of its being there. Nothing is approximated; with a link (bernoulli) effects are on
// the log-odds, and A is that of the last squares. Of a row of the model this explains its prediction as that
// of a new row with its entries, without what averages over draws add.

#include <span>
#include <utility>
#include <vector>

#include "pursuit/completion/model.hpp"

namespace pursuit {

struct Reason {
  int col;        // of the entry
  float value;    // it has
  double effect;  // on the prediction, in its units
};

struct Explanation {
  double expected = 0;          // without the entries
  std::vector<Reason> reasons;  // largest effect first, whatever its sign
};

/// What is known of a row.
struct RowFacts {
  std::span<const int> cols;
  std::span<const float> values;
  double noise_weight = 1;
  std::vector<std::pair<int, float>> features = {};  // of the model's row features, and their values
};

/// InvalidInput for a model whose predictions are not linear in the entries of a row as squares and bernoulli
/// have it: of implicit feedback, or of another loss.
void require_reasons(const CompletionModel& model);

/// Of the predictions of `row` in the columns `targets`: at most `count` reasons for each. InvalidInput where
/// an entry lies in no column of the model, InvalidArgument for other columns that there are not.
std::vector<Explanation> explain(const CompletionModel& model, const RowFacts& row,
                                 std::span<const int> targets, Index count);

}  // namespace pursuit
