#pragma once
// Line 2 of Algorithm 2: the linear minimisation oracle over atoms u (x) v (x) ..., by the atomic power
// method.
//
// By turns: the form R, with all factors of an atom but one, is a vector, and the best factor is the member
// of its set along that vector: u <- A1.maximize(R v), v <- A2.maximize(R^T u). Modes that share a factor:
// maximise s R(u, u) over u in A (s = +1, and -1 where weights may be negative) by
//   u <- A.maximize(s R u + kappa u). The residual is indefinite, so steps start with kappa = 0 and a step
//   that lowers the value is taken back and kappa raised, which makes s R + kappa I convex in the end: the
//   values never fall.
// Members of some sets differ in norm. Where weights are free the best atom is the one of largest
// |<R, z>| / ||z||, which lowers the error most; with bounded weights (Frank-Wolfe) it is the one of largest
// <R, z>.
// All of this is local: several starts run as one block of columns, so that one pass over the data serves
// all, and after every second step the worse half is dropped. Starts are, in turn, leading directions,
// heaviest rows and columns, samples of the leading subspace, and random vectors.

#include <cstdint>

#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/objective/form.hpp"

namespace pursuit {

struct OracleOptions {
  int restarts = 8;
  int max_iterations = 200;
  double tolerance = 1e-7;  // relative rise of the value under which a power iteration has converged
  Sign sign = Sign::free;   // of the weight that the atom will get
  bool free_scale =
      true;  // the weight is fitted, so that directions are compared; otherwise members as they are
  std::uint64_t seed = 0;
};

struct FoundAtom {
  Factors factors;     // one atom
  double value = 0;    // <R, z>; negative where the atom helps along -z
  double spread = 0;   // (best - median) / best over the starts: how much the start mattered
  int iterations = 0;  // power steps of the winner
  int restarts = 0;    // starts that were run
};

/// The sets are those of the atom with this number.
FoundAtom find_atom(const Form& R, const AtomSets& sets, Index number, const OracleOptions& options);

/// The same iterations from given starts, one per column: factors in all modes but the first, which is not
/// looked at unless all modes share one.
FoundAtom refine_atom(const Form& R, const AtomSets& sets, Index number, Factors starts,
                      const OracleOptions& options);

/// `count` starts of that kind.
Factors starting_block(const Form& R, const AtomSets& sets, int count, std::uint64_t seed);

}  // namespace pursuit
