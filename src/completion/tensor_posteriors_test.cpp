#include "completion/tensor_posteriors.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>

#include "tensor_test_support.hpp"

namespace pursuit {
namespace {

/// Three quarters of the entries of a sum of atoms and noise, with weights.
ObservedTensor noisy_entries(const std::vector<Index>& shape, Index rank, double noise, std::uint64_t seed) {
  const PlainTensor t = pursuit::dense(Expansion{random_factors(shape, rank, seed), Vector::Ones(rank)});
  Random random(seed);
  ObservedTensor data{{shape, std::vector<std::vector<int>>(shape.size()), {}}, {}, false};
  for (Index e = 0; e < t.count(); ++e) {
    const double error = noise * random.gaussian();
    if (random.uniform() < 0.25) continue;
    const auto at = t.position(e);
    for (std::size_t m = 0; m < at.size(); ++m) data.entries.index[m].push_back(int(at[m]));
    data.entries.value.push_back(t.values[std::size_t(e)] + error);
    data.weights.push_back(0.5 + random.uniform());
  }
  return data;
}

TensorPosteriors swept(const TensorEntries& data, Index rank, int sweeps, int threads) {
  TensorPosteriors model(data);
  for (Index k = 0; k < rank; ++k) model.add_atom(Random(3).stream(std::uint64_t(k)));
  for (int sweep = 0; sweep < sweeps; ++sweep) model.sweep(data, threads);
  return model;
}

/// The same from the definitions, entry by entry.
class PlainPosteriors {
 public:
  PlainPosteriors(const ObservedTensor& data, Index rank) : data_(data), rank_(rank) {
    double squares = 0;
    for (std::size_t e = 0; e < data.weights.size(); ++e) {
      squares += data.weights[e] * data.entries.value[e] * data.entries.value[e];
      weight_ += data.weights[e];
    }
    noise_ = squares / weight_;
    for (const Index size : data.entries.shape) {
      mean_.emplace_back(Matrix::Zero(size, rank));
      variance_.emplace_back(Matrix::Zero(size, rank));
      prior_.emplace_back(Vector::Constant(rank, std::cbrt(noise_)));
    }
    for (Index k = 0; k < rank; ++k) {
      Random random = Random(3).stream(std::uint64_t(k));
      for (Matrix& mean : mean_)
        mean.col(k) = std::cbrt(0.1 * std::sqrt(noise_)) * random.gaussian_matrix(mean.rows(), 1);
    }
  }

  void sweep() {
    for (std::size_t mode = 0; mode < 3; ++mode) {
      const std::size_t a = (mode + 1) % 3, b = (mode + 2) % 3;
      Matrix squares = Matrix::Zero(mean_[mode].rows(), rank_);
      for (Index i = 0; i < mean_[mode].rows(); ++i) {
        Matrix A = Matrix(prior_[mode].cwiseInverse().asDiagonal());
        Vector g = Vector::Zero(rank_);
        for (std::size_t e = 0; e < data_.weights.size(); ++e) {
          if (data_.entries.index[mode][e] != i) continue;
          const Index j = data_.entries.index[a][e], k = data_.entries.index[b][e];
          const Vector z = mean_[a].row(j).cwiseProduct(mean_[b].row(k)).transpose();
          const Vector spread = ((mean_[a].row(j).cwiseAbs2() + variance_[a].row(j))
                                     .cwiseProduct(mean_[b].row(k).cwiseAbs2() + variance_[b].row(k)) -
                                 z.cwiseAbs2().transpose())
                                    .transpose();
          A += data_.weights[e] / noise_ * (z * z.transpose() + Matrix(spread.asDiagonal()));
          g += data_.weights[e] / noise_ * data_.entries.value[e] * z;
        }
        mean_[mode].row(i) = (A.inverse() * g).transpose();
        variance_[mode].row(i) = A.inverse().diagonal().transpose();
      }
      prior_[mode] = (mean_[mode].cwiseAbs2() + variance_[mode]).colwise().mean();
    }
    double sum = 0;
    for (std::size_t e = 0; e < data_.weights.size(); ++e) {
      Vector x = Vector::Ones(rank_), second = x;
      for (std::size_t m = 0; m < 3; ++m) {
        const Index at = data_.entries.index[m][e];
        x.array() *= mean_[m].row(at).transpose().array();
        second.array() *= (mean_[m].row(at).cwiseAbs2() + variance_[m].row(at)).transpose().array();
      }
      sum +=
          data_.weights[e] * (std::pow(data_.entries.value[e] - x.sum(), 2) + (second - x.cwiseAbs2()).sum());
    }
    noise_ = sum / weight_;
  }

