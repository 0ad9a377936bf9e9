#pragma once
// What becomes of draws from the posterior: their mean as factors, and some of them as they are.

#include <vector>

#include "completion/draw_average.hpp"
#include "pursuit/completion/complete.hpp"

namespace pursuit {

class Draws {
 public:
  /// So many draws that count, of which `stored` are kept.
  Draws(int samples, int stored, int threads) : samples_(samples), stored_(stored), average_(threads) {}

  /// Those that are forgotten included.
  int total() const;
  /// The draw of this number, the first being 1.
  void add(int number, const BayesianFactors& draw);
  void move_to(CompletionModel& model) &&;

  /// Of draws of so many atoms of this matrix.
  void visit_state(StateArchive& archive, Index rows, Index cols, Index atoms);

 private:
  int samples_, stored_;
  DrawAverage average_;
  std::vector<CompletionSample> kept_;
};

}  // namespace pursuit
