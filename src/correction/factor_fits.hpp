#pragma once
// Fits of single factors, with what they pay for their size inside their parabolas.
//
// An atom that pays is x (x) y (x) ...: its weight is split into a scale for every factor, x = scale * u. The
// other factors, with their scales, make the parabolas of x; rho_i x_i^2 is added to them. Self-tuned, every
// factor also has a variance per entry, and the price follows from these and from the noise (see
// Regularization).

#include <vector>

#include "pursuit/correction/correction.hpp"

namespace pursuit {

class FactorFits {
 public:
  FactorFits(Objective& f, const Regularization& regularization);

  bool anything_paid() const { return regularization_.kind != Regularization::none; }
  /// Of the squared norm of an oracle's atom.
  double ridge() const {
    return regularization_.kind == Regularization::ridge ? regularization_.lambda : 0.0;
  }

  /// Before systems of a sweep are made: what prices need to know of all modes.
  void prepare() {
    if (anything_paid()) counts(0);
  }

  /// The factor of atom k along a mode anew, by its set's fit to parabolas so many times steeper; what there
  /// is stays where that is no better.
  void refit(ModeSystem& system, Index mode, Index k, const AtomSet& set, Sign sign, double steepness = 1);

  /// At the end of a sweep.
  void settle_noise();

  void keep(const std::vector<Index>& atoms);
  void visit_state(StateArchive& archive);

  /// What all atoms pay by a ridge, beside f; 0 where another price is asked.
  double price() const;

  struct Factor {
    double scale = 0;  // the product over the modes is the atom's weight; 0 before the first fit
    double prior = 1;  // variance of its entries
    Vector variance;   // of every entry, about its value
  };
  using Split = std::vector<Factor>;  // one for every mode
  using Splits = std::vector<Split>;
  const Splits& splits() const { return splits_; }
  void take(const Splits& splits) { splits_ = splits; }

 private:
  bool is_tuned() const { return regularization_.kind == Regularization::self_tuned; }
  Split& split_of(Index k);
  /// Squares of the factors of atom k, their own scale taken out, with their variances.
  Factors squares(Index k, bool with_variances);
  Vector counts(Index mode);
  void learn(const Axis& axis, ConstVectorRef u, Factor& factor) const;

  Objective& f_;
  Regularization regularization_;
  Splits splits_;
  std::vector<Vector>
      counts_;          // entries that each entry of a factor has to do with, where they are asked for
  double entries_ = 0;  // in all
  double noise_variance_ = 0;
  Parabolas parabolas_;
  Vector fresh_;
};

/// Parabolas so many times steeper that touch these at x.
void steepen(Parabolas& parabolas, double steepness, const Vector& x);
/// Parabolas of one curvature that touch these at x and lie above them.
void level(Parabolas& parabolas, double steepness, const Vector& x);

/// sum a_i u_i^2.
double curvature_along(const Parabolas& parabolas, const Axis& axis, ConstVectorRef u);
/// Value of parabolas at t u, twice.
double cost(const Parabolas& parabolas, const Axis& axis, double t, ConstVectorRef u);

}  // namespace pursuit
