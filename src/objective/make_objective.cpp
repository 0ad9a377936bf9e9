#include "pursuit/objective/make_objective.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "objective/loss_objective.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/data/observed_matrix.hpp"
#include "pursuit/objective/full_squares.hpp"
#include "pursuit/objective/observed.hpp"
#include "pursuit/objective/observed_tensor.hpp"

namespace pursuit {
namespace {

void check_options(const LossOptions& o, Index rows) {
  if (o.row_scale.size() == 0) return;
  if (o.loss.kind != Loss::poisson && !o.loss.has_log_link())
    throw InvalidArgument(fmt::format(
        "row scale: the mean of a row is its scale times that of the model with the losses poisson, "
        "poisson-log, negative-binomial and gamma; loss {} has no such scale",
        o.loss.spec()));
  if (o.row_scale.size() != rows)
    throw InvalidInput(
        fmt::format("row scale: there are {}, but the matrix has {} rows", o.row_scale.size(), rows));
  for (Index i = 0; i < rows; ++i)
    if (!(o.row_scale[i] > 0 && std::isfinite(o.row_scale[i])))
      throw InvalidInput(fmt::format("row scale {} is {}; scales must be above 0", i + 1, o.row_scale[i]));
}

void check_offsets(const LossOptions& o) {
  if (o.offsets && o.loss.has_positive_means())
    throw InvalidArgument(fmt::format(
        "offsets: means of loss {} are not negative, and numbers added to rows and columns may be; "
        "{} with offsets",
        o.loss.spec(),
        o.loss.kind == Loss::poisson ? "poisson-log takes counts" : "gamma takes positive numbers"));
}

std::unique_ptr<Objective> from_entries(EntryGroups entries, const LossOptions& options, int threads) {
  check_offsets(options);
  if (options.loss.kind == Loss::poisson)
    return std::make_unique<PoissonCounts>(std::move(entries).release(), options.row_scale, threads);
  return std::make_unique<LossObjective>(std::move(entries), options, threads);
}

std::unique_ptr<Objective> from_array(const ObservedTensor& data, const LossOptions& options, int threads) {
  double places = 1;
  for (const Index size : data.entries.shape) places *= double(size);
  const bool full = data.others_are_zero || double(data.size()) == places;
  const bool counts = options.loss.kind == Loss::poisson;
  if (counts && full && data.weights.empty())  // zeros cost nothing where they are not listed
    return std::make_unique<PoissonCounts>(without_zeros(data), threads);
  const ObservedTensor filled = data.others_are_zero ? with_zeros(data, options.loss) : ObservedTensor();
  const ObservedTensor& known = data.others_are_zero ? filled : data;
  if (counts) return std::make_unique<PoissonCounts>(known, threads);
  return std::make_unique<LossObjective>(EntryGroups(known), options, threads);
}

}  // namespace

std::unique_ptr<Objective> make_objective(const DataMatrixPtr& data, const LossOptions& options,
                                          int threads) {
  check_options(options, data->rows());
  if (options.plain_squares()) return std::make_unique<FullSquares>(data);
  return from_entries(EntryGroups(*data, options.weights), options, threads);
}

std::unique_ptr<Objective> make_objective(const ObservedEntries& data, const LossOptions& options,
                                          int threads, RankTeam* team) {
  check_options(options, data.rows);
  if (options.plain_squares())
    return std::make_unique<ObservedSquares>(ObservedMatrix(data, threads), false, threads, team);
  return from_entries(EntryGroups(data, options.weights), options, threads);
}

std::unique_ptr<Objective> make_objective(const ObservedTensor& data, const LossOptions& options, int threads,
                                          const std::vector<Index>& panel_of_mode) {
  if (options.weights.any() || options.row_scale.size() > 0)
    throw InvalidArgument("weights of rows and columns, and row scales, are for matrices");
  require_observed(data);
  require_domain(data, options.loss);
  check_offsets(options);
  if (panel_of_mode.empty()) return from_array(data, options, threads);
  auto f = from_array(in_all_orders(data, panel_of_mode, options.loss), options, threads);
  f->move_to(no_atoms(data.entries.shape, panel_of_mode));
  return f;
}

}  // namespace pursuit
