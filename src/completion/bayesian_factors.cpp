#include "completion/bayesian_factors.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "completion/gamma.hpp"

namespace pursuit {
namespace {

// Values have unit variance, so these mean the same for all data.
constexpr float kStartingAtom = 0.3F;      // size of the entries of a new atom
constexpr double kStartingVariance = 0.3;  // tau of a new atom
constexpr double kOffsetVariance = 0.3;    // tau of offsets at first
constexpr double kSmallest = 1e-8;         // of any variance; that of coordinates that are not in use
// Hyper-parameters estimated before the factors mean anything would shrink them to nothing.
constexpr int kPriorsFrom = 2, kFeaturesFrom = 5;
constexpr Index kWorthThreads = 20000;  // entries; with fewer, threads wait for each other most of the time

/// Which entries members have, by 1/sqrt(their number): rows with many get no larger a prior than rows with
/// few.
Features pattern(const FactorSide& members, const FactorSide& others) {
  const EntryTasks& entries = *members.entries;
  std::vector<float> scale(std::size_t(entries.size()), 0.0F);
  for (Index i = 0; i < entries.size(); ++i)
    if (entries.count(i) > 0) scale[i] = 1.0F / std::sqrt(float(entries.count(i)));
  return {others.entries, members.entries, std::move(scale)};
}

/// Members belong to whoever has their entries, whatever features they have.
Features with_owners_of(const FactorSide& side, Features features) {
  const MemberShares& shares = side.entries->shares();
  if (features.by_member->shares().cuts() == shares.cuts()) return features;
  struct Recut {
    std::shared_ptr<const EntryTasks> before;  // whoever keeps the entries
    EntryTasks tasks;
  };
  const std::shared_ptr<const EntryTasks>& before = features.by_member;
  const auto recut =
      std::make_shared<Recut>(Recut{before, EntryTasks(before->entries(), before->weights(), shares)});
  features.by_member = {recut, &recut->tasks};
  return features;
}

/// Sums over the members of a side, whoever owns them: add(i, sums) adds what member i has to say.
template <class Add>
void add_sum(SharingRound& round, const FactorSide& side, Index numbers, int threads, Vector& result,
             const Add& add) {
  round.sum(side.entries->shares(), numbers, threads, result, [&](Index first, Index last, double* sums) {
    for (Index i = first; i < last; ++i) add(i, sums);
  });
}

}  // namespace

BayesianFactors::BayesianFactors(Data data, double mean, double scale, bool use_pattern, std::uint64_t seed,
                                 int threads, const Loss& loss, RankTeam* team)
    : team_(team && team->ranks().size() > 1 ? team : nullptr),
      ranks_(team_ ? &team_->ranks() : nullptr),
      loss_(loss),
      mean_(mean),
      scale_(scale),
      use_pattern_(use_pattern),
      threads_(data.by_row->count_all() < kWorthThreads ? 1 : threads),
      random_(seed) {
  bind(std::move(data));
  for (FactorSide* side : {&rows_, &cols_}) {
    side->noise_weight.assign(std::size_t(side->size()), 1.0F);
    side->squared_error.assign(std::size_t(side->size()), 0.0);
    side->prior_variance.assign(1, kOffsetVariance);
  }
  set_width(kFactorLanes);
  if (use_pattern) {
    add_features(true, pattern(rows_, cols_));
    add_features(false, pattern(cols_, rows_));
  }
}

void BayesianFactors::bind(Data data) {
  rows_.entries = std::move(data.by_row);
  cols_.entries = std::move(data.by_col);
  bound_ = state_dealt_ = false;
  if (!ranks_) count_entries();
}

/// All ranks call it.
void BayesianFactors::count_entries() {
  for (FactorSide* side : {&rows_, &cols_}) {
    const EntryTasks& tasks = *side->entries;
    side->count.assign(std::size_t(side->size()), 0.0);
    tasks.shares().for_own(threads_, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        const float* weight = tasks.weight_of(tasks.entries().start[i]);
        for (Index e = 0; weight && e < tasks.count(i); ++e) side->count[i] += weight[e];
        if (!weight) side->count[i] = double(tasks.count(i));
      }
    });
  }
  const auto add_counts = [&](Index first, Index last, double* sum) {
    for (Index i = first; i < last; ++i) *sum += rows_.count[i];
  };
  count_ = sum_over(rows_.entries->shares(), 1, threads_, add_counts)[0];
}

