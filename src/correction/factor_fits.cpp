#include "correction/factor_fits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "atoms/along_axis.hpp"

namespace pursuit {
namespace {

constexpr double kLeastPrior = 1e-12;
constexpr double kNothing = 1e-100;  // an atom that pays and is smaller is gone: its square is no number

}  // namespace

void steepen(Parabolas& p, double steepness, const Vector& x) {
  if (p.is_uniform()) {
    p.b += (steepness - 1) * p.uniform * x;
    p.uniform *= steepness;
  } else {
    p.b += (steepness - 1) * p.a.cwiseProduct(x);
    p.a *= steepness;
  }
}

void level(Parabolas& p, double steepness, const Vector& x) {
  p.uniform = steepness * p.a.maxCoeff();
  p.b += (p.uniform - p.a.array()).matrix().cwiseProduct(x);
  p.a.resize(0);
}

double curvature_along(const Parabolas& p, const Axis& axis, ConstVectorRef u) {
  return p.is_uniform() ? p.uniform * axis.dots(u, u)[0] : axis.dots(p.a, u.cwiseAbs2())[0];
}

double cost(const Parabolas& p, const Axis& axis, double t, ConstVectorRef u) {
  return t * t * curvature_along(p, axis, u) - 2 * t * axis.dots(p.b, u)[0];
}

FactorFits::FactorFits(Objective& f, const Regularization& regularization)
    : f_(f), regularization_(regularization) {}

Vector FactorFits::counts(Index mode) {
  if (counts_.empty()) {
    Factors ones = f_.iterate().factors.atom(0);
    for (Index m = 0; m < f_.modes(); ++m) ones[m].setOnes();
    for (Index m = 0; m < f_.modes(); ++m) {
      Parabolas p;
      f_.along(m)->parabolas(0, &ones, p);
      counts_.push_back(p.is_uniform() ? Vector::Constant(p.b.size(), p.uniform) : p.a);
    }
    entries_ = f_.axis(0).dots(counts_[0], Vector::Ones(counts_[0].size()))[0];
    noise_variance_ = 2 * f_.null_value() / entries_;
  }
  return counts_[std::size_t(mode)];
}

FactorFits::Split& FactorFits::split_of(Index k) {
  splits_.resize(std::max(splits_.size(), std::size_t(k) + 1));
  Split& split = splits_[std::size_t(k)];
  const double weight = f_.iterate().weights[k];
  if (split.empty() || (split[0].scale == 0 && weight != 0)) {  // a new atom: evenly
    split.resize(std::size_t(f_.modes()));
    const double scale = std::pow(std::abs(weight), 1.0 / double(f_.modes()));
    for (Index mode = 0; mode < f_.modes(); ++mode) {
      const bool carries_sign = mode + 1 == f_.modes() && weight < 0;
      split[std::size_t(mode)] = {carries_sign ? -scale : scale, scale * scale / double(f_.axis(mode).size()),
                                  Vector::Zero(f_.axis(mode).own())};
    }
  }
  return split;
}

double FactorFits::price() const {
  double sum = 0;
  const Vector& weights = f_.iterate().weights;
  for (Index k = 0; k < weights.size() && ridge() > 0; ++k) {
    const bool is_split = std::size_t(k) < splits_.size() && !splits_[std::size_t(k)].empty();
    if (!is_split) sum += ridge() * std::abs(weights[k]);  // two factors, evenly
    if (!is_split || weights[k] == 0) continue;
    for (const Factor& factor : splits_[std::size_t(k)]) sum += 0.5 * ridge() * factor.scale * factor.scale;
  }
  return sum;
}

Factors FactorFits::squares(Index k, bool with_variances) {
  const Split& split = splits_[std::size_t(k)];
  Factors result = f_.iterate().factors.atom(k);
  for (Index mode = 0; mode < f_.modes(); ++mode) {
    const Factor& factor = split[std::size_t(mode)];
    result[mode] = result[mode].cwiseAbs2();
    if (with_variances && factor.scale != 0) result[mode] += factor.variance / (factor.scale * factor.scale);
  }
  return result;
}

void FactorFits::refit(ModeSystem& system, Index mode, Index k, const AtomSet& set, Sign sign,
                       double steepness) {
  const Axis& axis = f_.axis(mode);
  const auto factor = f_.iterate().factors[mode].col(k);
  const double weight = f_.iterate().weights[k];
  double scale = weight, held = 1;  // of this factor, and of the product of all others
  Factor* own = nullptr;
  if (anything_paid()) {
    if (weight == 0) return;  // shrunk to nothing
    counts(mode);             // known before atoms move
    own = &split_of(k)[std::size_t(mode)];
    scale = own->scale;
    held = weight / scale;
  }
  if (is_tuned()) {
    const Factors spread = squares(k, true);
    system.parabolas(k, &spread, parabolas_);
  } else {
    system.parabolas(k, nullptr, parabolas_);
  }
  if (parabolas_.is_uniform() && !(parabolas_.uniform > 0)) return;
  if (steepness != 1) steepen(parabolas_, steepness, weight * factor);
  if (own) {  // in x = scale * u
    if (parabolas_.is_uniform()) parabolas_.a.setConstant(parabolas_.b.size(), parabolas_.uniform);
    parabolas_.a *= held * held;
    parabolas_.b *= held;
    switch (regularization_.kind) {
      case Regularization::none: break;
      case Regularization::ridge: parabolas_.a.array() += regularization_.lambda; break;
      case Regularization::count_weighted_ridge: parabolas_.a += regularization_.lambda * counts(mode); break;
      case Regularization::self_tuned:
        parabolas_.a.array() += noise_variance_ / std::max(own->prior, kLeastPrior);
        break;
    }
  }
  fresh_.resize(factor.size());
  const bool uniform = parabolas_.is_uniform();
  const double fitted = uniform ? fit(axis, set, parabolas_.uniform, parabolas_.b, sign, fresh_)
                                : fit(axis, set, parabolas_.a, parabolas_.b, sign, fresh_);
  const bool surely_better = uniform && set.traits().oracle_factor == 1;
  const bool better =
      surely_better || cost(parabolas_, axis, fitted, fresh_) <= cost(parabolas_, axis, scale, factor);
  double size = better ? fitted : scale;
  if (own && better && std::abs(size * held) < kNothing) size = 0;
  if (!better) fresh_ = factor;
  if (own) own->scale = size;
  if (own && is_tuned() && size != 0) learn(axis, fresh_, *own);
  if (better) system.move(k, fresh_, size * held);
}

void FactorFits::learn(const Axis& axis, ConstVectorRef u, Factor& factor) const {
  Matrix entries(u.size(), 2);  // expected squares, and where there are any
  for (Index i = 0; i < u.size(); ++i) {
    factor.variance[i] = u[i] != 0 ? noise_variance_ / parabolas_.a[i] : 0.0;
    entries.row(i) << factor.scale * factor.scale * u[i] * u[i] + factor.variance[i], u[i] != 0 ? 1.0 : 0.0;
  }
  const Vector sums = axis.dots(entries, Matrix::Ones(u.size(), 2));
  factor.prior = std::max(sums[0] / std::max(sums[1], 1.0), kLeastPrior);
}

/// E of the squared residual: each atom x y^T adds var x (y^2 + var y) + x^2 var y at every entry, a sum in
/// which nothing cancels.
void FactorFits::settle_noise() {
  if (!is_tuned()) return;
  double sum = 2 * f_.value();
  const auto system = f_.along(0);
  Parabolas parabolas;
  for (Index k = 0; k < f_.iterate().rank(); ++k) {
    const double weight = f_.iterate().weights[k];
    if (weight == 0) continue;  // shrunk to nothing
    split_of(k);
    const Factors known = squares(k, false), uncertain = squares(k, true);
    for (Index varies = 0; varies < f_.modes(); ++varies) {
      Factors term = known;
      for (Index mode = varies + 1; mode < f_.modes(); ++mode) term[mode] = uncertain[mode];
      const Factor& factor = splits_[std::size_t(k)][std::size_t(varies)];
      if (factor.scale == 0) continue;
      term[varies] = factor.variance / (factor.scale * factor.scale);
      system->parabolas(k, &term, parabolas);
      const Vector a =
          parabolas.is_uniform() ? Vector::Constant(term[0].rows(), parabolas.uniform) : parabolas.a;
      sum += weight * weight * f_.axis(0).dots(term[0], a)[0];
    }
  }
  noise_variance_ = sum / entries_;
}

void FactorFits::visit_state(StateArchive& archive) {
  Index splits = Index(splits_.size());
  archive("splits", splits, 0, f_.iterate().rank());
  splits_.resize(std::size_t(splits));
  for (Index k = 0; k < splits; ++k) {
    Split& split = splits_[std::size_t(k)];
    bool is_split = !split.empty();
    StateArchive own = archive.in("split", k);
    own("is_split", is_split);
    split.resize(is_split ? std::size_t(f_.modes()) : 0);
    for (std::size_t mode = 0; mode < split.size(); ++mode) {
      StateArchive factor = own.in("mode", Index(mode));
      factor("scale", split[mode].scale);
      factor("prior", split[mode].prior);
      factor("variance", split[mode].variance, f_.axis(Index(mode)).own());
    }
  }
  bool counted = !counts_.empty();
  archive("counted", counted);
  counts_.resize(counted ? std::size_t(f_.modes()) : 0);
  for (std::size_t mode = 0; mode < counts_.size(); ++mode)
    archive("counts" + std::to_string(mode), counts_[mode], f_.axis(Index(mode)).own());
  archive("entries", entries_);
  archive("noise_variance", noise_variance_);
}

void FactorFits::keep(const std::vector<Index>& atoms) {
  Splits kept;
  kept.reserve(atoms.size());
  for (const Index k : atoms)
    kept.push_back(std::size_t(k) < splits_.size() ? std::move(splits_[std::size_t(k)]) : Split{});
  splits_ = std::move(kept);
}

}  // namespace pursuit
