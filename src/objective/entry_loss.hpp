#pragma once
// A loss over runs of entries: what an objective needs of it.

#include <memory>
#include <vector>

#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

/// A run of entries with their linear predictors.
struct EntryRun {
  Index count;
  const double *y, *x;
  const double* weight;  // null: 1
};

enum class Curvature { above, local };

class EntryLoss {
 public:
  virtual ~EntryLoss() = default;

  /// Whether there is a parabola above it everywhere.
  virtual bool has_above() const = 0;
  /// The part of the sum that depends on x, and the other one.
  virtual double varying(const EntryRun& run) const = 0;
  virtual double constant(const EntryRun& run) const = 0;
  /// Slopes -dl/dx and curvatures, times the weights; curvatures are `local` ones where there are no others.
  virtual void derivatives(const EntryRun& run, Curvature kind, double* slope, double* curvature) const = 0;
  virtual void slopes(const EntryRun& run, double* slope) const = 0;
};

/// What the functions of a loss depend on beside y and x.
struct LossShape {
  Loss loss;
  double width = 0;  // absolute and quantile are straight beyond it
  double floor = 0;  // of means that are x itself
  double size = 0;   // of a negative binomial; the loss says whether it is fitted
  double first_grade = 0;
  std::vector<double> lower, upper;  // thresholds about the grades
};

/// Refers to the shape.
std::unique_ptr<EntryLoss> entry_loss(const LossShape& shape);

}  // namespace pursuit
