#include "pursuit/algorithms/omp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "pursuit/algorithms/dictionary_space.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {
namespace {

constexpr Index kProductsAtOnce = Index(1) << 22;  // of columns and signals that are held at a time

}  // namespace

OmpResult omp(const Matrix& D, const Matrix& signals, const OmpOptions& options) {
  return omp(view_of(D), signals, options);
}

OmpResult omp(const DenseView<double>& D, const Matrix& signals, const OmpOptions& options) {
  if (D.rows != signals.rows())
    throw InvalidArgument(fmt::format(
        "the dictionary has {} rows and the signals have {}; they must be equal", D.rows, signals.rows()));
  if (options.atoms < 1 || options.atoms > D.cols)
    throw InvalidArgument(fmt::format("atoms {}: must be between 1 and the {} columns of the dictionary",
                                      options.atoms, D.cols));
  if (!(options.target_error >= 0 && options.target_error < 1))
    throw InvalidArgument(
        fmt::format("target_error {}: must be at least 0 and below 1", options.target_error));
  data_matrix(signals);  // refuses empty and non-finite input
  const int threads = resolve_threads(options.threads);
  if (const auto [data, scale] = comfortable(data_matrix(D, threads)); scale != 1) {
    Matrix near_one(D.rows, D.cols);
    for (Index j = 0; j < D.cols; ++j)
      for (Index i = 0; i < D.rows; ++i)
        near_one(i, j) = scale * (D.row_major ? D.data[i * D.stride + j] : D.data[i + j * D.stride]);
    OmpResult result = omp(near_one, signals, options);
    result.codes *= scale;
    return result;
  }

  const bool many =
      4 * signals.cols() * options.atoms >= D.cols;  // then D^T D costs less than its columns one by one
  const UnitColumns dictionary(D, many, threads);

  OmpResult result;
  result.relative_errors.resize(signals.cols());
  result.stops.resize(std::size_t(signals.cols()));
  std::vector<std::vector<Eigen::Triplet<double>>> entries(std::size_t(signals.cols()));
  const Index at_once = std::max<Index>(kProductsAtOnce / D.cols, 64);
  for (Index first = 0; first < signals.cols(); first += at_once) {
    const Index count = std::min(at_once, signals.cols() - first);
    Matrix scaled = signals.middleCols(first, count);  // each near one, whatever its units
    const Vector scales = scaled.cwiseAbs().colwise().maxCoeff().transpose().unaryExpr(&unit_scale);
    scaled.array().rowwise() *= scales.transpose().array();
    const Matrix correlations = dictionary.products(scaled);  // D^T y of every signal
    parallel_for(count, threads, [&](Index i) {
      const Index s = first + i;
      const double norm_squared = scaled.col(i).squaredNorm();
      WeightRule weights = options.weights;
      weights.radius *= scales[i];
      DictionarySpace space(dictionary, correlations.col(i), norm_squared, weights, options.atoms);
      const auto outcome =
          pursue(space, {.rank = options.atoms}, Run({.target_error = options.target_error}));
      result.stops[std::size_t(s)] = outcome.stop;
      result.relative_errors[s] =
          outcome.trace.empty() ? double(norm_squared > 0) : outcome.trace.back().relative_error;
      for (Index k = 0; k < space.weights().size(); ++k)
        if (const Index j = space.atoms()[std::size_t(k)]; space.weights()[k] != 0)
          entries[std::size_t(s)].emplace_back(int(j), int(s),
                                               space.weights()[k] / dictionary.norms()[j] / scales[i]);
    });
  }
  std::vector<Eigen::Triplet<double>> all;
  for (const auto& list : entries) all.insert(all.end(), list.begin(), list.end());
  result.codes.resize(D.cols, signals.cols());
  result.codes.setFromTriplets(all.begin(), all.end());  // MP may take an atom twice: its weights add up
  return result;
}

}  // namespace pursuit
