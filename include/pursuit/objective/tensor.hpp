#pragma once
// Arrays of three and more modes as targets: x = sum_k weights_k u_k (x) v_k (x) w_k ... What a matrix has as
// A V and A^T U is here the contraction with all modes but one (MTTKRP).

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pursuit/base/random.hpp"
#include "pursuit/objective/form.hpp"

namespace pursuit {

/// The most modes that an array may have.
constexpr Index kMostModes = 8;

/// An array to be approximated.
class TensorTarget : public Target {
 public:
  /// The array projected onto so many leading directions along every mode, with the sizes and the norm of the
  /// whole and contractions that cost little; null where that would not be much smaller.
  virtual TargetPtr compressed(Index directions, Random& random) const = 0;

  /// Largest |y|, or a bound on it that is not far off.
  virtual double largest_magnitude() const = 0;

  /// The array times a power of two, in memory of its own.
  virtual std::shared_ptr<const TensorTarget> scaled(double power_of_two) const = 0;
};
using TensorPtr = std::shared_ptr<const TensorTarget>;

/// Where the modes of a dense array are parted, so that the first ones together are about as long as the
/// others.
Index balanced_split(const std::vector<Index>& shape);

/// A dense array whose last index runs fastest, as the matrix of its first `balanced_split` modes by the
/// others. Partial contractions are kept while the factors they were made with last: a sweep over all modes
/// costs two products with the data.
TensorPtr dense_tensor(DataMatrixPtr unfolded, const std::vector<Index>& shape);

/// An array that is zero but for the entries listed.
struct SparseTensor {
  std::vector<Index> shape;
  std::vector<std::vector<int>> index;  // of every mode, one for each entry
  std::vector<double> value;
};

/// InvalidInput where an index lies outside, a value is not finite, or a place is listed twice.
TensorPtr sparse_tensor(const SparseTensor& entries, int threads = 1);

/// Two entries of the same place, in their order, where there are such.
std::optional<std::pair<std::size_t, std::size_t>> find_same_place(const SparseTensor& entries);

}  // namespace pursuit
