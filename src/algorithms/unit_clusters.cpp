#include "algorithms/unit_clusters.hpp"

#include <algorithm>
#include <limits>

#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr int kClusterStarts = 10, kMostRounds = 300;

struct Clustering {
  std::vector<Index> cluster_of;
  double inertia = std::numeric_limits<double>::infinity();  // sum of squared distances to the means
};

/// The vectors that clusters begin with: the next one as likely as it is far from those before it.
std::vector<Index> distant_vectors(const Matrix& gram, Index count, Random random) {
  std::vector<Index> chosen{random.below(gram.rows())};
  Vector nearest = Vector::Constant(gram.rows(), std::numeric_limits<double>::infinity());
  while (Index(chosen.size()) < count) {
    const Index last = chosen.back();
    for (Index i = 0; i < gram.rows(); ++i)
      nearest[i] = std::min(nearest[i], std::max(0.0, gram(i, i) + gram(last, last) - 2 * gram(i, last)));
    for (const Index taken : chosen) nearest[taken] = 0;
    Index next = -1;
    if (const double total = nearest.sum(); total > 0) {
      double ahead = random.uniform() * total;
      for (Index i = 0; i < gram.rows(); ++i) {
        if (nearest[i] <= 0) continue;
        next = i;
        ahead -= nearest[i];
        if (ahead < 0) break;
      }
    } else {  // all the same: any that was not taken
      for (next = 0; std::find(chosen.begin(), chosen.end(), next) != chosen.end();) ++next;
    }
    chosen.push_back(next);
  }
  return chosen;
}

/// Squared distances of all vectors (rows) to the means of the clusters.
Matrix distances_to_means(const Matrix& gram, const std::vector<Index>& cluster_of, Index clusters) {
  Matrix sums = Matrix::Zero(gram.rows(), clusters);  // inner products with the members
  Vector size = Vector::Zero(clusters), square = Vector::Zero(clusters);
  for (Index j = 0; j < gram.rows(); ++j) {
    sums.col(cluster_of[std::size_t(j)]) += gram.col(j);
    ++size[cluster_of[std::size_t(j)]];
  }
  for (Index j = 0; j < gram.rows(); ++j)
    square[cluster_of[std::size_t(j)]] += sums(j, cluster_of[std::size_t(j)]);
  Matrix result(gram.rows(), clusters);
  for (Index c = 0; c < clusters; ++c) {
    if (size[c] == 0)
      result.col(c).setConstant(std::numeric_limits<double>::infinity());
    else
      result.col(c) = gram.diagonal() - 2 / size[c] * sums.col(c);
    if (size[c] > 0) result.col(c).array() += square[c] / (size[c] * size[c]);
  }
  return result.cwiseMax(0);
}

/// A cluster that lost all its members gets the vector that is furthest from its mean and not alone there.
void fill_empty(const Matrix& distance, Index clusters, std::vector<Index>& cluster_of) {
  std::vector<Index> size(std::size_t(clusters), 0);
  for (const Index c : cluster_of) ++size[std::size_t(c)];
  for (Index empty = 0; empty < clusters; ++empty) {
    if (size[std::size_t(empty)] > 0) continue;
    Index furthest = -1;
    double most = -1;
    for (Index i = 0; i < distance.rows(); ++i) {
      const Index own = cluster_of[std::size_t(i)];
      if (size[std::size_t(own)] < 2 || distance(i, own) <= most) continue;
      most = distance(i, own);
      furthest = i;
    }
    --size[std::size_t(cluster_of[std::size_t(furthest)])];
    cluster_of[std::size_t(furthest)] = empty;
    size[std::size_t(empty)] = 1;
  }
}

Clustering clustered_from(const Matrix& gram, const std::vector<Index>& first) {
  const auto clusters = Index(first.size());
  Matrix distance(gram.rows(), clusters);
  for (Index c = 0; c < clusters; ++c) {
    const Index at = first[std::size_t(c)];
    distance.col(c) = (gram.diagonal() - 2 * gram.col(at)).array() + gram(at, at);
  }
  Clustering result;
  result.cluster_of.assign(std::size_t(gram.rows()), -1);
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<Index> nearest(std::size_t(gram.rows()));
    for (Index i = 0; i < gram.rows(); ++i) distance.row(i).minCoeff(&nearest[std::size_t(i)]);
    fill_empty(distance, clusters, nearest);
    if (nearest == result.cluster_of) break;
    result.cluster_of = std::move(nearest);
    distance = distances_to_means(gram, result.cluster_of, clusters);
  }
  result.inertia = 0;
  for (Index i = 0; i < gram.rows(); ++i) result.inertia += distance(i, result.cluster_of[std::size_t(i)]);
  return result;
}

}  // namespace

Matrix unit_distances(const Matrix& gram) {
  Matrix distances = (2 - 2 * gram.array()).max(0).sqrt();
  distances.diagonal().setZero();
  return distances;
}

Vector distance_to_neighbours(const Matrix& distances, Index neighbours) {
  const Index count = std::min(neighbours, distances.rows() - 1);
  Vector result = Vector::Zero(distances.rows());
  if (count < 1) return result;
  for (Index i = 0; i < distances.rows(); ++i) {
    Vector to = distances.col(i);
    std::nth_element(to.begin(), to.begin() + count, to.end());
    std::sort(to.begin(), to.begin() + count + 1);         // one order of summation
    result[i] = to.head(count + 1).sum() / double(count);  // its own is zero
  }
  return result;
}

std::vector<Index> unit_clusters(const Matrix& gram, Index clusters, std::uint64_t seed) {
  Clustering best;
  for (int start = 0; start < kClusterStarts; ++start) {
    Clustering next = clustered_from(gram, distant_vectors(gram, clusters, Random(seed).stream(start)));
    if (next.inertia < best.inertia) best = std::move(next);
  }
  return best.cluster_of;
}

double silhouette(const Matrix& distances, const std::vector<Index>& cluster_of, Index clusters) {
  if (clusters < 2) return 1;
  Vector size = Vector::Zero(clusters);
  for (const Index c : cluster_of) ++size[c];
  double sum = 0;
  for (Index i = 0; i < distances.rows(); ++i) {
    const Index own = cluster_of[std::size_t(i)];
    if (size[own] < 2) continue;  // alone: it counts as zero
    Vector to = Vector::Zero(clusters);
    for (Index j = 0; j < distances.rows(); ++j) to[cluster_of[std::size_t(j)]] += distances(j, i);
    const double inside = to[own] / (size[own] - 1);
    double next = std::numeric_limits<double>::infinity();
    for (Index c = 0; c < clusters; ++c)
      if (c != own) next = std::min(next, to[c] / size[c]);
    if (const double larger = std::max(inside, next); larger > 0) sum += (next - inside) / larger;
  }
  return sum / double(distances.rows());
}

}  // namespace pursuit