void BayesianFactors::add_features(bool of_rows, Features features) {
  FactorSide& side = of_rows ? rows_ : cols_;
  side.regressions.emplace_back(with_owners_of(side, std::move(features)), width_, threads_);
}

void BayesianFactors::rebind(Data data) {
  bind(std::move(data));
  for (FactorSide* side : {&rows_, &cols_})
    for (std::size_t r = use_pattern_ ? 1 : 0; r < side->regressions.size(); ++r)
      side->regressions[r].set_owners(with_owners_of(*side, side->regressions[r].features()).by_member);
  if (!use_pattern_) return;
  rows_.regressions.front().rebind(pattern(rows_, cols_), threads_);
  cols_.regressions.front().rebind(pattern(cols_, rows_), threads_);
}

void BayesianFactors::set_width(int width) {
  for (FactorSide* side : {&rows_, &cols_}) {
    const auto wanted = std::size_t(width);
    const auto widen_rows = [&](AlignedVector<float>& rows) {
      rows = width_ > 0 ? widened(rows, width_, width)
                        : AlignedVector<float>(std::size_t(side->size()) * wanted, 0.0F);
    };
    for (auto* rows : {&side->mean, &side->variance}) rows->change(widen_rows);
    widen_rows(side->prior_mean);
    side->prior_variance.resize(wanted, kSmallest);
    side->intercept.resize(wanted, 0.0);
    for (PriorRegression& regression : side->regressions) regression.widen(width);
  }
  width_ = width;
}

void BayesianFactors::widen(int atoms) {
  set_width(padded_width(1 + atoms));
  for (FactorSide* side : {&rows_, &cols_}) {
    for (int c = atoms_ + 1; c <= atoms; ++c)
      side->prior_variance[c] = learns_variances() ? kStartingVariance : atom_variance_;
    const Random starts(next_seed());
    const Chunks members(side->size());
    parallel_for(members.count(), threads_, [&](Index chunk) {
      for (Index i = members.first(chunk); i < members.first(chunk + 1); ++i) {
        Random of_member = starts.stream(i);
        for (int c = atoms_ + 1; c <= atoms; ++c)
          side->mean[i * width_ + c] = kStartingAtom * float(of_member.gaussian());
      }
    });
  }
  atoms_ = atoms;
}

void BayesianFactors::keep(const std::vector<int>& coordinates) {
  for (FactorSide* side : {&rows_, &cols_}) {
    for (auto* rows : {&side->mean, &side->variance}) bring_forward(*rows, width_, coordinates, 0.0F);
    bring_forward(side->prior_mean, width_, coordinates, 0.0F);
    bring_forward(side->prior_variance, width_, coordinates, kSmallest);
    bring_forward(side->intercept, width_, coordinates, 0.0);
    for (PriorRegression& regression : side->regressions) regression.keep(coordinates);
  }
  set_width(padded_width(int(coordinates.size())));
  atoms_ = int(coordinates.size()) - 1;
}

void BayesianFactors::set_atom_variance(double variance) {
  atom_variance_ = variance;
  for (FactorSide* side : {&rows_, &cols_})
    std::fill(side->prior_variance.begin() + 1, side->prior_variance.begin() + 1 + atoms_, variance);
}

