#pragma once
// A long column for the fit of a set whose members have few non-zeros, without the entries that cannot be
// among them. What is left comes in whole blocks: every sum of the oracles runs in lanes whose number divides
// a block, entries of a member elsewhere are zero, and so these sums have the bits of those over all entries.
// Whoever owns a part of the column can leave out what is not wanted of it.

#include <optional>
#include <vector>

#include "linalg/top_k.hpp"
#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

/// Of a set that bounds the number of non-zeros, and may bound entries by zero.
struct SparseFit {
  bool nonnegative;
  Index most;  // non-zeros
  Sign sign;
};
/// Nothing where a set is another one, or asks for too much of a column of n entries to be worth thinning.
std::optional<SparseFit> sparse_fit(const AtomSet& set, Sign sign, Index n);

/// Entries above `up` and below -`down` may be among the largest, those of one sign among the largest of that
/// sign.
struct LikelyBounds {
  double up, down;
};
/// From the sample of a column of n entries; nothing where all of them may have to be seen.
std::optional<LikelyBounds> likely_bounds(const Vector& sample, Index n, const SparseFit& fit);

constexpr Index kThinningBlock = 16;  // entries

/// Numbers of blocks, and their entries.
struct Blocks {
  std::vector<Index> numbers;
  std::vector<double> entries;

  Index place(Index i) const {
    return numbers[std::size_t(i / kThinningBlock)] * kThinningBlock + i % kThinningBlock;
  }
  /// What a part of a column has to say, which begins at `first`; zeros stand for entries of others.
  void add(ConstVectorRef part, Index first, const LikelyBounds& bounds);
  /// What comes behind. Both may have a part of one block.
  void append(const Blocks& next);
};

/// set.fit(curvature, column, sign, u) as its blocks say, u being zero elsewhere; nothing where more has to
/// be seen. `lower_squares` is the sum of the squares of the entries below zero, or more.
std::optional<double> fit_thinned(Index n, const Vector& sample, const LikelyBounds& bounds,
                                  const Blocks& blocks, double lower_squares, const SparseFit& fit,
                                  double curvature, Vector& u);

}  // namespace pursuit
