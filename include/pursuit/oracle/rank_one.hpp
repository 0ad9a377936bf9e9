#pragma once
// Line 2 of Algorithm 2: the linear minimisation oracle over rank-one atoms, by the atomic power method.
//
// Rectangular: maximise |<R, u v^T>| over u in A1, v in A2 by turns, u <- A1.maximize(R v), v <-
// A2.maximize(R^T u). Symmetric:   maximise s u^T R u over u in A (s = +1, and -1 where weights may be
// negative) by
//              u <- A.maximize(s R u + kappa u). The residual is indefinite, so steps start with kappa = 0
//              and a step that lowers the value is taken back and kappa raised, which makes s R + kappa I
//              convex in the end: the values never fall.
// Members of some sets differ in norm. Where weights are free the best atom is the one of largest
// |<R, u v^T>| / (||u|| ||v||), which lowers the error most; with bounded weights (Frank-Wolfe) it is the one
// of largest <R, u v^T>.
// Both are local: several starts run as one block of columns, so that one pass over the data serves all, and
// after every second step the worse half is dropped. Starts are, in turn, leading directions, heaviest rows
// and columns, samples of the leading subspace, and random vectors.

#include <cstdint>

#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/linalg/linear_operator.hpp"

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

struct RankOneAtom {
  Vector u, v;         // v equals u in the symmetric case
  double value = 0;    // <R, u v^T>; negative where the atom helps along -z
  double spread = 0;   // (best - median) / best over the starts: how much the start mattered
  int iterations = 0;  // power steps of the winner
  int restarts = 0;    // starts that were run
};

RankOneAtom find_rank_one(const LinearOperator& R, const AtomSet& left, const AtomSet& right,
                          const OracleOptions& options);
RankOneAtom find_symmetric(const LinearOperator& R, const AtomSet& atoms, const OracleOptions& options);

/// The same iterations from given starts, one per column (right factors, or u in the symmetric case).
RankOneAtom refine_rank_one(const LinearOperator& R, const AtomSet& left, const AtomSet& right,
                            const Matrix& starts, const OracleOptions& options);
RankOneAtom refine_symmetric(const LinearOperator& R, const AtomSet& atoms, const Matrix& starts,
                             const OracleOptions& options);

/// m x count starts for the right factor.
Matrix starting_block(const LinearOperator& R, int count, std::uint64_t seed);

}  // namespace pursuit
