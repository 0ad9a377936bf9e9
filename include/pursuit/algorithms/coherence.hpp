#pragma once
// How fast a pursuit must converge, and whether it did: the coherence of a dictionary, the rates of the
// paper's coherence theorem and its corollary, and certificates that hold a run against them.

#include <optional>
#include <vector>

#include "pursuit/algorithms/trace.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit {

/// Cumulative coherence mu(m) = max over |I| = m and k outside I of sum_{i in I} |<s_k, s_i>|, for m =
/// 0..N-1, of the normalised columns of D. O(N^2 log N) after D^T D.
Vector cumulative_coherence(const Matrix& D);

/// Coherence theorem: ||r_{r+1} - r*||^2 <= (1 - (1 - mu(N-1)) / N) ||r_r - r*||^2 for any y; empty where
/// mu(N-1) >= 1 and the theorem says nothing. With y a combination of m atoms the corollary puts m for N.
std::optional<double> coherence_rate(const Vector& coherence, Index atoms);

/// One step of an orthogonal matching pursuit held against theory.
struct CertifiedStep {
  double decay;       // measured ||r_{r+1} - r*||^2 / ||r_r - r*||^2
  double guaranteed;  // 1 - delta^2 <z, r>^2 / (||z||^2 ||r - r*||^2) with the exact oracle's z: Theorem 1
  std::optional<double> coherence_bound;  // with delta: 1 - delta^2 (1 - mu(N-1)) / N
  bool holds;                             // decay within both, up to rounding
};

struct RateCertificate {
  std::vector<CertifiedStep> steps;
  double distance_to_span = 0;  // ||r*||, the part of y that no combination reaches
  bool holds = true;
};

/// Runs OMP on one signal with an oracle of accuracy delta (1: exact; below: as bad as allowed) and certifies
/// each step until the residual is within rounding of r*.
RateCertificate certify_omp(const Matrix& D, const Vector& signal, Index steps, double delta = 1);

/// What Theorem 1 guarantees for any run with free weights and no corrections: every step lowers f by at
/// least 1/2 <z, r>^2 / ||z||^2. `atom_norm` is ||z||, the same for all atoms. Returns the steps (from 0)
/// that break it.
std::vector<Index> steps_below_guarantee(const Trace& trace, double atom_norm = 1);

}  // namespace pursuit
