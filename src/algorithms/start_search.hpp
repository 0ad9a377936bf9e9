#pragma once
// Which of many local optima to end in, told by sweeps from several places.

#include <vector>

#include "pursuit/algorithms/factor.hpp"
#include "pursuit/atoms/atom_sets.hpp"
#include "pursuit/base/run.hpp"
#include "pursuit/correction/correction.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// What the sets and options of a factorization leave to a search.
struct SearchRules {
  const AtomSets& sets;
  CorrectionOptions correction;
  Index rank;
  std::uint64_t seed;
};

/// How many random starts race with the atoms of a loss that were grown one by one: as many as are asked for;
/// otherwise several where that is cheap. InvalidArgument where some are asked for that cannot race.
int count_racing_starts(const Objective& f, const AtomSets& sets, const FactorOptions& o);

class StartSearch {
 public:
  /// All of them outlive it.
  StartSearch(Objective& f, const SearchRules& rules, Run& run) : f_(f), rules_(rules), run_(run) {}

  /// Of squares: one start is settled; of several those that win a race exchange atoms before.
  Expansion best(std::vector<Expansion> starts);

  /// What is lowest after a race, nothing else done to it.
  Expansion leader(std::vector<Expansion> starts);

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

  Objective& f_;
  const SearchRules& rules_;
  Run& run_;
  int sweeps_ = 0;
  std::uint64_t questions_ = 0;  // to the oracle
};

/// Under a loss, which has many local optima: pursue_atoms, but before the polish random starts race with
/// what it has found.
void pursue_and_race(Objective& f, const FactorOptions& o, const AtomSets& sets, Run& run,
                     FactorResult& result);

}  // namespace pursuit
