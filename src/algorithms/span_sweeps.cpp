#include "algorithms/span_sweeps.hpp"

#include <algorithm>
#include <functional>

#include "base/parallel.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"
#include "objective/coordinate_sweep.hpp"

namespace pursuit {
namespace {

constexpr int kLoadingPasses = 2;  // over the loadings per product with the data

Matrix scores(const Matrix& gram, const Matrix& S) {
  const Cholesky factor(gram);
  if (factor.definite() && factor.reciprocal_condition() > 1e-12)
    return factor.solve(S.transpose()).transpose();
  return least_squares(gram, S.transpose()).transpose();  // dependent loadings
}

}  // namespace

template <class Work>
void SpanSweeps::for_each(Index count, const Work& work) const {
  parallel_for(count, p_.threads, work);
}

int SpanSweeps::make(ClimbGroup& group, int sweeps, double tolerance) const {
  std::vector<Climb*>& going = group.going;
  Matrix &U = group.U, &S = group.S, &W = group.W;
  int made = 0;
  for (int done = 0; done < sweeps && !going.empty(); ++done) {
    U.resize(axis_.own(), r_ * Index(going.size()));
    for_each(Index(going.size()), [&](Index k) { U.middleCols(k * r_, r_) = going[std::size_t(k)]->U; });
    p_.A.apply(U, S);
    for_each(Index(going.size()), [&](Index k) {
      Climb& climb = *going[std::size_t(k)];
      const Matrix gram = axis_.inner(climb.U, climb.U);
      auto scores_here = S.middleCols(k * r_, r_);
      Matrix Z = scores(gram, scores_here);
      const double value = scores_here.cwiseProduct(Z).sum() / p_.total - penalty(gram);
      scores_here = Z;
      if (value > climb.best.value || climb.best.loadings.size() == 0) {
        climb.best.loadings = climb.U;
        climb.best.value = value;
      }
      climb.arrived = value - climb.last < tolerance;
      climb.last = value;
    });
    made += int(going.size());
    Index left = 0;
    for (Index k = 0; k < Index(going.size()); ++k) {
      if (going[std::size_t(k)]->arrived) continue;
      if (left < k) S.middleCols(left * r_, r_) = S.middleCols(k * r_, r_);
      going[std::size_t(left++)] = going[std::size_t(k)];
    }
    going.resize(std::size_t(left));
    if (left == 0) break;
    S.conservativeResize(Eigen::NoChange, left * r_);
    p_.A.apply_transposed(S, W);
    for_each(left, [&](Index k) {
      update_loadings(W.middleCols(k * r_, r_), gram_of(S.middleCols(k * r_, r_)), *going[std::size_t(k)]);
    });
  }
  return made;
}

double SpanSweeps::penalty(const Matrix& gram) const {
  if (p_.orthogonality == 0) return 0;
  return p_.orthogonality * 0.5 * (gram.squaredNorm() - gram.diagonal().squaredNorm());
}

/// Best loadings for scores with Gram matrix G, W = A^T Z: X U^T is what is fitted, X = t u.
void SpanSweeps::update_loadings(const ConstMatrixRef& W, const Matrix& G, Climb& climb) const {
  Matrix& U = climb.U;
  if (p_.total_nonzeros > 0) share_out(W, G, climb);
  Matrix& X = climb.X;
  X = U;
  thread_local Vector u, g;
  u.resize(U.rows());
  for (int pass = 0; pass < (r_ > 1 ? kLoadingPasses : 1); ++pass)
    for (Index i = 0; i < r_; ++i) {
      if (!(G(i, i) > 0)) continue;
      leave_to(i, W, G, X, g);
      if (p_.orthogonality > 0) g = penalised(g, G(i, i), U, i);
      const double t = climb.sets[std::size_t(i)]->fit(G(i, i), g, Sign::free, u);
      if (t == 0) continue;
      U.col(i) = u;
      X.col(i) = t * u;
    }
}

/// The direction that minorises the gain (g . u)^2 / curvature less the cost of overlaps, at the current
/// u_i: the first is convex and bounded by its tangent, the second has curvature at most the number of
/// loadings.
Vector SpanSweeps::penalised(const Vector& g, double curvature, const Matrix& U, Index i) const {
  const auto u = U.col(i);
  const double cost = p_.orthogonality * p_.total;
  Vector overlap = Vector::Zero(U.rows());
  for (Index j = 0; j < U.cols(); ++j)
    if (j != i) overlap += U.col(j).dot(u) * U.col(j);
  const Vector direction = g.dot(u) / curvature * g - cost * (overlap - double(U.cols() - 1) * u);
  return direction * (g.norm() / std::max(direction.norm(), 1e-300));
}

/// Shares the non-zeros out among the components: the largest gains of all entries decide.
void SpanSweeps::share_out(const ConstMatrixRef& W, const Matrix& G, Climb& climb) const {
  const Matrix& U = climb.U;
  const Index p = U.rows(), r = r_;
  Matrix gains(p, r);
  Vector left;
  for (Index i = 0; i < r; ++i) {
    const double curvature = std::max(G(i, i), 1e-300);
    leave_to(i, W, G, U, left);
    gains.col(i) = left.cwiseAbs2() / curvature;
  }
  std::vector<double> all(gains.data(), gains.data() + gains.size());
  const auto nth = all.begin() + (p_.total_nonzeros - 1);
  std::nth_element(all.begin(), nth, all.end(), std::greater<>());
  std::vector<Index>& counts = climb.counts;
  counts.resize(std::size_t(r));
  Index sum = 0;
  for (Index i = 0; i < r; ++i) {
    counts[std::size_t(i)] = std::max<Index>(1, (gains.col(i).array() >= *nth).count());
    sum += counts[std::size_t(i)];
  }
  while (sum > p_.total_nonzeros) {  // ties, or components that would have had none
    --*std::max_element(counts.begin(), counts.end());
    --sum;
  }
  climb.sets = sets_with(counts);
}

std::vector<Atoms> SpanSweeps::sets_with(const std::vector<Index>& counts) const {
  std::vector<Atoms> sets;
  sets.reserve(counts.size());
  for (const Index k : counts) sets.push_back(p_.nonnegative ? nonneg() + sparse(k) : sparse(k));
  return sets;
}

}  // namespace pursuit
