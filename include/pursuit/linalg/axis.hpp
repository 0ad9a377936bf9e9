#pragma once
// One mode of the data: where vectors along it live, and the sums over them. Everything that stands between
// data and atoms is sums over the entries of one mode, so that whoever owns only some of the entries needs
// another axis and nothing else.

#include <vector>

#include "pursuit/base/random.hpp"
#include "pursuit/base/types.hpp"

namespace pursuit {

/// Vectors along an axis, a column each: those entries that are owned here.
using Panel = Matrix;

/// The whole of a mode in this process's memory; the face of every other axis.
class Axis {
 public:
  explicit Axis(Index size, int threads = 1) : size_(size), threads_(threads) {}
  virtual ~Axis() = default;

  Index size() const { return size_; }         // of a whole vector
  int threads() const { return threads_; }     // that sums use
  virtual Index first() const { return 0; }    // the first entry that is owned here...
  virtual Index own() const { return size_; }  // ...and their number
  bool is_whole() const { return own() == size(); }

  /// X^T Y, and its diagonal alone; the same for every owner.
  virtual Matrix inner(const ConstMatrixRef& X, const ConstMatrixRef& Y) const;
  virtual Vector dots(const ConstMatrixRef& X, const ConstMatrixRef& Y) const;
  Vector norms(const ConstMatrixRef& X) const { return dots(X, X).cwiseSqrt(); }

  /// X S, and Y -= X S.
  Panel combined(const ConstMatrixRef& X, const ConstMatrixRef& S) const;
  void subtract(const ConstMatrixRef& X, const ConstMatrixRef& S, MatrixRef Y) const;

  /// As many orthonormal columns as the block has, or entries where these are fewer; the first span the
  /// block.
  virtual Panel orthonormal(const Panel& block) const;

  /// Independent normal numbers; each depends on the state of `random` and on its place along the axis alone.
  Panel gaussian(Index columns, Random& random) const;

  /// The places whose rows are the largest, in descending order.
  virtual std::vector<Index> heaviest(const Panel& X, Index count) const;

  /// A column for each place, 1 there.
  Panel units(const std::vector<Index>& places) const;

  /// A whole vector from the parts of all owners, for sets that have to see all of it.
  virtual Vector gather(ConstVectorRef part) const { return part; }

 private:
  Index size_;
  int threads_;
};

}  // namespace pursuit
