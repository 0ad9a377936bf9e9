#pragma once
// Loadings U, column i a member of its set, whose span holds as much of the variance as possible:
//
//   maximise tr(P_U C) / tr C,   C = A^T A,   P_U the projector on the span;   equivalently min ||A - Z U^T||
//   over Z, U.
//
// One sweep: the best scores Z = A U (U^T U)^-1 for these loadings, then the best loadings for these scores,
// column by column and twice around, each an exact fit of its set. It costs two products with A. The problem
// has many local maxima, so sweeps are started from several places (leading components, varimax rotations of
// them, heaviest columns) and, from the best, again after perturbations, several at a time, within a number
// of sweeps that depends on sizes and effort alone: the same input gives the same result.

#include <functional>

#include "pursuit/algorithms/pca.hpp"

namespace pursuit {

struct SpanProblem {
  const LinearOperator& A;   // q x p, centred
  double total;              // tr C = ||A||^2
  std::vector<Atoms> sets;   // one per component
  Index total_nonzeros = 0;  // above 0: non-zeros of all components together, the sets follow
  bool nonnegative = false;  // of those sets
  double orthogonality = 0;  // costs this times the squared inner products of loadings
  int threads = 1;
  Matrix initial = {};  // loadings from which one more climb begins; may be empty
};

struct SpanSolution {
  Matrix loadings;
  double value = -1;  // share of the variance in the span, less what orthogonality costs
  int sweeps = 0;     // made for it
};

constexpr const char* kSpanPart = "span";  // of a run, among its checkpoints

/// `watch` is told the sweeps done and allowed and the best value, and may stop the search. A search that is
/// resumed does not look at the leading components.
SpanSolution search_span(const SpanProblem& problem, const Matrix& leading, const Vector& leading_values,
                         int sweeps, std::uint64_t seed, const std::function<bool(int, int, double)>& watch,
                         Checkpoints* checkpoints = nullptr);

/// Of loadings that were found for nearly this problem: a few sweeps with it, or the loadings where these
/// gain nothing.
SpanSolution polish_span(const SpanProblem& problem, Matrix loadings);

}  // namespace pursuit
