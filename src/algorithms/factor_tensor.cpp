#include "pursuit/algorithms/factor_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/identity.hpp"
#include "algorithms/pursue_atoms.hpp"
#include "algorithms/start_search.hpp"
#include "algorithms/tensor_starts.hpp"
#include "atoms/along_axis.hpp"
#include "base/parallel.hpp"
#include "base/require.hpp"
#include "data/comfortable_scale.hpp"
#include "pursuit/objective/full_squares.hpp"

namespace pursuit {
namespace {

void validate_tensor(const Target& Y, const AtomSets& sets, const FactorOptions& o) {
  std::vector<Index> shape;
  shape.reserve(std::size_t(Y.modes()));
  for (Index mode = 0; mode < Y.modes(); ++mode) shape.push_back(Y.axis(mode).size());
  require_modes(sets, shape);
  require(o.rank >= 1, fmt::format("rank {}: at least one atom is needed", o.rank));
  for (Index mode = 0; mode < Y.modes(); ++mode) sets.mode(mode).require_dimension(shape[std::size_t(mode)]);
}

/// How many factors of every panel are known.
std::vector<Index> known_of_panels(const AtomSets& sets, const TensorOptions& more) {
  std::vector<Index> known(more.known.empty() ? 0 : std::size_t(sets.panels()), 0);
  for (const KnownFactors& each : more.known)
    known[std::size_t(sets.panel_of(each.mode))] = each.factors.cols();
  return known;
}

void validate_known(const Target& Y, const AtomSets& sets, const FactorOptions& o,
                    const TensorOptions& more) {
  require(std::isfinite(more.ridge) && more.ridge >= 0,
          fmt::format("ridge {}: must be a number of 0 or more", more.ridge));
  std::vector<bool> seen(std::size_t(Y.modes()), false);
  for (const KnownFactors& each : more.known) {
    require(each.mode >= 0 && each.mode < Y.modes(),
            fmt::format("known factors of mode {}: allowed are 0 to {}", each.mode, Y.modes() - 1));
    require(!seen[std::size_t(each.mode)], fmt::format("known factors of mode {} twice", each.mode));
    seen[std::size_t(each.mode)] = true;
    require(sets.is_single(sets.panel_of(each.mode)),
            fmt::format("known factors of mode {}, which shares its factors with another", each.mode));
    require(each.factors.rows() == Y.axis(each.mode).size(),
            fmt::format("known factors of mode {} have {} entries; the mode has {}", each.mode,
                        each.factors.rows(), Y.axis(each.mode).size()));
    require(each.factors.cols() <= o.rank,
            fmt::format("rank {}: {} factors of mode {} are known, and each is one of an atom", o.rank,
                        each.factors.cols(), each.mode));
    require(each.factors.allFinite(),
            fmt::format("known factors of mode {}: an entry is not finite", each.mode));
    for (Index k = 0; k < each.factors.cols(); ++k)
      require(each.factors.col(k).squaredNorm() > 0,
              fmt::format("known factors of mode {}: that of atom {} is zero", each.mode, k + 1));
  }
}

Index known_atoms(const TensorOptions& more) {
  Index count = 0;
  for (const KnownFactors& each : more.known) count = std::max(count, each.factors.cols());
  return count;
}

/// Starts of an array, all at once.
class Starts {
 public:
  Starts(const AtomSets& sets, const TensorOptions& more, Random& random)
      : sets_(sets), more_(more), random_(random) {}

  /// The leading directions first, where they are wanted, and random members after them.
  std::vector<Expansion> make(const Target& Y, Index rank, int count) {
    std::vector<Expansion> starts;
    for (int i = 0; i < count; ++i) {
      starts.push_back(i == 0 && !more_.random ? leading_members(Y, sets_, rank, random_)
                                               : random_members(Y, sets_, rank, random_));
      for (const KnownFactors& each : more_.known)
        starts.back().factors[each.mode].leftCols(each.factors.cols()) = each.factors;
    }
    return starts;
  }

