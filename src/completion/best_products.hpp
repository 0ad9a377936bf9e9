#pragma once
// Which vectors of a set have the largest inner products with others, found by products of blocks in single
// precision. Whoever wants the exact order looks at what is offered, which holds all that may belong to it.

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "pursuit/completion/model.hpp"

namespace pursuit {

struct ScoredItem {
  float score;
  int item;
};

class BestProducts {
 public:
  static constexpr Index kBlock = 64;  // queries that are worth looking at together

  /// One item per row.
  explicit BestProducts(FactorMatrix items);

  const FactorMatrix& vectors() const { return items_; }

  /// For every query (one per row): the `count` items of largest product and those that rounding may have
  /// kept from being among them, in no order; all of them where numbers leave the range of single precision.
  /// left_out(k) are items that query k is not to get, ascending.
  std::vector<std::vector<ScoredItem>> of(
      const FactorMatrix& queries, Index count,
      const std::function<std::span<const int>(Index query)>& left_out) const;

 private:
  std::vector<ScoredItem> all_but(std::span<const int> left_out) const;

  FactorMatrix items_;
  double longest_ = 0;
};

}  // namespace pursuit
