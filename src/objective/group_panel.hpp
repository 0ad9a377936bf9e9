#pragma once
// The factors along one mode as a group of entries of the other mode sees them: by columns for a group in
// which every place is there, by rows for one that lists its places.

#include <optional>

#include "pursuit/base/types.hpp"

namespace pursuit {

class GroupPanel {
 public:
  /// Keeps both orders where groups list their places, and refers to nothing.
  GroupPanel(Matrix columns, bool listed);

  Index width() const { return columns_.cols(); }

  /// x_e += <own, row of its place>; places is null where there is one entry for every place.
  void predict(const int* places, Index count, const double* own, double* x) const;
  /// sum_e factor_e times the row of its place.
  void contract(const int* places, Index count, const double* factor, double* sums) const;
  /// sum_e weight_e row row^T, both triangles; `weighted` is scratch.
  void gram(const int* places, Index count, const double* weight, Matrix& weighted, Matrix& sums) const;

 private:
  using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Matrix columns_;
  RowMajorMatrix rows_;
};

}  // namespace pursuit
