#pragma once
// Sums of three and more modes may have no best approximation of a rank: two atoms then grow without end and
// cancel each other more and more (de Silva and Lim 2008). Long before that they show how alike they are.

#include "pursuit/objective/expansion.hpp"

namespace pursuit {

struct Degeneracy {
  /// Of two atoms with their weights: the cosine of the angle between them, -1 where they cancel. The largest
  /// in magnitude, or the one nearest to -1 where atoms cancel noticeably.
  double congruence = 0;
  Index first = 0, second = 0;  // those two
  double condition = 1;         // of the atoms as columns of unit norm
  double swelling = 1;          // norm of all atoms together over that of their sum

  bool is_degenerate() const { return congruence < -0.9 || (congruence < 0 && swelling > 10); }
};

/// Atoms without weight are passed over; of fewer than two there is nothing to say.
Degeneracy degeneracy_of(const Expansion& model);

}  // namespace pursuit
