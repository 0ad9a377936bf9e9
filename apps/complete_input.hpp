#pragma once
// `pursuit complete`: what it is given.

#include <optional>
#include <vector>

#include "apps/complete_command.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/features_file.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit::app {

struct CompletionInput {
  Ratings train;
  ObservedEntries test;
  Index unknown = 0;                   // test entries with an id never seen in training
  std::optional<RankedEntries> apart;  // the training entries, where they stay with the ranks
  std::optional<CompletionFile> earlier;
  std::optional<FeatureFile> row_features, col_features;
  std::vector<double> times, test_times;  // none where nothing may drift
  std::vector<float> weights;             // of the training entries; none where all count once

  Index entries() const { return apart ? apart->size() : train.entries.size(); }
};

CompletionInput read_completion_input(const CompleteCommand& c);

}  // namespace pursuit::app
