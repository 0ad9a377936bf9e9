#pragma once
// Arrays of which some entries are known, with weights, under any loss.

#include <memory>
#include <optional>
#include <vector>

#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/objective.hpp"
#include "pursuit/objective/tensor.hpp"

namespace pursuit {

struct ObservedTensor {
  SparseTensor entries;
  std::vector<double> weights = {};  // how often each counts, 0 being not at all; once where empty
  bool others_are_zero = false;      // what is not listed; otherwise it is unknown

  Index size() const { return Index(entries.value.size()); }
  Index modes() const { return Index(entries.shape.size()); }
};

/// f over the entries that are known, at x = 0. Of the options the loss and offsets (a number for every place
/// along every mode) are looked at; InvalidArgument for others. InvalidInput, naming the first entry and the
/// losses that would take it, for data outside the domain of the loss. `panel_of_mode`: modes that have the
/// same number share their factors (by default none do); the array need not be symmetric along them.
std::unique_ptr<Objective> make_objective(const ObservedTensor& data, const LossOptions& options,
                                          int threads = 1, const std::vector<Index>& panel_of_mode = {});

/// What a sparse array lists; nothing of other targets.
std::optional<SparseTensor> entries_of(const Target& target);

/// Places along a mode of which no entry is known, in their order.
std::vector<Index> places_without_entries(const ObservedTensor& data, Index mode);

}  // namespace pursuit
