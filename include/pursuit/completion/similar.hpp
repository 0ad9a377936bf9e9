#pragma once
// Which columns (or rows) are alike: those that rows (or columns) are drawn to together. Their likeness is
// the correlation of two columns over the rows of the model, expected under the posterior,
//
//   v_j . S v_k / sqrt(K_j K_k),     S = covariance of u_i,     K_j = v_j . S v_j + sum_c S_cc var v_jc
//
// with u and v the factors, structured atoms among them. Offsets play no part: that a film is liked by all
// makes it like no other. What is not known well is like nothing much, its own K_j being large. Unlike the
// cosine of factors this does not change where factors are turned or scaled against each other.

#include <memory>
#include <span>
#include <vector>

#include "pursuit/completion/model.hpp"

namespace pursuit {

class BestProducts;

struct Neighbour {
  int member;
  double similarity;  // -1 to 1
};

class Neighbours {
 public:
  /// Of the columns of a model, or of its rows. InvalidInput where it has nothing but offsets.
  enum class Side { rows, cols };
  Neighbours(const CompletionModel& model, Side side);

  /// The `count` members most alike to each of these, best first, leaving out the member itself.
  /// InvalidArgument for members that there are not.
  std::vector<std::vector<Neighbour>> of(std::span<const int> members, Index count, int threads = 1) const;

  /// One row per member: inner products are likenesses.
  const FactorMatrix& vectors() const;

 private:
  std::shared_ptr<const BestProducts> products_;
};

}  // namespace pursuit
