#pragma once
// Implicit feedback by sums of structured atoms: the engine's objective, and what is asked of its atoms.

#include <memory>

#include "completion/implicit_factors.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// Half the sum of implicit.hpp without the ridge, at x = 0; of entries the places and the confidence count.
/// With a ridge that counts entries (Regularization) the rest of it follows.
std::unique_ptr<Objective> implicit_objective(ObservedEntries seen, const ImplicitPrior& prior, int threads);

/// Vectors of rows and columns whose products are a sum of atoms. The weight of an atom is shared so that
/// entries of both sides are of one size, which is where the ridge is least if members have entries alike.
struct ImplicitPair {
  ImplicitVectors rows, cols;
};
ImplicitPair vectors_of(const Expansion& atoms);

/// The best rows for these entries with the right factors of a model held, weighted as average_row() has
/// them: not negative where those of the model are not, else free of its left set, which is one of all rows.
Matrix implicit_atom_rows(const CompletionModel& model, const GroupedEntries& entries, int threads);

}  // namespace pursuit
