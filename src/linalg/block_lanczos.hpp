#pragma once
// Leading eigenpairs of a symmetric operator by block Lanczos with thick restarts (Wu and Simon 2000; block
// form after Golub and Underwood 1977).
//
// A block of eight vectors costs a sparse product little more than one vector does, because the indices are
// read once and the lanes of a vector register are filled, and its orthogonalisation is matrix-matrix work.
// The Krylov space is deeper per vector than needed, but cheaper: on sparse matrices this beats one vector at
// a time. Memory: about (3 count + 210) vectors.

#include <functional>

#include "linalg/lanczos.hpp"

namespace pursuit {

struct BlockLanczosOptions {
  Index count;
  bool positive_only = false;  // largest values, instead of largest magnitudes
  double tolerance = 1e-9;     // on residual norms, relative to the largest magnitude
  int max_products = 2000;
};

/// `apply(X, Y)` computes Y = A X for a block X. Needs 1 <= count < size / 2.
EigenPairs block_lanczos(Index size, const std::function<void(const Matrix&, Matrix&)>& apply,
                         const BlockLanczosOptions& options);

}  // namespace pursuit
