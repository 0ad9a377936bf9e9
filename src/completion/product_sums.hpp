#pragma once
// What the entries of every member say when rows of two tables are multiplied, one for the member and one for
// whoever is behind each entry.

#include <vector>

#include "base/shared_numbers.hpp"
#include "completion/entry_tasks.hpp"

namespace pursuit {

/// Over the entries of a member: the sum of the products, and of their squares.
struct ProductSums {
  double sum = 0, squares = 0;
};

/// For all members, on rank 0, which has the tables; all ranks call it, each for its own members. Null ranks:
/// all are here. Rows have `width` numbers, a multiple of eight.
std::vector<ProductSums> product_sums(const EntryTasks& entries, Ranks* ranks, SharedNumbers<float> own,
                                      SharedNumbers<float> others, int width, int threads);

}  // namespace pursuit
