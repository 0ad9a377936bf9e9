#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "linalg/cholesky.hpp"
#include "pursuit/algorithms/sparse_codes.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

constexpr int kSweepsPerLook = 10;      // over what is not zero, between two looks at everything
constexpr Index kLargestSystem = 1000;  // solved at once
constexpr double kRidge = 1e-10;        // of the largest squared length of an atom

/// One signal: x, and the correlations q = c - G x of what is left.
class Descent {
 public:
  Descent(const Matrix& gram, ConstVectorRef products, double squared_norm, const LassoOptions& options,
          Vector start)
      : gram_(gram),
        products_(products),
        squared_norm_(squared_norm),
        options_(options),
        x_(std::move(start)),
        q_(products_ - gram_ * x_) {}

  bool run() {
    for (int sweep = 0; sweep < options_.max_sweeps;) {
      for (Index j = 0; j < x_.size(); ++j) step(j);
      ++sweep;
      refresh();
      if (gap() <= options_.tolerance) return true;
      for (int inner = 0; inner < kSweepsPerLook && sweep < options_.max_sweeps; ++inner, ++sweep)
        for (const Index j : support_) step(j);
      refresh();
      while (sweep < options_.max_sweeps && Index(support_.size()) <= kLargestSystem && settle()) ++sweep;
    }
    return gap() <= options_.tolerance;
  }

  /// Primal less dual objective, at the residual scaled into the dual's constraints.
  double gap() const {
    if (!(squared_norm_ > 0)) return 0;
    const double slope = options_.nonnegative ? q_.maxCoeff() : q_.cwiseAbs().maxCoeff();
    const double scale = slope > options_.alpha ? options_.alpha / slope : 1.0;
    const double fitted = x_.dot(products_), left = x_.dot(q_);
    const double residual = std::max(0.0, squared_norm_ - fitted - left);  // ||y - D x||^2
    const double primal = 0.5 * residual + options_.alpha * x_.lpNorm<1>();
    const double dual = scale * (squared_norm_ - fitted) - 0.5 * scale * scale * residual;
    return std::max(0.0, primal - dual) / squared_norm_;
  }

  const Vector& code() const { return x_; }

 private:
  /// The best x_j with the others fixed.
  void step(Index j) {
    const double curvature = gram_(j, j);
    if (!(curvature > 0)) return;
    const double target = q_[j] + curvature * x_[j];
    double value = std::max(0.0, std::abs(target) - options_.alpha) / curvature;
    if (target < 0) value = options_.nonnegative ? 0.0 : -value;
    const double change = value - x_[j];
    if (change == 0) return;
    x_[j] = value;
    q_ -= change * gram_.col(j);
  }

  /// While the signs stay, the best x on the support solves a linear system. Goes towards it as far as the
  /// first sign lasts (Lee et al. 2006); true where that one left and there is another system to solve. Where
  /// atoms are dependent a touch of ridge makes it the way along which the l1 norm falls at no error.
  bool settle() {
    if (support_.empty()) return false;
    const Vector signs = x_(support_).cwiseSign(), now = x_(support_);
    Matrix system = gram_(support_, support_);
    system.diagonal().array() += kRidge * system.diagonal().maxCoeff();
    const Cholesky factor(system);
    if (!factor.definite()) return false;  // coordinate steps will do
    const Vector best = now + factor.solve(q_(support_) - options_.alpha * signs);
    if (!best.allFinite()) return false;
    double length = 1;
    Index leaves = -1;
    for (Index i = 0; i < now.size(); ++i) {
      if (best[i] * signs[i] > 0) continue;
      const double until_zero = now[i] / (now[i] - best[i]);
      if (until_zero < length || leaves < 0) {
        length = std::min(length, until_zero);
        leaves = i;
      }
    }
    const Vector x_before = x_;
    const double before = objective();
    x_(support_) = now + length * (best - now);
    if (leaves >= 0) x_[support_[std::size_t(leaves)]] = 0;
    refresh();
    if (!(objective() < before)) {  // rounding, in a system that is nearly singular
      x_ = x_before;
      refresh();
      return false;
    }
    return leaves >= 0;
  }

  /// Support and correlations from x alone: the rounding of single steps goes.
  void refresh() {
    q_ = products_ - gram_ * x_;
    support_.clear();
    for (Index j = 0; j < x_.size(); ++j)
      if (x_[j] != 0) support_.push_back(j);
  }

  double objective() const {
    return 0.5 * (squared_norm_ - x_.dot(products_) - x_.dot(q_)) + options_.alpha * x_.lpNorm<1>();
  }

  const Matrix& gram_;
  const Vector products_;
  const double squared_norm_;
  const LassoOptions& options_;
  Vector x_, q_;
  std::vector<Index> support_;
};

}  // namespace

LassoResult lasso(const Matrix& gram, const Matrix& products, const Vector& squared_norms,
                  const LassoOptions& options, const Matrix& start) {
  const Index N = gram.rows(), count = products.cols();
  if (gram.cols() != N || products.rows() != N || squared_norms.size() != count)
    throw InvalidArgument(fmt::format("lasso: a {} x {} Gram matrix, {} x {} products and {} squared norms",
                                      N, gram.cols(), products.rows(), count, squared_norms.size()));
  if (start.size() > 0 && (start.rows() != N || start.cols() != count))
    throw InvalidArgument(
        fmt::format("lasso: a start of {} x {} for {} x {} codes", start.rows(), start.cols(), N, count));
  if (!(options.alpha >= 0 && std::isfinite(options.alpha)))
    throw InvalidArgument(fmt::format("alpha {}: must be finite and at least 0", options.alpha));
  if (!gram.allFinite() || !products.allFinite() || !squared_norms.allFinite() || !start.allFinite())
    throw InvalidArgument("lasso: every inner product must be finite");
  LassoResult result{Matrix::Zero(N, count), Vector::Zero(count), {}};
  std::vector<char> converged(std::size_t(count), 1);  // written from several threads: no packed bits
  if (N > 0)
    parallel_for(count, resolve_threads(options.threads), [&](Index s) {
      Vector first = Vector::Zero(N);
      if (start.size() > 0) first = start.col(s);
      if (options.nonnegative) first = first.cwiseMax(0.0);
      Descent descent(gram, products.col(s), squared_norms[s], options, std::move(first));
      converged[std::size_t(s)] = descent.run();
      result.codes.col(s) = descent.code();
      result.gaps[s] = descent.gap();
    });
  result.converged.assign(converged.begin(), converged.end());
  return result;
}

}  // namespace pursuit
