#pragma once
// Implicit feedback by sums of structured atoms: the engine's objective, and what is asked of its atoms.

#include <memory>

#include "completion/implicit_factors.hpp"
#include "pursuit/completion/implicit.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// Half the sum of implicit.hpp without the ridge, at x = 0; of entries the places and the confidence count.
/// Where all count alike the ranks of a team share it. With a ridge that counts entries (Regularization) the
/// rest of it follows.
std::unique_ptr<Objective> implicit_objective(ObservedEntries seen, const ImplicitPrior& prior, int threads,
                                              RankTeam* team = nullptr);

/// Whether all atoms of a row can move at once: entries of factors are free of each other, signs aside.
bool moves_at_once(const ImplicitSets& sets);
ImplicitSigns signs_of(const ImplicitSets& sets);
/// The sum of atoms that factors are.
Expansion atoms_of(const ImplicitFactors& factors);

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