 private:
  const AtomSets& sets_;
  const TensorOptions& more_;
  Random& random_;
};

/// Whether starts can be told apart by what sweeps make of them.
bool may_race(const Target& Y, const AtomSets& sets, const FactorOptions& o, const TensorOptions& more) {
  return o.polish > 0 && Y.modes() > 2 && sets.all_single() && more.ridge == 0 &&
         (o.weights.kind == WeightRule::free || o.weights.kind == WeightRule::nonneg);
}

/// As many as are asked for; otherwise several where the whole search is cheap.
int count_starts(const Target& raced, const AtomSets& sets, const FactorOptions& o, const TensorOptions& more,
                 bool races, bool beside_greedy) {
  constexpr double kCheap = 3e10;          // multiply-adds
  constexpr double kSweepsPerAtom = 2000;  // of a search
  constexpr int kSeveral = 8;
  const int least = beside_greedy ? 0 : 1;
  if (!races) return least;
  if (more.starts >= 0) return std::max(more.starts, least);
  for (Index mode = 0; mode < sets.modes(); ++mode)
    if (sets.mode(mode).varies() || !sets.mode(mode).traits().coordinatewise()) return least;
  const double rank = double(o.rank), sweep = double(raced.modes()) * raced.contraction_work() * rank;
  return o.rank > 1 && kSweepsPerAtom * rank * sweep < kCheap ? kSeveral : least;
}

/// Beside the atoms grown one by one, if there are any, others that start all at once: f moves to the best.
/// Returns the sweeps that it took to find them.
int move_to_best(FullSquares& f, const TargetPtr& raced, const SearchRules& rules,
                 std::vector<Expansion> starts, Run& run) {
  const Expansion grown = f.iterate();
  const double before = f.value();
  if (grown.rank() == rules.rank) starts.insert(starts.begin(), grown);
  FullSquares g(raced, panels_of_modes(rules.sets));
  StartSearch search(g, rules, run);
  f.move_to(search.best(std::move(starts)));
  // The small array is not quite the whole.
  if (grown.rank() == rules.rank && !(f.value() < before)) f.move_to(grown);
  return search.sweeps();
}

void begin_array_checkpoints(const Objective& f, const AtomSets& sets, const FactorOptions& o,
                             const TensorOptions& more, Run& run) {
  if (!o.checkpoints) return;
  Identity identity = identity_of("factor an array", f, sets, o);
  identity.add("ridge", more.ridge);
  identity.add("racing starts", double(more.starts));
  identity.add("random", double(more.random));
  for (const KnownFactors& each : more.known)
    identity.add(fmt::format("known factors of mode {}", each.mode), each.factors);
  run.begin_checkpoints(identity);
  o.checkpoints->hold_states();
}

FactorResult factored_array(const TensorPtr& Y, const AtomSets& sets, const FactorOptions& o,
                            const TensorOptions& more) {
  constexpr Index kDirections = 2;  // of a small array, for every atom
  Run run({.time_limit = o.time_limit, .target_error = o.target_error}, o.observer, {}, o.checkpoints);
  validate_tensor(*Y, sets, o);
  validate_known(*Y, sets, o, more);
  const std::vector<Index> known = known_of_panels(sets, more);
  const Regularization ridge{more.ridge > 0 ? Regularization::ridge : Regularization::none, more.ridge};
  FullSquares f(Y, panels_of_modes(sets));
  FactorResult result;
  if (f.null_value() == 0) {
    result.model = f.iterate();
    result.stop = Stop::no_ascent;
    return result;
  }
  begin_array_checkpoints(f, sets, o, more, run);
  bool grown = false;  // what is grown one by one is there, and the best start beside it has been found
  double before = 0;   // f of what was grown
  int sweeps = 0;      // of the search for the best start
  Trace grown_trace;
  const Kept kept(run.checkpoints(), "array", [&](StateArchive& archive) {
    archive("grown", grown);
    archive("before", before);
    archive("sweeps", sweeps);
    visit(archive, "trace", grown_trace);
  });
  SearchRules rules{sets, {}, o.rank, o.seed};
  rules.correction.sign = o.weights.allows_negative() ? Sign::free : Sign::nonnegative;
  rules.correction.threads = resolve_threads(o.threads);
  rules.correction.known = known;
  const bool greedy = o.start == Start::greedy, races = may_race(*Y, sets, o, more) && more.starts != 0;
  Random random(o.seed);
  Starts starts(sets, more, random);
  const TargetPtr small = races && !grown ? Y->compressed(kDirections * o.rank, random) : nullptr;
  const TargetPtr raced = small ? small : TargetPtr(Y);
  const int count = grown ? 1 : count_starts(*raced, sets, o, more, races, greedy);
  if (greedy && !grown) {
    if (const Index atoms = known_atoms(more); atoms > 0) f.move_to(starts.make(*Y, atoms, 1).front());
    FactorOptions growth = o;
    if (count > 0) growth.polish = 0;
    pursue_atoms(f, growth, sets, known, ridge, run, result);
  }
  if (count > 0 && !run.stopped()) {
    if (!grown) {
      before = f.value();
      std::vector<Expansion> others = starts.make(*raced, o.rank, count);
      if (races) {
        // A race is left in its midst, and run again from what there is before it.
        sweeps = move_to_best(f, raced, rules, std::move(others), run);
      } else {
        f.move_to(std::move(others.front()));
      }
      grown_trace = result.trace;
      grown = !run.stopped();
    }
    result.trace = grown_trace;
    pursue_further(f, o, sets, known, ridge, before, sweeps, run, result);
  }
  settle_signs_of_modes(sets, known, result.model);
  result.relative_error = f.relative_error();
  result.null_objective = f.null_value();
  result.objective = result.relative_error * result.relative_error * result.null_objective;
  result.seconds = run.seconds();
  return result;
}

}  // namespace

FactorResult factor_tensor(const TensorPtr& Y, const AtomSets& sets, const FactorOptions& options,
                           const TensorOptions& more) {
  const double scale = comfortable_scale(Y->largest_magnitude());
  if (scale == 1) return factored_array(Y, sets, options, more);
  FactorOptions scaled = options;
  scaled.weights.radius *= scale;
  TensorOptions scaled_more = more;  // a share of the weight is the root of so many modes
  scaled_more.ridge *= std::pow(scale, 2 - 2 / double(Y->modes()));
  FactorResult result = factored_array(Y->scaled(scale), sets, scaled, scaled_more);
  undo_scale(scale, result);
  return result;
}

}  // namespace pursuit
