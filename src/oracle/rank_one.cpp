#include "pursuit/oracle/rank_one.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace pursuit {
namespace {

/// u <- the member with the largest <u, g>, or the largest |<u, g>| where the weight may take either sign;
/// relative to its norm where its scale is free.
void best_member(const AtomSet& set, ConstVectorRef g, const OracleOptions& options, VectorRef u) {
  if (options.free_scale)
    set.fit(1.0, g, options.sign, u);
  else
    set.maximize(g, u);
}

/// A block of starts that loses its worse half now and then, and remembers how all of them ended.
class Contest {
 public:
  Contest(Index starts, double tolerance)
      : tolerance_(tolerance), values_(Vector::Constant(starts, -std::numeric_limits<double>::infinity())) {}

  const Vector& values() const { return values_; }

  /// Takes the new values; true once no contender has risen noticeably.
  bool settle(const Vector& values) {
    const bool settled = (values.array() <= values_.array() + tolerance_ * values.array().abs()).all();
    values_ = values;
    return settled;
  }

  /// The columns to go on with: the better half of them, in their old order.
  std::vector<Index> survivors() {
    std::vector<Index> order(std::size_t(values_.size()));
    std::iota(order.begin(), order.end(), Index(0));
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values_[a] > values_[b]; });
    const std::size_t keep = (order.size() + 1) / 2;
    for (std::size_t i = keep; i < order.size(); ++i) final_values_.push_back(values_[order[i]]);
    order.resize(keep);
    std::sort(order.begin(), order.end());
    values_ = Vector(values_(order));
    return order;
  }

  Index winner() const {
    Index best = 0;
    values_.maxCoeff(&best);
    return best;
  }

  double spread() {
    final_values_.insert(final_values_.end(), values_.begin(), values_.end());
    const auto median = final_values_.begin() + std::ptrdiff_t(final_values_.size() / 2);
    std::nth_element(final_values_.begin(), median, final_values_.end());
    const double best = *std::max_element(final_values_.begin(), final_values_.end());
    return best > 0 ? (best - *median) / best : 0.0;
  }

 private:
  double tolerance_;
  std::vector<double> final_values_;  // of the starts that were dropped
  Vector values_;
};

constexpr int kStepsBetweenCuts = 2;

bool time_to_cut(int iteration, Index contenders) {
  return contenders > 1 && iteration % kStepsBetweenCuts == 0;
}

}  // namespace

RankOneAtom refine_rank_one(const LinearOperator& R, const AtomSet& left, const AtomSet& right,
                            const Matrix& starts, const OracleOptions& options) {
  Matrix V = starts, U(R.rows(), starts.cols()), products;
  for (Index s = 0; s < V.cols(); ++s) right.maximize(starts.col(s), V.col(s));
  Contest contest(starts.cols(), options.tolerance);
  Vector values, sizes = Vector::Ones(V.cols());  // <R, u v^T> = values * sizes
  int iteration = 0;
  for (bool settled = false; !settled && iteration < options.max_iterations;) {
    ++iteration;
    R.apply(V, products);  // u <- argmax <u, R v>
    for (Index s = 0; s < V.cols(); ++s) best_member(left, products.col(s), options, U.col(s));
    R.apply_transposed(U, products);  // v <- argmax <R^T u, v>
    values.resize(V.cols());
    for (Index s = 0; s < V.cols(); ++s) {
      best_member(right, products.col(s), options, V.col(s));
      const double value = products.col(s).dot(V.col(s));
      sizes[s] = options.free_scale ? U.col(s).norm() * V.col(s).norm() : 1.0;
      if (!(sizes[s] > 0)) sizes[s] = 1;
      if (options.sign == Sign::free && value < 0) sizes[s] = -sizes[s];
      values[s] = value / sizes[s];
    }
    settled = contest.settle(values);
    if (!settled && time_to_cut(iteration, V.cols())) {
      const auto kept = contest.survivors();
      U = Matrix(U(Eigen::all, kept));
      V = Matrix(V(Eigen::all, kept));
      sizes = Vector(sizes(kept));
    }
  }
  const Index best = contest.winner();
  return {U.col(best),      V.col(best), sizes[best] * contest.values()[best],
          contest.spread(), iteration,   int(starts.cols())};
}

RankOneAtom refine_symmetric(const LinearOperator& R, const AtomSet& atoms, const Matrix& starts,
                             const OracleOptions& options) {
  // Every start runs along +R and, where weights are free, along -R.
  const Index directions = options.sign == Sign::free ? 2 : 1;
  Matrix U(R.rows(), directions * starts.cols()), products, proposal, proposal_products;
  Vector side(U.cols()), shift = Vector::Zero(U.cols());
  for (Index s = 0; s < U.cols(); ++s) {
    atoms.maximize(starts.col(s / directions), U.col(s));
    side[s] = s % directions == 0 ? 1 : -1;
  }
  const auto value_of = [&](const Matrix& block, const Matrix& image) -> Vector {
    return side.cwiseProduct(block.cwiseProduct(image).colwise().sum().transpose());
  };

  R.apply(U, products);
  Contest contest(U.cols(), options.tolerance);
  Vector values = value_of(U, products);
  contest.settle(values);
  int iteration = 0;
  for (bool settled = false; !settled && iteration < options.max_iterations;) {
    ++iteration;
    proposal.resize(U.rows(), U.cols());
    for (Index s = 0; s < U.cols(); ++s)  // u <- argmax <u, (s R + kappa I) u>
      atoms.maximize(side[s] * products.col(s) + shift[s] * U.col(s), proposal.col(s));
    R.apply(proposal, proposal_products);
    const Vector proposed = value_of(proposal, proposal_products);
    bool shifted = false;
    for (Index s = 0; s < U.cols(); ++s) {
      if (proposed[s] >= values[s]) {
        U.col(s) = proposal.col(s);
        products.col(s) = proposal_products.col(s);
        values[s] = proposed[s];
      } else if (values[s] - proposed[s] > options.tolerance * std::abs(values[s])) {
        // Not convex along this step: take it back and shift more.
        shift[s] = std::max({2 * shift[s], std::abs(values[s]), 0.5 * products.col(s).norm()});
        shifted = true;
      }
    }
    settled = contest.settle(values) && !shifted;
    if (!settled && time_to_cut(iteration, U.cols())) {
      const auto kept = contest.survivors();
      U = Matrix(U(Eigen::all, kept));
      products = Matrix(products(Eigen::all, kept));
      side = Vector(side(kept));
      shift = Vector(shift(kept));
      values = contest.values();
    }
  }
  const Index best = contest.winner();
  return {U.col(best),      U.col(best), side[best] * values[best],
          contest.spread(), iteration,   int(starts.cols())};
}

RankOneAtom find_rank_one(const LinearOperator& R, const AtomSet& left, const AtomSet& right,
                          const OracleOptions& options) {
  return refine_rank_one(R, left, right, starting_block(R, options.restarts, options.seed), options);
}

RankOneAtom find_symmetric(const LinearOperator& R, const AtomSet& atoms, const OracleOptions& options) {
  return refine_symmetric(R, atoms, starting_block(R, options.restarts, options.seed), options);
}

}  // namespace pursuit
