#pragma once
// SpannogramNN (Asteris, Papailiopoulos and Dimakis 2014): one sparse non-negative component with a
// guarantee.
//
// The leading d eigenpairs give C_d = V V^T, V = [sqrt(lambda_1) q_1, ...] (p x d), and
//
//   max_u u^T C_d u  =  max over unit c in R^d, over u, of (c^T V^T u)^2,
//
// where the best u for a fixed c is the k largest positive entries of V c, scaled. So a search over the
// sphere of R^d is enough:
//
//   d = 1    two directions, exact.
//   d = 2    exact, by a sweep over the circle that stops only where the set of the k largest positive
//            entries may change: O(p) for each stop, and O(p k^(1/3)) stops at worst (Dey 1998).
//   d >= 3   `samples` random directions and their opposites. With probability 1 - failure one of them is
//            within the angle theta of the best, whose value they then miss by a factor cos^2(theta) at most.
//
// What is left out of C_d weighs at most lambda_{d+1}, which bounds the optimum by the value found on C_d
// plus that: a certificate for any u, not only for this one.

#include <cstdint>

#include "pursuit/baselines/covariance.hpp"

namespace pursuit {

struct SpannogramOptions {
  Index k = 0;          // at most so many non-zeros; 0: any number
  Index dimension = 2;  // d
  Index samples = 10000;
  double failure = 0.01;  // the probability with which the bound may be wrong; of d >= 3 only
  std::uint64_t seed = 0;
};

struct SpannogramResult {
  Vector u;
  double variance = 0;     // u^T C u
  double upper_bound = 0;  // on u^T C u over all non-negative unit u with at most k non-zeros
  double a_priori = 0;  // max(k / 2p, 1 / (1 + 2p/k lambda_{d+1} / lambda_1)) <= variance / optimum: d <= 2
  double covering_angle = 0;  // theta; 0 where the search is exact
};

SpannogramResult spannogram(const Covariance& C, const SpannogramOptions& options = {});

/// The angle theta such that, with probability 1 - failure, one of `samples` random lines in R^d is that
/// close to a given line.
double covering_angle(Index dimension, Index samples, double failure);

}  // namespace pursuit
