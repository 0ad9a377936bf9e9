#include "correction/by_oracle.hpp"

#include <algorithm>

#include "correction/progress.hpp"

namespace pursuit {
namespace {

/// Atom k from the oracle on the residual without it, or as it was.
void correct(Objective& f, const AtomSets& sets, const CorrectionOptions& options, double ridge, Index k) {
  const double before = f.value();
  const Vector weights = f.iterate().weights;
  const Factors atom = f.iterate().factors.atom(k);
  Vector without = weights;
  without[k] = 0;
  f.reweigh(without);
  OracleOptions oracle = options.oracle;
  oracle.sign = options.bounded_weights && !sets.all_single() ? Sign::nonnegative : options.sign;
  FoundAtom found;
  if (k < options.known_of(0)) {  // stays, and gets its best weight
    Panel image;
    f.contract(0, atom, image);
    found = {atom, f.axis(0).dots(image, atom[0])[0]};
  } else {
    found = refine_atom(f, sets, k, atom, oracle);
  }
  const double norm = f.gram(found.factors, found.factors)(0, 0);
  const bool kept_weight = options.bounded_weights && !sets.all_single();
  const double weight = kept_weight ? weights[k] : found.value / (norm + ridge);
  const double with = f.value() - weight * found.value + 0.5 * weight * weight * norm;
  const bool allowed = options.sign == Sign::free || weight >= 0;
  if (allowed && (with < before || ridge > 0))
    f.replace(k, found.factors, found.value, weight);
  else
    f.reweigh(weights);
}

}  // namespace

CorrectionOutcome correct_by_oracle(Objective& f, const AtomSets& sets, const CorrectionOptions& options,
                                    double ridge) {
  const Index oldest = std::max<Index>(0, f.iterate().rank() - options.last);
  SweepCounter counter(options);
  const Kept kept(options.checkpoints, "by_oracle",
                  [&](StateArchive& archive) { counter.visit_state(archive); });
  for (bool more = !kept.resumed() || counter.another(); more;) {
    const double before = f.value();
    for (Index k = 0; k < f.iterate().rank(); ++k)
      if (k < options.known_of(0) || k >= oldest) correct(f, sets, options, ridge, k);
    f.fit_own_terms();
    more = counter.another(before, f.value());
  }
  return counter.outcome();
}

}  // namespace pursuit
