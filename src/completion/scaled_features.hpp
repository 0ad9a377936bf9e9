#pragma once
// Side information as prior_regression.hpp wants it: columns of unit size, rows of about unit length, so that
// one starting variance fits all tables.

#include "completion/prior_regression.hpp"
#include "pursuit/completion/complete.hpp"

namespace pursuit {

class ScaledFeatures {
 public:
  /// InvalidInput where the table has more members than the matrix; `side` ("row", "column") is for messages.
  ScaledFeatures(const FeatureTable& table, Index members, const char* side);

  /// They must not outlive this. Members and features are shared by ranks, where there are several.
  Features features(Ranks* ranks = nullptr) const {
    return {std::make_shared<EntryTasks>(table_.by_col(), nullptr, ranks),
            std::make_shared<EntryTasks>(table_.by_row(), nullptr, ranks),
            {}};
  }
  const GroupedEntries& by_member() const { return table_.by_row(); }
  const GroupedEntries& by_feature() const { return table_.by_col(); }
  Index count() const { return Index(scale_.size()); }
  /// What a value of feature f was multiplied by.
  double scale(Index f) const { return scale_[std::size_t(f)]; }

  /// Weights of values as they came, one row per feature, as weights of scaled ones; of more features than
  /// there are here, none.
  FactorMatrix scaled(FactorMatrix weights) const;

 private:
  std::vector<double> scale_;
  ObservedMatrix table_;
};

}  // namespace pursuit
