#include "pursuit/objective/make_objective.hpp"

#include <fmt/format.h>

#include "pursuit/base/error.hpp"
#include "pursuit/data/observed_matrix.hpp"
#include "pursuit/objective/full_squares.hpp"
#include "pursuit/objective/observed.hpp"

namespace pursuit {
namespace {

[[noreturn]] void refuse(const LossOptions& options) {
  throw InvalidArgument(fmt::format("loss {}: not of this kind of data", options.loss.spec()));
}

}  // namespace

std::unique_ptr<Objective> make_objective(const DataMatrixPtr& data, const LossOptions& options, int) {
  if (options.plain_squares()) return std::make_unique<FullSquares>(data);
  // Loss::poisson: PoissonCounts(data, options, threads)
  refuse(options);
}

std::unique_ptr<Objective> make_objective(const ObservedEntries& data, const LossOptions& options,
                                          int threads) {
  if (options.plain_squares())
    return std::make_unique<ObservedSquares>(ObservedMatrix(data, threads), false, threads);
  refuse(options);
}

}  // namespace pursuit
