#include "pursuit/algorithms/sparse_codes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/products.hpp"
#include "pursuit/algorithms/pursue.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// A dictionary by its inner products as a space for Algorithm 1, which keeps what every step made of the
/// weights.
class PathSpace {
 public:
  using Atom = Index;

  PathSpace(const GramColumns& gram, ConstVectorRef products, double squared_norm)
      : gram_(gram),
        products_(products),
        residual_products_(products),
        inverse_norms_((gram.diagonal.array() > 0).select(gram.diagonal.array().rsqrt(), 0.0)),
        squared_norm_(squared_norm) {}

  double objective() const { return 0.5 * std::max(0.0, squared_norm_ - fitted_); }
  double null_objective() const { return 0.5 * squared_norm_; }
  WeightSystem weight_system() const { return WeightSystem(WeightRule::free); }

  Found<Atom> find_atom() const {
    Index best = 0;
    residual_products_.cwiseProduct(inverse_norms_).cwiseAbs().maxCoeff(&best);
    return {best, residual_products_[best], gram_.diagonal[best]};
  }
  Vector inner_products(Atom atom) const {
    Vector result(Index(columns_.size()));
    for (std::size_t i = 0; i < columns_.size(); ++i) result[Index(i)] = columns_[i][atom];
    return result;
  }
  void append(const Found<Atom>& found) {
    columns_.push_back(gram_.column(found.atom));
    path_.atoms.push_back(found.atom);
  }
  void set_weights(const Vector& weights) {
    residual_products_ = products_;
    fitted_ = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      residual_products_ -= weights[Index(i)] * columns_[i];
      fitted_ += weights[Index(i)] * products_[path_.atoms[i]];
    }
    path_.weights.push_back(weights);
  }

  OmpPath path(Stop stop) {
    path_.squared_error = 2 * objective();
    path_.stop = stop;
    return std::move(path_);
  }

 private:
  const GramColumns& gram_;
  Vector products_, residual_products_, inverse_norms_;
  double squared_norm_;
  double fitted_ = 0;  // <y, x>, which is ||x||^2 for the best x of a span
  std::vector<Vector> columns_;
  OmpPath path_;
};
static_assert(PursuitSpace<PathSpace>);

/// How far correlations can fall together before that of another atom joins them.
double next_meeting(const Vector& q, const Vector& fall, const std::vector<char>& taken, double level) {
  double nearest = level;
  for (Index j = 0; j < q.size(); ++j) {
    if (taken[std::size_t(j)]) continue;
    for (const double sign : {1.0, -1.0}) {
      const double closing = 1 - sign * fall[j], distance = std::max(0.0, level - sign * q[j]);
      if (closing > 0) nearest = std::min(nearest, distance / closing);
    }
  }
  return nearest;
}

Vector least_angle_code(const Matrix& gram, Vector q, Index atoms) {
  constexpr double kDependent = 1e-12, kNothing = 1e-14;
  Vector x = Vector::Zero(q.size());
  std::vector<char> taken(std::size_t(q.size()), 0);
  std::vector<Index> active;
  IncrementalCholesky factor;
  const double first = q.size() > 0 ? q.cwiseAbs().maxCoeff() : 0.0;
  while (Index(active.size()) < atoms) {
    Index best = -1;
    double level = 0;
    for (Index j = 0; j < q.size(); ++j)
      if (!taken[std::size_t(j)] && std::abs(q[j]) > level) level = std::abs(q[best = j]);
    if (best < 0 || level <= kNothing * first) break;
    taken[std::size_t(best)] = 1;
    if (!factor.append(gram.col(best)(active), gram(best, best), kDependent)) continue;  // it adds nothing
    active.push_back(best);
    Vector direction = q(active).cwiseSign();
    factor.solve_in_place(direction);
    const Vector fall = gram(Eigen::all, active) * direction;
    const double length = next_meeting(q, fall, taken, level);
    x(active) += length * direction;
    q -= length * fall;
  }
  return x;
}

}  // namespace

GramColumns gram_columns(const Matrix& gram) {
  return {gram.diagonal(), [&gram](Index j) -> Vector { return gram.col(j); }};
}

GramColumns gram_columns_of(const Matrix& dictionary) {
  return {dictionary.colwise().squaredNorm().transpose(),
          [&dictionary](Index j) -> Vector { return transposed_product(dictionary, dictionary.col(j)); }};
}

std::vector<OmpPath> omp_paths(const GramColumns& gram, const Matrix& products, const Vector& squared_norms,
                               Index atoms, const Vector& squared_errors, int threads) {
  const Index N = gram.diagonal.size(), count = products.cols();
  if (products.rows() != N || squared_norms.size() != count || squared_errors.size() != count)
    throw InvalidArgument(
        fmt::format("products of {} x {}, {} squared norms and {} squared errors for {} atoms",
                    products.rows(), count, squared_norms.size(), squared_errors.size(), N));
  if (atoms < 1 || atoms > N)
    throw InvalidArgument(
        fmt::format("atoms {}: must be between 1 and the {} columns of the dictionary", atoms, N));
  if (!gram.diagonal.allFinite() || !products.allFinite() || !squared_norms.allFinite())
    throw InvalidArgument("inner products: every one must be finite");
  std::vector<OmpPath> paths{std::size_t(count)};
  parallel_for(count, resolve_threads(threads), [&](Index s) {
    PathSpace space(gram, products.col(s), squared_norms[s]);
    const double share = squared_norms[s] > 0 ? squared_errors[s] / squared_norms[s] : 0.0;
    if (share >= 1) {
      paths[std::size_t(s)] = space.path(Stop::target_error);
      return;
    }
    const auto outcome =
        pursue(space, {.rank = atoms}, Run({.target_error = std::sqrt(std::max(0.0, share))}));
    paths[std::size_t(s)] = space.path(outcome.stop);
  });
  return paths;
}

Matrix least_angle_codes(const Matrix& gram, const Matrix& products, Index atoms, int threads) {
  if (gram.rows() != gram.cols() || gram.rows() != products.rows())
    throw InvalidArgument(fmt::format("least angles: a {} x {} Gram matrix and {} x {} products", gram.rows(),
                                      gram.cols(), products.rows(), products.cols()));
  if (!gram.allFinite() || !products.allFinite())
    throw InvalidArgument("least angles: every inner product must be finite");
  Matrix codes(products.rows(), products.cols());
  parallel_for(products.cols(), resolve_threads(threads),
               [&](Index s) { codes.col(s) = least_angle_code(gram, products.col(s), atoms); });
  return codes;
}

}  // namespace pursuit
