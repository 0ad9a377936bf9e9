#pragma once
#include "pursuit/correction/correction.hpp"

namespace pursuit {

/// Counts sweeps and says when to stop.
class SweepCounter {
 public:
  explicit SweepCounter(const CorrectionOptions& options) : options_(options) {}

  /// Takes what one more sweep made of the objective; true while another is wanted. A sweep that ran too far
  /// (`tentative`) says nothing about convergence.
  bool another(double before, double after, bool tentative = false) {
    ++outcome_.sweeps;
    outcome_.converged = !tentative && before - after <= options_.tolerance * before;
    const bool wanted = !options_.keep_going || options_.keep_going(outcome_.sweeps, after);
    return wanted && !outcome_.converged && outcome_.sweeps < options_.sweeps;
  }
  const CorrectionOutcome& outcome() const { return outcome_; }

 private:
  const CorrectionOptions& options_;
  CorrectionOutcome outcome_;
};

}  // namespace pursuit
