#pragma once
// Ratings as NumPy arrays.

#include "io/byte_source.hpp"
#include "io/ratings_collector.hpp"

namespace pursuit::io {

/// A dense .npy: NaN is unknown.
void read_dense_ratings(const Bytes& npy, RatingsCollector& ratings);

/// A SciPy sparse matrix: what is stored is observed, zeros included.
void read_sparse_ratings(const Bytes& npz, RatingsCollector& ratings);

}  // namespace pursuit::io
