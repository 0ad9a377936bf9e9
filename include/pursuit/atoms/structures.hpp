#pragma once
// The catalogue of structures beyond sphere, sparse and nonneg. Every function makes an atom set of unit
// vectors unless it says otherwise; both oracles are exact unless it says otherwise. Bad arguments throw
// InvalidArgument.
//
// Sets about particular entries carry `source`, the file they came from, which is what their spec says; sets
// made by a program have none, and a spec that begins with "custom:".

#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

// ---- which entries may be non-zero together

/// One coordinate, at 1.
Atoms onehot();
/// Non-zeros within one window of `length` neighbours. O(n).
Atoms block(Index length);
/// Non-zeros within at most `count` windows of `length` neighbours each. O(n count).
Atoms blocks(Index length, Index count);
/// Non-zeros only where the mask is 1.
Atoms support(std::vector<unsigned char> mask, std::string source = "");

/// group_of[i]: the group of entry i, 0, 1, ..., without gaps.
struct Groups {
  std::vector<Index> group_of;
  std::string source = {};
};
/// At most `active` groups have non-zeros, at most `within` each. O(n); with a total bound, group +
/// sparse(k), O(n active k).
Atoms group(Groups groups, Index active, Index within = std::numeric_limits<Index>::max());

/// Sets of entries that may overlap (gene sets, pathways); `entries` is how many there are in all, 0 where
/// that is not known.
struct EntrySets {
  Index entries = 0;
  std::vector<std::vector<Index>> members;
  std::string source = {};
};
/// Non-zeros within at most `active` of the sets; entries in none are zero. Exact for one set and where none
/// overlap; otherwise NP-hard, and the oracle promises sqrt(1 - (1 - 1/active)^active) of the best.
Atoms entry_sets(EntrySets sets, Index active);

/// parent[i]: the parent of entry i, -1 for a root.
struct Tree {
  std::vector<Index> parent;
  std::string source = {};
};
/// Non-zeros within at most k nodes that contain the parent of each of them (Baraniuk et al. 2010), exact by
/// dynamic programming, O(n k).
Atoms tree(Tree tree, Index k);

struct Graph {
  Index vertices = 0;
  std::vector<std::pair<Index, Index>> edges;
  std::string source = {};
};
/// Non-zeros within at most k vertices that form at most `components` connected components. Exact on forests;
/// otherwise the problem is NP-hard and the oracle promises a share sqrt(components / k) of the best.
Atoms graph(Graph graph, Index k, Index components = 1);

// ---- order and shape, for entries in a row

/// Never falling (up), never rising (down), or one of them. O(n) (isotonic regression).
Atoms monotone(Direction direction = Direction::either);
/// Never falling up to some entry, never rising after it. O(n) (Stout 2008).
Atoms unimodal();
/// Second differences of one sign: convex, or concave. O(n) per knot of the answer.
enum class Curve { convex, concave };
Atoms shape(Curve curve);
/// Sum of squared differences of neighbours at most lambda. O(n) per step of a one-dimensional search.
Atoms smooth(double lambda);
/// At most `pieces` constant stretches. O(n pieces) times a small number of candidates (Rigaill 2010).
Atoms fused(Index pieces);

// ---- bounds on entries and norms; members need not have unit norm

/// Unit vectors with sum |u_i| <= c (Witten et al. 2009). O(n log n); fit is exact for equal curvatures, and
/// otherwise local.
Atoms l1ball(double c);
/// sum |u_i|^p <= 1, p >= 1, infinity included. O(n). As the scale of a fit is free, fit is not constrained.
Atoms lp(double p);
/// lo <= u_i <= hi. O(n), fit O(n log n).
Atoms box(double lo, double hi);
/// u_i >= 0, sum u_i = 1. O(n).
Atoms simplex();
/// Entries -1 or 1. O(n).
Atoms signs();
/// Entries 0 or 1, not all 0, scaled to unit norm. O(n log n).
Atoms binary();

// ---- members of a given family of vectors

/// Vectors by name or by value: the columns of a matrix, or an orthonormal basis that is never formed.
struct Dictionary {
  enum class Kind { columns, dct, haar } kind = Kind::columns;
  std::variant<Matrix, Eigen::SparseMatrix<double>> columns = {};  // for Kind::columns
  std::string source = {};
};
/// Columns up to sign. One product with the dictionary.
Atoms dictionary(const Dictionary& dictionary);
/// Unit vectors in the span of the columns. O(n d), fit O(n d^2) for d columns.
Atoms span(const Dictionary& dictionary);
/// Unit vectors in the span of some k of the columns. Exact for orthonormal columns and equal curvatures, by
/// orthogonal matching pursuit otherwise.
Atoms sparse_in(const Dictionary& dictionary, Index k);

// ---- sets made of sets

/// A range of entries with its own structure, first .. last inclusive; last < 0: to the end.
struct RangePart {
  Index first, last;
  Atoms set;
};
/// Unit vectors whose ranges are multiples of members of their sets, which must be sets of unit vectors. The
/// ranges follow each other without gaps.
Atoms product(const std::vector<RangePart>& parts);

}  // namespace pursuit
