#include "objective/loss_objective.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "objective/newton_direction.hpp"

namespace pursuit {
namespace {

constexpr double kWorthSharing = 50000;  // entries; with fewer, threads wait for each other most of the time
constexpr Index kPieceEntries = 4096;    // at least

}  // namespace

/// Block by block of atoms: as many as there is room for the quadratics of all groups.
class LossObjective::System final : public ModeSystem {
 public:
  System(LossObjective& f, Index mode) : f_(f), mode_(mode) {
    constexpr Index kNumbers = Index(1) << 23;
    most_ = std::clamp<Index>(Index(std::sqrt(double(kNumbers) / double(f.axis(mode).own()))), 1, 64);
  }

  void parabolas(Index k, const Factors* squares, Parabolas& out) override {
    if (k < first_ || k >= first_ + count_) load(k);
    const Index at = k - first_, groups = f_.axis(mode_).own();
    out.a.resize(groups);
    for (Index g = 0; g < groups; ++g) out.a[g] = grams_(at + at * count_, g);
    const Vector own = f_.x_.weights[k] * f_.x_.factors[mode_].col(k);
    out.b = slopes_.row(at).transpose() + out.a.cwiseProduct(own);
    if (squares) spread_curvatures(*squares, out.a);
  }

  void move(Index k, ConstVectorRef factor, double weight) override {
    const Vector change = weight * factor - f_.x_.weights[k] * f_.x_.factors[mode_].col(k);
    if (k >= first_ && k < first_ + count_)
      for (Index g = 0; g < change.size(); ++g)
        if (change[g] != 0)
          slopes_.col(g) -= change[g] * grams_.col(g).segment((k - first_) * count_, count_);
    f_.x_.factors[mode_].col(k) = factor;
    f_.x_.weights[k] = weight;
    f_.value_.reset();
  }

  bool sweep(const CoordinateSweep& options) override {
    f_.step(mode_, {options.first, options.nonnegative});
    return true;
  }

 private:
  void load(Index k) {
    first_ = k;
    count_ = std::min(most_, f_.x_.rank() - k);
    std::vector<Index> block(std::size_t(count_), 0);
    std::iota(block.begin(), block.end(), first_);
    const GroupPanel other(f_.x_.factors.pick(block), mode_, f_.entries_.are_listed());
    grams_.resize(count_ * count_, f_.axis(mode_).own());
    slopes_.resize(count_, f_.axis(mode_).own());
    f_.stream(mode_, [&](Index g, LossWalk& walk) {
      f_.loss_->derivatives(walk.run(), Curvature::above, walk.slope.data(), walk.curvature.data());
      other.gram(walk.group, walk.curvature.data(), walk.weighted, walk.gram);
      grams_.col(g) = walk.gram.reshaped();
      other.contract(walk.group, walk.slope.data(), slopes_.col(g).data());
    });
  }

  void spread_curvatures(const Factors& squares, Vector& a) const {
    const GroupPanel other(squares, mode_, f_.entries_.are_listed());
    if (f_.quadratic() == Quadratic::exact) {  // the same wherever x is
      const Chunks chunks = f_.pieces(mode_);
      parallel_for(chunks.count(), f_.threads_, [&](Index piece) {
        LossWalk walk;
        for (Index g = chunks.first(piece); g < chunks.first(piece + 1); ++g) {
          const EntryGroups::Group group = f_.entries_.group(mode_, g, walk.scratch);
          walk.curvature.assign(std::size_t(group.count), 1.0);
          other.contract(group, group.weight ? group.weight : walk.curvature.data(), &a[g]);
        }
      });
      return;
    }
    f_.stream(mode_, [&](Index g, LossWalk& walk) {
      f_.loss_->derivatives(walk.run(), Curvature::above, walk.slope.data(), walk.curvature.data());
      other.contract(walk.group, walk.curvature.data(), &a[g]);
    });
  }

