#include "algorithms/span_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "linalg/cholesky.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/products.hpp"
#include "linalg/top_k.hpp"
#include "linalg/unit_blocks.hpp"
#include "objective/coordinate_sweep.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr double kTolerance = 1e-6;  // a sweep that gains less has converged
constexpr int kLoadingPasses = 2;    // over the loadings per product with the data
constexpr int kSweepsToConverge = 200;
constexpr int kRace = 6;         // sweeps after which a perturbation must be close to the best...
constexpr double kClose = 2e-3;  // ...by this much
constexpr double kStartingShare = 0.15, kChainShare = 0.85;  // of the sweeps: first starts; chains
constexpr int kSweepsForChains = 2000;                       // from this many sweeps on, several chains
constexpr int kChains = 5;                                   // at least
constexpr int kSweepsOfAChain = 9000;  // enough for one to settle; longer searches have more chains

class Search {
 public:
  Search(const SpanProblem& problem, int sweeps, std::uint64_t seed,
         const std::function<bool(int, int, double)>& watch)
      : p_(problem), budget_(sweeps), random_(seed), watch_(watch), sets_(problem.sets) {}

  /// One component: power steps from the leading direction, its opposite and the heaviest columns, all in one
  /// block; after a few steps the better ones go on to the end.
  SpanSolution run_single(const Matrix& leading) {
    constexpr Index kColumns = 30, kSurvivors = 8;
    constexpr int kSteps = 4;
    const std::vector<Index> columns = heaviest(std::min(kColumns, leading.rows()));
    Matrix U = Matrix::Zero(leading.rows(), 2 + Index(columns.size())), S, W;
    U.leftCols(2) << leading, -leading;
    for (std::size_t i = 0; i < columns.size(); ++i) U(columns[i], 2 + Index(i)) = 1;
    const auto step = [&] {
      for (Index i = 0; i < U.cols(); ++i) sets_[0]->maximize(W.col(i), U.col(i));
      p_.A.apply(U, S);
      p_.A.apply_transposed(S, W);
      ++used_;
      if (watch_ && !watch_(used_, budget_, S.colwise().squaredNorm().maxCoeff() / p_.total)) stopped_ = true;
    };
    W = U;
    for (int k = 0; k < kSteps && !stopped_; ++k) step();
    const auto order = descending(S.colwise().squaredNorm().transpose());
    const std::vector<Index> best(order.begin(), order.begin() + std::min(kSurvivors, U.cols()));
    U = Matrix(U(Eigen::all, best));
    W = Matrix(W(Eigen::all, best));
    for (double last = 0; !stopped_ && used_ < kSweepsToConverge;) {
      step();
      const double sum = S.squaredNorm();
      if (sum <= last * (1 + 1e-9)) break;
      last = sum;
    }
    Index winner = 0;
    const double value = S.colwise().squaredNorm().maxCoeff(&winner) / p_.total;
    return {U.col(winner), value};
  }

  SpanSolution run(const Matrix& leading, const Vector& values) {
    const Matrix scaled = leading * values.asDiagonal();
    const Index r = leading.cols();
    SpanSolution best;
    const auto consider = [&](Matrix U) {
      SpanSolution found = ascend(members(std::move(U)), kSweepsToConverge);
      if (found.value > best.value) best = std::move(found);
    };
    consider(scaled * varimax_rotation(scaled, Matrix::Identity(r, r)));
    if (more(0)) consider(leading);
    if (more(0)) consider(leading * varimax_rotation(leading, Matrix::Identity(r, r)));
    if (more(kStartingShare)) consider(heaviest_columns());
    if (more(kStartingShare)) consider(homotopy(scaled * varimax_rotation(scaled, Matrix::Identity(r, r))));
    const auto rotated = [&](bool with_scale) -> Matrix {
      const Matrix& base = with_scale ? scaled : leading;
      return base * varimax_rotation(base, orthonormal_basis(random_.gaussian_matrix(r, r)));
    };
    for (int i = 0; r > 1 && i < 12 && more(kStartingShare); ++i) consider(rotated(i % 2 == 0));

    // Perturbations of one solution end in its neighbourhood; with time for it, of several.
    const int chains = std::clamp(budget_ / kSweepsOfAChain, kChains, 4 * kChains);
    const double from = double(used_) / budget_, share = std::max(0.0, kChainShare - from) / chains;
    for (int chain = 1; r > 1 && budget_ >= kSweepsForChains && chain < chains && more(1); ++chain) {
      SpanSolution other = ascend(members(rotated(chain % 2 == 0)), kSweepsToConverge);
      perturb(other, from + share * chain);
      if (other.value > best.value) best = std::move(other);
    }
    perturb(best, 1);
    return best;
  }

