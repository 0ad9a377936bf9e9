#include "algorithms/unit_clusters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

/// Unit vectors around `clusters` of them, cluster by cluster.
Matrix scattered(Index size, Index clusters, Index each, double noise, std::uint64_t seed) {
  Random random(seed);
  const Matrix centres = random.gaussian_matrix(size, clusters).cwiseAbs();
  Matrix vectors(size, clusters * each);
  for (Index c = 0; c < clusters; ++c)
    for (Index k = 0; k < each; ++k)
      vectors.col(c * each + k) =
          (centres.col(c) + noise * random.gaussian_matrix(size, 1)).cwiseMax(0).stableNormalized();
  return vectors;
}

TEST(UnitClusters, FindsThosePlanted) {
  for (const Index clusters : {1, 2, 7}) {
    const Matrix vectors = scattered(40, clusters, 9, 0.05, std::uint64_t(clusters));
    const auto found = unit_clusters(vectors.transpose() * vectors, clusters, 1);
    std::set<Index> seen;
    for (Index c = 0; c < clusters; ++c) {
      seen.insert(found[std::size_t(c * 9)]);
      for (Index k = 1; k < 9; ++k)
        EXPECT_EQ(found[std::size_t(c * 9 + k)], found[std::size_t(c * 9)]) << clusters << " " << c;
    }
    EXPECT_EQ(Index(seen.size()), clusters);
  }
}

TEST(UnitClusters, NoneIsEmptyEvenOfEqualVectors) {
  const Matrix same = Matrix::Ones(5, 5);  // inner products of five equal vectors
  for (Index clusters = 1; clusters <= 5; ++clusters) {
    const auto found = unit_clusters(same, clusters, 3);
    EXPECT_EQ(Index(std::set<Index>(found.begin(), found.end()).size()), clusters);
  }
}

/// The definition, vector by vector.
double plain_silhouette(const Matrix& vectors, const std::vector<Index>& cluster_of, Index clusters) {
  double sum = 0;
  for (Index i = 0; i < vectors.cols(); ++i) {
    std::vector<double> to(std::size_t(clusters), 0.0), count(std::size_t(clusters), 0.0);
    for (Index j = 0; j < vectors.cols(); ++j) {
      if (j == i) continue;
      to[std::size_t(cluster_of[std::size_t(j)])] += (vectors.col(i) - vectors.col(j)).norm();
      ++count[std::size_t(cluster_of[std::size_t(j)])];
    }
    const auto own = std::size_t(cluster_of[std::size_t(i)]);
    if (count[own] == 0) continue;
    double next = 1e300;
    for (std::size_t c = 0; c < to.size(); ++c)
      if (c != own) next = std::min(next, to[c] / count[c]);
    const double inside = to[own] / count[own];
    sum += (next - inside) / std::max(next, inside);
  }
  return sum / double(vectors.cols());
}

TEST(UnitClusters, SilhouetteAndNeighboursAreThoseOfTheirDefinitions) {
  const Matrix vectors = scattered(15, 3, 5, 0.4, 8);
  const Matrix gram = vectors.transpose() * vectors, distances = unit_distances(gram);
  for (Index i = 0; i < vectors.cols(); ++i)
    for (Index j = 0; j < vectors.cols(); ++j)
      EXPECT_NEAR(distances(i, j), (vectors.col(i) - vectors.col(j)).norm(), 1e-7);
  const auto found = unit_clusters(gram, 3, 0);
  EXPECT_NEAR(silhouette(distances, found, 3), plain_silhouette(vectors, found, 3), 1e-6);
  EXPECT_EQ(silhouette(distances, std::vector<Index>(15, 0), 1), 1);
  const Vector near = distance_to_neighbours(distances, 4);
  for (Index i = 0; i < vectors.cols(); ++i) {
    Vector to = distances.col(i);
    std::sort(to.begin(), to.end());
    EXPECT_NEAR(near[i], to.segment(1, 4).mean(), 1e-7);
  }
  EXPECT_EQ(distance_to_neighbours(Matrix::Zero(1, 1), 4)[0], 0);
}

}  // namespace
}  // namespace pursuit
