#pragma once
// The laws of an atom set as a check that anybody can run on a set of their own, with no test framework:
//
//   const auto hats = pursuit::custom({.name = "hats", .maximize = best_hat});
//   for (const auto& [law, detail] : pursuit::check_atom_laws(*hats, 100))
//     std::cerr << hats->spec() << " breaks the law of " << law << ": " << detail << '\n';
//
//   membership      contains() accepts every answer of maximize and fit
//   best            no other member is better than maximize(g) along g, or, where the oracle promises only a
//                   share of the best (oracle_factor), better than that share allows
//   homogeneity     maximize(c g) is as good along g as maximize(g), for every c > 0
//   determinism     the same input gives the same bits, ties included, whatever the output held before
//   zero            maximize(0) is a member; the best fit to b = 0 has scale 0
//   finiteness      a NaN or infinite entry throws InvalidArgument
//   uniform fit     fit with equal curvatures is as good as maximize along b and, where the sign is free, -b
//   fit             the scale has an allowed sign; the fit is no worse than the uniform one scaled as well as
//                   can be, and than every other member where exact_fit says so
//   symmetry        symmetric means that -u is a member with u
//   unit norm       unit_norm means that members have norm 1
//   simple          where the set is simple, maximize clips to signs, keeps the largest entries and scales
//   narrowing       nonnegative() and within(mask) have members of this set that keep the constraint, and
//   miss
//                   no better one
//   spec            what options.parse makes of spec() is the same set; "custom:" sets are excused
//
// Inputs are sampled (dense, thin, tied, one-signed and badly scaled vectors), so that an answer without a
// violation is evidence, not proof. Cost: about trials * n * (trials + 40) multiply-adds and 40 * trials
// oracle calls.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

struct LawOptions {
  std::uint64_t seed = 0;
  int trials = 40;
  double tolerance = 1e-9;  // relative, of values and of norms

  /// The largest <u, g> over the set, from an exhaustive search; used where given, for small n.
  std::function<double(ConstVectorRef g)> brute_force = {};

  /// Turns specs into sets (parse_atoms of the catalogue); without it the law of specs is not heard.
  std::function<Atoms(const std::string& spec)> parse = {};
};

struct LawViolation {
  std::string law;     // its name in the list above
  std::string detail;  // what was asked and what came back
};

/// The laws that the set breaks for vectors of n entries, each once, with the first example found. Throws
/// InvalidArgument where n is no dimension of the set, and on trials < 1.
std::vector<LawViolation> check_atom_laws(const AtomSet& set, Index n, const LawOptions& options = {});

}  // namespace pursuit
