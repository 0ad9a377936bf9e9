#pragma once
// What the tests of the engine share.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/base/types.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

inline Matrix gaussian(Index rows, Index cols, std::uint64_t seed) {
  return Random(seed).gaussian_matrix(rows, cols);
}

inline Matrix uniform(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  return Matrix::NullaryExpr(rows, cols, [&](Index, Index) { return random.uniform(); });
}

/// The same matrix with all but a share of its entries set to zero.
inline Matrix thinned(Matrix dense, double share, std::uint64_t seed) {
  Random random(seed);
  return dense.unaryExpr([&](double x) { return random.uniform() < share ? x : 0.0; });
}

template <class Scalar = double>
SparseMatrixOf<Scalar> to_sparse(const Matrix& dense) {
  return dense.cast<Scalar>().sparseView();
}

/// Largest difference of two entries; infinite where the sizes differ.
template <class Left, class Right>
double max_difference(const Left& left, const Right& right) {
  if (left.rows() != right.rows() || left.cols() != right.cols())
    return std::numeric_limits<double>::infinity();
  return left.size() == 0 ? 0.0 : (left - right).cwiseAbs().maxCoeff();
}

template <class Left, class Right>
bool same_bits(const Left& left, const Right& right) {
  if (left.rows() != right.rows() || left.cols() != right.cols()) return false;
  for (Index j = 0; j < left.cols(); ++j)
    for (Index i = 0; i < left.rows(); ++i)
      if (std::bit_cast<std::uint64_t>(left(i, j)) != std::bit_cast<std::uint64_t>(right(i, j))) return false;
  return true;
}

/// The message of the exception that `action` must throw.
template <class Exception, class Action>
std::string message_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Exception& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no exception";
  return "";
}

}  // namespace pursuit
