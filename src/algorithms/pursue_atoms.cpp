#include "algorithms/pursue_atoms.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/parallel.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// Corrections finish what the oracle leaves; before them its last digits are wasted work.
constexpr double kToleranceBeforeCorrections = 1e-3;

/// What a checkpoint leads to is not trusted: factors on the way may lie outside of their sets, as where they
/// run ahead, but those of a result do not.
void require_members(const Expansion& model, const AtomSets& sets, const std::vector<Index>& known) {
  constexpr double kRounding = 1e-8;
  for (Index panel = 0; panel < sets.panels(); ++panel)
    for (Index k = known.empty() ? 0 : known[std::size_t(panel)]; k < model.rank(); ++k)
      if (!sets.of(panel, k).contains(model.factors.panel(panel).col(k), kRounding))
        throw InvalidInput(
            fmt::format("the checkpoint is not of this run: it leads to an atom {} that is not in {}", k + 1,
                        sets.panel(panel).spec()));
}

}  // namespace

void pursue_atoms(Objective& f, const FactorOptions& o, const AtomSets& sets, const std::vector<Index>& known,
                  const Regularization& regularization, Run& run, FactorResult& result, FirstWeights first) {
  OracleOptions oracle;
  oracle.restarts = o.restarts;
  oracle.seed = o.seed;
  if (o.corrections > 0) oracle.tolerance = kToleranceBeforeCorrections;
  CorrectionOptions correction;
  correction.last = o.correct_last;
  correction.threads = resolve_threads(o.threads);
  correction.known = known;
  correction.checkpoints = run.checkpoints();
  const bool goes_on = run.checkpoints() && run.checkpoints()->resumes("pursuit");
  ExpansionSpace space(f, sets, o.weights, oracle, correction, regularization, first);
  PursuitOutcome outcome = pursue(space,
                                  {.rank = o.rank,
                                   .corrections = o.corrections,
                                   .polish = o.polish,
                                   .polish_tolerance = o.polish_tolerance},
                                  run);
  space.drop_weightless();
  if (goes_on) require_members(space.expansion(), sets, known);
  result.model = space.expansion();
  result.trace = std::move(outcome.trace);
  result.stop = outcome.stop;
  if (!result.trace.empty()) result.trace.back().rank = result.model.rank();
}

void pursue_further(Objective& f, const FactorOptions& o, const AtomSets& sets,
                    const std::vector<Index>& known, const Regularization& regularization, double before,
                    int sweeps, Run& run, FactorResult& result) {
  Trace trace = std::exchange(result.trace, {});
  pursue_atoms(f, o, sets, known, regularization, run, result);
  if (!result.trace.empty()) {  // where the polish starts from
    result.trace.front().gain = before - result.trace.front().objective;
    result.trace.front().sweeps = sweeps;
  }
  result.trace.insert(result.trace.begin(), trace.begin(), trace.end());
}

void undo_scale(double scale, FactorResult& result, int degree) {
  const auto undo = [&](double& value) {  // powers themselves may overflow
    for (int time = 0; time < degree; ++time) value /= scale;
  };
  result.model.weights /= scale;
  result.own_terms.row_offsets /= scale;
  result.own_terms.col_offsets /= scale;
  undo(result.objective);
  undo(result.null_objective);
  for (Step& step : result.trace) {
    undo(step.objective);
    undo(step.gain);
    undo(step.lmo_value *= scale);
  }
  if (!result.model.weights.allFinite())
    throw InvalidInput("the weights of atoms overflow; divide the data by a large number first");
}

void settle_signs_of_modes(const AtomSets& sets, const std::vector<Index>& known, Expansion& model) {
  for (Index k = 0; k < model.rank(); ++k) {
    Index taker = -1;  // the mode that takes the sign
    for (Index mode = 0; mode < sets.modes(); ++mode) {
      const Index panel = sets.panel_of(mode);
      if (!sets.panel(panel).traits().symmetric || !sets.is_single(panel)) continue;
      if (!known.empty() && k < known[std::size_t(panel)]) continue;
      if (taker < 0) {
        taker = mode;
        continue;
      }
      auto own = model.factors[mode].col(k);
      Index largest = 0;
      own.cwiseAbs().maxCoeff(&largest);
      if (own[largest] < 0) {
        turn(own);
        model.weights[k] *= -1;
      }
    }
    if (taker >= 0 && model.weights[k] < 0) {
      turn(model.factors[taker].col(k));
      model.weights[k] *= -1;
    }
  }
}

}  // namespace pursuit
