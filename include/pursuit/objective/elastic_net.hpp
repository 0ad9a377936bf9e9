#pragma once
// What factors pay for their size.

#include <vector>

#include "pursuit/objective/form.hpp"

namespace pursuit {

/// What every entry x of a factor pays beside f: l1 |x| + l2/2 x^2, the former where x >= 0 alone.
struct ElasticNet {
  double l1 = 0, l2 = 0;

  bool any() const { return l1 > 0 || l2 > 0; }
  double cost(const Axis& axis, const Panel& X) const;
};

/// Of every mode; empty where nothing is paid.
struct ElasticNets {
  std::vector<ElasticNet> modes = {};

  bool any() const;
  ElasticNet along(Index mode) const { return modes.empty() ? ElasticNet() : modes[std::size_t(mode)]; }
  /// What the factors of all modes but one pay.
  double cost_but(const Form& f, Index mode, const Factors& at) const;
};

}  // namespace pursuit
