#pragma once
#include <limits>

#include "pursuit/correction/correction.hpp"

namespace pursuit {

/// Counts sweeps and says when to stop.
class SweepCounter {
 public:
  /// With momentum the gain of a sweep rises and falls, tenfold and more: a small one is convergence only
  /// where the one before was small too and gains do not rise.
  explicit SweepCounter(const CorrectionOptions& options, bool momentum = false)
      : options_(options), momentum_(momentum) {}

  /// Takes what one more sweep made of the objective; true while another is wanted. A sweep that ran too far
  /// (`tentative`) says nothing about convergence.
  bool another(double before, double after, bool tentative = false) {
    ++outcome_.sweeps;
    const double gain = before - after, enough = options_.tolerance * before;
    const bool settled = !momentum_ || gain == 0 || (last_gain_ <= enough && gain <= last_gain_);
    outcome_.converged = !tentative && gain <= enough && settled;
    if (!tentative) last_gain_ = gain;
    const bool wanted = !options_.keep_going || options_.keep_going(outcome_.sweeps, after);
    return wanted && another();
  }
  /// The same of the last sweep, whoever else is asked.
  bool another() const { return !outcome_.converged && outcome_.sweeps < options_.sweeps; }
  const CorrectionOutcome& outcome() const { return outcome_; }

  void visit_state(StateArchive& archive) {
    archive("sweeps", outcome_.sweeps);
    archive("converged", outcome_.converged);
    archive("last_gain", last_gain_);
  }

 private:
  const CorrectionOptions& options_;
  bool momentum_;
  double last_gain_ = std::numeric_limits<double>::infinity();
  CorrectionOutcome outcome_;
};

}  // namespace pursuit