 private:
  /// Whether to go on, up to a share of the budget.
  bool more(double share) { return !stopped_ && (share == 0 || used_ < share * budget_); }

  /// Every column replaced by the member of its set along it.
  Matrix members(Matrix U) const {
    for (Index i = 0; i < U.cols(); ++i) {
      const Vector g = U.col(i);
      sets_[std::size_t(i)]->fit(1.0, g, Sign::free, U.col(i));
    }
    return U;
  }

  /// Sweeps from U until they gain nothing; the best loadings on the way.
  SpanSolution ascend(Matrix U, int sweeps) {
    SpanSolution best{U, -1};
    double last = -1;
    Matrix S, Z, W;
    for (int sweep = 0; sweep < sweeps && !stopped_; ++sweep) {
      p_.A.apply(U, S);
      const Matrix gram = gram_of(U);
      Z = scores(gram, S);
      const double value = S.cwiseProduct(Z).sum() / p_.total - penalty(gram);
      if (value > best.value) best = {U, value};
      ++used_;
      if (watch_ && !watch_(used_, budget_, std::max(best.value, value))) stopped_ = true;
      if (value - last < kTolerance) break;
      last = value;
      p_.A.apply_transposed(Z, W);
      update_loadings(W, gram_of(Z), U);
    }
    return best;
  }

  static Matrix scores(const Matrix& gram, const Matrix& S) {
    const Cholesky factor(gram);
    if (factor.definite() && factor.reciprocal_condition() > 1e-12)
      return factor.solve(S.transpose()).transpose();
    return least_squares(gram, S.transpose()).transpose();  // dependent loadings
  }

  double penalty(const Matrix& gram) const {
    if (p_.orthogonality == 0) return 0;
    return p_.orthogonality * 0.5 * (gram.squaredNorm() - gram.diagonal().squaredNorm());
  }

  /// Best loadings for scores with Gram matrix G, W = A^T Z: X U^T is what is fitted, X = t u.
  void update_loadings(const Matrix& W, const Matrix& G, Matrix& U) {
    if (p_.total_nonzeros > 0) share_out(W, G, U);
    Matrix X = U;
    Vector u(U.rows()), g;
    for (int pass = 0; pass < kLoadingPasses; ++pass)
      for (Index i = 0; i < U.cols(); ++i) {
        if (!(G(i, i) > 0)) continue;
        leave_to(i, W, G, X, g);
        if (p_.orthogonality > 0) g = penalised(g, G(i, i), U, i);
        const double t = sets_[std::size_t(i)]->fit(G(i, i), g, Sign::free, u);
        if (t == 0) continue;
        U.col(i) = u;
        X.col(i) = t * u;
      }
  }

  /// The direction that minorises the gain (g . u)^2 / curvature less the cost of overlaps, at the current
  /// u_i: the first is convex and bounded by its tangent, the second has curvature at most the number of
  /// loadings.
  Vector penalised(const Vector& g, double curvature, const Matrix& U, Index i) const {
    const auto u = U.col(i);
    const double cost = p_.orthogonality * p_.total;
    Vector overlap = Vector::Zero(U.rows());
    for (Index j = 0; j < U.cols(); ++j)
      if (j != i) overlap += U.col(j).dot(u) * U.col(j);
    const Vector direction = g.dot(u) / curvature * g - cost * (overlap - double(U.cols() - 1) * u);
    return direction * (g.norm() / std::max(direction.norm(), 1e-300));
  }

  /// Shares the non-zeros out among the components: the largest gains of all entries decide.
  void share_out(const Matrix& W, const Matrix& G, const Matrix& U) {
    const Index p = U.rows(), r = U.cols();
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
    std::vector<Index> counts(static_cast<std::size_t>(r));
    Index sum = 0;
    for (Index i = 0; i < r; ++i) {
      counts[std::size_t(i)] = std::max<Index>(1, (gains.col(i).array() >= *nth).count());
      sum += counts[std::size_t(i)];
    }
    while (sum > p_.total_nonzeros) {  // ties, or components that would have had none
      --*std::max_element(counts.begin(), counts.end());
      --sum;
    }
    for (Index i = 0; i < r; ++i) sets_[std::size_t(i)] = sparse_set(counts[std::size_t(i)], p_.nonnegative);
  }

  static Atoms sparse_set(Index k, bool nonnegative) {
    return nonnegative ? nonneg() + sparse(k) : sparse(k);
  }

