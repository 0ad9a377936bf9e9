#include "pursuit/algorithms/pca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "algorithms/identity.hpp"
#include "algorithms/span_search.hpp"
#include "base/chunks.hpp"
#include "base/require.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/lanczos.hpp"
#include "linalg/products.hpp"
#include "linalg/randomized_svd.hpp"
#include "linalg/unit_blocks.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/random.hpp"

namespace pursuit {
namespace {

constexpr Index kMostVariablesForARoot = 2000;  // p x p is cheap to decompose up to here

void validate(const PcaOptions& o, Index most, Index p, const std::string& of_what) {
  require(o.components >= 1 && o.components <= most,
          fmt::format("components {}: {} have at least 1 and at most {} components", o.components, of_what,
                      most));
  o.atoms.require_dimension(p);
  require(
      o.atoms.traits().unit_norm,
      fmt::format("atoms {}: loadings are unit vectors, and members of this set are not", o.atoms.spec()));
  const bool simple = o.atoms.traits().coordinatewise();  // sphere or nonneg
  require(o.nonzeros.empty() || Index(o.nonzeros.size()) == o.components,
          fmt::format("nonzeros: {} numbers for {} components; there must be one for each", o.nonzeros.size(),
                      o.components));
  for (const Index k : o.nonzeros)
    require(k >= 1 && k <= p, fmt::format("nonzeros {}: must be 1 to {}", k, p));
  require(o.nonzeros.empty() || simple, fmt::format("nonzeros: {} has a structure of its own; with numbers "
                                                    "for each component it must be sphere or nonneg",
                                                    o.atoms.spec()));
  require(o.total_nonzeros == 0 || (simple && o.nonzeros.empty()),
          "total_nonzeros: goes with atoms sphere or nonneg, and not with numbers for each component");
  require(o.total_nonzeros == 0 || (o.total_nonzeros >= o.components && o.total_nonzeros <= p * o.components),
          fmt::format("total_nonzeros {}: must be {} (one for each component) to {}", o.total_nonzeros,
                      o.components, p * o.components));
  require(o.initial.size() == 0 ||
              (o.initial.rows() == p && o.initial.cols() <= o.components && o.initial.allFinite()),
          fmt::format("initial: {} x {} loadings; must be finite, of {} variables and at most {} components",
                      o.initial.rows(), o.initial.cols(), p, o.components));
  require(o.orthogonality >= 0 && std::isfinite(o.orthogonality),
          fmt::format("orthogonality {}: must be 0 or more", o.orthogonality));
}

std::vector<Atoms> sets_of(const PcaOptions& o) {
  std::vector<Atoms> sets;
  for (Index i = 0; i < o.components; ++i) sets.emplace_back(o.atoms.shared(i));
  const auto bounded = [&](Index k) { return o.atoms + sparse(k); };
  for (std::size_t i = 0; i < o.nonzeros.size(); ++i) sets[i] = bounded(o.nonzeros[i]);
  if (o.total_nonzeros > 0)  // the search shares them out; evenly at first
    std::fill(sets.begin(), sets.end(), bounded(std::max<Index>(1, o.total_nonzeros / o.components)));
  return sets;
}

/// Sweeps that an effort stands for: a fixed amount of work (a second or so on a machine of 2020), so that
/// the result depends on the input alone.
int sweeps_for(PcaOptions::Effort effort, double product_work, Index p, Index r) {
  if (effort == PcaOptions::Effort::low) return 1;
  const double products = 4 * product_work * double(r), fits = double(p) * double(r);
  const double sweep = 1e-10 * products + 6e-8 * fits;  // seconds or so
  return int(effort == PcaOptions::Effort::normal ? std::clamp(2.3 / sweep, 60.0, 3500.0)
                                                  : std::clamp(75 / sweep, 2400.0, 200000.0));
}

/// Largest entry of every column positive, where the set allows it, and the largest variance first, where all
/// have the same set.
Matrix arranged(const LinearOperator& A, Matrix U, const PcaOptions& o) {
  if (o.atoms.traits().symmetric)
    for (auto u : U.colwise()) {
      Index place = 0;
      u.cwiseAbs().maxCoeff(&place);
      if (u[place] < 0) u = -u;
    }
  if (!o.nonzeros.empty() || o.atoms.varies()) return U;
  Matrix scores;
  A.apply(U, scores);
  const Vector variances = scores.colwise().squaredNorm().transpose();
  std::vector<Index> order(std::size_t(U.cols()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = Index(i);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return variances[a] > variances[b]; });
  return U(Eigen::all, order);
}

/// Whether loadings may be any unit vectors: PCA itself.
bool loadings_are_free(const PcaOptions& o) {
  return o.atoms.traits().is_sphere() && o.nonzeros.empty() && o.total_nonzeros == 0;
}

/// How the search for components is limited: explaining everything is no reason to stop.
RunLimits limits_of(const PcaOptions& o) {
  return {.time_limit = o.time_limit, .target_error = -1};
}

/// The matrix for a search, which reads it again and again and needs few digits: in single precision, times a
/// power of four, and column by column, since of sparse loadings few columns are read. Null where there would
/// be much to copy.
struct SearchMatrix {
  DataMatrixPtr data;
  double scale;
};
SearchMatrix search_matrix(const LinearOperator& A, double product_work, Index components, int sweeps) {
  constexpr double kLargest = 0x1p24;
  constexpr Index kShare =
      20;  // of the products of all sweeps; the copy costs one with as many columns as rows
  const Index n = A.rows(), p = A.cols();
  if (components == 1 || 2 * product_work < double(n) * double(p) || double(n) * double(p) > kLargest ||
      n > 2 * components * sweeps / kShare)
    return {nullptr, 1};
  Matrix transposed;
  A.apply_transposed(Matrix::Identity(n, n), transposed);
  const Chunks columns(p);
  std::vector<double> largest(std::size_t(columns.count()));
  parallel_for(columns.count(), A.threads(), [&](Index chunk) {
    largest[std::size_t(chunk)] =
        transposed.middleRows(columns.first(chunk), columns.length(chunk)).cwiseAbs().maxCoeff();
  });
  const double scale = unit_scale(*std::max_element(largest.begin(), largest.end()));
  Eigen::MatrixXf copy(n, p);
  parallel_for(columns.count(), A.threads(), [&](Index chunk) {
    const Index first = columns.first(chunk), count = columns.length(chunk);
    copy.middleCols(first, count) = (scale * transposed.middleRows(first, count).transpose()).cast<float>();
  });
  return {data_matrix(std::move(copy), A.threads()), scale};
}

/// Loadings to begin with, filled up with what the leading components add to their span.
Matrix filled_up(const Matrix& initial, const Matrix& leading, const Vector& values) {
  if (initial.size() == 0 || initial.cols() == leading.cols()) return initial;
  const Matrix basis = orthonormal_basis(initial);
  Matrix rest = leading * values.asDiagonal();
  rest -= basis * (basis.transpose() * rest);
  Matrix result(initial.rows(), leading.cols());
  result.leftCols(initial.cols()) = initial;
  for (Index k = initial.cols(); k < result.cols(); ++k) {
    Index largest = 0;
    const double norm = std::sqrt(rest.colwise().squaredNorm().maxCoeff(&largest));
    result.col(k) = norm > 0 ? Vector(rest.col(largest) / norm) : Vector(leading.col(k));
    rest -= result.col(k) * (result.col(k).transpose() * rest).eval();
  }
  return result;
}

/// Loadings for centred data A.
Matrix find_loadings(const LinearOperator& A, double total, double product_work, const PcaOptions& o,
                     Run& run, PcaResult& result) {
  const bool dense = loadings_are_free(o);
  if (run.checkpoints()) run.begin_checkpoints(identity_of(A, o));
  const bool searching = run.checkpoints() && run.checkpoints()->resumes(kSpanPart);
  Random random(o.seed);
  // A place to start from need not be exact, and on large data its last digits would cost more than the
  // search.
  constexpr double kLarge = 5e6;
  constexpr int kPowerIterations = 4;
  const SingularTriplets leading = searching ? SingularTriplets{{}, Matrix(A.cols(), 0), Vector(0)}
                                   : dense || product_work < kLarge
                                       ? truncated_svd(A, o.components, asking(run, o.components, total),
                                                       kUsualResidual, run.checkpoints())
                                       : randomized_svd(A, o.components, kPowerIterations, random);
  if (dense) {
    if (!leading.converged)
      run.finish(Stop::not_converged);
    else if (leading.values.size() < o.components)
      run.finish(Stop::no_ascent);
    return leading.right;
  }
  Matrix start = leading.right;
  Vector values = leading.values;
  if (start.cols() < o.components) {  // fewer directions vary: the rest start anywhere
    const Index found = start.cols();
    start.conservativeResize(Eigen::NoChange, o.components);
    values.conservativeResize(o.components);
    start.rightCols(o.components - found) =
        Random(o.seed).gaussian_matrix(start.rows(), o.components - found);
    start.rightCols(o.components - found).colwise().normalize();
    values.tail(o.components - found).setConstant(1e-3 * (found > 0 ? values.head(found).maxCoeff() : 1.0));
  }
  const auto watch = [&](int done, int allowed, double value) {
    return run.step_done({.phase = Moment::Phase::polish,
                          .rank = o.components,
                          .target_rank = o.components,
                          .sweep = std::min(done, allowed),
                          .max_sweeps = allowed,
                          .relative_error = std::sqrt(std::max(0.0, 1 - value))});
  };
  const int sweeps = sweeps_for(o.effort, product_work, A.cols(), o.components);
  const SearchMatrix copy = search_matrix(A, product_work, o.components, sweeps);
  SpanProblem problem{copy.data ? *copy.data : A, copy.scale * copy.scale * total,    sets_of(o),
                      o.total_nonzeros,           !o.atoms.traits().symmetric,        o.orthogonality,
                      resolve_threads(o.threads), filled_up(o.initial, start, values)};
  SpanSolution found = search_span(problem, start, values, sweeps, o.seed, watch, run.checkpoints());
  result.sweeps = found.sweeps;
  Matrix loadings = std::move(found.loadings);
  if (copy.data) {
    const SpanProblem exact{A,
                            total,
                            std::move(problem.sets),
                            problem.total_nonzeros,
                            problem.nonnegative,
                            problem.orthogonality,
                            problem.threads,
                            {}};
    loadings = polish_span(exact, std::move(loadings)).loadings;
  }
  return arranged(A, std::move(loadings), o);
}

void explain(const DataMatrix& A, PcaResult& result) {
  const auto explained = explained_variance(A, result.loadings);
  result.explained_plain = explained.plain;
  result.explained_span = explained.span;
  result.explained_shares = explained.shares;
}

/// All of them at once: leaving them out one by one would take as many runs.
void require_varying(const Vector& means, const Vector& deviations, const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  std::vector<std::string> constant;
  for (Index j = 0; j < deviations.size(); ++j)
    if (!(deviations[j] > 1e-12 * std::abs(means[j])))
      constant.push_back(names.empty() ? fmt::format("{}", j + 1)
                                       : fmt::format("{} ({})", j + 1, names[std::size_t(j)]));
  if (constant.empty()) return;
  if (constant.size() == 1)
    throw InvalidInput(
        fmt::format("column {} is constant: it has no correlation; leave it out", constant[0]));
  const std::size_t more = constant.size() - std::min(constant.size(), kShown);
  constant.resize(constant.size() - more);
  throw InvalidInput(fmt::format("columns {}{} are constant: they have no correlation; leave them out",
                                 fmt::join(constant, ", "),
                                 more > 0 ? fmt::format(" and {} more", more) : ""));
}

}  // namespace

Matrix least_squares_scores(const Matrix& loadings, const Matrix& projections) {
  return least_squares(gram_of(loadings), projections.transpose()).transpose();
}

PcaResult pca(const DataMatrixPtr& samples, const PcaOptions& options) {
  Run run(limits_of(options), options.observer, {}, options.checkpoints);
  const Index n = samples->rows(), p = samples->cols();
  validate(options, std::min(n - 1, p), p, fmt::format("{} samples of {} variables", n, p));
  const auto [data, scale] = comfortable(samples);
  DataMatrixPtr A = centered(data);
  PcaResult result;
  result.means = data->column_means();
  if (options.correlation) {
    result.deviations = (squared_column_norms(*A) / double(n - 1)).cwiseSqrt();
    require_varying(result.means, result.deviations, options.names);
    A = column_scaled(A, result.deviations.cwiseInverse());
  }
  const double total = A->squared_norm();
  constexpr double kRounding = 1e-14;  // of means
  if (!(total > kRounding * kRounding * (options.correlation ? 0.0 : data->squared_norm())))
    throw InvalidInput("every column of the data is constant: there is no variance to explain");

  // For a search with many products p x p numbers say the same; for exact components squares lose half the
  // digits.
  if (n > p && p <= kMostVariablesForARoot && !loadings_are_free(options)) {
    Matrix C;
    A->apply_gram(Matrix::Identity(p, p), C);
    const Matrix root = semidefinite_root(0.5 * (C + C.transpose()));
    result.loadings = find_loadings(*data_matrix(root, options.threads), total, double(p) * double(p),
                                    options, run, result);
  } else {
    result.loadings = find_loadings(*A, total, A->product_work(), options, run, result);
  }
  Matrix projections;
  A->apply(result.loadings, projections);
  result.scores = least_squares_scores(result.loadings, projections);
  explain(*A, result);
  result.means /= scale;
  if (options.correlation)
    result.deviations /= scale;  // scores are in units of them
  else
    result.scores /= scale;
  if (!result.scores.allFinite() || !result.means.allFinite())
    throw InvalidInput("scores of the samples overflow; divide the data by a large number first");
  result.stop = run.stop();
  result.seconds = run.seconds();
  return result;
}

PcaResult pca_of_covariance(const Matrix& covariance, const PcaOptions& options) {
  Run run(limits_of(options), options.observer, {}, options.checkpoints);
  const Index p = covariance.cols();
  if (covariance.rows() != p)
    throw InvalidInput(fmt::format("a covariance must be square, not {} x {}", covariance.rows(), p));
  const auto [data, scale] = comfortable(data_matrix(covariance));  // refuses entries that are not finite
  const double largest = data->largest_magnitude() / scale;
  for (Index j = 0; j < p; ++j) {
    if (covariance(j, j) < 0)
      throw InvalidInput(fmt::format("a covariance cannot have the negative diagonal entry {:g} at {}",
                                     covariance(j, j), j + 1));
    for (Index i = 0; i < j; ++i)
      if (std::abs(covariance(i, j) - covariance(j, i)) > 1e-9 * largest)
        throw InvalidInput(fmt::format(
            "a covariance must be symmetric: {:g} at row {}, column {}, but {:g} at row {}, column {}",
            covariance(i, j), i + 1, j + 1, covariance(j, i), j + 1, i + 1));
  }
  validate(options, p, p, fmt::format("{} variables", p));
  Matrix C = scale * covariance;
  PcaResult result;
  if (options.correlation) {
    result.deviations = C.diagonal().cwiseSqrt();  // of the scaled covariance until the end
    for (Index j = 0; j < p; ++j)
      if (!(result.deviations[j] > 0))
        throw InvalidInput(
            fmt::format("variable {} does not vary: it has no correlation; leave it out", j + 1));
    C = result.deviations.cwiseInverse().asDiagonal() * C * result.deviations.cwiseInverse().asDiagonal();
  }
  if (!(C.trace() > 0)) throw InvalidInput("the covariance is zero: there is no variance to explain");
  double smallest = 0;
  const Matrix root = semidefinite_root(C, &smallest);
  if (smallest < -1e-8)
    throw InvalidInput(fmt::format(
        "the covariance is not positive semidefinite: it has an eigenvalue of {:g} times the largest",
        smallest));
  const DataMatrixPtr A = data_matrix(root, options.threads);
  result.loadings = find_loadings(*A, A->squared_norm(), double(p) * double(p), options, run, result);
  explain(*A, result);
  result.deviations /= std::sqrt(scale);
  result.stop = run.stop();
  result.seconds = run.seconds();
  return result;
}

Expansion factorization_of(const PcaResult& result) {
  Expansion model;
  model.right() = result.loadings;
  model.weights = result.scores.colwise().norm().transpose();
  model.left() = result.scores * model.weights.cwiseMax(1e-300).cwiseInverse().asDiagonal();
  return model;
}

}  // namespace pursuit
