#pragma once
// The vocabulary of numbers and matrices used throughout.
//
// Data matrices are kept in the precision they arrive in (float stays float); factors, weights and every
// scalar quantity are double, because they are small beside the data and their accuracy decides when to stop.

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <variant>

namespace pursuit {

using Index = Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using ConstVectorRef = Eigen::Ref<const Vector>;
using VectorRef = Eigen::Ref<Vector>;
using ConstMatrixRef = Eigen::Ref<const Matrix>;
using MatrixRef = Eigen::Ref<Matrix>;

template <class Scalar>
using SparseMatrixOf = Eigen::SparseMatrix<Scalar, Eigen::RowMajor, int>;
using SparseMatrix = SparseMatrixOf<double>;

/// A data matrix as it was stored: dense or sparse, single or double precision.
using AnyMatrix = std::variant<Matrix, Eigen::MatrixXf, SparseMatrixOf<double>, SparseMatrixOf<float>>;

inline Index rows_of(const AnyMatrix& m) {
  return std::visit([](const auto& x) { return Index(x.rows()); }, m);
}
inline Index cols_of(const AnyMatrix& m) {
  return std::visit([](const auto& x) { return Index(x.cols()); }, m);
}

}  // namespace pursuit
