#include "pursuit/baselines/baselines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "pursuit/base/error.hpp"
#include "pursuit/base/timer.hpp"
#include "pursuit/baselines/cone_power.hpp"
#include "pursuit/baselines/empca.hpp"
#include "pursuit/baselines/generalized_power.hpp"
#include "pursuit/baselines/spannogram.hpp"

namespace pursuit {
namespace {

constexpr std::array<std::pair<const char*, Baseline>, 6> kMethods{{{"tpower", Baseline::truncated_power},
                                                                    {"gpower-l0", Baseline::gpower_l0},
                                                                    {"gpower-l1", Baseline::gpower_l1},
                                                                    {"empca", Baseline::empca},
                                                                    {"spannogram", Baseline::spannogram},
                                                                    {"cone-power", Baseline::cone_power}}};

/// The set as methods know it that were made for sparse or non-negative loadings only.
struct Structure {
  Index k;
  bool nonnegative;
};

/// Throws where the set is not among those that the method knows.
Structure structure_of(Baseline method, const Atoms& atoms, Index p) {
  const auto require = [&](bool known, const char* allowed) {
    if (!known)
      throw InvalidArgument(fmt::format("{}: loadings in {} are not what it finds; allowed are {}",
                                        name(method), atoms.spec(), allowed));
  };
  const auto& simple = atoms.traits().simple;
  require(simple.has_value(), "sphere, sparse:K, nonneg and nonneg+sparse:K");
  const Structure result{simple->max_nonzeros(p), simple->nonnegative};
  switch (method) {
    case Baseline::gpower_l0:
    case Baseline::gpower_l1: require(!result.nonnegative, "sphere and sparse:K"); break;
    case Baseline::spannogram: require(result.nonnegative, "nonneg and nonneg+sparse:K"); break;
    case Baseline::cone_power: require(result.nonnegative && result.k == p, "nonneg"); break;
    default: break;
  }
  return result;
}

std::function<Vector(const Covariance&, Index component)> finder(Baseline method,
                                                                 const BaselineOptions& options, Index p) {
  if (method == Baseline::truncated_power)
    return [&options](const Covariance& C, Index component) {
      return truncated_power(C, options.atoms.shared(component), options.start, options.power).u;
    };
  const auto [k, nonnegative] = structure_of(method, options.atoms, p);
  return [&options, method, k = k, nonnegative = nonnegative](const Covariance& C, Index) {
    switch (method) {
      case Baseline::gpower_l0: return generalized_power_search(C, Penalty::l0, k, options.power).component.u;
      case Baseline::gpower_l1: return generalized_power_search(C, Penalty::l1, k, options.power).component.u;
      case Baseline::empca:
        return empca(C, {k, nonnegative, options.restarts, options.seed, options.power}).u;
      case Baseline::spannogram:
        return spannogram(
                   C,
                   {.k = k, .dimension = options.dimension, .samples = options.samples, .seed = options.seed})
            .u;
      default:
        return cone_power(C, options.rho.value_or(std::max(C.total_variance(), 0.0) / double(C.rows())),
                          power_starts(C, options.start), options.power)
            .u;
    }
  };
}

}  // namespace

Matrix baseline_components(Baseline method, const Covariance& C, const BaselineOptions& options) {
  if (options.components < 1 || options.components > C.rows())
    throw InvalidArgument(fmt::format("components {}: {} variables have at least 1 and at most {} components",
                                      options.components, C.rows(), C.rows()));
  options.atoms.require_dimension(C.rows());
  const Covariance watched = C.watched(options.go_on);
  const auto find = finder(method, options, C.rows());
  Matrix U(C.rows(), 0);
  try {
    deflate_components(watched, options.components, options.deflation, [&](const Covariance& rest) {
      Vector u = find(rest, U.cols());
      U.conservativeResize(Eigen::NoChange, U.cols() + 1);
      U.rightCols(1) = u;
      return u;
    });
    for (int sweep = 0; sweep < options.corrections; ++sweep)
      U = correct_components(watched, U, options.atoms, 1, options.deflation, options.power);
  } catch (const Covariance::ProductRefused&) {
    if (U.cols() == 0) {
      Vector u(C.rows());
      options.atoms.of(0).maximize(heaviest_coordinate(C).u, u);
      U = u;
    }
  }
  return U;
}

PcaResult baseline_pca(Baseline method, const Covariance& C, const BaselineOptions& options,
                       const DataMatrixPtr& samples) {
  const Timer timer;
  PcaResult result;
  result.loadings = baseline_components(method, C, options);
  const ExplainedVariance explained = explained_variance(C, result.loadings);
  result.explained_plain = explained.plain;
  result.explained_span = explained.span;
  result.explained_shares = explained.shares;
  if (samples) {
    result.means = samples->column_means();
    centered(samples)->apply(result.loadings, result.scores);
    result.scores = least_squares_scores(result.loadings, result.scores);
  }
  result.seconds = timer.seconds();
  return result;
}

const char* name(Baseline method) {
  for (const auto& [text, known] : kMethods)
    if (known == method) return text;
  return "unknown";
}

Baseline parse_baseline(const std::string& text) {
  for (const auto& [known, method] : kMethods)
    if (text == known) return method;
  throw InvalidArgument(fmt::format(
      "method '{}': allowed are tpower, gpower-l0, gpower-l1, empca, spannogram and cone-power", text));
}

}  // namespace pursuit
