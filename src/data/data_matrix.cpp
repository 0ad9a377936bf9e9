#include "pursuit/data/data_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/chunks.hpp"
#include "base/work.hpp"
#include "data/comfortable_scale.hpp"
#include "data/dense_matrix.hpp"
#include "data/made_of.hpp"
#include "data/sparse_matrix.hpp"
#include "linalg/unit_blocks.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

double asymmetry_by_products(const LinearOperator& A) {
  double largest = 0;
  Matrix columns, rows_transposed;
  for_unit_blocks(A.rows(), [&](Index, const Matrix& unit) {
    A.apply(unit, columns);
    A.apply_transposed(unit, rows_transposed);
    largest = std::max(largest, (columns - rows_transposed).cwiseAbs().maxCoeff());
  });
  return largest;
}

namespace {

/// A minus a row that stands for every one, usually the means of its columns.
class CenteredMatrix final : public DataMatrix {
 public:
  CenteredMatrix(DataMatrixPtr A, Vector means) : A_(std::move(A)), means_(std::move(means)) {}

  Index rows() const override { return A_->rows(); }
  Index cols() const override { return A_->cols(); }
  void apply(const Matrix& V, Matrix& out) const override {
    A_->apply(V, out);
    const Eigen::RowVectorXd shift = means_.transpose() * V;
    for_rows(out, [&](Index first, Index count) { out.middleRows(first, count).rowwise() -= shift; });
  }
  void apply_transposed(const Matrix& U, Matrix& out) const override {
    A_->apply_transposed(U, out);
    const Eigen::RowVectorXd sums = U.colwise().sum();
    for_rows(out, [&](Index first, Index count) {
      out.middleRows(first, count).noalias() -= means_.segment(first, count) * sums;
    });
  }
  double squared_norm() const override { return A_->squared_norm_about(means_); }
  std::optional<double> squared_distance(const Matrix& L, const Matrix& R) const override {
    Matrix left(L.rows(), L.cols() + 1),
        right(R.rows(), R.cols() + 1);  // the means are one more rank-one piece
    left << L, Vector::Ones(L.rows());
    right << R, means_;
    return A_->squared_distance(left, right);
  }
  double product_work() const override { return A_->product_work(); }
  int threads() const override { return A_->threads(); }
  double rounding() const override { return A_->rounding(); }
  Vector column_means() const override { return A_->column_means() - means_; }
  double squared_norm_about(const Vector& shift) const override {
    return A_->squared_norm_about(means_ + shift);
  }
  double asymmetry() const override { return asymmetry_by_products(*this); }
  double largest_magnitude() const override {
    return A_->largest_magnitude() + means_.lpNorm<Eigen::Infinity>();
  }
  DataMatrixPtr scaled(double power_of_two) const override {
    return less_row(A_->scaled(power_of_two), power_of_two * means_);
  }
  DataMatrixPtr shifted(const Vector& shift) const override { return A_->shifted(means_ + shift); }

 private:
  template <class Work>
  void for_rows(const Matrix& out, const Work& work) const {
    constexpr Index kLeast = 4096;
    const Chunks rows(out.rows(), kLeast);
    parallel_for(rows.count(), threads_for(double(out.size()), threads()),
                 [&](Index chunk) { work(rows.first(chunk), rows.length(chunk)); });
  }

  DataMatrixPtr A_;
  Vector means_;
};

class GramMatrix final : public DataMatrix {
 public:
  GramMatrix(DataMatrixPtr A, double scale) : A_(std::move(A)), scale_(scale) {}

