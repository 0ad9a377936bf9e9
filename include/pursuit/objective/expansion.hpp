#pragma once
// A short sum of rank-one atoms, X = sum_i weights_i left_i right_i^T.

#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

struct Model {
  Matrix left;     // n x r, one atom per column
  Matrix right;    // m x r; equal to left where symmetric
  Vector weights;  // r
  bool symmetric = false;

  Index rank() const { return weights.size(); }
  Matrix scaled_left() const { return left * weights.asDiagonal(); }
  Matrix dense() const { return scaled_left() * right.transpose(); }

  void append(ConstVectorRef u, ConstVectorRef v, double weight);
  void keep(const std::vector<Index>& atoms);  // drops all others
};

}  // namespace pursuit
