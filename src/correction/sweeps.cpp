#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "correction/coordinate_sweep.hpp"
#include "correction/progress.hpp"
#include "linalg/blas.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/correction/correction.hpp"

namespace pursuit {
namespace {

/// Passes over the columns per product with the data. Each gains nearly as much as a whole sweep, so they are
/// worth having while they stay cheap beside the product.
struct Passes {
  int left, right;
};
Passes passes_per_side(const FrobeniusObjective& f, Index rank) {
  const auto passes = [&](Index rows) {
    return int(std::clamp(f.data().product_work() / double(rows) / (3.0 * double(rank)), 4.0, 6.0));
  };
  return {passes(f.rows()), passes(f.cols())};
}

bool acts_on_coordinates(const AtomTraits& set, const CorrectionOptions& options) {
  return set.coordinatewise() && (set.symmetric || options.sign == Sign::nonnegative) &&
         !options.fixed_weights;
}

/// Splits the columns of X, from `first` on, into unit atoms and weights; a zero column keeps its old atom.
void split_scale(const Matrix& X, Index first, Matrix& atoms, Vector& weights) {
  for (Index i = first; i < X.cols(); ++i) {
    weights[i] = X.col(i).norm();
    if (weights[i] > 0) atoms.col(i) = X.col(i) / weights[i];
  }
}

/// The best weights of the first `known` atoms, one after the other; X = atoms * weights follows.
void update_weights(const Matrix& P, const Matrix& G, Index known, const CorrectionOptions& options,
                    const Matrix& atoms, Vector& weights, Matrix& X) {
  for (Index i = 0; i < known; ++i) {
    const auto u = atoms.col(i);
    const double curvature = G(i, i) * u.squaredNorm();
    if (!(curvature > 0)) continue;
    const double slope = u.dot(P.col(i)) - (u.transpose() * X).dot(G.col(i));
    weights[i] += slope / curvature;
    if (options.sign == Sign::nonnegative) weights[i] = std::max(weights[i], 0.0);
    X.col(i) = weights[i] * u;
  }
}

/// The best atoms and weights of one side, one after the other, given P = Y W and G = W^T W of the other side
/// W. The first `known` atoms stay, and get their best weights; others before `first` are left alone.
void update_side(const Atoms& set, const Matrix& P, const Matrix& G, Index known, Index first, int passes,
                 const CorrectionOptions& options, Matrix& atoms, Vector& weights) {
  Matrix X = atoms * weights.asDiagonal();
  if (!options.fixed_weights) update_weights(P, G, known, options, atoms, weights, X);
  if (acts_on_coordinates(set.traits(), options)) {
    coordinate_sweep(P, G, {!set.traits().symmetric, first, passes, options.threads}, X);
    split_scale(X, first, atoms, weights);
    return;
  }
  Vector target(X.rows()), atom(X.rows());
  for (Index i = first; i < X.cols(); ++i) {
    if (!(G(i, i) > 0)) continue;
    target = P.col(i) + G(i, i) * X.col(i);
    Matrix others(target);  // P_i - sum_{j != i} G_ij x_j
    subtract_product(X, G.col(i), others);
    target = others.col(0);
    if (options.fixed_weights) {
      if (weights[i] == 0) continue;
      set.of(i).maximize(weights[i] * target, atom);
    } else {
      weights[i] = set.of(i).fit(G(i, i), target, options.sign, atom);
    }
    atoms.col(i) = atom;
    X.col(i) = weights[i] * atom;
  }
}

/// f from the products that a sweep leaves behind: P = Y^T U, G = U^T U and X = V diag(alpha).
double objective_of(const FrobeniusObjective& f, const Matrix& P, const Matrix& G, const Matrix& X) {
  return std::max(
      0.0, 0.5 * f.target_norm_squared() - P.cwiseProduct(X).sum() + 0.5 * G.cwiseProduct(gram_of(X)).sum());
}

/// <z_i, Y> for atoms z_i = u_i v_i^T, from P = Y^T U.
Vector products_with_target(const Matrix& P, const Matrix& V) {
  return P.cwiseProduct(V).colwise().sum().transpose();
}

CorrectionOutcome plain_sweeps(const FrobeniusObjective& f, const Atoms& left, const Atoms& right,
                               const CorrectionOptions& options, Iterate& iterate) {
  const Index oldest = std::max<Index>(0, iterate.model.rank() - options.last);
  const Index first_left = std::max(oldest, options.fixed_left),
              first_right = std::max(oldest, options.fixed_right);
  const auto [left_passes, right_passes] = passes_per_side(f, iterate.model.rank());
  SweepCounter counter(options);
  Model next = iterate.model;
  Matrix P, G;
  for (bool more = true; more;) {
    f.data().apply(next.right, P);  // left side: P = Y V, G = V^T V
    G = gram_of(next.right);
    update_side(left, P, G, options.fixed_left, first_left, left_passes, options, next.left, next.weights);
    f.data().apply_transposed(next.left, P);  // right side: P = Y^T U, G = U^T U
    G = gram_of(next.left);
    update_side(right, P, G, options.fixed_right, first_right, right_passes, options, next.right,
                next.weights);
    const double reached = objective_of(f, P, G, next.right * next.weights.asDiagonal());

    const double before = iterate.objective;
    const bool better = reached < before;
    if (better) iterate = {next, products_with_target(P, next.right), reached};
    more = counter.another(before, iterate.objective) && better;
  }
  return counter.outcome();
}

/// One side of a factorization whose entries are free of each other.
struct Side {
  bool nonnegative;
  ElasticNet penalty = {};

