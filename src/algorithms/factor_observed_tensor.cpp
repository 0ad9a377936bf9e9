#include "pursuit/algorithms/factor_observed_tensor.hpp"

#include <cmath>

#include "algorithms/identity.hpp"
#include "algorithms/observed_tensor_atoms.hpp"
#include "algorithms/pursue_atoms.hpp"
#include "base/parallel.hpp"

namespace pursuit {

FactorResult factor_tensor(const ObservedTensor& Y, const AtomSets& sets, const FactorOptions& o) {
  Run run({.time_limit = o.time_limit, .target_error = o.target_error}, o.observer, {}, o.checkpoints);
  const auto f = make_objective(Y, {.loss = o.loss, .offsets = o.offsets}, resolve_threads(o.threads),
                                sharing_of(sets, Y));
  require_sets_for(*f, sets, o);
  FactorResult result;
  if (f->null_value() > 0) {
    const bool resumed = begin_checkpoints("factor an array with gaps", *f, sets, o, run);
    if (o.start == Start::leading && !resumed) start_at_random(Y, sets, o, *f);
    pursue_atoms(*f, o, sets, {}, run, result);
    settle_signs_of_modes(sets, {}, result.model);
  } else {  // nothing to approximate
    result.model = f->iterate();
    result.stop = Stop::no_ascent;
  }
  result.objective = f->value();
  result.null_objective = f->null_value();
  result.relative_error =
      result.null_objective > 0 ? std::sqrt(result.objective / result.null_objective) : 0.0;
  result.own_terms = f->own_terms();
  result.seconds = run.seconds();
  return result;
}

}  // namespace pursuit