  LossObjective& f_;
  Index mode_, most_ = 1, first_ = 0, count_ = 0;
  Matrix grams_, slopes_;  // a column for every group
};

LossObjective::LossObjective(EntryGroups entries, const LossOptions& options, int threads)
    : shape_{.loss = options.loss, .lower = {}, .upper = {}},
      entries_(std::move(entries)),
      threads_(entries_.entries() < kWorthSharing ? 1 : threads),
      has_offsets_(options.offsets),
      x_(no_atoms(entries_.shape())) {
  for (const Index size : entries_.shape()) axes_.emplace_back(size, threads_);
  entries_.require_domain(options.loss);
  log_scale_ = Vector::Zero(entries_.size(0));
  if (options.row_scale.size() > 0) log_scale_ = options.row_scale.array().log();
  offsets_ = {log_scale_};
  for (Index mode = 1; mode < modes(); ++mode) offsets_.push_back(Vector::Zero(entries_.size(mode)));
  fit_null();
}

Chunks LossObjective::pieces(Index mode) const {
  const Index groups = entries_.size(mode);
  const double entries_per_group = entries_.entries() / double(groups);
  return Chunks(groups, 1 + Index(double(kPieceEntries) / (1 + entries_per_group)));
}

void LossObjective::contract(Index mode, const Factors& z, Panel& out) const {
  const GroupPanel other(z, mode, entries_.are_listed());
  Matrix sums(other.width(), axis(mode).own());
  stream(mode, [&](Index g, LossWalk& walk) {
    loss_->slopes(walk.run(), walk.slope.data());
    other.contract(walk.group, walk.slope.data(), sums.col(g).data());
  });
  out = sums.transpose();
}

double LossObjective::value() const {
  if (!value_) {
    Vector parts(axis(0).own());
    stream(0, [&](Index g, LossWalk& walk) { parts[g] = loss_->varying(walk.run()); });
    value_ = std::max(0.0, parts.sum() + constant_);
  }
  return *value_;
}

void LossObjective::move_to(Expansion x) {
  x_ = std::move(x);
  value_.reset();
}
void LossObjective::append(const Factors& atom, double) {
  x_.append(atom, 0);
}
void LossObjective::reweigh(const Vector& weights) {
  if (weights == x_.weights) return;
  x_.weights = weights;
  value_.reset();
}
void LossObjective::replace(Index k, const Factors& atom, double, double weight) {
  x_.factors.replace(k, atom);
  x_.weights[k] = weight;
  value_.reset();
}
void LossObjective::keep(const std::vector<Index>& atoms) {
  x_.keep(atoms);
}

Matrix LossObjective::gram(const Factors& a, const Factors& b) const {
  if (&a == &b) return quadratic_of(a).gram;
  Factors both = a;
  both.append(b);
  return quadratic_of(both).gram.topRightCorner(a.count(), b.count());
}

Objective::WeightQuadratic LossObjective::weight_quadratic() const {
  WeightQuadratic result = quadratic_of(x_.factors);
  result.linear += result.gram * x_.weights;
  return result;
}

/// Moves of weights are looked at, so that curvatures may be those of f itself.
Objective::WeightQuadratic LossObjective::quadratic_of(const Factors& z) const {
  const GroupPanel right(z, 0, entries_.are_listed());
  const Matrix left = z[0].transpose();
  const Index r = z.count();
  std::vector<WeightQuadratic> parts(std::size_t(pieces(0).count()), {Matrix::Zero(r, r), Vector::Zero(r)});
  stream(0, [&](Index i, LossWalk& walk) {
    loss_->derivatives(walk.run(), Curvature::local, walk.slope.data(), walk.curvature.data());
    right.gram(walk.group, walk.curvature.data(), walk.weighted, walk.gram);
    walk.sums.resize(r);
    right.contract(walk.group, walk.slope.data(), walk.sums.data());
    WeightQuadratic& part = parts[std::size_t(walk.piece)];
    part.gram += left.col(i).asDiagonal() * walk.gram * left.col(i).asDiagonal();
    part.linear += left.col(i).cwiseProduct(walk.sums);
  });
  tree_sum(parts, [](WeightQuadratic& into, const WeightQuadratic& part) {
    into.gram += part.gram;
    into.linear += part.linear;
  });
  return std::move(parts.front());
}

std::unique_ptr<ModeSystem> LossObjective::along(Index mode) {
  return std::make_unique<System>(*this, mode);
}

double LossObjective::newton_steps(Index mode, const Place& at, const GroupPanel& along,
                                   const NewtonStep& options, Matrix& own) const {
  // Lengths of steps are tried by what the quadratic promises of the whole one: where it is kept no other is.
  // Where f falls by nearly twice as much it is all but straight, and there is far to go.
  constexpr int kHalvings = 12, kDoublings = 20;
  constexpr double kKept = 0.6, kStraight = 1.5;
  const bool nonnegative = options.nonnegative;
  const double linear = options.price.l1, ridge = options.price.l2;
  Vector parts(axis(mode).own());
  stream(mode, at, [&](Index g, LossWalk& walk) {
    const auto paid = [&](const Vector& x) { return linear * x.sum() + 0.5 * ridge * x.squaredNorm(); };
    const Vector start = own.col(g);
    double best = loss_->varying(walk.run()) + paid(start);
    walk.sums.resize(along.width());
    for (const Curvature kind : {Curvature::local, Curvature::above}) {
      loss_->derivatives(walk.run(), kind, walk.slope.data(), walk.curvature.data());
      along.contract(walk.group, walk.slope.data(), walk.sums.data());
      along.gram(walk.group, walk.curvature.data(), walk.weighted, walk.gram);
      walk.sums.array() -= linear + ridge * start.array();
      walk.gram.diagonal().array() += ridge;
      const Vector step = newton_direction(walk.gram, walk.sums, options.first, nonnegative, start);
      const double here = best, promised = walk.sums.dot(step) - 0.5 * step.dot(walk.gram * step);
      double share = 0;
      const auto improves = [&](double t) {
        const Vector part = t * step;
        if (nonnegative && t > 1 && (start + part).minCoeff() < 0) return false;
        walk.moved = walk.x;
        along.predict(walk.group, part.data(), walk.moved.data());
        const double value = loss_->varying(walk.run_moved()) + paid(start + part);
        if (!(value < best)) return false;
        best = value;
        share = t;
        return true;
      };
      if (improves(1) && here - best >= kKept * promised) {
        if (options.far && here - best >= kStraight * promised)
          for (int doublings = 1; doublings <= kDoublings; ++doublings)
            if (!improves(std::ldexp(1.0, doublings))) break;
      } else {  // what is half as long may be better still: a step too far ends where slopes vanish
        for (int halvings = 1; halvings < kHalvings; ++halvings)
          if (!improves(std::ldexp(1.0, -halvings)) && share > 0) break;
      }
      if (share == 0) continue;
      own.col(g) += share * step;
      if (nonnegative) own.col(g) = own.col(g).cwiseMax(0.0);
      break;
    }
    parts[g] = best;
  });
  return parts.sum() + constant_;
}

void LossObjective::step(Index mode, const NewtonStep& step) {
  Panel& panel = x_.factors[mode];
  const Place at = place(mode);
  Matrix own = at.own;
  newton_steps(mode, at, at.other, step, own);
  const Panel scaled = own.transpose();
  const Vector norms = axis(mode).norms(scaled);
  for (Index k = step.first; k < panel.cols(); ++k) {  // a zero column keeps its old atom
    x_.weights[k] = norms[k];
    if (norms[k] > 0) panel.col(k) = scaled.col(k) / norms[k];
  }
  value_.reset();
}

class LossObjective::Sweeps final : public FreeSweeps {
 public:
  Sweeps(const LossObjective& f, ElasticNets prices) : f_(f), prices_(std::move(prices)) {}

  double sweep(Index mode, const Factors& at, bool nonnegative, bool, Panel& X) override {
    const Place place = f_.place(mode, X, at);
    Matrix own = place.own;
    const NewtonStep step{0, nonnegative, prices_.along(mode), /*far=*/X.cols() == 1};
    const double reached = std::max(0.0, f_.newton_steps(mode, place, place.other, step, own));
    X = own.transpose();
    return reached + prices_.cost_but(f_, mode, at);
  }

 private:
  const LossObjective& f_;
  ElasticNets prices_;
};

std::unique_ptr<FreeSweeps> LossObjective::free_sweeps(const FreeSweepsOf& what) const {
  return std::make_unique<Sweeps>(*this, what.prices);
}

}  // namespace pursuit