  /// On x >= 0 the l1 norm is linear: P and G of the other side hold the whole penalty.
  void charge(Matrix& P, Matrix& G) const {
    if (penalty.l1 > 0) P.array() -= penalty.l1;
    if (penalty.l2 > 0) G.diagonal().array() += penalty.l2;
  }

  /// A column whose partner is zero fits nothing: no sweep moves it, and all that it pays is saved.
  void drop_unused(const Matrix& G, Matrix& X) const {
    if (penalty.l1 > 0)
      for (Index i = 0; i < X.cols(); ++i)
        if (!(G(i, i) > 0)) X.col(i).setZero();
  }
};

/// Sweeps that run ahead: after an update X of a side the other side sees X + beta (X - X_before), kept in
/// the cone. The step beta grows while the objective falls and shrinks where it rises; then the last good
/// pair is taken up again. `products` becomes <w_i h_i^T, Y>, where the pair was improved.
CorrectionOutcome run_ahead_sweeps(const FrobeniusObjective& f, const Side& left, const Side& right,
                                   const CorrectionOptions& options, PenalizedFactors& pair,
                                   Vector& products) {
  constexpr double kShrink = 1.5, kGrow = 1.05, kGrowLimit = 1.01;
  constexpr double kRough = 1e-6;  // a tolerance from here on asks for an early end, not for the bottom
  constexpr int kPlain = 2;        // after so many failures a sweep does not run ahead
  double beta = 0.5, limit = 1;
  Matrix &W = pair.left, &H = pair.right;  // the last good pair
  Matrix W_ahead = W, H_ahead = H, W_before = W, H_before = H, W_next, H_next, P, G;
  int failures = 0;  // since the last sweep that f fell in
  const auto run_ahead = [&](const Matrix& now, const Matrix& before, bool nonnegative, Matrix& ahead) {
    ahead = now + (failures < kPlain ? beta : 0.0) * (now - before);
    if (nonnegative) ahead = ahead.cwiseMax(0.0);
  };

  const auto [left_passes, right_passes] = passes_per_side(f, W.cols());
  SweepCounter counter(options, /*momentum=*/options.tolerance < kRough);
  for (bool more = true; more;) {
    f.data().apply(H_ahead, P);
    G = gram_of(H_ahead);
    left.charge(P, G);
    W_next = W_ahead;
    coordinate_sweep(P, G, {left.nonnegative, 0, left_passes, options.threads}, W_next);
    left.drop_unused(G, W_next);
    run_ahead(W_next, W_before, left.nonnegative, W_ahead);
    f.data().apply_transposed(W_ahead, P);
    G = gram_of(W_ahead);
    right.charge(P, G);
    H_next = H_ahead;
    coordinate_sweep(P, G, {right.nonnegative, 0, right_passes, options.threads}, H_next);
    right.drop_unused(G, H_next);
    const double reached = objective_of(f, P, G, H_next) + left.penalty.cost(W_ahead);
    const double before = pair.objective;
    const bool better = reached < before, at_rest = !better && failures >= kPlain;
    if (better) {
      pair.objective = reached;
      products = products_with_target(P, H_next);
      W = W_ahead;
      H = H_next;
      run_ahead(H_next, H_before, right.nonnegative, H_ahead);
      W_before.swap(W_next);
      H_before.swap(H_next);
      limit = std::min(1.0, kGrowLimit * limit);
      beta = std::min(limit, kGrow * beta);
    } else {  // too far: back to the last good pair, with a shorter step and no momentum
      limit = beta;
      beta /= kShrink;
      W_ahead = W_before = W;
      H_ahead = H_before = H;
    }
    failures = better ? 0 : failures + 1;
    more = counter.another(before, pair.objective, /*tentative=*/!better && !at_rest) && !at_rest;
  }
  return counter.outcome();
}

CorrectionOutcome extrapolated_sweeps(const FrobeniusObjective& f, bool left_nonnegative,
                                      bool right_nonnegative, const CorrectionOptions& options,
                                      Iterate& iterate) {
  Model& model = iterate.model;
  // An atom without weight keeps its right factor, so that its left one can grow again.
  const double mean = model.weights.cwiseAbs().mean(), typical = mean > 0 ? std::sqrt(mean) : 1.0;
  const Vector root = model.weights.cwiseAbs().cwiseSqrt();
  const Vector right_scale =
      (root.array() > 0).select(model.weights.cwiseSign().cwiseProduct(root).array(), typical).matrix();
  PenalizedFactors pair{model.left * root.asDiagonal(), model.right * right_scale.asDiagonal(),
                        iterate.objective};
  Vector products;
  const auto outcome = run_ahead_sweeps(f, {left_nonnegative}, {right_nonnegative}, options, pair, products);
  iterate.objective = pair.objective;
  if (products.size() == 0) return outcome;
  for (Index i = 0; i < model.rank(); ++i) {
    const double w = pair.left.col(i).norm(), h = pair.right.col(i).norm();
    model.weights[i] = w * h;
    if (!(model.weights[i] > 0)) continue;
    model.left.col(i) = pair.left.col(i) / w;
    model.right.col(i) = pair.right.col(i) / h;
    iterate.target_products[i] = products[i] / model.weights[i];
  }
  return outcome;
}

/// The scale between the two factors of an atom changes what they pay and nothing else: t with the least
/// l1 |w| t + l2/2 |w|^2 t^2 for t w, and the same for h / t. Where one of them pays nothing there is none.
double cheapest_scale(const ElasticNet& left, ConstVectorRef w, const ElasticNet& right, ConstVectorRef h) {
  const double w1 = left.l1 * w.sum(), w2 = left.l2 * w.squaredNorm(), h1 = right.l1 * h.sum(),
               h2 = right.l2 * h.squaredNorm();
  if (!(w1 + w2 > 0 && h1 + h2 > 0)) return 1;
  double u = 0;  // log t, in which the cost is convex
  for (int step = 0; step < 50; ++step) {
    const double t = std::exp(u), slope = w1 * t + w2 * t * t - h1 / t - h2 / (t * t),
                 curvature = w1 * t + 2 * w2 * t * t + h1 / t + 2 * h2 / (t * t);
    const double move = slope / curvature;  // at most 1 in size
    u -= move;
    if (std::abs(move) < 1e-12) break;
  }
  return std::exp(u);
}

void require_start(const FrobeniusObjective& f, const PenalizedFactors& factors) {
  const auto& [W, H, objective] = factors;
  if (W.rows() != f.rows() || H.rows() != f.cols() || W.cols() != H.cols())
    throw InvalidArgument(fmt::format("factors of {} x {} and {} x {} do not fit {} x {} data", W.rows(),
                                      W.cols(), H.rows(), H.cols(), f.rows(), f.cols()));
  for (const Matrix* X : {&W, &H})
    if (!X->allFinite() || (X->size() > 0 && X->minCoeff() < 0))
      throw InvalidArgument("factors: every entry must be finite and at least 0");
}

void require_penalty(const ElasticNet& penalty) {
  for (const double value : {penalty.l1, penalty.l2})
    if (!(value >= 0 && std::isfinite(value)))
      throw InvalidArgument(fmt::format("penalty {}: must be finite and at least 0", value));
}

}  // namespace

CorrectionOutcome correct_by_sweeps(const FrobeniusObjective& f, const Atoms& left, const Atoms& right,
                                    const CorrectionOptions& options, Iterate& iterate) {
  if (options.sweeps < 1 || iterate.model.rank() == 0) return {};
  const bool everything =
      options.last >= iterate.model.rank() && options.fixed_left == 0 && options.fixed_right == 0;
  if (everything && options.sweeps > 2 && acts_on_coordinates(left.traits(), options) &&
      acts_on_coordinates(right.traits(), options))
    return extrapolated_sweeps(f, !left.traits().symmetric, !right.traits().symmetric, options, iterate);
  return plain_sweeps(f, left, right, options, iterate);
}

CorrectionOutcome penalized_sweeps(const FrobeniusObjective& f, const ElasticNet& left,
                                   const ElasticNet& right, const CorrectionOptions& options,
                                   PenalizedFactors& factors) {
  require_start(f, factors);
  require_penalty(left);
  require_penalty(right);
  auto& [W, H, objective] = factors;
  if (options.sweeps > 0)
    for (Index i = 0; i < W.cols(); ++i) {
      const double scale = cheapest_scale(left, W.col(i), right, H.col(i));
      W.col(i) *= scale;
      H.col(i) /= scale;
    }
  Matrix P;
  f.data().apply_transposed(W, P);
  objective = objective_of(f, P, gram_of(W), H) + left.cost(W) + right.cost(H);
  if (options.sweeps < 1 || W.cols() == 0) return {};
  Vector products;
  return run_ahead_sweeps(f, {true, left}, {true, right}, options, factors, products);
}

}  // namespace pursuit
