#pragma once
// Line 4 of Algorithm 2: the atoms themselves are corrected, one after the other, the others kept fixed.
//
// By fits. With all modes but one fixed, f of a factor times its weight is one parabola per entry, and the
// set's fit to these is the best factor. Where atoms share their systems (all entries known) P and G of a
// mode serve all atoms: one sweep over a matrix is two products with the data plus O((n + m) r^2), whatever
// the sets; with non-negative sets and weights it is HALS (Cichocki and Phan 2009). Where in addition the
// multiples of all sets are convex and act on coordinates alone, the modes also run ahead (Ang and Gillis
// 2019).
//
// By the oracle, as the paper does, and over full data the way for modes that share a factor: the power
// method is run from the atom on the residual without it. Of arrays with gaps, weights or a loss shared
// factors are fitted as if one of their modes had its own, and go as far there as f falls.
//
// A change is kept only where the objective falls, unless factors pay for their size (Regularization).

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "pursuit/base/checkpoints.hpp"
#include "pursuit/correction/regularization.hpp"
#include "pursuit/objective/objective.hpp"
#include "pursuit/oracle/find_atom.hpp"

namespace pursuit {

struct CorrectionOptions {
  int sweeps = 1;                                  // at most
  double tolerance = 0;                            // stop once a sweep lowers f by less than this share of it
  Index last = std::numeric_limits<Index>::max();  // correct only so many of the newest atoms
  std::vector<Index> known = {};  // of every panel, the factors of the first so many atoms stay
  Sign sign = Sign::free;         // of the weights
  bool bounded_weights = false;   // atoms move, weights stay (convex weights)
  bool by_oracle = false;
  int threads = 1;
  OracleOptions oracle = {};
  std::function<bool(int sweep, double objective)> keep_going = {};  // asked after every sweep
  Checkpoints* checkpoints = nullptr;                                // where states are kept, if at all

  Index known_of(Index panel) const { return known.empty() ? 0 : known[std::size_t(panel)]; }
};

struct CorrectionOutcome {
  int sweeps = 0;
  bool converged = false;
  bool carried_weights = false;  // sweeps moved them with the factors: a fit of weights alone gains nothing
};

class FactorFits;

/// Corrections of the iterate of an objective, with what they remember of its atoms from one to the next.
class Corrections {
 public:
  Corrections(Objective& f, AtomSets sets, const Regularization& regularization);
  ~Corrections();

  /// Weights that a correction drives to zero are left at zero.
  CorrectionOutcome run(const CorrectionOptions& options);

  /// Atoms that were dropped are forgotten.
  void keep(const std::vector<Index>& atoms);

  /// Between two runs, and between two sweeps.
  void visit_state(StateArchive& archive);

 private:
  Objective& f_;
  AtomSets sets_;
  std::unique_ptr<FactorFits> fits_;
};

}  // namespace pursuit
