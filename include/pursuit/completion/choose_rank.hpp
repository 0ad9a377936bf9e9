#pragma once
// How many atoms: by how well entries that were held out are predicted, and by whether the same atoms are
// found again.
//
// The entries of a matrix, or of an array, are cut at random into folds. For every fold the others are
// factored, rank by rank, each rank polished before it is judged by the entries of the fold; the atoms of
// different folds, which come from other entries and other starts, are compared with each other.

#include <functional>
#include <string>
#include <vector>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/objective/observed_tensor.hpp"

namespace pursuit {

struct ChooseOptions {
  std::vector<Index> ranks = {};  // ascending
  int folds = 5;
  FactorOptions factor = {};  // sets, weights, loss, offsets, row scale, polish, seed, threads; `rank`, known
                              // and initial atoms, weights of entries, the start and the exact path are not
                              // looked at
  /// Told how much is done and of what; returning false stops, and the ranks that all folds have are kept.
  std::function<bool(double share, const std::string& what)> watch = {};
};

struct RankScore {
  Index rank = 0;
  std::vector<double> errors = {};  // on the entries held out, of every fold
  double error = 0, deviation = 0;  // their mean and its standard error
  double training = 0;              // mean error on the entries that were factored
  double stability = 0;             // mean |cosine| of atoms with those of another fold that match them best
};

struct RankChoice {
  Index rank = 0;          // the one to take
  Index best = 0;          // the one of least error
  std::string reason;      // one sentence or two
  std::string error_name;  // "relative error", or half the mean deviance
  std::vector<RankScore> ranks = {};
  bool interrupted = false;
  double seconds = 0;
};

/// The smallest rank that predicts no worse than the best one, by more than the standard error of their
/// difference over folds. An entry that a sparse matrix does not store is a zero, and held out like any
/// other. InvalidArgument for options that make no sense, InvalidInput where there are too few entries to
/// hold out.
RankChoice choose_rank(const DataMatrixPtr& Y, const ChooseOptions& options);

/// The same of the entries of an array that are known, with a set for every mode in the place of left and
/// right; of an array whose other entries are zeros all are held out alike.
RankChoice choose_rank(const ObservedTensor& Y, const AtomSets& sets, const ChooseOptions& options);

/// Mean |cosine| over atoms of the larger expansion, each matched with one of the other, best pairs first;
/// the cosine of atoms is the product of those of their factors.
double matched_cosine(const Expansion& a, const Expansion& b);

}  // namespace pursuit
