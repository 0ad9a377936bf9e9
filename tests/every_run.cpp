// Every factorization of every test is watched: the linker leads calls of these functions of the library
// through the ones here (`--wrap`), which hold what passes against the promises. The objective never rises,
// and what is returned lies in its sets.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "pursuit/algorithms/factor.hpp"

#define PURSUIT_STEP_DONE "_ZN7pursuit3Run9step_doneERKNS_6MomentE"
// clang-format off
#define PURSUIT_NEW_RUN \
  "_ZN7pursuit3RunC1ERKNS_9RunLimitsESt8functionIFbRKNS_6MomentEEES4_IFbbEESt10shared_ptrINS_11CheckpointsEE"
// clang-format on
#define PURSUIT_NEW_INNER_RUN "_ZN7pursuit3RunC1ERS0_St8functionIFbRKNS_6MomentEEE"
#define PURSUIT_FACTOR "_ZN7pursuit6factorERKSt10shared_ptrIKNS_10DataMatrixEERKNS_13FactorOptionsE"
#define PURSUIT_FACTOR_SYMMETRIC \
  "_ZN7pursuit16factor_symmetricERKSt10shared_ptrIKNS_10DataMatrixEERKNS_13FactorOptionsE"

namespace pursuit {

bool real_step_done(Run* run, const Moment& moment) __asm__("__real_" PURSUIT_STEP_DONE);
bool watched_step_done(Run* run, const Moment& moment) __asm__("__wrap_" PURSUIT_STEP_DONE);
void real_new_run(Run* run, const RunLimits& limits, Observer observer, Agreement agreement,
                  CheckpointsPtr checkpoints) __asm__("__real_" PURSUIT_NEW_RUN);
void watched_new_run(Run* run, const RunLimits& limits, Observer observer, Agreement agreement,
                     CheckpointsPtr checkpoints) __asm__("__wrap_" PURSUIT_NEW_RUN);
void real_new_inner_run(Run* run, Run& outer, Observer observer) __asm__("__real_" PURSUIT_NEW_INNER_RUN);
void watched_new_inner_run(Run* run, Run& outer, Observer observer) __asm__("__wrap_" PURSUIT_NEW_INNER_RUN);
FactorResult real_factor(const DataMatrixPtr& Y,
                         const FactorOptions& options) __asm__("__real_" PURSUIT_FACTOR);
FactorResult watched_factor(const DataMatrixPtr& Y,
                            const FactorOptions& options) __asm__("__wrap_" PURSUIT_FACTOR);
FactorResult real_factor_symmetric(const DataMatrixPtr& C,
                                   const FactorOptions& options) __asm__("__real_" PURSUIT_FACTOR_SYMMETRIC);
FactorResult watched_factor_symmetric(const DataMatrixPtr& C, const FactorOptions& options) __asm__(
    "__wrap_" PURSUIT_FACTOR_SYMMETRIC);

namespace {

// Completions pay for the size of factors as well: what falls there is the sum, of which moments do not tell.
thread_local bool is_factoring = false;

struct Factoring {
  Factoring() { is_factoring = true; }
  Factoring(const Factoring&) = delete;
  Factoring& operator=(const Factoring&) = delete;
  ~Factoring() { is_factoring = false; }
};

/// By run, the lowest error it has told of.
class Watch {
 public:
  void forget(const Run* run) {
    const std::lock_guard lock(mutex_);
    errors_.erase(run);
  }

  /// Of the loop that adds and corrects atoms: starts that race tell of each of them, and iterations of
  /// values so far.
  void look(const Run* run, const Moment& moment) {
    using Phase = Moment::Phase;
    const bool is_descent = moment.phase == Phase::atom || moment.phase == Phase::correction;
    if (!is_factoring || !is_descent || !(moment.relative_error >= 0)) return;
    constexpr double kRounding = 1e-6;  // of the norm, in single precision
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = errors_.emplace(run, moment.relative_error);
    if (is_new) return;
    if (moment.rank == 0) place->second = 1;  // all atoms were dropped: what is left is all
    if (moment.relative_error > place->second + kRounding)
      ADD_FAILURE() << fmt::format("promise 1: the error rises from {} to {} at atom {} ({}, sweep {})",
                                   place->second, moment.relative_error, moment.rank, name(moment.phase),
                                   moment.sweep);
    place->second = std::min(place->second, moment.relative_error);
  }

 private:
  std::mutex mutex_;
  std::map<const Run*, double> errors_;
} watch;

/// Atoms that were given, and kept as they are, need not be in any set.
void expect_members(const FactorResult& result, const FactorOptions& options, const Atoms& right) {
  const Expansion& model = result.model;
  if (!model.left().allFinite() || !model.right().allFinite() || !model.weights.allFinite())
    ADD_FAILURE() << "promise 3: a factor or a weight is not finite";
  const bool left_known = options.fixed > 0 && options.fixed_factors != FixedFactors::right;
  const bool right_known = options.fixed > 0 && options.fixed_factors != FixedFactors::left;
  constexpr double kRounding = 1e-8;
  if (options.closure && model.rank() > 0 &&
      !(model.left().minCoeff() >= 0 && ((model.left().rowwise().sum().array() - 1).abs() < kRounding).all()))
    ADD_FAILURE() << "promise 2: the left factors of a row are no shares";
  for (Index k = 0; k < model.rank(); ++k) {
    if (!options.closure && !(left_known && k < options.fixed) &&
        !options.left.of(k).contains(model.left().col(k), kRounding))
      ADD_FAILURE() << "promise 2: left factor " << k << " is not in " << options.left.spec();
    if (!(right_known && k < options.fixed) && !right.of(k).contains(model.right().col(k), kRounding))
      ADD_FAILURE() << "promise 2: right factor " << k << " is not in " << right.spec();
  }
}

}  // namespace

bool watched_step_done(Run* run, const Moment& moment) {
  watch.look(run, moment);
  return real_step_done(run, moment);
}

void watched_new_run(Run* run, const RunLimits& limits, Observer observer, Agreement agreement,
                     CheckpointsPtr checkpoints) {
  watch.forget(run);
  real_new_run(run, limits, std::move(observer), std::move(agreement), std::move(checkpoints));
}

void watched_new_inner_run(Run* run, Run& outer, Observer observer) {
  watch.forget(run);
  real_new_inner_run(run, outer, std::move(observer));
}

FactorResult watched_factor(const DataMatrixPtr& Y, const FactorOptions& options) {
  const Factoring watched;
  FactorResult result = real_factor(Y, options);
  expect_members(result, options, options.right);
  return result;
}

FactorResult watched_factor_symmetric(const DataMatrixPtr& C, const FactorOptions& options) {
  const Factoring watched;
  FactorResult result = real_factor_symmetric(C, options);
  expect_members(result, options, options.left);
  return result;
}

}  // namespace pursuit
