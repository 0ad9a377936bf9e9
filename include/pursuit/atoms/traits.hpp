#pragma once
// What is known of an atom set beside its oracles: traits, which algorithms ask about, and constraints, by
// which sets are combined.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pursuit/base/types.hpp"

namespace pursuit {

/// A bound on the number of non-zeros: a count, or a fraction of the entries (at least one entry).
struct Sparsity {
  std::variant<Index, double> bound;

  /// The most non-zeros of a vector of n entries.
  Index most(Index n) const;
};

/// All unit vectors, with few non-zeros or without a negative entry where it is said so: the four sets of the
/// paper's Table 1.
struct SimpleSet {
  bool nonnegative = false;
  std::optional<Sparsity> sparsity = {};

  Index max_nonzeros(Index n) const { return sparsity ? sparsity->most(n) : n; }
};

struct AtomTraits {
  bool symmetric = false;    // u in A implies -u in A
  bool unit_norm = true;     // every member has norm 1
  bool exact_fit = false;    // fit reaches the global optimum for every a; where not, it ends in a local one
  double oracle_factor = 1;  // share of the largest <u, g> that maximize promises; 0: none
  std::optional<SimpleSet> simple = {};

  /// Every vector of unit norm: the classical SVD.
  bool is_sphere() const { return coordinatewise() && !simple->nonnegative; }
  /// The multiples t u, t >= 0, are a convex cone that treats every coordinate alone (all vectors, or the
  /// non-negative ones): corrections may then work on tiles of rows and extrapolate.
  bool coordinatewise() const { return simple && !simple->sparsity; }
};

/// What is true of a set and of another one, and promised by both.
AtomTraits common_traits(const AtomTraits& a, const AtomTraits& b);

// ---- constraints that a set may be asked to keep beside its own

/// No entry below zero.
struct Nonnegativity {};
/// Zeros outside of a mask, which is 1 inside and 0 outside; `source` is the file it came from, if any.
struct Mask {
  std::vector<unsigned char> inside;
  std::string source = {};
};
/// Entries that never fall (up), never rise (down), or one of them.
enum class Direction { either, up, down };

using Constraint = std::variant<Nonnegativity, Sparsity, Mask, Direction>;
using Constraints = std::vector<Constraint>;

}  // namespace pursuit
