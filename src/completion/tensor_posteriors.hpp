#pragma once
// Free factors of an array with gaps, with how sure they are. All modes but one are held, and the rows of
// that mode get their posteriors, each of all its atoms at once, as the rows of a completed matrix do:
//
//   y_e = <x_i, z_e> + noise of variance sigma^2 / w_e,      x_ik ~ N(0, tau_k)
//   A_i = 1/sigma^2 sum_e w_e (z_e z_e^T + diag var z_e) + diag 1/tau
//   mean_i = A_i^-1 (1/sigma^2 sum_e w_e y_e z_e)
//
// over the entries e of row i, z_e the product of the rows of their other places. tau, of every atom and
// mode, and sigma^2 are what they are expected to be: an atom that explains nothing is shrunk to nothing.
//
// Cost per entry and mode: a product of gathered rows, r^2/2 multiply-adds for A_i, and O(r).

#include <cmath>
#include <vector>

#include "objective/entry_groups.hpp"
#include "pursuit/base/random.hpp"
#include "pursuit/objective/expansion.hpp"

namespace pursuit {

/// What they are of. The data must have been checked.
struct TensorEntries {
  explicit TensorEntries(const ObservedTensor& data);

  EntryGroups groups;
  double unit = 1;                     // of the values, a power of two
  double weight = 0, mean_square = 0;  // of all entries; of their values, in units
};

class TensorPosteriors {
 public:
  /// Without atoms.
  explicit TensorPosteriors(const TensorEntries& data);

  /// One more, of small random factors, with all the room that the data leave; sweeps make something of it.
  void add_atom(Random random);
  /// All modes once, then the variance of the noise.
  void sweep(const TensorEntries& data, int threads);

  Index rank() const { return mean_.count(); }
  /// sigma, in the units of the data.
  double noise() const { return unit_ * std::sqrt(noise_); }
  /// The means; atoms that were shrunk to nothing are left out.
  Expansion atoms() const;

 private:
  void sweep(const TensorEntries& data, Index mode, int threads);
  Factors expected_squares() const;

  Factors mean_, variance_;
  std::vector<Vector> prior_;   // tau, of every mode
  double unit_, noise_, room_;  // of values; sigma^2; the first tau
};

}  // namespace pursuit
