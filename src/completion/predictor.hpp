#pragma once
// Predictions of one model, with what all of them need made once.

#include "pursuit/completion/model.hpp"

namespace pursuit {

class Predictor {
 public:
  /// For members with entries only, or for any.
  enum class Members { seen, any };
  explicit Predictor(const CompletionModel& model, Members members = Members::any);

  /// InvalidArgument for positions outside the matrix.
  Prediction operator()(Position at) const;
  /// Not yet within the model's range, and of a position inside.
  Prediction unclipped(Position at) const;
  void require_inside(Position at) const;

 private:
  const CompletionModel& model_;
  AverageMember row_, col_;  // of structured atoms
};

}  // namespace pursuit
