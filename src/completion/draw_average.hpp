#pragma once
// The mean of u_i . v_j over many draws from the posterior, as factors again. Draws may turn their
// coordinates as they like, so factors cannot be averaged; but the mean of the products is a matrix too, of
// which a few more coordinates than a draw has hold all but noise. They are found as draws come: factors are
// put side by side and cut back to the best ones (a truncated singular value decomposition, by subspace
// iteration from the ones there were) before they are too many.

#include <utility>

#include "completion/bayesian_factors.hpp"

namespace pursuit {

class DrawAverage {
 public:
  explicit DrawAverage(int threads) : threads_(threads) {}

  void add(const BayesianFactors& draw);
  int count() const { return count_; }

  /// Of rows and of columns, offsets first; of at least one draw.
  std::pair<FactorMatrix, FactorMatrix> factors();

  /// Of draws of so many atoms of this matrix.
  void visit_state(StateArchive& archive, Index rows, Index cols, Index atoms);

 private:
  /// Side by side of a side of the matrix: factors, and the sum of offsets.
  struct Panel {
    Eigen::MatrixXf factors;
    Vector offset;
  };
  void append(const FactorSide& side, Index width, Index atoms, Panel& panel) const;
  Matrix gram(const Panel& panel) const;
  void cut();
  void balance();

  int threads_, count_ = 0;
  Index used_ = 0, rank_ = 0;  // columns of factors that are filled, and what they are cut back to
  Panel rows_, cols_;
};

}  // namespace pursuit
