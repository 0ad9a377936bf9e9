#pragma once
// The factors along all other modes as a group of entries of one mode sees them: by columns for a group in
// which every place is there, by rows for one that lists its places.

#include <optional>

#include "objective/factor_rows.hpp"

namespace pursuit {

class GroupPanel {
 public:
  /// Of the other mode of a matrix. Keeps the order that it needs, and refers to nothing.
  GroupPanel(Matrix columns, bool listed);
  /// Of all modes but this one; an array of more than two lists its places.
  GroupPanel(const Factors& z, Index mode, bool listed);

  Index width() const { return width_; }

  /// x_e += <own, row of its place>.
  void predict(const Places& places, const double* own, double* x) const;
  /// sum_e factor_e times the row of its place.
  void contract(const Places& places, const double* factor, double* sums) const;
  /// sum_e weight_e row row^T, both triangles; `weighted` is scratch.
  void gram(const Places& places, const double* weight, Matrix& weighted, Matrix& sums) const;

 private:
  Index width_;
  Matrix columns_;
  std::optional<RowPanel> rows_;
};

}  // namespace pursuit
