#pragma once
// Fits of all factors along a long mode, of sets whose members have few non-zeros, by ranks that own rows and
// columns of the matrix. What other atoms leave to one is made by whoever owns its entries and stays there;
// rank 0 sees of it what may be among the largest, fits, and tells the non-zeros of the new factor.

#include "data/ranked_rows.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/correction/correction.hpp"

namespace pursuit {

/// What fits of the atoms from `oldest` on make of the factors of a panel; the bits are those of rank 0
/// alone. False, with nothing done, where f is no square over ranks, or the sets or sizes are not worth it.
bool fits_over_ranks(Objective& f, const AtomSets& sets, Index panel, Index oldest,
                     const CorrectionOptions& options);

/// The part of a rank that follows.
void follow_fits(const RankedRows& rows);

}  // namespace pursuit