  Index rows() const override { return A_->cols(); }
  Index cols() const override { return A_->cols(); }
  void apply(const Matrix& V, Matrix& out) const override {
    A_->apply_gram(V, out);
    out *= scale_;
  }
  void apply_transposed(const Matrix& U, Matrix& out) const override { apply(U, out); }
  double squared_norm() const override;
  std::optional<double> squared_distance(const Matrix&, const Matrix&) const override { return std::nullopt; }
  double product_work() const override { return 2 * A_->product_work(); }
  int threads() const override { return A_->threads(); }
  double rounding() const override { return A_->rounding(); }
  Vector column_means() const override {
    Matrix sums;
    apply(Matrix::Ones(cols(), 1), sums);
    return sums / double(rows());
  }
  double squared_norm_about(const Vector& shift) const override {
    return squared_norm() - 2.0 * double(rows()) * column_means().dot(shift) +
           double(rows()) * shift.squaredNorm();
  }
  double asymmetry() const override { return 0; }
  double largest_magnitude() const override {
    const double largest = A_->largest_magnitude();
    if (largest == 0) return 0;
    return std::clamp(std::abs(scale_) * double(A_->rows()) * largest * largest,
                      std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max());
  }
  DataMatrixPtr scaled(double power_of_two) const override {
    const double root = std::exp2(std::round(std::log2(power_of_two) / 2));
    return gram_matrix(A_->scaled(root), scale_ * (power_of_two / root / root));
  }
  DataMatrixPtr shifted(const Vector&) const override { return nullptr; }

 private:
  DataMatrixPtr A_;
  double scale_;
};

/// ||A^T A||_F = ||A A^T||_F, a block of columns of the smaller of the two at a time.
double GramMatrix::squared_norm() const {
  const bool wide = A_->cols() > A_->rows();
  Matrix middle, product;
  double sum = 0;
  for_unit_blocks(std::min(A_->rows(), A_->cols()), [&](Index, const Matrix& unit) {
    if (wide) {
      A_->apply_transposed(unit, middle);
      A_->apply(middle, product);
    } else {
      A_->apply_gram(unit, product);
    }
    sum += product.squaredNorm();
  });
  return scale_ * scale_ * sum;
}

class ColumnScaledMatrix final : public DataMatrix {
 public:
  ColumnScaledMatrix(DataMatrixPtr A, Vector scale)
      : A_(std::move(A)),
        scale_(std::move(scale)),
        squared_norm_(squared_column_norms(*A_).dot(scale_.cwiseAbs2())) {}

  Index rows() const override { return A_->rows(); }
  Index cols() const override { return A_->cols(); }
  void apply(const Matrix& V, Matrix& out) const override { A_->apply(scale_.asDiagonal() * V, out); }
  void apply_transposed(const Matrix& U, Matrix& out) const override {
    A_->apply_transposed(U, out);
    out = scale_.asDiagonal() * out;
  }
  double squared_norm() const override { return squared_norm_; }
  std::optional<double> squared_distance(const Matrix&, const Matrix&) const override { return std::nullopt; }
  double product_work() const override { return A_->product_work(); }
  int threads() const override { return A_->threads(); }
  double rounding() const override { return A_->rounding(); }
  Vector column_means() const override { return scale_.cwiseProduct(A_->column_means()); }
  double squared_norm_about(const Vector& shift) const override {
    return squared_norm_ - 2.0 * double(rows()) * column_means().dot(shift) +
           double(rows()) * shift.squaredNorm();
  }
  double asymmetry() const override { return asymmetry_by_products(*this); }
  double largest_magnitude() const override {
    return A_->largest_magnitude() * scale_.lpNorm<Eigen::Infinity>();
  }
  DataMatrixPtr scaled(double power_of_two) const override {
    return column_scaled(A_, power_of_two * scale_);
  }
  DataMatrixPtr shifted(const Vector&) const override { return nullptr; }

 private:
  DataMatrixPtr A_;
  Vector scale_;
  double squared_norm_;
};

}  // namespace

template <class Scalar>
DataMatrixPtr data_matrix(const DenseView<Scalar>& A, int threads) {
  return std::make_shared<DenseDataMatrix<Scalar>>(A, resolve_threads(threads));
}
template DataMatrixPtr data_matrix(const DenseView<double>&, int);
template DataMatrixPtr data_matrix(const DenseView<float>&, int);
#define PURSUIT_DATA_MATRIX(Whole) template DataMatrixPtr data_matrix(const DenseView<Whole>&, int);
PURSUIT_FOR_WHOLE_NUMBERS(PURSUIT_DATA_MATRIX)
#undef PURSUIT_DATA_MATRIX

