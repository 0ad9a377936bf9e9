#include "pursuit/algorithms/omp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/parallel.hpp"
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
  std::vector<std::unique_ptr<Course>> courses;
  std::vector<Course*> going;
  for (Index s = 0; s < count; ++s) {
    courses.push_back(std::make_unique<Course>(dictionary, signals.values.col(s),
                                               rule_of(options, signals.scales[s]), options));
    going.push_back(courses.back().get());
  }
  while (!going.empty()) {
    Matrix residuals(dictionary.dimension(), Index(going.size()));
    for (std::size_t k = 0; k < going.size(); ++k) residuals.col(Index(k)) = going[k]->space.residual();
    const Matrix correlations = dictionary.products(residuals);
    parallel_for(Index(going.size()), threads, [&](Index k) {
      Course& course = *going[std::size_t(k)];
      course.space.give_correlations(correlations.col(k));
      course.pursuit.step();
    });
    std::erase_if(going, [](const Course* course) { return !course->pursuit.is_growing(); });
  }
  std::vector<Code> codes;
  codes.reserve(courses.size());
  for (const auto& course : courses) codes.push_back(code_of(course->space, course->pursuit.finish()));
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
  std::vector<Eigen::Triplet<double>> entries;
  const Index at_once = std::max<Index>(kProductsAtOnce / D.cols, 64);
  for (Index first = 0; first < signals.cols(); first += at_once) {
    Signals some{signals.middleCols(first, std::min(at_once, signals.cols() - first)), {}};
    some.scales = some.values.cwiseAbs().colwise().maxCoeff().transpose().unaryExpr(&unit_scale);
    some.values.array().rowwise() *= some.scales.transpose().array();
    const std::vector<Code> codes = (dictionary.keeps_gram() || !many ? codes_one_by_one : codes_in_step)(
        dictionary, some, options, threads);
    for (Index i = 0; i < Index(codes.size()); ++i) {
      const Code& code = codes[std::size_t(i)];
      result.stops[std::size_t(first + i)] = code.stop;
      result.relative_errors[first + i] = code.relative_error;
      for (Index k = 0; k < code.weights.size(); ++k)
        if (const Index j = code.atoms[std::size_t(k)]; code.weights[k] != 0)
          entries.emplace_back(int(j), int(first + i),
                               code.weights[k] / dictionary.norms()[j] / some.scales[i]);
    }
  }
  result.codes.resize(D.cols, signals.cols());
  result.codes.setFromTriplets(entries.begin(),
                               entries.end());  // MP may take an atom twice: its weights add up
  return result;
}

}  // namespace pursuit