  static std::vector<Index> descending(const Vector& values) {
    std::vector<Index> order(static_cast<std::size_t>(values.size()));
    std::iota(order.begin(), order.end(), Index(0));
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] > values[b]; });
    return order;
  }

  std::vector<Index> heaviest(Index count) const {
    std::vector<Index> order = descending(squared_column_norms(p_.A));
    order.resize(std::size_t(count));
    return order;
  }

  /// What the heaviest columns regress on.
  Matrix heaviest_columns() const {
    const auto r = Index(sets_.size());
    const std::vector<Index> columns = heaviest(r);
    Matrix unit = Matrix::Zero(p_.A.cols(), r), image;
    for (Index i = 0; i < r; ++i) unit(columns[std::size_t(i)], i) = 1;
    p_.A.apply_gram(unit, image);
    return image;
  }

  /// Loadings that lose their entries little by little: few sweeps at every size.
  Matrix homotopy(Matrix U) {
    const std::vector<Atoms> wanted = sets_;
    constexpr double kShrink = 0.6;
    for (double share = kShrink;; share *= kShrink) {
      bool wider = false;
      for (std::size_t i = 0; i < sets_.size(); ++i) {
        const auto& set = wanted[i].traits().simple;
        const Index k = set ? set->max_nonzeros(U.rows()) : U.rows(), now = Index(share * double(U.rows()));
        if (!set || now <= k) {
          sets_[i] = wanted[i];
        } else {
          sets_[i] = sparse_set(now, set->nonnegative);
          wider = true;
        }
      }
      if (!wider) break;
      U = ascend(members(std::move(U)), 3).loadings;
    }
    sets_ = wanted;
    return U;
  }

  /// Goes on from perturbations of the solution, and moves whenever one ends better.
  void perturb(SpanSolution& current, double share) {
    for (int n = 0; more(share); ++n) {
      const std::vector<Atoms> sets = sets_;
      SpanSolution found = ascend(members(perturbed(current.loadings, n)), kRace);
      if (found.value > current.value - kClose) found = ascend(std::move(found.loadings), kSweepsToConverge);
      if (found.value > current.value)
        current = std::move(found);
      else
        sets_ = sets;
    }
  }

  Matrix perturbed(Matrix U, int n) {
    const Index p = U.rows(), r = U.cols();
    switch (r > 1 ? n % 3 : 0) {
      case 0: {  // noise, of a random size, on all of them
        const double size = std::pow(10.0, -1.5 * random_.uniform());
        const double entry = size * std::sqrt(double(r) / std::max(1.0, double((U.array() != 0).count())));
        return U + entry * random_.gaussian_matrix(p, r);
      }
      case 1: {  // two of them rotated, in the plane of what they regress on
        const Index a = random_.below(r), b = (a + 1 + random_.below(r - 1)) % r;
        const double angle = std::numbers::pi * (random_.uniform() - 0.5);
        Matrix pair(p, 2), image;
        pair << U.col(a), U.col(b);
        p_.A.apply_gram(pair, image);
        image.colwise().normalize();
        U.col(a) = std::cos(angle) * image.col(0) + std::sin(angle) * image.col(1);
        U.col(b) = std::cos(angle) * image.col(1) - std::sin(angle) * image.col(0);
        return U;
      }
      default: {  // one of them pulled towards a random direction of large variance
        const Index a = random_.below(r);
        Matrix direction, image;
        p_.A.apply_transposed(random_.gaussian_matrix(p_.A.rows(), 1), direction);
        p_.A.apply_gram(direction, image);
        U.col(a) = image.normalized() + 2 * random_.uniform() * U.col(a);
        return U;
      }
    }
  }

  const SpanProblem& p_;
  int budget_, used_ = 0;
  Random random_;
  const std::function<bool(int, int, double)>& watch_;
  std::vector<Atoms> sets_;
  bool stopped_ = false;
};

}  // namespace

Matrix varimax_rotation(const Matrix& L, Matrix rotation) {
  double last = 0;
  for (int iteration = 0; iteration < 200; ++iteration) {
    const Matrix rotated = L * rotation;
    const Vector means = rotated.cwiseAbs2().colwise().mean().transpose();
    const Matrix slope =
        transposed_product(L, Matrix(rotated.array().cube().matrix() - rotated * means.asDiagonal()));
    const ThinSvd svd = thin_svd(slope);
    rotation = svd.left * svd.right.transpose();
    const double value = svd.values.sum();
    if (value <= last * (1 + 1e-7)) break;
    last = value;
  }
  return rotation;
}

SpanSolution search_span(const SpanProblem& problem, const Matrix& leading, const Vector& leading_values,
                         int sweeps, std::uint64_t seed, const std::function<bool(int, int, double)>& watch) {
  Search search(problem, sweeps, seed, watch);
  return leading.cols() == 1 ? search.run_single(leading) : search.run(leading, leading_values);
}

}  // namespace pursuit
