#include "pursuit/algorithms/factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/closed_factor.hpp"
#include "algorithms/identity.hpp"
#include "algorithms/nonnegative_parts.hpp"
#include "algorithms/pursue_atoms.hpp"
#include "algorithms/start_search.hpp"
#include "algorithms/weighted_squares.hpp"
#include "base/parallel.hpp"
#include "base/require.hpp"
#include "linalg/lanczos.hpp"
#include "linalg/randomized_svd.hpp"
#include "objective/entry_groups.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/objective/full_squares.hpp"
#include "pursuit/objective/make_objective.hpp"

namespace pursuit {
namespace {

void validate(const FactorOptions& o, const AtomSets& sets, Index rows, Index cols) {
  require(o.rank >= 1, fmt::format("rank {}: at least one atom is needed", o.rank));
  const bool spheres = sets.mode(0).traits().is_sphere() && sets.mode(1).traits().is_sphere();
  const double most = spheres ? double(std::min(rows, cols)) : double(rows) * double(cols);
  require(double(o.rank) <= most,
          fmt::format("rank {}: a {} x {} matrix has room for at most {:.0f} independent atoms of {} x {}",
                      o.rank, rows, cols, most, sets.mode(0).spec(), sets.mode(1).spec()));
  require(o.corrections >= 0, fmt::format("corrections {}: must be 0 or more", o.corrections));
  require(o.correct_last >= 1, fmt::format("correct_last {}: must be 1 or more", o.correct_last));
  require(o.polish >= 0, fmt::format("polish {}: must be 0 or more", o.polish));
  require(o.polish_tolerance >= 0, fmt::format("polish_tolerance {}: must be 0 or more", o.polish_tolerance));
  require(o.restarts >= 1, fmt::format("restarts {}: must be 1 or more", o.restarts));
  require(o.starts >= -1, fmt::format("starts {}: must be -1 (where cheap), 0 or more", o.starts));
  require(o.threads >= 0, fmt::format("threads {}: must be 0 (all cores) or more", o.threads));
  require(o.target_error >= 0 && o.target_error < 1,
          fmt::format("target_error {}: must be at least 0 and below 1", o.target_error));
  require(o.weights.kind != WeightRule::convex || (std::isfinite(o.weights.radius) && o.weights.radius > 0),
          fmt::format("weights convex:{}: the radius must be above 0", o.weights.radius));
  require(o.svd_tolerance >= 1e-14 && o.svd_tolerance <= 0.1,
          fmt::format("svd_tolerance {}: must be 1e-14 to 0.1", o.svd_tolerance));
  sets.mode(0).require_dimension(rows);
  sets.mode(1).require_dimension(cols);
}

/// Sphere x sphere is the truncated SVD: every rank at once, with the trace that the pursuit would have had.
bool exact_path_applies(const FactorOptions& o, const AtomSets& sets) {
  return o.use_exact_path && o.initial.rank() == 0 && sets.mode(0).traits().is_sphere() &&
         sets.mode(1).traits().is_sphere() &&
         (o.weights.kind == WeightRule::free || o.weights.kind == WeightRule::nonneg);
}

SingularTriplets leading_pairs(const DataMatrix& Y, bool symmetric, bool positive_only, Index count,
                               const KeepGoing& keep_going, double tolerance = kUsualResidual,
                               Checkpoints* checkpoints = nullptr) {
  if (!symmetric) return truncated_svd(Y, count, keep_going, tolerance, checkpoints);
  EigenPairs pairs = leading_eigenpairs(Y, count, positive_only, keep_going, tolerance, checkpoints);
  return {pairs.vectors, pairs.vectors, pairs.values, pairs.converged};
}

void exact_path(const DataMatrix& Y, double null_value, const FactorOptions& o, bool symmetric, Run& run,
                FactorResult& result) {
  double objective = null_value;
  const auto [left, right, values, converged] =
      leading_pairs(Y, symmetric, !o.weights.allows_negative(), o.rank, asking(run, o.rank, 2 * null_value),
                    o.svd_tolerance, run.checkpoints());
  result.model = {left, right, values, symmetric};
  result.stop = run.stopped()            ? run.stop()
                : !converged             ? Stop::not_converged
                : values.size() < o.rank ? Stop::no_ascent
                                         : Stop::rank_reached;
  Index left_support = 0, right_support = 0;
  for (Index r = 0; r < values.size(); ++r) {
    const double gain = std::min(0.5 * values[r] * values[r], objective);
    objective -= gain;
    const double error = std::sqrt(objective / null_value);
    result.trace.push_back({.rank = r + 1,
                            .objective = objective,
                            .relative_error = error,
                            .lmo_value = std::abs(values[r]),
                            .gain = gain,
                            .seconds = run.seconds(),
                            .left_support = left_support += (left.col(r).array() != 0).count(),
                            .right_support = right_support += (right.col(r).array() != 0).count()});
    const bool reached =
        o.target_error > 0 && error <= o.target_error;  // small values round the error to zero
    const bool enough =
        reached ||
        (converged &&
         !run.tell(
             {.phase = Moment::Phase::atom, .rank = r + 1, .target_rank = o.rank, .relative_error = error}));
    if (enough) {
      result.model = {left.leftCols(r + 1), right.leftCols(r + 1), values.head(r + 1), symmetric};
      result.stop = reached ? Stop::target_error : Stop::interrupted;
      break;
    }
  }
}

/// A pair of directions brought into the sets of an atom: of the pair and its negative, the one that survives
/// better.
struct Brought {
  Vector u, v;
  double kept = 0;  // <u, left> <v, right>

