#include "pursuit/objective/elastic_net.hpp"

#include <algorithm>

namespace pursuit {

double ElasticNet::cost(const Axis& axis, const Panel& X) const {
  double sum = 0;
  if (l1 > 0) sum += l1 * axis.dots(X, Panel::Ones(X.rows(), X.cols())).sum();
  if (l2 > 0) sum += 0.5 * l2 * axis.dots(X, X).sum();
  return sum;
}

bool ElasticNets::any() const {
  return std::any_of(modes.begin(), modes.end(), [](const ElasticNet& net) { return net.any(); });
}

double ElasticNets::cost_but(const Form& f, Index mode, const Factors& at) const {
  double sum = 0;
  for (Index other = 0; other < f.modes(); ++other)
    if (other != mode) sum += along(other).cost(f.axis(other), at[other]);
  return sum;
}

}  // namespace pursuit
