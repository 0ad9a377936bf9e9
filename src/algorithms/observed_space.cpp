#include "algorithms/observed_space.hpp"

#include <cmath>
#include <tuple>
#include <utility>

namespace pursuit {
namespace {

constexpr Index kWorthThreads = 50000;  // entries; with fewer, threads wait for each other most of the time

}  // namespace

ObservedSpace::ObservedSpace(const ObservedMatrix& data, AtomSets sets, WeightRule weights,
                             Regularization regularization, OracleOptions oracle, bool by_oracle, int threads)
    : f_(data),
      sets_(std::move(sets)),
      weights_(weights),
      regularization_(regularization),
      oracle_(oracle),
      by_oracle_(by_oracle),
      threads_(data.size() < kWorthThreads ? 1 : threads),
      row_counts_(f_.row_counts()),
      col_counts_(f_.col_counts()),
      noise_variance_(f_.target_norm_squared() / double(f_.size())) {
  oracle_.sign = weights.allows_negative() ? Sign::free : Sign::nonnegative;
  oracle_.free_scale = weights.kind != WeightRule::convex;
  model_.left.resize(f_.rows(), 0);
  model_.right.resize(f_.cols(), 0);
  model_.symmetric = sets_.symmetric;
}

Found<RankOneAtom> ObservedSpace::find_atom() {
  const DataMatrixPtr R = data_matrix(f_.residual(), threads_);
  ++oracle_.seed;  // fresh random starts for every atom
  const AtomSet &left = sets_.left.of(model_.rank()), &right = sets_.right.of(model_.rank());
  RankOneAtom atom =
      sets_.symmetric ? find_symmetric(*R, left, oracle_) : find_rank_one(*R, left, right, oracle_);
  Found<RankOneAtom> found{{}, atom.value, f_.norm_squared(atom.u, atom.v), atom.spread, atom.iterations};
  found.atom = std::move(atom);
  return found;
}

void ObservedSpace::append(const RankOneAtom& atom) {
  model_.append(atom.u, atom.v, 0);
  splits_.push_back({0, Vector::Zero(f_.rows()), Vector::Zero(f_.cols()), 1, 1});
}

void ObservedSpace::set_weights(const Vector& weights) {
  model_.weights = weights;
  f_.move_to(model_);
}

WeightSystem ObservedSpace::weight_system() const {
  // Regularised, the scale of older atoms belongs to their factors.
  const bool plain = regularization_.kind == Regularization::none;
  WeightSystem system(plain ? weights_ : WeightRule(WeightRule::newest), target_norm_squared());
  if (model_.rank() > 0) system.reset(f_.gram(model_), f_.target_products(model_), model_.weights);
  return system;
}

int ObservedSpace::correct(int sweeps, double tolerance, const std::function<bool(int, double)>& watch,
                           WeightSystem& system) {
  // Fits are free in their scale. Where the weights are not, what they reach may lie outside what is allowed.
  const bool bounded = weights_.kind == WeightRule::convex;
  const std::pair<Model, std::vector<Split>> start =
      bounded ? std::pair(model_, splits_) : std::pair(Model{}, std::vector<Split>{});
  const double reached = f_.value();
  int done = 0;
  for (bool more = true; more && done < sweeps;) {
    const double before = f_.value();
    for (Index i = 0; i < model_.rank(); ++i)
      by_oracle_ || sets_.symmetric ? correct_by_oracle(i) : correct_by_fit(i);
    if (regularization_.kind == Regularization::self_tuned) noise_variance_ = noise_with_uncertainty();
    ++done;
    const double after = f_.value();
    // Regularised, f itself may rise while factors shrink.
    const bool settled = regularization_.kind == Regularization::none
                             ? before - after < tolerance * before
                             : std::abs(before - after) < tolerance * before;
    more = watch(done, after) && !settled;
  }
  drop_weightless();
  system.reset(f_.gram(model_), f_.target_products(model_), model_.weights);
  if (regularization_.kind == Regularization::none) {  // otherwise weights are part of the factors that pay
    system.solve();
    set_weights(system.weights());
  }
  if (bounded && f_.value() > reached) {
    std::tie(model_, splits_) = start;
    system.reset(f_.gram(model_), f_.target_products(model_), model_.weights);
    set_weights(system.weights());
  }
  return done;
}

void ObservedSpace::correct_by_fit(Index i) {
  f_.add(model_.left.col(i), model_.right.col(i), -model_.weights[i]);  // put it back into the residual
  Split& split = splits_[std::size_t(i)];
  if (split.left_scale == 0 && model_.weights[i] != 0) {  // a new atom
    split.left_scale = std::sqrt(std::abs(model_.weights[i]));
    split.left_prior = split.left_scale * split.left_scale / double(f_.rows());
    split.right_prior = std::abs(model_.weights[i]) / double(f_.cols());
  }
  refit(i, true);
  refit(i, false);
  f_.add(model_.left.col(i), model_.right.col(i), model_.weights[i]);
}

void ObservedSpace::refit(Index i, bool left) {
  Split& split = splits_[std::size_t(i)];
  const bool regular = regularization_.kind != Regularization::none,
             tuned = regularization_.kind == Regularization::self_tuned;
  const AtomSet& set = (left ? sets_.left : sets_.right).of(i);
  auto factor = left ? model_.left.col(i) : model_.right.col(i);
  const auto other = left ? model_.right.col(i) : model_.left.col(i);
  double& weight = model_.weights[i];
  if (regular && weight == 0) return;  // shrunk to nothing

  // x = scale * factor is refitted, y = held * other is kept.
  const double own_scale = left ? split.left_scale : weight / split.left_scale;
  const double held_scale = !regular ? 1.0 : left ? weight / split.left_scale : split.left_scale;
  const double scale = regular ? own_scale : weight;
  const Vector held = held_scale * other;
  Vector squares = held.cwiseAbs2();
  if (tuned) squares += left ? split.right_variance : split.left_variance;
  ObservedObjective::Parabolas parabolas =
      left ? f_.left_parabolas(held, squares) : f_.right_parabolas(held, squares);
  Vector &a = parabolas.a, &b = parabolas.b;
  double& prior = left ? split.left_prior : split.right_prior;
  switch (regularization_.kind) {
    case Regularization::none: break;
    case Regularization::ridge: a.array() += regularization_.lambda; break;
    case Regularization::count_weighted_ridge:
      a += regularization_.lambda * (left ? row_counts_ : col_counts_);
      break;
    case Regularization::self_tuned: a.array() += noise_variance_ / std::max(prior, 1e-12); break;
  }

  Vector fresh(factor.size());
  const double fitted = set.fit(a, b, oracle_.sign, fresh);
  const auto cost = [&](double t, const auto& x) {
    return (t * t * x.cwiseAbs2().cwiseProduct(a) - 2 * t * x.cwiseProduct(b)).sum();
  };
  const bool better = cost(fitted, fresh) <= cost(scale, factor);
  const double size = better ? fitted : scale;
  if (better) factor = fresh;
  weight = size * held_scale;
  if (left && regular) split.left_scale = size;
  if (tuned && size != 0) {
    Vector& variance = left ? split.left_variance : split.right_variance;
    double sum = 0, count = 0;
    for (Index k = 0; k < factor.size(); ++k) {
      variance[k] = factor[k] != 0 ? noise_variance_ / a[k] : 0.0;
      sum += size * size * factor[k] * factor[k] + variance[k];
      count += factor[k] != 0;
    }
    prior = std::max(sum / std::max(count, 1.0), 1e-12);
  }
}

void ObservedSpace::correct_by_oracle(Index i) {
  const Vector u = model_.left.col(i), v = model_.right.col(i);
  const double before = f_.value(), alpha = model_.weights[i];
  f_.add(u, v, -alpha);
  const DataMatrixPtr R = data_matrix(f_.residual(), threads_);
  const AtomSet &left = sets_.left.of(i), &right = sets_.right.of(i);
  const RankOneAtom found =
      sets_.symmetric ? refine_symmetric(*R, left, u, oracle_) : refine_rank_one(*R, left, right, v, oracle_);
  const double ridge = regularization_.kind == Regularization::ridge ? regularization_.lambda : 0.0;
  const double weight = found.value / (f_.norm_squared(found.u, found.v) + ridge);
  const bool allowed = oracle_.sign == Sign::free || weight >= 0;
  f_.add(found.u, found.v, weight);
  if (allowed && (f_.value() < before || ridge > 0)) {
    model_.left.col(i) = found.u;
    model_.right.col(i) = found.v;
    model_.weights[i] = weight;
  } else {
    f_.add(found.u, found.v, -weight);
    f_.add(u, v, alpha);
  }
}

/// E of the squared residual: each atom x y^T adds x^2 var y + y^2 var x + var x var y at every entry.
double ObservedSpace::noise_with_uncertainty() const {
  double sum = 2 * f_.value();
  for (Index i = 0; i < model_.rank(); ++i) {
    const Split& split = splits_[std::size_t(i)];
    if (split.left_scale == 0) continue;  // shrunk to nothing
    const Vector x2 = (split.left_scale * model_.left.col(i)).cwiseAbs2();
    const Vector y2 = (model_.weights[i] / split.left_scale * model_.right.col(i)).cwiseAbs2();
    const Vector total = x2 + split.left_variance;
    sum += total.dot(f_.left_parabolas(Vector::Zero(f_.cols()), y2 + split.right_variance).a) -
           x2.dot(f_.left_parabolas(Vector::Zero(f_.cols()), y2).a);
  }
  return sum / double(f_.size());
}

void ObservedSpace::drop_weightless() {
  // Self-tuned atoms shrink for ever without getting there.
  const double nothing =
      regularization_.kind == Regularization::none ? 0.0 : 1e-9 * std::sqrt(f_.target_norm_squared());
  const std::vector<Index> staying =
      sets_.staying(model_.rank(), [&](Index i) { return std::abs(model_.weights[i]) > nothing; });
  std::vector<Split> kept;
  kept.reserve(staying.size());
  for (const Index i : staying) kept.push_back(std::move(splits_[std::size_t(i)]));
  model_.keep(staying);
  splits_ = std::move(kept);
}

}  // namespace pursuit
