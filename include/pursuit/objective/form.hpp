#pragma once
// Multilinear forms on vectors along the modes of the data, known by their contractions alone: what is to be
// approximated, and what an approximation has left of it. For a matrix A the contractions are A V and A^T U.

#include <memory>
#include <optional>
#include <vector>

#include "pursuit/data/data_matrix.hpp"
#include "pursuit/objective/expansion.hpp"

namespace pursuit {

class Form {
 public:
  virtual ~Form() = default;
  virtual Index modes() const = 0;
  virtual const Axis& axis(Index mode) const = 0;

  /// Column k of `out`: the form of the k-th columns of z in all modes but this one, which is not looked at.
  virtual void contract(Index mode, const Factors& z, Panel& out) const = 0;
};

/// An operator as a form of two modes; refers to it.
class MatrixForm : public Form {
 public:
  explicit MatrixForm(const LinearOperator& A)
      : A_(A), axes_{Axis(A.rows(), A.threads()), Axis(A.cols(), A.threads())} {}
  Index modes() const override { return 2; }
  const Axis& axis(Index mode) const override { return axes_[std::size_t(mode)]; }
  void contract(Index mode, const Factors& z, Panel& out) const override {
    if (mode == 0)
      A_.apply(z[1], out);
    else
      A_.apply_transposed(z[0], out);
  }

 private:
  const LinearOperator& A_;
  std::vector<Axis> axes_;
};

/// A form that can be approximated: all that full data bring, wherever they live.
class Target : public Form {
 public:
  virtual double squared_norm() const = 0;

  /// ||Y - X||^2 summed over the entries, with no cancellation; empty where that would cost far more than
  /// contractions do.
  virtual std::optional<double> squared_distance(const Expansion& x) const = 0;

  /// Cost of a contraction with one atom, in multiply-adds of a dense product.
  virtual double contraction_work() const = 0;
};

using TargetPtr = std::shared_ptr<const Target>;
TargetPtr matrix_target(DataMatrixPtr data);

}  // namespace pursuit
