#pragma once
// Vectors of unit length in clusters. All is said by their inner products: means are never formed.

#include <cstdint>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// Distances of unit vectors from their inner products.
Matrix unit_distances(const Matrix& gram);

/// Mean distance of every vector to those nearest to it.
Vector distance_to_neighbours(const Matrix& distances, Index neighbours);

/// k-means (Lloyd) from ten starts far apart (k-means++), the best of them: the cluster of every vector, none
/// of them empty. There are at least as many vectors as clusters.
std::vector<Index> unit_clusters(const Matrix& gram, Index clusters, std::uint64_t seed);

/// Mean over vectors of how much nearer the own cluster is than the next one, from -1 to 1; 1 where there is
/// but one.
double silhouette(const Matrix& distances, const std::vector<Index>& cluster_of, Index clusters);

}  // namespace pursuit