  double noise() const { return std::sqrt(noise_); }
  PlainTensor values() const {
    return pursuit::dense(Expansion{Factors({mean_[0], mean_[1], mean_[2]}, {0, 1, 2}), Vector::Ones(rank_)});
  }

 private:
  const ObservedTensor& data_;
  Index rank_;
  double weight_ = 0, noise_ = 0;
  std::vector<Matrix> mean_, variance_;
  std::vector<Vector> prior_;
};

TEST(TensorPosteriors, AreThoseOfTheDefinition) {
  const ObservedTensor data = noisy_entries({6, 5, 7}, 2, 0.1, 1);
  for (const int sweeps : {1, 4}) {
    PlainPosteriors plain(data, 3);
    for (int sweep = 0; sweep < sweeps; ++sweep) plain.sweep();
    const TensorPosteriors model = swept(TensorEntries(data), 3, sweeps, 1);
    const PlainTensor expected = plain.values();
    EXPECT_LT(distance(pursuit::dense(model.atoms()), expected), 1e-8 * expected.norm());
    EXPECT_NEAR(model.noise(), plain.noise(), 1e-8 * plain.noise());
  }
}

TEST(TensorPosteriors, FindWhatWasPlantedAndShrinkTheRest) {
  const std::vector<Index> shape{15, 12, 14};
  const TensorEntries data(noisy_entries(shape, 2, 0.05, 2));
  const TensorPosteriors model = swept(data, 5, 200, 1);
  const PlainTensor planted = pursuit::dense(Expansion{random_factors(shape, 2, 2), Vector::Ones(2)});
  EXPECT_LT(distance(pursuit::dense(model.atoms()), planted), 0.03 * planted.norm());
  EXPECT_NEAR(model.noise(), 0.05, 0.005);
  Vector weights = model.atoms().weights;
  std::sort(weights.data(), weights.data() + weights.size(), std::greater<>());
  if (weights.size() > 2) {
    EXPECT_LT(weights[2], 0.05 * weights[1]);
  }
}

TEST(TensorPosteriors, SameBitsForAnyNumberOfThreadsAndAnyPowerOfTwo) {
  const ObservedTensor data = noisy_entries({40, 30, 20}, 2, 0.1, 3);
  ObservedTensor tiny = data;
  for (double& value : tiny.entries.value) value = std::ldexp(value, -600);
  const Expansion one = swept(TensorEntries(data), 4, 3, 1).atoms();
  const Expansion small = swept(TensorEntries(tiny), 4, 3, 1).atoms();
  for (const int threads : {2, 3, 16}) {
    const Expansion many = swept(TensorEntries(data), 4, 3, threads).atoms();
    EXPECT_TRUE(same_bits(one.weights, many.weights));
    for (Index m = 0; m < 3; ++m) EXPECT_TRUE(same_bits(one.factors[m], many.factors[m]));
  }
  for (Index m = 0; m < 3; ++m) EXPECT_TRUE(same_bits(one.factors[m], small.factors[m]));
  for (Index k = 0; k < one.rank(); ++k) EXPECT_EQ(small.weights[k], std::ldexp(one.weights[k], -600));
}

TEST(TensorPosteriors, OfNothingThereIsNothing) {
  ObservedTensor data = noisy_entries({5, 4, 3}, 1, 0.1, 4);
  for (std::size_t e = 0; e < data.weights.size(); ++e)
    if (data.entries.index[0][e] == 2) data.weights[e] = 0;
  EXPECT_TRUE(swept(TensorEntries(data), 2, 3, 1).atoms().factors[0].row(2).isZero(0))
      << "a place without entries";
  std::fill(data.entries.value.begin(), data.entries.value.end(), 0.0);
  EXPECT_EQ(swept(TensorEntries(data), 2, 3, 1).atoms().rank(), 0);
}

}  // namespace
}  // namespace pursuit
