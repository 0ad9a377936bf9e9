#pragma once
// What the tests of this room and of its files share.

#include <algorithm>
#include <span>
#include <test_support.hpp>
#include <vector>

#include "pursuit/completion/complete.hpp"
#include "pursuit/data/observed_matrix.hpp"

namespace pursuit {

inline void append(ObservedEntries& entries, int row, int col, float value) {
  entries.row.push_back(row);
  entries.col.push_back(col);
  entries.value.push_back(value);
}

/// A random share of the entries of a matrix.
inline ObservedEntries observed(const Matrix& dense, double share, std::uint64_t seed) {
  Random random(seed);
  ObservedEntries entries{dense.rows(), dense.cols(), {}, {}, {}};
  for (int i = 0; i < dense.rows(); ++i)
    for (int j = 0; j < dense.cols(); ++j)
      if (random.uniform() < share) append(entries, i, j, float(dense(i, j)));
  return entries;
}

inline Accuracy accuracy_on(const CompletionModel& model, const ObservedEntries& test) {
  return accuracy(predict(model, positions_of(test)), test.value);
}

inline std::vector<double> values_of(std::span<const Prediction> predictions) {
  std::vector<double> result;
  for (const Prediction& prediction : predictions) result.push_back(prediction.value);
  return result;
}

inline bool same_predictions(std::span<const Prediction> left, std::span<const Prediction> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Prediction& a, const Prediction& b) {
                      return a.value == b.value && a.deviation == b.deviation;
                    });
}

inline double rms_difference(std::span<const Prediction> left, std::span<const Prediction> right) {
  double sum = 0;
  for (std::size_t k = 0; k < left.size(); ++k) sum += std::pow(left[k].value - right[k].value, 2);
  return std::sqrt(sum / double(left.size()));
}

/// A low-rank matrix with offsets and noise, some of its entries seen and others kept to test with.
struct Planted {
  Matrix row_factors, col_factors;
  Matrix truth;  // without noise
  ObservedEntries train, test;
};

inline Planted planted(Index rows, Index cols, Index rank, double noise, double share, std::uint64_t seed) {
  Planted result{gaussian(rows, rank, seed), gaussian(cols, rank, seed + 1), {}, {}, {}};
  result.truth = result.row_factors * result.col_factors.transpose();
  const Vector a = gaussian(rows, 1, seed + 2), b = gaussian(cols, 1, seed + 3);
  result.truth.colwise() += a;
  result.truth.rowwise() += b.transpose();
  result.truth.array() += 2;
  const Matrix noisy = result.truth + noise * gaussian(rows, cols, seed + 4);
  Random random(seed + 5);
  result.train = result.test = {rows, cols, {}, {}, {}};
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      const bool seen = random.uniform() < share;
      append(seen ? result.train : result.test, i, j, float(noisy(i, j)));
    }
  return result;
}

/// Rows have entries mostly in columns that they like: these say as much of a row as its noisy values do.
struct Likes {
  ObservedEntries train, truth;

  Likes(Index rows, Index cols, Index rank, std::uint64_t seed, double share = 0.2)
      : train{rows, cols, {}, {}, {}}, truth(train) {
    const Matrix values =
        gaussian(rows, rank, seed) * gaussian(cols, rank, seed + 1).transpose() / std::sqrt(double(rank));
    const Matrix noise = gaussian(rows, cols, seed + 2);
    Random random(seed + 3);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) {
        append(truth, i, j, float(values(i, j)));
        if (random.uniform() < share / (1 + std::exp(-2 * values(i, j))))
          append(train, i, j, float(values(i, j) + noise(i, j)));
      }
  }
};

/// The test of the tests: 30 % of 200 x 150 entries, rank 3.
inline const Planted& planted_rank_three() {
  static const Planted result = planted(200, 150, 3, 0.3, 0.3, 11);
  return result;
}

}  // namespace pursuit
