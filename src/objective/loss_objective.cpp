#include "objective/loss_objective.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "linalg/cholesky.hpp"

namespace pursuit {
namespace {

constexpr double kWorthSharing = 50000;  // entries; with fewer, threads wait for each other most of the time
constexpr Index kPieceEntries = 4096;    // at least

/// argmin over d of 1/2 d^T G d - g^T d from coordinate `first` on, x + d not negative where asked.
Vector newton_direction(const Matrix& G, const Vector& g, Index first, bool nonnegative, const Vector& x) {
  const Index n = g.size() - first;
  Vector d = Vector::Zero(g.size());
  const auto H = G.bottomRightCorner(n, n);
  if (!nonnegative) {
    const double ridge = 1e-10 * H.trace() / double(n) + 1e-300;  // where entries are fewer than atoms
    const Cholesky cholesky(Matrix(H) + ridge * Matrix::Identity(n, n));
    if (cholesky.definite()) {
      d.tail(n) = cholesky.solve(g.tail(n));
      return d;
    }
  }
  constexpr int kPasses = 20;
  for (int pass = 0; pass < kPasses; ++pass) {
    double change = 0, size = 0;
    for (Index k = first; k < g.size(); ++k) {
      if (!(G(k, k) > 0)) continue;
      const double goal = d[k] + (g[k] - G.col(k).tail(n).dot(d.tail(n))) / G(k, k);
      const double next = nonnegative ? std::max(goal, -x[k]) : goal;
      change += G(k, k) * (next - d[k]) * (next - d[k]);
      size += G(k, k) * next * next;
      d[k] = next;
    }
    if (change <= 1e-6 * size) break;
  }
  return d;
}

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
    Panel& panel = f_.x_.factors[mode_];
    const Place at = f_.place(mode_);
    Matrix own = at.own;
    f_.newton_steps(mode_, at, at.other, options.first, options.nonnegative, own);
    const Panel scaled = own.transpose();
    const Vector norms = f_.axis(mode_).norms(scaled);
    for (Index k = options.first; k < panel.cols(); ++k) {  // a zero column keeps its old atom
      f_.x_.weights[k] = norms[k];
      if (norms[k] > 0) panel.col(k) = scaled.col(k) / norms[k];
    }
    f_.value_.reset();
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

double LossObjective::newton_steps(Index mode, const Place& at, const GroupPanel& along, Index first,
                                   bool nonnegative, Matrix& own) const {
  constexpr int kHalvings = 12;
  const bool exact = shape_.loss.kind == Loss::squares;  // the first step is the best
  Vector parts(axis(mode).own());
  stream(mode, at, [&](Index g, LossWalk& walk) {
    double best = loss_->varying(walk.run());
    walk.sums.resize(along.width());
    for (const Curvature kind : {Curvature::local, Curvature::above}) {
      loss_->derivatives(walk.run(), kind, walk.slope.data(), walk.curvature.data());
      along.contract(walk.group, walk.slope.data(), walk.sums.data());
      along.gram(walk.group, walk.curvature.data(), walk.weighted, walk.gram);
      const Vector step = newton_direction(walk.gram, walk.sums, first, nonnegative, own.col(g));
      // What is half as long may be better still: a step too far ends where slopes vanish.
      double share = 0;
      for (int halvings = 0; halvings < kHalvings; ++halvings) {
        const double t = std::ldexp(1.0, -halvings);
        walk.moved = walk.x;
        const Vector part = t * step;
        along.predict(walk.group, part.data(), walk.moved.data());
        const double value = loss_->varying(walk.run_moved());
        if (value < best) {
          best = value;
          share = t;
          if (exact) break;
        } else if (share > 0) {
          break;
        }
      }
      if (share == 0) continue;
      own.col(g) += share * step;
      if (nonnegative) own.col(g) = own.col(g).cwiseMax(0.0);
      break;
    }
    parts[g] = best;
  });
  return std::max(0.0, parts.sum() + constant_);
}

class LossObjective::Sweeps final : public FreeSweeps {
 public:
  explicit Sweeps(const LossObjective& f) : f_(f) {}

  double sweep(Index mode, const Factors& at, bool nonnegative, bool, Panel& X) override {
    const Place place = f_.place(X, at, mode);
    Matrix own = place.own;
    const double value = f_.newton_steps(mode, place, place.other, 0, nonnegative, own);
    X = own.transpose();
    return value;
  }

 private:
  const LossObjective& f_;
};

/// Where nothing is fitted beside the atoms, and steps need no looking at.
std::unique_ptr<FreeSweeps> LossObjective::free_sweeps() const {
  if (shape_.loss.kind != Loss::squares || has_offsets_) return nullptr;
  return std::make_unique<Sweeps>(*this);
}

}  // namespace pursuit