void BayesianFactors::start_from(const CompletionModel& model, const FactorMatrix& row_features,
                                 const FactorMatrix& col_features) {
  widen(int(model.rows.mean.cols()) - 1);
  noise_variance_ = learns_variances() ? model.noise_variance : 1.0;
  const auto take = [&](const FactorMatrix& source, SharedNumbers<float>& target) {
    for (Index i = 0; i < source.rows(); ++i)
      std::copy_n(source.row(i).data(), source.cols(), &target[i * width_]);
  };
  for (const bool of_rows : {true, false}) {
    const CompletionSide& source = of_rows ? model.rows : model.cols;
    FactorSide& side = of_rows ? rows_ : cols_;
    take(source.mean, side.mean);
    take(source.variance, side.variance);
    std::copy(source.noise_weight.begin(), source.noise_weight.end(), side.noise_weight.begin());
    const bool has_base = source.base_intercept.size() > 0;
    const Eigen::VectorXf& intercept = has_base ? source.base_intercept : source.intercept;
    const Eigen::VectorXf& variance = has_base ? source.base_variance : source.prior_variance;
    for (int c = 0; c <= atoms_; ++c) {
      side.prior_variance[c] = std::max<double>(kSmallest, variance[c]);
      side.intercept[c] = intercept[c];
    }
    for (Index i = 0; i < side.size(); ++i)
      for (int c = 0; c <= atoms_; ++c) side.prior_mean[i * width_ + c] = intercept[c];
    if (use_pattern_ && source.pattern.size() > 0) side.regressions.front().set_weights(source.pattern);
    if (const FactorMatrix& features = of_rows ? row_features : col_features; features.size() > 0)
      side.regressions.back().set_weights(features);
    side.noise_shape = source.noise_shape;
  }
  say();
  for (const bool of_rows : {true, false}) {
    const CompletionSide& source = of_rows ? model.rows : model.cols;
    FactorSide& side = of_rows ? rows_ : cols_;
    if (use_pattern_ && source.pattern.size() > 0)
      side.regressions.front().start_from(source.pattern_variance, Index(source.pattern.cols()),
                                          side.prior_variance, side.prior_mean);
    if (const FactorMatrix& features = of_rows ? row_features : col_features; features.size() > 0)
      side.regressions.back().start_from(source.features_variance, Index(features.cols()),
                                         side.prior_variance, side.prior_mean);
    for (Index i = source.size(); i < side.size(); ++i)
      for (int c = 0; c <= atoms_; ++c) {
        side.mean[i * width_ + c] = side.prior_mean[i * width_ + c];
        side.variance[i * width_ + c] = float(side.prior_variance[c]);
      }
  }
  sweeps_ = kFeaturesFrom;
}

/// Of places first .. last - 1.
void BayesianFactors::moments_at(const ObservedEntries& places, Index first, Index last, bool with_variances,
                                 std::vector<Moments>& moments) const {
  moments.resize(std::size_t(last - first));
  const Chunks chunks(last - first);
  parallel_for(chunks.count(), threads_, [&](Index chunk) {
    for (Index e = first + chunks.first(chunk); e < first + chunks.first(chunk + 1); ++e) {
      const Index i = places.row[e] * Index(width_), j = places.col[e] * Index(width_);
      moments[std::size_t(e - first)] =
          with_variances
              ? moments_of(&rows_.mean[i], &rows_.variance[i], &cols_.mean[j], &cols_.variance[j], width_)
              : Moments{inner(&rows_.mean[i], &cols_.mean[j], width_)};
    }
  });
}

void BayesianFactors::advance(bool draws) {
  if (draws) bring_entries_together();
  update(cols_, rows_, draws);
  update(rows_, cols_, draws);
  if (stop_ && stop_()) return;
  if (learns_variances() && sweeps_ >= kPriorsFrom) {
    const double error = scratch_->weighted_error[0];
    noise_variance_ = std::max(kSmallest, draws ? draw_variance(error, count_, random_) : error / count_);
    if (draws) agree_on_draw(std::span(&noise_variance_, 1));
  }
  if (learns_variances() && sweeps_ >= kFeaturesFrom) {
    SharingRound round;
    Vector of_rows, of_cols;
    update_noise_weights(rows_, draws, round, of_rows);
    update_noise_weights(cols_, draws, round, of_cols);
    round.run();
    set_noise_shape(rows_, of_rows[0]);
    set_noise_shape(cols_, of_cols[0]);
  }
  ++sweeps_;
}

