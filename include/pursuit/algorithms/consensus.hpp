#pragma once
// Non-negative parts that are found again: one factorization from many random starts, their spectra (right
// factors) clustered, those that stand alone left out, the median of every cluster a part, and the usages
// (left factors) of these fitted once more (consensus NMF, Kotliar et al. 2019).

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pursuit/data/data_matrix.hpp"
#include "pursuit/objective/expansion.hpp"
#include "pursuit/objective/loss.hpp"

namespace pursuit {

struct ConsensusOptions {
  Index rank = 10;
  int seeds = 50;        // factorizations
  Loss loss = {};        // squares, poisson or itakura-saito
  double density = 0.5;  // spectra (of unit length) further than this from their neighbours, on average, are
                         // left out; 2 keeps all
  double neighbours = 0.3;  // how many count as neighbours, as a share of the factorizations
  int polish = 1000;        // at most so many sweeps of each
  double polish_tolerance = 1e-4;
  std::uint64_t seed = 0;
  int threads = 0;  // 0: all cores; the result does not depend on it
  /// Told how much is done; returning false stops, and the factorizations that are done are used.
  std::function<bool(double share, const std::string& what)> watch = {};
};

struct Consensus {
  Expansion model;                // usages and spectra of unit length, the most used part first
  std::vector<double> stability;  // of every part: mean cosine of the spectra of its cluster with it
  std::vector<Index> members;     // spectra in its cluster
  double silhouette = 0;          // mean over spectra that were kept; 1 is clusters far apart
  double kept = 0;                // share of the spectra
  std::vector<double> density;    // of every spectrum, factorization by factorization
  std::vector<Index> part_of;     // its part; -1 where it was left out
  std::vector<double> errors;     // relative, of every factorization
  double relative_error =
      0;  // of the model; of losses other than squares the root of its share of the null's
  double objective = 0, null_objective = 0;
  bool interrupted = false;
  double seconds = 0;

  /// Rows that sum to one: the share of every part in a row.
  Matrix usages() const;
};

/// InvalidArgument for options that make no sense; InvalidInput for entries below zero, and where fewer
/// spectra than parts are left.
Consensus consensus(const DataMatrixPtr& Y, const ConsensusOptions& options);

/// The ranks one after the other, and the largest of those whose silhouette is hardly below the best one.
struct ConsensusChoice {
  std::vector<Consensus> ranks;
  std::size_t chosen = 0;
  std::string reason;
};
ConsensusChoice choose_consensus(const DataMatrixPtr& Y, const std::vector<Index>& ranks,
                                 const ConsensusOptions& options);

}  // namespace pursuit