template <class Scalar, class StoredIndex>
DataMatrixPtr data_matrix(const SparseView<Scalar, StoredIndex>& A, int threads) {
  if (!A.by_columns)
    return std::make_shared<SparseDataMatrix<Scalar, StoredIndex>>(A, resolve_threads(threads));
  return std::make_shared<TransposedSparseMatrix<Scalar, StoredIndex>>(A, resolve_threads(threads));
}
template DataMatrixPtr data_matrix(const SparseView<double, int>&, int);
template DataMatrixPtr data_matrix(const SparseView<float, int>&, int);
template DataMatrixPtr data_matrix(const SparseView<double, std::int64_t>&, int);
template DataMatrixPtr data_matrix(const SparseView<float, std::int64_t>&, int);

namespace {

template <class Scalar>
SparseView<Scalar, int> view_of(const SparseMatrixOf<Scalar>& A) {
  if (!A.isCompressed())
    throw InvalidArgument("the sparse matrix is not compressed; call makeCompressed() on it first");
  return {A.outerIndexPtr(), A.innerIndexPtr(), A.valuePtr(), A.rows(), A.cols()};
}

}  // namespace

namespace {

/// An operator over a matrix that lives as long as it does.
template <class M>
DataMatrixPtr owning(M& A, int threads) {
  const auto kept = std::make_shared<M>();
  kept->swap(A);  // sparse matrices do not know how to move
  const DataMatrixPtr view = data_matrix(*kept, threads);
  return {view.get(), [kept, view](const DataMatrix*) {}};
}

}  // namespace

DataMatrixPtr data_matrix(const Eigen::MatrixXd& A, int threads) {
  return data_matrix(DenseView<double>{A.data(), A.rows(), A.cols(), A.rows()}, threads);
}
DataMatrixPtr data_matrix(const Eigen::MatrixXf& A, int threads) {
  return data_matrix(DenseView<float>{A.data(), A.rows(), A.cols(), A.rows()}, threads);
}
DataMatrixPtr data_matrix(const SparseMatrixOf<double>& A, int threads) {
  return data_matrix(view_of(A), threads);
}
DataMatrixPtr data_matrix(const SparseMatrixOf<float>& A, int threads) {
  return data_matrix(view_of(A), threads);
}
DataMatrixPtr data_matrix(const AnyMatrix& A, int threads) {
  return std::visit([&](const auto& matrix) { return data_matrix(matrix, threads); }, A);
}

DataMatrixPtr data_matrix(Eigen::MatrixXd&& A, int threads) {
  return owning(A, threads);
}
DataMatrixPtr data_matrix(Eigen::MatrixXf&& A, int threads) {
  return owning(A, threads);
}
DataMatrixPtr data_matrix(SparseMatrixOf<double>&& A, int threads) {
  return owning(A, threads);
}
DataMatrixPtr data_matrix(SparseMatrixOf<float>&& A, int threads) {
  return owning(A, threads);
}
DataMatrixPtr data_matrix(AnyMatrix&& A, int threads) {
  return std::visit([&](auto& matrix) { return data_matrix(std::move(matrix), threads); }, A);
}

double unit_scale(double magnitude) {
  constexpr int kMost = 1000;  // of two; the inverse is a normal number too
  if (!(magnitude > 0)) return 1;
  const int exponent = std::clamp(std::ilogb(magnitude), -kMost, kMost);
  return std::ldexp(1.0, -(exponent - (exponent & 1)));  // even: square roots keep their bits too
}

Comfortable comfortable(DataMatrixPtr A) {
  const double scale = comfortable_scale(A->largest_magnitude());
  if (scale == 1) return {std::move(A), 1};
  return {A->scaled(scale), scale};
}

DataMatrixPtr less_row(DataMatrixPtr A, Vector row) {
  if (DataMatrixPtr formed = A->shifted(row)) return formed;
  return std::make_shared<CenteredMatrix>(std::move(A), std::move(row));
}

DataMatrixPtr centered(DataMatrixPtr A) {
  Vector means = A->column_means();
  return less_row(std::move(A), std::move(means));
}

DataMatrixPtr column_scaled(DataMatrixPtr A, Vector scale) {
  return std::make_shared<ColumnScaledMatrix>(std::move(A), std::move(scale));
}

DataMatrixPtr gram_matrix(DataMatrixPtr A, double scale) {
  return std::make_shared<GramMatrix>(std::move(A), scale);
}

}  // namespace pursuit