/// What rank 0 has drawn, to all: other machines may have other libraries of functions.
template <class Numbers>
void BayesianFactors::agree_on_draw(Numbers&& drawn) {
  const MemberShares& shares = rows_.entries->shares();
  shares.from_leader(drawn);
  std::span state(&random_, 1);
  shares.from_leader(state);
}

/// Factors of a side, then its priors.
void BayesianFactors::update(FactorSide& side, const FactorSide& other, bool draws) {
  update_factors(side, other, draws);
  if (sweeps_ < kPriorsFrom || (stop_ && stop_())) return;
  begin_priors(side, draws);
  std::vector<double> spread(std::size_t(width_), 0.0);
  if (sweeps_ >= kFeaturesFrom)
    for (PriorRegression& regression : side.regressions) {
      const std::uint64_t seed = next_seed();
      if (draws) {
        regression.draw(side.prior_variance, seed, threads_, scratch_->deviation);
        continue;
      }
      const auto variances = regression.improve(side.prior_variance, threads_, scratch_->deviation, stop_);
      for (int c = 0; c < width_; ++c) spread[c] += variances[c];
    }
  end_priors(side, draws, std::move(spread));
}

void BayesianFactors::update_factors(FactorSide& side, const FactorSide& other, bool draws) {
  const bool known = draws || !learns_variances();
  scratch_->held.loss = loss_.kind;
  const std::span<const float> variance = other.variance;
  set_regressors(scratch_->held, other.mean, known ? variance.first(0) : variance, other.noise_weight, width_,
                 mean_, scale_, threads_, ranks_);
  update_rows(*side.entries, scratch_->held,
              {side.prior_mean, side.prior_variance, side.noise_weight, noise_variance_}, next_seed(),
              threads_, {side.mean, draws ? std::span<float>() : side.variance, side.squared_error}, stop_);
  SharingRound round;
  round.share(side.entries->shares(), {{side.mean.data(), width_}});
  if (!draws) round.share(side.entries->shares(), {{side.variance.data(), width_}});
  if (sweeps_ >= kPriorsFrom) {
    add_sum(round, side, width_, threads_, scratch_->shift, [&](Index i, double* sum) {
      for (Index t = i * width_, c = 0; c < width_; ++t, ++c) sum[c] += side.mean[t] - side.prior_mean[t];
    });
    add_sum(round, side, 1, threads_, scratch_->weighted_error,
            [&](Index i, double* sum) { *sum += side.noise_weight[i] * side.squared_error[i]; });
  }
  round.run();
}

/// The intercept, and what means differ by from their priors with it.
void BayesianFactors::begin_priors(FactorSide& side, bool draws) {
  const Index n = side.size();
  Vector& shift = scratch_->shift;
  shift /= double(n + 1);
  shift.tail(width_ - 1 - atoms_).setZero();
  if (draws) {
    for (int c = 0; c <= atoms_; ++c)
      shift[c] += std::sqrt(side.prior_variance[c] / double(n + 1)) * random_.gaussian();
    agree_on_draw(shift);
  }
  for (int c = 0; c <= atoms_; ++c) side.intercept[c] += shift[c];
  AlignedVector<float>& deviation = scratch_->deviation;
  deviation.resize(side.mean.size());
  const Eigen::VectorXf moved = shift.cast<float>();
  side.entries->shares().for_own(threads_, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      for (Index t = i * width_, c = 0; c < width_; ++t, ++c)
        deviation[t] = side.mean[t] - side.prior_mean[t] - moved[c];
  });
}

