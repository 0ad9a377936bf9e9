// What every set is, in words. Parsing is elsewhere; a test holds the two together.

#include "pursuit/catalogue/catalogue.hpp"

namespace pursuit {

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries{
      {"sphere", "sphere", "any direction",
       "All unit vectors. With it on both sides a factorization is the truncated singular value "
       "decomposition. "
       "Both oracles exact, O(n).",
       "sphere"},
      {"nonneg", "nonneg", "no negative entry",
       "Unit vectors without a negative entry; on both sides, with non-negative weights, this is "
       "non-negative "
       "matrix factorization. Both oracles exact, O(n): clip.",
       "nonneg"},
      {"sparse", "sparse:K",
       "at most K non-zeros; a fraction such as 0.1, or a list such as 300,200,100 for each atom",
       "Unit vectors with at most K non-zeros, K a count or, with a decimal point, a fraction of the length. "
       "A "
       "list gives every atom its own K, the last one serving all further atoms. Both oracles exact, O(n): "
       "keep "
       "the largest gains b_i^2 / a_i.",
       "sparse:4"},
      {"l1ball", "l1ball:C", "unit vectors with sum |u_i| <= C, 1 <= C <= sqrt(n)",
       "Unit vectors of bounded 1-norm, the set of the penalized matrix decomposition (Witten, Tibshirani "
       "and "
       "Hastie 2009): sparse by shrinking. maximize exact, O(n log n); fit exact for equal curvatures (full "
       "matrices), local otherwise.",
       "l1ball:1.8"},
      {"lp", "lp:P", "the unit ball of a p-norm, P >= 1 or inf",
       "Vectors with sum |u_i|^P <= 1. Members are extreme points where weights are bounded (convex weights, "
       "Frank-Wolfe); with free weights any direction can be scaled into the ball, so that fit is not "
       "constrained: for sparse factors take sparse or l1ball. Both oracles exact, O(n).",
       "lp:1.5"},
      {"group", "group:FILE:G[:K]", "at most G groups of entries are active, with at most K non-zeros each",
       "FILE has one group per line: its entries, counted from 0 or by name. Groups do not overlap and cover "
       "all "
       "entries. "
       "Both oracles exact, O(n): the groups with the largest sums of gains. group:FILE:G+sparse:K bounds "
       "the "
       "non-zeros of all groups together, by dynamic programming, O(n G K).",
       "group:{file}:2", "0 1 2\n3 4 5\n6 7 8 9\n10 11\n"},
      {"sets", "sets:FILE:G", "non-zeros within at most G of given sets of entries, which may overlap",
       "FILE has one set per line: its entries, counted from 0 or by name; gene sets in .gmt have a name and "
       "a "
       "description before them. Entries in no set are zero, and names that the data do not have are passed "
       "over. "
       "maximize is exact for one set and where none overlap; otherwise the best union is a problem of "
       "maximum "
       "coverage, NP-hard, and the set that adds most is taken again and again: an inexact oracle that "
       "reaches at "
       "least sqrt(1 - (1 - 1/G)^G) of the best (0.87 for two, 0.80 for many). O(G) times the entries of all "
       "sets.",
       "sets:{file}:2", "0 1 2 3\n2 3 4 5\n5 6 7\n8 9 10 11\n"},
      {"tree", "tree:FILE:K", "non-zeros within K nodes of a tree that hang together at its root",
       "FILE has one line per entry: its parent, -1 for a root; or, by name, lines of a child and its "
       "parent. A node may be used only with its parent "
       "(model-based compressive sensing, Baraniuk et al. 2010). Both oracles exact by dynamic programming, "
       "O(n K).",
       "tree:{file}:4", "-1\n0\n0\n1\n1\n2\n2\n3\n3\n4\n4\n5\n"},
      {"graph", "graph:FILE:K[:C]",
       "non-zeros within K vertices of a graph in at most C connected pieces (1)",
       "FILE has one edge per line: two entries, counted from 0 or by name; a line with one entry names a "
       "vertex "
       "without "
       "edges. Exact on forests, by dynamic programming, O(n K C^2). On graphs with cycles the problem is "
       "NP-hard (Hegde, Indyk and Schmidt 2015): the same on a spanning forest, then exchanges; an inexact "
       "oracle that reaches at least sqrt(C / K) of the best, in practice nearly all of it.",
       "graph:{file}:4:1",
       "0 1\n1 2\n2 3\n4 5\n5 6\n6 7\n8 9\n9 10\n10 11\n0 4\n1 5\n2 6\n3 7\n4 8\n5 9\n6 10\n7 11\n"},
      {"block", "block:K", "non-zeros within one window of K neighbours",
       "Both oracles exact, O(n): the window with the largest sum of gains.", "block:4"},
      {"blocks", "blocks:K:C", "non-zeros within C windows of K neighbours each",
       "Both oracles exact by dynamic programming, O(n C).", "blocks:3:2"},
      {"monotone", "monotone[:up|:down]", "never falling (up), never rising (down), or one of the two",
       "For entries in a natural order, such as doses or times. Both oracles exact, O(n): isotonic "
       "regression by "
       "pooling adjacent violators (Ayer et al. 1955).",
       "monotone"},
      {"unimodal", "unimodal", "rising to a peak, falling after it",
       "Chromatographic and spectral peaks, usually as nonneg+unimodal. Both oracles exact, O(n): isotonic "
       "regressions of all prefixes and suffixes (Stout 2008).",
       "unimodal"},
      {"convex-shape", "convex-shape", "second differences not negative",
       "Convex sequences; negative weights make them concave. Both oracles exact to rounding, O(n) per knot "
       "of "
       "the answer: an active set method.",
       "convex-shape"},
      {"concave-shape", "concave-shape", "second differences not positive",
       "Concave sequences, the negatives of convex-shape, at the same cost.", "concave-shape"},
      {"smooth", "smooth:LAMBDA", "neighbours differ little: sum (u_{i+1} - u_i)^2 <= LAMBDA",
       "Unit vectors of bounded roughness; 4 allows anything, 0.01 a slow wave. Both oracles exact by the "
       "S-lemma: a one-dimensional search with a tridiagonal system, O(n), at each of some 40 steps. "
       "nonneg+smooth is exact where entries are positive on the whole, and a local search otherwise.",
       "smooth:0.1"},
      {"fused", "fused:K", "at most K constant pieces",
       "Piecewise constant sequences, such as copy numbers along a genome. Both oracles exact by dynamic "
       "programming with functional pruning (Rigaill 2010), O(n K) times the few candidates left.",
       "fused:3"},
      {"simplex", "simplex", "entries not negative, of sum 1",
       "Compositions. maximize is a single coordinate, the vertex that Frank-Wolfe asks for; fit clips. Both "
       "exact, O(n).",
       "simplex"},
      {"box", "box:LO:HI", "entries from LO to HI",
       "With 0 < LO the ratio of two entries is bounded by HI / LO. maximize exact, O(n); fit exact, O(n) "
       "per step "
       "of a one-dimensional search.",
       "box:1:2"},
      {"sign", "sign", "entries -1 or 1", "Binary codes. Both oracles exact, O(n).", "sign"},
      {"binary", "binary", "entries 0 or 1, scaled to unit norm",
       "Membership in a cluster. Both oracles exact, O(n log n): a prefix in the order of b_i / a_i.",
       "binary"},
      {"onehot", "onehot", "a single coordinate", "The same as nonneg+sparse:1. Both oracles exact, O(n).",
       "onehot"},
      {"support", "support:FILE", "entries outside a mask are zero",
       "FILE has one number per entry, 1 inside and 0 outside, in any matrix format, or the names of those "
       "inside. With other sets: "
       "support:FILE+sparse:10. Both oracles exact, O(n).",
       "support:{file}", "1\n1\n1\n1\n1\n0\n0\n0\n1\n1\n1\n1\n"},
      {"dictionary", "dictionary:FILE", "one of given vectors, up to sign; dct and haar are built in",
       "The columns of a dense or sparse matrix, scaled to unit norm, or an orthonormal basis that is never "
       "formed: dictionary:dct (cosines) and dictionary:haar (wavelets, of any length). Both oracles exact: "
       "one "
       "product with the matrix, or O(n log n).",
       "dictionary:dct"},
      {"span", "span:FILE", "any combination of given vectors",
       "Unit vectors of the subspace of the columns of a matrix, d of them. Both oracles exact, O(n d) and "
       "O(n d^2).",
       "span:{file}", "1,0,0\n1,0,1\n1,0,0\n1,0,1\n0,1,0\n0,1,1\n0,1,0\n0,1,1\n1,1,0\n1,1,1\n1,1,0\n1,1,1\n"},
      {"sparse-in", "sparse-in:FILE:K",
       "a combination of at most K of given vectors; dct and haar are built in",
       "Vectors that are sparse in a dictionary. With an orthonormal basis maximize is exact; otherwise "
       "orthogonal "
       "matching pursuit with exchanges, an inexact oracle whose stated share comes from the coherence of "
       "the "
       "columns. fit is local under unequal curvatures.",
       "sparse-in:dct:3"},
      {"plugin", "plugin:PATH:NAME", "your own set, from a C function in a shared object",
       "PATH is a shared object with the function int NAME(const double* g, double* u, long n) that writes "
       "the "
       "member u with the largest <u, g>, a unit vector, and returns 0. fit is exact for equal curvatures, "
       "local "
       "otherwise.",
       ""},
  };
  return entries;
}

}  // namespace pursuit
