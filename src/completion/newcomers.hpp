#pragma once
// What a finished model says of rows and columns without entries. That a member has none in training is no
// evidence about it, so nothing that was learnt from patterns is applied to the empty one: a newcomer is a
// draw from the members with entries, each as likely as it has entries, or where features are known, what a
// regression of those members on their features says. And rows have entries in columns that suit them better
// than an average one does (`selection`): a row's prediction for a newcomer is what its entries are like, not
// what an average column would be to it.

#include <functional>
#include <optional>
#include <vector>

#include "completion/product_sums.hpp"
#include "completion/scaled_features.hpp"
#include "pursuit/completion/model.hpp"

namespace pursuit {

/// Sets intercept, prior variance, selection and unseen of both sides, and the posteriors of members without
/// entries. The priors of members with entries move to base_intercept and base_variance.
/// `products` are those of all members (product_sums()), whoever has their entries.
using Products = std::function<std::vector<ProductSums>(const EntryTasks& entries, AlignedVector<float> own,
                                                        AlignedVector<float> others, int width)>;
void add_newcomers(CompletionModel& model, const EntryTasks& by_row, const EntryTasks& by_col,
                   const std::optional<ScaledFeatures>& row_features,
                   const std::optional<ScaledFeatures>& col_features, const Products& products, int threads);

/// Of members without entries that have features: the posteriors that those with entries would give them.
void place_by_features(CompletionSide& side, const GroupedEntries& entries, const ScaledFeatures& features,
                       int threads);

}  // namespace pursuit
