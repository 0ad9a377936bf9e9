#include "pursuit/objective/row_coordinates.hpp"

#include <fmt/format.h>

#include <cmath>

#include "objective/loss_objective.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/objective/make_objective.hpp"

namespace pursuit {

RowCoordinates coordinates_of_rows(const DataMatrixPtr& data, const Matrix& right, const LossOptions& options,
                                   const OwnTerms& model, bool nonnegative, int threads) {
  constexpr int kSweeps = 200;
  constexpr double kTolerance = 1e-10;
  if (data->cols() != right.rows())
    throw InvalidArgument(
        fmt::format("the data have {} columns, the atoms {} entries", data->cols(), right.rows()));
  const auto f = make_objective(data, options, threads);
  auto* general = dynamic_cast<LossObjective*>(f.get());
  if (general) general->take_own_terms(model);
  // An offset is one more coordinate, along ones, but that it may be negative.
  const bool joint = general && options.offsets && !nonnegative;
  const Index rows = data->rows(), rank = right.cols() + Index(joint);
  Matrix along(right.rows(), rank);
  along.leftCols(right.cols()) = right;
  if (joint) along.rightCols(1).setOnes();
  // Means of counts are the model itself, which cannot start from nothing.
  const double start = options.loss.kind == Loss::poisson ? 1 / std::sqrt(double(rows)) : 0.0;
  f->move_to({Matrix::Constant(rows, rank, start), along, Vector::Ones(rank)});
  for (int sweep = 0; sweep < kSweeps && rank > 0; ++sweep) {
    const double before = f->value();
    if (general)
      general->step(0, {.nonnegative = nonnegative, .far = true});
    else
      f->along(0)->sweep({.nonnegative = nonnegative, .threads = threads});
    if (general && !joint) general->fit_row_offsets();
    if (!(before - f->value() > kTolerance * before)) break;
  }
  const Matrix left = f->iterate().scaled_left();
  Vector offsets = general ? general->own_terms().row_offsets : Vector(0);
  if (joint) offsets += left.rightCols(1);
  return {left.leftCols(right.cols()), offsets, f->value(), f->null_value()};
}

}  // namespace pursuit
