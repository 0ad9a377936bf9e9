#pragma once
// Ratings as NumPy arrays.

#include <string_view>

#include "io/ratings_collector.hpp"

namespace pursuit::io {

/// A dense .npy: NaN is unknown.
void read_dense_ratings(std::string_view npy, RatingsCollector& ratings);

/// A SciPy sparse matrix: what is stored is observed, zeros included.
void read_sparse_ratings(std::string_view npz, RatingsCollector& ratings);

}  // namespace pursuit::io