/// Prior variances and means; `squares` start with what regressions leave uncertain.
void BayesianFactors::end_priors(FactorSide& side, bool draws, std::vector<double> squares) {
  const Index n = side.size();
  const AlignedVector<float>& deviation = scratch_->deviation;
  SharingRound round;
  Vector sums;
  add_sum(round, side, width_, threads_, sums, [&](Index i, double* sum) {
    for (Index t = i * width_, c = 0; c < width_; ++t, ++c) {
      const double d = deviation[t];
      sum[c] += d * d + (draws ? 0.0F : side.variance[t]);
      side.prior_mean[t] = side.mean[t] - deviation[t];
    }
  });
  round.run();
  for (int c = 0; c <= (learns_variances() ? atoms_ : 0); ++c) {
    squares[c] += sums[c];
    side.prior_variance[c] =
        std::max(kSmallest, draws ? draw_variance(squares[c], double(n), random_) : squares[c] / double(n));
  }
  if (draws) agree_on_draw(side.prior_variance);
}

void BayesianFactors::update_noise_weights(FactorSide& side, bool draws, SharingRound& round,
                                           Vector& divergence) {
  const double a = side.noise_shape;
  const Random weights(next_seed());
  add_sum(round, side, 1, threads_, divergence, [&](Index i, double* total) {
    const double shape = a + 0.5 * side.count[i];
    const double rate = a + 0.5 * side.squared_error[i] / noise_variance_;
    double w = shape / rate;
    if (draws) {
      Random of_member = weights.stream(i);
      w = draw_gamma(shape, of_member) / rate;
    }
    side.noise_weight[i] = float(w);
    *total += w - (draws ? std::log(w) : digamma(shape) - std::log(rate));
  });
  round.share(side.entries->shares(), {{side.noise_weight.data(), 1}});
}

/// From the sum of E w - E log w over all members.
void BayesianFactors::set_noise_shape(FactorSide& side, double divergence) {
  const double gap = divergence / double(side.size()) - 1;
  constexpr double kLeast = 1e-6, kMost = 1e6;  // a state from a file may lead anywhere, to no number even
  side.noise_shape = std::clamp(gamma_shape(gap > kLeast ? std::min(gap, kMost) : kLeast), 2.0, 1000.0);
}

void BayesianFactors::visit_state(StateArchive& archive) {
  constexpr Index kWidest = 1 << 16;
  archive("width", width_, kFactorLanes, kWidest);
  archive("atoms", atoms_, 0, width_ - 1);
  archive.require(width_ % kFactorLanes == 0, "the width of its factors is not one of whole lanes");
  archive("sweeps", sweeps_);
  archive("noise_variance", noise_variance_);
  archive("atom_variance", atom_variance_);
  archive.require(noise_variance_ > 0 && atom_variance_ > 0 && std::isfinite(noise_variance_) &&
                      std::isfinite(atom_variance_),
                  "a variance is not a number above 0");
  StateArchive random = archive.in("random");
  random_.visit_state(random);
  for (FactorSide* side : {&rows_, &cols_}) {
    StateArchive own = archive.in(side == &rows_ ? "rows" : "cols");
    const Index members = side->size(), numbers = members * width_;
    for (const auto& [name, shared, size] : {std::tuple("mean", &side->mean, numbers),
                                             {"variance", &side->variance, numbers},
                                             {"noise_weight", &side->noise_weight, members}})
      shared->change([&, part = name, count = size](AlignedVector<float>& list) { own(part, list, count); });
    own("prior_mean", side->prior_mean, numbers);
    own("prior_variance", side->prior_variance, width_);
    own("intercept", side->intercept, width_);
    own("noise_shape", side->noise_shape);
    own("squared_error", side->squared_error, members);
    for (std::size_t k = 0; k < side->regressions.size(); ++k) {
      StateArchive regression = own.in("regression", Index(k));
      side->regressions[k].visit_state(regression, width_, members);
    }
    own.require(std::all_of(side->prior_variance.begin(), side->prior_variance.end(),
                            [](double variance) { return variance > 0; }) &&
                    std::all_of(side->noise_weight.begin(), side->noise_weight.end(),
                                [](float weight) { return weight >= 0; }) &&
                    side->noise_shape > 0 && std::isfinite(side->noise_shape),
                "a variance, or a weight of noise, is not above 0");
  }
}

}  // namespace pursuit
