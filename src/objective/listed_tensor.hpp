#pragma once
// Entries of an array as they are grouped along each of its modes.

#include "objective/factor_rows.hpp"
#include "pursuit/data/stored_entries.hpp"
#include "pursuit/objective/observed_tensor.hpp"

namespace pursuit {

/// InvalidInput where an index lies outside or a value is not finite.
void require_entries(const SparseTensor& entries);

/// Entries in the order of their indices, the first mode deciding first.
std::vector<Index> sorted_order(const SparseTensor& t, Index first_mode);

/// Entries along one mode: as the rows of a matrix along the first of the other modes, and their places along
/// the rest of them.
struct ListedGroups {
  StoredEntries y;
  std::vector<double> weight;             // or empty
  std::vector<std::vector<int>> further;  // of every entry, mode by mode

  FurtherPlaces places(std::int64_t start) const {
    FurtherPlaces result = {};
    for (std::size_t m = 0; m < further.size(); ++m) result[m] = further[m].data() + start;
    return result;
  }
};

/// Those that count: entries of weight 0 are left out.
ListedGroups groups_along(const ObservedTensor& data, Index mode);

/// InvalidInput for entries that are none, for a place that is listed twice, and for weights that are none or
/// all zero.
void require_observed(const ObservedTensor& data);

/// InvalidInput, naming the first entry that counts and is outside the domain of a loss.
void require_domain(const ObservedTensor& data, const Loss& loss);

/// x = 0; modes of the same panel share their factors.
Expansion no_atoms(const std::vector<Index>& shape, const std::vector<Index>& panel_of_mode);
Expansion no_atoms(const std::vector<Index>& shape);

/// Where modes share their factors x is the same in every order of an entry's indices along them, and so is
/// what entries say of it: each in all these orders, with its share of the weight. Entries of one place and
/// value are one, so that an array that is symmetric already stays as it is. Of an array that is not, zeros
/// that are not listed are listed, for `loss`.
ObservedTensor in_all_orders(const ObservedTensor& data, const std::vector<Index>& panel_of_mode,
                             const Loss& loss);

/// For where all that is not listed is zero.
ObservedTensor without_zeros(const ObservedTensor& data);

/// All places listed, those that are not there as zeros. InvalidInput, saying what would do without, where
/// they are too many.
ObservedTensor with_zeros(const ObservedTensor& data, const Loss& loss);

}  // namespace pursuit