  Factors factors(bool symmetric) const { return symmetric ? Factors::symmetric(u) : Factors(u, v); }
};
Brought into_sets(const AtomSet& left_set, const AtomSet& right_set, ConstVectorRef left,
                  ConstVectorRef right) {
  Brought best{Vector::Zero(left.size()), Vector::Zero(right.size())};
  Vector u(left.size()), v(right.size());
  for (const double side : {1.0, -1.0}) {
    left_set.maximize(side * left, u);
    right_set.maximize(side * right, v);
    const double kept = u.dot(left) * v.dot(right);
    if (std::abs(kept) > std::abs(best.kept)) best = {u, v, kept};
  }
  return best;
}

/// One atom per leading singular pair. With non-negative sets this is NNDSVD (Boutsidis and Gallopoulos
/// 2008).
Expansion leading_atoms(const DataMatrix& Y, const FactorOptions& o, const AtomSets& sets) {
  SingularTriplets pairs;
  if (!sets.all_single()) {
    pairs = leading_pairs(Y, true, !o.weights.allows_negative(), o.rank, {});
  } else {
    Random random(o.seed);
    pairs = randomized_svd(Y, o.rank, 1, random);
  }
  const auto& [left, right, values, converged] = pairs;
  Expansion model{Matrix(Y.rows(), 0), Matrix(Y.cols(), 0), Vector(0), !sets.all_single()};
  for (Index i = 0; i < values.size(); ++i) {
    const Brought atom = into_sets(sets.of(0, model.rank()), sets.of(sets.panel_of(1), model.rank()),
                                   left.col(i), right.col(i));
    const double weight = values[i] * atom.kept;
    if (weight > 0 || (weight < 0 && o.weights.allows_negative()))
      model.append(atom.factors(!sets.all_single()), weight);
  }
  return model;
}

bool fixes_left(const FactorOptions& o) {
  return o.fixed_factors != FixedFactors::right;
}
bool fixes_right(const FactorOptions& o) {
  return o.fixed_factors != FixedFactors::left;
}

/// How many of the first factors of every panel are known.
std::vector<Index> known_factors(const FactorOptions& o, const AtomSets& sets) {
  std::vector<Index> known{fixes_left(o) ? o.fixed : 0};
  if (sets.all_single()) known.push_back(fixes_right(o) ? o.fixed : 0);
  return known;
}

/// The atoms to begin with, all but the known factors brought into the sets.
Expansion initial_atoms(const Form& data, const FactorOptions& o, const AtomSets& sets) {
  Expansion model(o.initial.left(), o.initial.right(), o.initial.weights, !sets.all_single());
  model.weights =
      (model.weights.array() == 0).select(1.0, model.weights);  // they are fitted; none is dropped now
  Matrix image;
  for (Index i = 0; i < model.rank(); ++i) {
    const AtomSet &left_set = sets.of(0, i), &right_set = sets.of(sets.panel_of(1), i);
    auto u = model.left().col(i), v = model.right().col(i);
    const bool known = i < o.fixed;
    if (known && !sets.all_single()) continue;
    const auto follow = [&](const AtomSet& set,
                            auto&& own) {  // the best member for the image of the other factor
      Vector member(own.size());
      set.fit(1.0, image.col(0), o.weights.allows_negative() ? Sign::free : Sign::nonnegative, member);
      own = member;
    };
    if (known && !fixes_left(o)) {
      data.contract(0, model.factors.atom(i), image);
      follow(left_set, u);
    } else if (known && !fixes_right(o)) {
      data.contract(1, model.factors.atom(i), image);
      follow(right_set, v);
    } else if (!known && !(left_set.contains(u, 1e-6) && right_set.contains(v, 1e-6))) {
      const Brought atom = into_sets(left_set, right_set, u, v);
      u = atom.u;
      v = atom.v;
    }
  }
  return model;
}

void validate_initial(const FactorOptions& o, bool symmetric, Index rows, Index cols) {
  const Expansion& m = o.initial;
  require(o.fixed >= 0 && o.fixed <= m.rank(),
          fmt::format("fixed {}: {} atoms were given; allowed are 0..{}", o.fixed, m.rank(), m.rank()));
  if (m.rank() == 0) return;
  require(m.left().rows() == rows && m.right().rows() == cols && m.left().cols() == m.rank() &&
              m.right().cols() == m.rank(),
          fmt::format("initial: atoms of {} x {} do not fit a matrix of {} x {}", m.left().rows(),
                      m.right().rows(), rows, cols));
  require(
      o.rank >= m.rank(),
      fmt::format("rank {}: {} atoms were given to begin with; the rank counts them too", o.rank, m.rank()));
  require(!symmetric || o.fixed_factors == FixedFactors::both,
          "fixed_factors: atoms u u^T have one factor; it is known or not");
  require(m.left().allFinite() && m.right().allFinite() && m.weights.allFinite(),
          "initial: an entry is not finite");
  for (Index i = 0; i < m.rank(); ++i) {
    const bool known = i < o.fixed;
    require(m.left().col(i).squaredNorm() > 0 || (known && !fixes_left(o)),
            fmt::format("initial: the left factor of atom {} is zero", i + 1));
    require(m.right().col(i).squaredNorm() > 0 || (known && !fixes_right(o)),
            fmt::format("initial: the right factor of atom {} is zero", i + 1));
    const double size = m.weights[i] * m.left().col(i).norm() * m.right().col(i).norm() * double(m.rank());
    require(std::isfinite(size * size),
            fmt::format("initial: atom {} with weight {:g} is too large to be squared", i + 1, m.weights[i]));
  }
}

/// Signs are nobody's choice where a set is symmetric: weights positive, and where both sets are symmetric
/// the largest entry of the right atom positive too.
void settle_signs(const AtomSets& sets, Index fixed, Expansion& model) {
  if (!sets.all_single()) {
    if (!sets.mode(0).traits().symmetric) return;
    for (Index i = fixed; i < model.rank(); ++i) {
      Index largest = 0;
      model.right().col(i).cwiseAbs().maxCoeff(&largest);
      if (model.right()(largest, i) < 0) turn(model.right().col(i));
    }
    return;
  }
  for (Index i = fixed; i < model.rank(); ++i) {
    Index largest = 0;
    model.right().col(i).cwiseAbs().maxCoeff(&largest);
    if (sets.mode(0).traits().symmetric && sets.mode(1).traits().symmetric && model.right()(largest, i) < 0) {
      turn(model.right().col(i));
      model.weights[i] *= -1;
    }
    if (model.weights[i] < 0 && (sets.mode(0).traits().symmetric || sets.mode(1).traits().symmetric)) {
      turn((sets.mode(0).traits().symmetric ? model.left() : model.right()).col(i));
      model.weights[i] *= -1;
    }
  }
}

FactorResult factored(const DataMatrixPtr& Y, const FactorOptions& o, const AtomSets& sets) {
  Run run({.time_limit = o.time_limit, .target_error = o.target_error}, o.observer, {}, o.checkpoints);
  validate(o, sets, Y->rows(), Y->cols());
  validate_initial(o, !sets.all_single(), Y->rows(), Y->cols());
  require(o.starts <= 0, fmt::format("starts {}: starts of a matrix race under losses; restarts are the "
                                     "starts of the power method for every atom",
                                     o.starts));
  const bool symmetric = !sets.all_single();
  FullSquares f(Y, symmetric);
  FactorResult result;
  if (f.null_value() == 0) {  // nothing to approximate
    result.model = f.iterate();
    result.stop = Stop::no_ascent;
  } else if (exact_path_applies(o, sets)) {
    begin_checkpoints("factor", f, sets, o, run);
    exact_path(*Y, f.null_value(), o, symmetric, run, result);
    f.move_to(result.model, result.model.weights);  // <y, z_i> is the singular value
  } else {
    const bool resumed = begin_checkpoints("factor", f, sets, o, run);
    if (resumed) {
      // Its atoms come with the state.
    } else if (o.initial.rank() > 0) {
      f.move_to(initial_atoms(f, o, sets));
    } else if (o.start == Start::leading) {
      f.move_to(leading_atoms(*Y, o, sets));
    }
    pursue_atoms(f, o, sets, known_factors(o, sets), run, result);
  }
  settle_signs(sets, o.fixed, result.model);
  result.relative_error = f.relative_error();
  result.null_objective = f.null_value();
  result.objective = result.relative_error * result.relative_error * result.null_objective;
  result.seconds = run.seconds();
  return result;
}

/// A few sweeps of squares from the leading singular vectors cost little and come near. Their atoms have
/// zeros, and counts where all atoms have zeros would be without a model: a little of everything. Weights
/// make sense of atoms after a sweep or two, which fit them too.
FirstWeights start_counts(const DataMatrixPtr& Y, const FactorOptions& o, const AtomSets& sets,
                          Objective& f) {
  constexpr double kLittle = 0.1;  // of the mean
  constexpr int kSweepsOfSquares = 10;
  FactorOptions squares = o;
  squares.polish = kSweepsOfSquares;
  squares.target_error = 0;
  squares.observer = {};
  squares.checkpoints = {};
  squares.starts = -1;
  Expansion x = factored(Y, squares, sets).model;
  bool free = o.weights.kind == WeightRule::nonneg;
  for (Index panel = 0; panel < sets.panels(); ++panel) {
    if (sets.panel(panel).varies() || !sets.of(panel, 0).traits().coordinatewise()) {
      free = false;
      continue;
    }
    Panel& factors = x.factors.panel(panel);
    for (Index k = 0; k < x.rank(); ++k) {
      factors.col(k).array() += kLittle * factors.col(k).mean();
      factors.col(k).normalize();
    }
  }
  f.move_to(std::move(x));
  if (!free) return FirstWeights::fitted;
  for (int sweep = 0; sweep < 2; ++sweep)
    for (Index mode = 0; mode < f.modes(); ++mode) f.along(mode)->sweep({.nonnegative = true});
  return FirstWeights::stay;
}

/// Losses that flatten out far from the data gain little by a sweep long before their end.
constexpr double kFinerUnderLosses = 0.1;

/// Any loss, with weights and offsets.
FactorResult factored_by_loss(const DataMatrixPtr& Y, const FactorOptions& o, const LossOptions& loss,
                              bool symmetric) {
  Run run({.time_limit = o.time_limit, .target_error = o.target_error}, o.observer, {}, o.checkpoints);
  const AtomSets sets(o.left, o.right, symmetric);
  validate(o, sets, Y->rows(), Y->cols());
  validate_initial(o, symmetric, Y->rows(), Y->cols());
  const bool counts = loss.loss.kind == Loss::poisson;
  require(o.start == Start::greedy || (counts && !loss.weights.entries && !symmetric),
          "start leading: singular vectors are the start of plain squares and of loss poisson; other losses, "
          "weights of entries, offsets and atoms u u^T start greedy");
  if (loss.loss.has_positive_means()) {
    require_nonnegative_parts(loss.loss, o.weights, sets, {Y->rows(), Y->cols()}, o.rank,
                              {"left set", "right set"});
    require(o.initial.rank() == 0 || (o.initial.left().minCoeff() >= 0 && o.initial.right().minCoeff() >= 0),
            fmt::format("initial: an entry is negative; loss {} needs atoms without any", loss.loss.spec()));
  }
  const auto f = make_objective(Y, loss, resolve_threads(o.threads));
  if (symmetric) f->move_to({Matrix(Y->rows(), 0), Matrix(Y->rows(), 0), Vector(0), true});
  FirstWeights first = FirstWeights::fitted;
  const bool resumed = begin_checkpoints("factor", *f, sets, o, run);
  if (resumed) {
    // Its atoms come with the state.
  } else if (o.initial.rank() > 0) {
    f->move_to(initial_atoms(*f, o, sets));
  } else if (o.start == Start::leading) {
    first = start_counts(Y, o, sets, *f);
  }
  FactorOptions options = o;
  if (!counts) options.polish_tolerance *= kFinerUnderLosses;
  FactorResult result;
  if (count_racing_starts(*f, sets, options) > 0)
    pursue_and_race(*f, options, sets, run, result);
  else
    pursue_atoms(*f, options, sets, known_factors(o, sets), {}, run, result, first);
  settle_signs(sets, o.fixed, result.model);
  result.objective = f->value();
  result.null_objective = f->null_value();
  result.relative_error =
      result.null_objective > 0 ? std::sqrt(result.objective / result.null_objective) : 0.0;
  result.own_terms = f->own_terms();
  result.seconds = run.seconds();
  return result;
}

/// Squares of entries may leave the range of a double: far from one, the matrix is scaled by a power of two.
FactorResult run_scaled(const Comfortable& Y, const FactorOptions& options, bool symmetric) {
  const AtomSets sets(options.left, options.right, symmetric);
  if (Y.scale == 1) return factored(Y.data, options, sets);
  FactorOptions scaled = options;
  scaled.initial.weights *= Y.scale;
  scaled.weights.radius *= Y.scale;
  FactorResult result = factored(Y.data, scaled, sets);
  undo_scale(Y.scale, result);
  return result;
}

/// Under some losses data and model can be multiplied by s, which makes f larger by s to this power.
std::optional<int> degree_of(const Loss& loss) {
  switch (loss.kind) {
    case Loss::squares:
    case Loss::huber: return 2;
    case Loss::absolute:
    case Loss::quantile:
    case Loss::poisson: return 1;
    case Loss::itakura_saito: return 0;
    default: return std::nullopt;
  }
}

[[noreturn]] void refuse_size(double size, const std::string& why) {
  throw InvalidInput(fmt::format("the largest entry is {:g}; {}: multiply the data by {:g} first", size, why,
                                 std::pow(10.0, -std::floor(std::log10(size)))));
}

/// The same for other losses. Means under a log link have no other unit.
FactorResult run_scaled(const DataMatrixPtr& Y, const FactorOptions& options, LossOptions loss,
                        bool symmetric) {
  constexpr double kFar = 0x1p40, kFarthest = 1e100;
  const double size = Y->largest_magnitude(), scale = unit_scale(size);
  if (loss.loss.has_log_link() && size > 0 && !(size < kFarthest && size > 1 / kFarthest))
    refuse_size(size,
                fmt::format("means of loss {} are exp(x), which has to stay within the range of a double",
                            loss.loss.spec()));
  const std::optional<int> degree = degree_of(loss.loss);
  if (!degree || (scale <= kFar && scale >= 1 / kFar)) return factored_by_loss(Y, options, loss, symmetric);
  EntryGroups(*Y, loss.weights).require_domain(loss.loss);  // which names the entry as it is
  FactorOptions scaled = options;
  scaled.initial.weights *= scale;
  scaled.weights.radius *= scale;
  if (loss.loss.kind == Loss::huber) loss.loss.parameter *= scale;
  FactorResult result = factored_by_loss(Y->scaled(scale), scaled, loss, symmetric);
  const bool any = result.null_objective > 0;
  undo_scale(scale, result, *degree);
  if (!std::isfinite(result.null_objective) || (any && !std::isnormal(result.null_objective)))
    refuse_size(size, "its deviance leaves the range of a double");
  return result;
}

}  // namespace

FactorResult factor(const DataMatrixPtr& Y, const FactorOptions& options) {
  if (options.closure) return factor_closed(Y, options);
  const LossOptions loss{options.loss, options.entry_weights, options.offsets, options.row_scale};
  if (loss.plain_squares()) return run_scaled(comfortable(Y), options, false);
  if (const DataMatrixPtr weighted = weighted_squares(*Y, options)) {
    FactorResult result = run_scaled(comfortable(weighted), options, false);
    undo_weights(options.entry_weights, result.model);
    settle_signs(AtomSets(options.left, options.right, false), 0, result.model);
    return result;
  }
  return run_scaled(Y, options, loss, false);
}

FactorResult factor_symmetric(const DataMatrixPtr& C, const FactorOptions& options) {
  require(!options.closure, "closure: shares of rows are left factors; symmetric atoms u u^T have none");
  const LossOptions loss{options.loss, options.entry_weights, options.offsets, options.row_scale};
  require(
      !loss.weights.any() && !loss.offsets && loss.row_scale.size() == 0,
      "symmetric atoms u u^T go without weights of entries, offsets and row scales, which need a left and a "
      "right set");
  require(loss.plain_squares() || options.fixed == 0,
          fmt::format("fixed {}: known atoms u u^T go with plain squares only", options.fixed));
  require(C->rows() == C->cols(),
          fmt::format("a symmetric factorization needs a square matrix; this one is {} x {}", C->rows(),
                      C->cols()));
  const Comfortable scaled = comfortable(C);
  if (const double asymmetry = scaled.data->asymmetry();
      asymmetry > 1e-8 * std::sqrt(scaled.data->squared_norm()))
    throw InvalidInput(
        fmt::format("the matrix is not symmetric: entries across the diagonal differ by up to {:.3g}",
                    asymmetry / scaled.scale));
  if (loss.plain_squares()) return run_scaled(scaled, options, true);
  FactorOptions both = options;
  both.right = both.left;
  return run_scaled(C, both, loss, true);
}

}  // namespace pursuit
