#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "linalg/cholesky.hpp"
#include "pursuit/weights/weight_system.hpp"

namespace pursuit {
namespace {

constexpr double kRounding = 1e-13;
constexpr double kIndependentPivot =
    1e-5;  // of a Cholesky pivot of unit vectors; below it all pivots are looked at

/// The problem with atoms scaled to unit norm, so that no size of theirs or of the data decides over a
/// threshold. A bound on the sum of the weights is an equality with one more atom, the zero vector, which
/// takes what the others leave.
///
/// Legend: P the passive set (weights free to move), w the descent direction c - G x, lambda the multiplier
/// of the sum. Each round solves the equality problem on P and walks to it until a weight hits zero.
class ActiveSet {
 public:
  ActiveSet(const Eigen::Ref<const Matrix>& gram, ConstVectorRef targets, double total)
      : r_(targets.size()), bounded_(total > 0), norms_(gram.diagonal().cwiseMax(0.0).cwiseSqrt()) {
    const Index m = r_ + Index(bounded_);
    const Vector inverse = (norms_.array() > 0).select(norms_.cwiseInverse(), 0.0);
    G_ = Matrix::Zero(m, m);
    G_.topLeftCorner(r_, r_) = inverse.asDiagonal() * gram * inverse.asDiagonal();
    c_ = Vector::Zero(m);
    c_.head(r_) = inverse.cwiseProduct(targets);
    if (!bounded_) return;
    unit_ = std::max(inverse.maxCoeff(), 1e-300);
    share_ = Vector::Ones(m);
    share_.head(r_) = inverse / unit_;
    total_ = total / unit_;
  }

  Vector solve(ConstVectorRef start) {
    x_ = Vector::Zero(G_.rows());
    x_.head(r_) = start.cwiseProduct(norms_).cwiseMax(0.0);
    if (bounded_) x_[r_] = std::max(total_ - share_.head(r_).dot(x_.head(r_)), 0.0);
    for (Index i = 0; i < x_.size(); ++i)
      if (x_[i] > 0) passive_.push_back(i);
    std::vector<bool> refused(std::size_t(x_.size()), false);
    walk();
    for (Index round = 0; round < 10 * r_ + 50; ++round) {
      const Index entering = best_entering(refused);
      if (entering < 0) break;
      passive_.insert(std::lower_bound(passive_.begin(), passive_.end(), entering), entering);
      // What only rounding let in leaves at once, and is not asked again before something has moved.
      const bool moved = walk();
      if (moved) std::fill(refused.begin(), refused.end(), false);
      refused[std::size_t(entering)] = x_[entering] == 0;
    }
    return (norms_.array() > 0).select(x_.head(r_).cwiseQuotient(norms_), 0.0);
  }

 private:
  /// To the best point of the passive set, or as far as weights stay non-negative, those at zero leaving it.
  bool walk() {
    bool moved = false;
    while (!passive_.empty()) {
      const Vector goal = best_on_passive();
      const Index p = Index(passive_.size());
      // The share of the way after which a weight is at zero; beyond 1 for those that stay positive.
      const auto zero_at = [&](Index i) {
        const double from = x_[passive_[std::size_t(i)]], to = goal[i];
        return to > 0 ? 2.0 : from > 0 ? from / (from - to) : 0.0;
      };
      double step = 1;
      for (Index i = 0; i < p; ++i) step = std::min(step, zero_at(i));
      for (Index i = 0; i < p; ++i) {
        const bool blocked = zero_at(i) <= step;
        double& x = x_[passive_[std::size_t(i)]];
        x = blocked ? 0.0 : step == 1 ? goal[i] : x + step * (goal[i] - x);
      }
      moved = moved || step > 0;
      std::erase_if(passive_, [&](Index i) { return !(x_[i] > 0); });
      if (step == 1) break;
    }
    return moved;
  }

  Vector best_on_passive() {
    const Index p = Index(passive_.size());
    lambda_ = 0;
    if (!bounded_) {
      const Matrix system = G_(passive_, passive_);
      const Cholesky cholesky(system);
      if (cholesky.definite() && cholesky.smallest_pivot() > kIndependentPivot)
        return cholesky.solve(c_(passive_));
      return solve_square(system, c_(passive_));
    }
    Matrix system = Matrix::Zero(p + 1, p + 1);
    Vector right(p + 1);
    system.topLeftCorner(p, p) = G_(passive_, passive_);
    system.row(p).head(p) = share_(passive_).transpose();
    system.col(p).head(p) = share_(passive_);
    right << c_(passive_), total_;
    const Vector solution = solve_square(system, right);
    lambda_ = solution[p];
    return solution.head(p);
  }

  /// The weight at zero along which f falls fastest; -1 where it falls along none by more than rounding.
  Index best_entering(const std::vector<bool>& refused) const {
    Vector descent = c_ - G_ * x_, noise = kRounding * (c_.cwiseAbs() + G_.cwiseAbs() * x_);
    if (bounded_) {
      descent -= lambda_ * share_;
      noise += kRounding * std::abs(lambda_) * share_;
    }
    Index entering = -1;
    double best = 0;
    for (Index i = 0; i < x_.size(); ++i)
      if (x_[i] == 0 && !refused[std::size_t(i)] && descent[i] > noise[i] && descent[i] > best) {
        best = descent[i];
        entering = i;
      }
    return entering;
  }

  Index r_;
  bool bounded_;
  Vector norms_;
  Matrix G_;
  Vector c_, share_;  // share_: what a unit of each scaled weight adds to the sum
  double unit_ = 1, total_ = 0, lambda_ = 0;
  Vector x_;
  std::vector<Index> passive_;
};

}  // namespace

Vector constrained_weights(const Eigen::Ref<const Matrix>& gram, ConstVectorRef targets, double total,
                           ConstVectorRef start) {
  return ActiveSet(gram, targets, total).solve(start);
}

}  // namespace pursuit
