#pragma once
// How settings of implicit feedback are judged: by how high entries that were held back come out.

#include "completion/implicit_factors.hpp"

namespace pursuit {

/// Entries of some rows, to judge by.
struct HeldBack {
  std::vector<int> row;
  std::vector<std::vector<int>> cols;  // of each of these rows
};

/// Takes some entries out of some rows: which ones depends on the seed and on their positions alone.
HeldBack hold_back_of_rows(GroupedEntries& by_row, double share, std::uint64_t seed);

/// Mean over rows of the mean over their entries held back of 1 / log2(1 + place), place 1 being the best
/// among all columns that the row has no entry in; of equal scores each has the mean of their places.
double gain_of(const ImplicitVectors& of_rows, const ImplicitVectors& of_cols, const GroupedEntries& seen,
               const HeldBack& held, int threads);

}  // namespace pursuit
