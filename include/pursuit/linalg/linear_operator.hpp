#pragma once
// Matrices known by their products with blocks of vectors. Memory bandwidth limits everything here, so a
// matrix is streamed once for a whole block; nothing downstream ever asks for a single entry.

#include <limits>

#include "pursuit/base/types.hpp"

namespace pursuit {

class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;

  virtual void apply(const Matrix& V, Matrix& out) const = 0;             // out = A V
  virtual void apply_transposed(const Matrix& U, Matrix& out) const = 0;  // out = A^T U

  /// Products use up to so many threads, and so should what is made of them.
  virtual int threads() const { return 1; }

  /// Rounding errors of products, relative to what is multiplied.
  virtual double rounding() const { return std::numeric_limits<double>::epsilon(); }

  /// out = A^T A V; sparse matrices do it in one pass over the data for a single vector.
  virtual void apply_gram(const Matrix& V, Matrix& out) const;
};

}  // namespace pursuit
