#pragma once
// What a search for a span is made of: loadings on their way up, and the sweeps that take them there.

#include <limits>
#include <vector>

#include "algorithms/span_search.hpp"
#include "pursuit/linalg/axis.hpp"

namespace pursuit {

constexpr double kNoValue = -std::numeric_limits<double>::infinity();  // yet

/// Loadings on their way up.
struct Climb {
  Matrix U;
  std::vector<Atoms> sets;         // of its columns
  std::vector<Index> counts = {};  // of non-zeros in these, where they were shared out
  Matrix X = {};                   // what the loadings are multiples of, while they are found; kept for its
                                   // memory, which many threads would ask the system for at once
  SpanSolution best = {{}, kNoValue};  // on the way
  double last = kNoValue;              // value
  bool arrived = false;                // sweeps gain nothing more
  double before = kNoValue;            // its best value before this round
  double gain = 0;                     // of the last round
  Index chain_number = 0;              // of the chain that it perturbs
};

/// Climbs that are multiplied together, and the products.
struct ClimbGroup {
  std::vector<Climb*> going = {};
  Matrix U = {}, S = {}, W = {};
};

class SpanSweeps {
 public:
  explicit SpanSweeps(const SpanProblem& problem)
      : p_(problem), axis_(problem.A.cols()), r_(Index(problem.sets.size())) {}

  /// So many sweeps, or fewer where they gain less than the tolerance, which climbs then leave the group for;
  /// returns their number, over all climbs.
  int make(ClimbGroup& group, int sweeps, double tolerance) const;

  /// Of components with so many non-zeros each.
  std::vector<Atoms> sets_with(const std::vector<Index>& counts) const;

 private:
  template <class Work>
  void for_each(Index count, const Work& work) const;  // work(k) for k = 0..count-1, side by side
  double penalty(const Matrix& gram) const;
  void update_loadings(const ConstMatrixRef& W, const Matrix& G, Climb& climb) const;
  Vector penalised(const Vector& g, double curvature, const Matrix& U, Index i) const;
  void share_out(const ConstMatrixRef& W, const Matrix& G, Climb& climb) const;

  const SpanProblem& p_;
  const Axis axis_;  // of the loadings
  const Index r_;
};

}  // namespace pursuit
