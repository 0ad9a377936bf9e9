#pragma once
// Where the atoms of an array start all at once, and which of several starts is worth going on with.

#include <vector>

#include "pursuit/algorithms/factor_tensor.hpp"
#include "pursuit/correction/correction.hpp"
#include "pursuit/objective/full_squares.hpp"

namespace pursuit {

std::vector<Index> panels_of_modes(const AtomSets& sets);

/// InvalidArgument where there is not a set for every mode, or where modes that share factors differ in size.
void require_modes(const AtomSets& sets, const std::vector<Index>& shape);

/// Random members in all modes: one contraction tells nothing about which of them belong together.
Expansion random_members(const Target& Y, const AtomSets& sets, Index rank, Random& random);

/// The leading directions of every unfolding, from a sketch of it, brought into the sets.
Expansion leading_members(const Target& Y, const AtomSets& sets, Index rank, Random& random);

/// What the sets and options of a factorization leave to a search.
struct SearchRules {
  const AtomSets& sets;
  CorrectionOptions correction;
  Index rank;
  std::uint64_t seed;
};

/// Which of many local optima to end in, told by sweeps over an array that is small, or made so.
class StartSearch {
 public:
  /// All of them outlive it.
  StartSearch(FullSquares& f, const SearchRules& rules, Run& run) : f_(f), rules_(rules), run_(run) {}

  /// One start is settled; of several those that win a race exchange atoms before.
  Expansion best(std::vector<Expansion> starts);

  int sweeps() const { return sweeps_; }

 private:
  struct Runner {
    Expansion at;
    double value;
  };

  /// After so many sweeps of each the worse half is dropped, after twice as many of the others half of these,
  /// and so on, until so many are left.
  std::vector<Runner> race(std::vector<Expansion> starts, int first_sweeps, std::size_t left);

  /// Atoms are dropped, one or two at a time, and found anew on what the others leave, for as long as that
  /// gains.
  void exchange(Runner& runner);

  /// Sweeps until little is gained.
  void settle(Runner& runner);

  void run_sweeps(int count, double tolerance, Runner& runner);
  std::vector<Expansion> exchanged(const Expansion& x, std::size_t dropped);

  FullSquares& f_;
  const SearchRules& rules_;
  Run& run_;
  int sweeps_ = 0;
  std::uint64_t questions_ = 0;  // to the oracle
};

}  // namespace pursuit
