#include "pursuit/algorithms/omp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/work.hpp"
#include "pursuit/algorithms/dictionary_space.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {
namespace {

constexpr Index kProductsAtOnce = Index(1) << 22;  // of columns and signals that are held at a time

/// Signals, each near one, whatever its units.
struct Signals {
  Matrix values;
  Vector scales;
};

/// What became of one signal.
struct Code {
  std::vector<Index> atoms;
  Vector weights;
  double relative_error;
  Stop stop;
};

template <class Space>
Code code_of(const Space& space, const PursuitOutcome& outcome) {
  return {space.atoms(), space.weights(),
          outcome.trace.empty() ? double(space.null_objective() > 0) : outcome.trace.back().relative_error,
          outcome.stop};
}

WeightRule rule_of(const OmpOptions& options, double scale) {
  WeightRule rule = options.weights;
  rule.radius *= scale;
  return rule;
}

/// Every signal on its own, by inner products of columns.
std::vector<Code> codes_one_by_one(const UnitColumns& dictionary, const Signals& signals,
                                   const OmpOptions& options, int threads) {
  const Matrix correlations = dictionary.products(signals.values);  // D^T y of every signal
  std::vector<Code> codes(std::size_t(signals.values.cols()));
  parallel_for(signals.values.cols(), threads, [&](Index s) {
    DictionarySpace space(dictionary, correlations.col(s), signals.values.col(s).squaredNorm(),
                          rule_of(options, signals.scales[s]), options.atoms);
    codes[std::size_t(s)] =
        code_of(space, pursue(space, {.rank = options.atoms}, Run({.target_error = options.target_error})));
  });
  return codes;
}

/// All signals together, atom by atom: one product of the dictionary with all residuals serves a step of
/// each.
std::vector<Code> codes_in_step(const UnitColumns& dictionary, const Signals& signals,
                                const OmpOptions& options, int threads) {
  struct Course {
    Course(const UnitColumns& dictionary, ConstVectorRef signal, const WeightRule& rule,
           const OmpOptions& options)
        : run({.target_error = options.target_error}),
          space(dictionary, signal, rule),
          pursuit(space, {.rank = options.atoms}, run) {}
    Run run;
    ResidualSpace space;
    Pursuit<ResidualSpace> pursuit;
  };
  const Index count = signals.values.cols();
  std::vector<std::unique_ptr<Course>> courses(static_cast<std::size_t>(count));
  std::vector<Course*> going(courses.size());
  parallel_for(count, threads, [&](Index s) {
    courses[std::size_t(s)] = std::make_unique<Course>(dictionary, signals.values.col(s),
                                                       rule_of(options, signals.scales[s]), options);
    going[std::size_t(s)] = courses[std::size_t(s)].get();
  });
  while (!going.empty()) {
    Matrix residuals(dictionary.dimension(), Index(going.size()));
    parallel_for(Index(going.size()), threads,
                 [&](Index k) { residuals.col(k) = going[std::size_t(k)]->space.residual(); });
    const Matrix correlations = dictionary.products(residuals);
    parallel_for(Index(going.size()), threads, [&](Index k) {
      Course& course = *going[std::size_t(k)];
      course.space.give_correlations(correlations.col(k));
      course.pursuit.step();
    });
    std::erase_if(going, [](const Course* course) { return !course->pursuit.is_growing(); });
  }
  std::vector<Code> codes(courses.size());
  parallel_for(count, threads, [&](Index s) {
    Course& course = *courses[std::size_t(s)];
    codes[std::size_t(s)] = code_of(course.space, course.pursuit.finish());
    courses[std::size_t(s)].reset();
  });
  return codes;
}

/// Atoms ascending, each once: matching pursuit may take one twice, and its weights add up.
using Column = std::vector<std::pair<int, double>>;

Column column_of(const Code& code, const Vector& norms, double scale) {
  Column column;
  column.reserve(code.atoms.size());
  for (Index k = 0; k < code.weights.size(); ++k)
    if (const Index j = code.atoms[std::size_t(k)]; code.weights[k] != 0)
      column.emplace_back(int(j), code.weights[k] / norms[j] / scale);
  std::stable_sort(column.begin(), column.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (const auto& entry : column) {
    if (kept > 0 && column[kept - 1].first == entry.first)
      column[kept - 1].second += entry.second;
    else
      column[kept++] = entry;
  }
  column.resize(kept);
  return column;
}

Eigen::SparseMatrix<double> matrix_of(const std::vector<Column>& columns, Index rows, int threads) {
  Eigen::SparseMatrix<double> codes(rows, Index(columns.size()));
  std::vector<Index> starts(columns.size() + 1, 0);
  for (std::size_t s = 0; s < columns.size(); ++s) starts[s + 1] = starts[s] + Index(columns[s].size());
  codes.resizeNonZeros(starts.back());
  std::copy(starts.begin(), starts.end(), codes.outerIndexPtr());
  parallel_for(Index(columns.size()), threads_for(double(starts.back()), threads), [&](Index s) {
    Index to = starts[std::size_t(s)];
    for (const auto& [row, value] : columns[std::size_t(s)]) {
      codes.innerIndexPtr()[to] = row;
      codes.valuePtr()[to++] = value;
    }
  });
  return codes;
}

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
  const int threads = resolve_threads(options.threads);
  data_matrix(signals, threads);  // refuses empty and non-finite input
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
  std::vector<Column> columns(static_cast<std::size_t>(signals.cols()));
  const Index at_once = std::max<Index>(kProductsAtOnce / D.cols, 64);
  for (Index first = 0; first < signals.cols(); first += at_once) {
    const Index count = std::min(at_once, signals.cols() - first);
    Signals some{Matrix(signals.rows(), count), Vector(count)};
    parallel_for(count, threads_for(double(some.values.size()), threads), [&](Index s) {
      const auto signal = signals.col(first + s);
      some.scales[s] = unit_scale(signal.lpNorm<Eigen::Infinity>());
      some.values.col(s) = some.scales[s] * signal;
    });
    const std::vector<Code> codes = (dictionary.keeps_gram() || !many ? codes_one_by_one : codes_in_step)(
        dictionary, some, options, threads);
    parallel_for(count, threads_for(double(count * options.atoms), threads), [&](Index s) {
      const Code& code = codes[std::size_t(s)];
      result.stops[std::size_t(first + s)] = code.stop;
      result.relative_errors[first + s] = code.relative_error;
      columns[std::size_t(first + s)] = column_of(code, dictionary.norms(), some.scales[s]);
    });
  }
  result.codes = matrix_of(columns, D.cols, threads);
  return result;
}

}  // namespace pursuit
