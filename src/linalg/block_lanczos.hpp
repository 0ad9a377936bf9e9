#pragma once
// Leading eigenpairs of a symmetric operator by block Lanczos with thick restarts (Wu and Simon 2000; block
// form after Golub and Underwood 1977).
//
// A block of eight vectors costs a sparse product little more than one vector does, because the indices are
// read once and the lanes of a vector register are filled, and its orthogonalisation is matrix-matrix work.
// The Krylov space is deeper per vector than needed, but cheaper: on sparse matrices this beats one vector at
// a time. The basis is orthogonalised against all of itself only where the recurrence says that rounding
// errors have grown (Simon 1984). Memory: about (3 count + 340) vectors, less for very long ones.

#include <functional>

#include "linalg/lanczos.hpp"
#include "pursuit/linalg/axis.hpp"

namespace pursuit {

struct BlockLanczosOptions {
  Index count;
  bool positive_only = false;  // largest values, instead of largest magnitudes
  double tolerance =
      1e-8;  // on residual norms, each relative to its own value; values are then good to its square
  double range = 1e-5;  // values below this share of the largest drown in its rounding errors: not looked for
  double rounding = 0;  // of products, relative to the largest value: residuals need not be smaller
  double product_rounding =
      1;                  // of products, relative to the largest value: orthogonality that is lost by it
  double negligible = 0;  // values below this are rounding errors and nothing else
  int max_products = 2000;
  KeepGoing keep_going = {};
  Checkpoints* checkpoints = nullptr;  // where the state of the search is kept, for as long as it lasts
};

struct LanczosPairs {
  EigenPairs pairs;      // best first, `count` of them where the search was not stopped before
  Index converged = 0;   // so many of the first ones; those after them are out of range, unless...
  bool stopped = false;  // ...the search was ended from outside or by max_products
};

/// An orthonormal basis of what W adds to the span of the orthonormal Q; columns that add nothing but
/// rounding are dropped.
Panel orthonormal_addition(const Axis& axis, const ConstMatrixRef& Q, Panel W);

/// `apply(X, Y)` computes Y = A X for a block X of vectors along the axis. Needs 1 <= count < size / 2.
LanczosPairs block_lanczos(const Axis& axis, const std::function<void(const Panel&, Panel&)>& apply,
                           const BlockLanczosOptions& options);

}  // namespace pursuit
