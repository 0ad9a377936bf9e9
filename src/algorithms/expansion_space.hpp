#pragma once
// Sums of structured atoms as a space for Algorithm 1, over any objective; this makes it Algorithm 2.

#include <optional>

#include "pursuit/algorithms/pursue.hpp"
#include "pursuit/correction/correction.hpp"

namespace pursuit {

/// What becomes of the weights of atoms to begin with: sweeps may have left them as good as their factors.
enum class FirstWeights { fitted, stay };

class ExpansionSpace {
 public:
  using Atom = Factors;

  /// Continues from the iterate of f, which moves; its atoms get their best weights, or keep them. Of the
  /// options for corrections those about sweeps come with every correction.
  ExpansionSpace(Objective& f, AtomSets sets, WeightRule weights, const OracleOptions& oracle,
                 CorrectionOptions correction, const Regularization& regularization = {},
                 FirstWeights first = FirstWeights::fitted);

  double objective() const { return f_.value(); }
  double null_objective() const { return f_.null_value(); }
  Found<Atom> find_atom();
  Vector inner_products(const Atom& atom) const;
  void append(const Found<Atom>& found) {
    f_.append(found.atom, found.value);
    known_.reset();
    settled_ = false;
  }
  void set_weights(const Vector& weights) {
    if (weights != expansion().weights) {
      known_.reset();
      settled_ = false;
    }
    f_.reweigh(weights);
  }
  /// Where the quadratic is not f itself: again and again, each step shortened until f falls.
  void fit_weights(WeightSystem& system);
  /// Where weights came with their atoms it has these alone, until it is renewed for another atom.
  WeightSystem weight_system() const;
  void renew(WeightSystem& system) const;
  int correct(int sweeps, double tolerance, const std::function<bool(int, double)>& watch,
              WeightSystem& system);
  /// Whether the last corrections ended by their tolerance.
  bool converged() const { return converged_; }
  void describe(Step& step) const;

  /// Weights with a constraint and factors that pay may leave atoms without any; unless they are known ones,
  /// they go.
  void drop_weightless();

  const Expansion& expansion() const { return f_.iterate(); }

  void visit_state(StateArchive& archive);

 private:
  WeightSystem weight_system(const WeightRule& rule) const;
  void go_further(const Vector& start, Vector step);

  Objective& f_;
  AtomSets sets_;
  WeightRule weights_;
  OracleOptions oracle_;
  CorrectionOptions correction_;
  bool regularized_, converged_ = false;
  bool settled_ = false;  // weights moved with their atoms, and nothing has moved since
  Corrections corrections_;
  mutable std::optional<Objective::WeightQuadratic> known_;  // of the iterate, where nothing has moved since
};

static_assert(CorrectableSpace<ExpansionSpace>);

}  // namespace pursuit
