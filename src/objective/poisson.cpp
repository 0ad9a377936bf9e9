#include "pursuit/objective/poisson.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/chunks.hpp"
#include "linalg/products.hpp"
#include "objective/counts.hpp"
#include "pursuit/objective/full_squares.hpp"

namespace pursuit {
namespace {

constexpr int kSlopeSteps = 60;
constexpr double kSlopeTolerance = 1e-10;
constexpr double kHalfACount = 0.5;  // a row without counts bends as if it had this many

/// Newton's curvature, but where the model is below the count: from there a parabola through both.
double curvature_of(double count, double exposed, double x) {
  return count / (x * std::max(x, count / exposed));
}

/// f of one entry t of a weighted factor: linear t - sum_e y_e log(base_e + t v_e).
class EntryOfFactor {
 public:
  void clear(double slope) {
    linear_ = slope;
    terms_.clear();
  }
  void pay(double slope) { linear_ += slope; }
  void add(double y, double base, double v) { terms_.push_back({y, base, v}); }

  struct Slopes {
    double gained = 0, curvature = 0;
  };
  Slopes at(double t) const {
    Slopes s;
    for (const Term& term : terms_) {
      const double part = term.v / (term.base + t * term.v);
      s.gained += term.y * part;
      s.curvature += term.y * part * part;
    }
    return s;
  }

  /// The best t >= 0: Newton on the reciprocal of what is gained, which is concave, and so ends from below.
  double best(double t) const {
    for (int step = 0; step < kSlopeSteps; ++step) {
      const Slopes s = at(t);
      if (!(s.curvature > 0)) return linear_ > 0 ? 0.0 : t;
      if (!(linear_ > 0)) return t;
      const double change = (s.gained - linear_) / s.curvature * (s.gained / linear_);
      const double next = std::max(0.0, t + change);
      if (!(std::abs(next - t) > kSlopeTolerance * t)) return next;
      t = next;
    }
    return t;
  }

  /// a and b of a parabola that touches f at t and is lowest where f is.
  std::pair<double, double> parabola(double t) const {
    const Slopes here = at(t);
    const double slope = here.gained - linear_, lowest = best(t);
    double a = lowest != t ? slope / (lowest - t) : here.curvature;
    if (!(a > 0 && std::isfinite(a))) {
      double counted = kHalfACount;
      for (const Term& term : terms_) counted += term.y;
      a = std::max(here.curvature, linear_ * linear_ / counted);
    }
    return {a, a * t + slope};
  }

 private:
  struct Term {
    double y, base, v;
  };
  double linear_ = 0;
  std::vector<Term> terms_;
};

}  // namespace

class PoissonCounts::Sweeps final : public FreeSweeps {
 public:
  explicit Sweeps(const CountTable& counts) : counts_(counts) {}
  double sweep(Index mode, const Factors& at, bool, bool value, Panel& X) override {
    return counts_.sweep(mode, at[1 - mode], {.value = value}, X);
  }

 private:
  const CountTable& counts_;
};

class PoissonCounts::System final : public ModeSystem {
 public:
  System(PoissonCounts& f, Index mode) : f_(f), mode_(mode) {}

  void parabolas(Index k, const Factors* squares, Parabolas& out) override {
    const CountTable& counts = *f_.counts_;
    const Vector own = f_.x_.weights[k] * f_.x_.factors[mode_].col(k), other = this->other().col(k);
    const double background = counts.weighted_sums(1 - mode_, other)[0];
    const std::vector<double>& x = f_.model(mode_);
    out.a.resize(own.size());
    out.b.resize(own.size());
    counts.for_rows(mode_, [&](Index, Index i) {
      thread_local EntryOfFactor entry;
      const CountRow row = counts.row(mode_, i);
      const double* model = x.data() + counts.first_entry(mode_, i);
      entry.clear(background * counts.multiplier(mode_, i));
      double curvature = 0;
      for (Index e = 0; e < row.size; ++e) {
        const double v = other[row.index[e]];
        if (row.exposed) entry.pay(row.exposed[e] * v);
        if (squares)
          curvature += row.count[e] / (model[e] * model[e]) * (*squares)[1 - mode_](row.index[e], 0);
        if (row.count[e] > 0 && v > 0)
          entry.add(row.count[e], std::max(model[e] - own[i] * v, counts.floor()), v);
      }
      const auto [a, b] = entry.parabola(own[i]);
      out.a[i] = squares ? curvature : a;
      out.b[i] = b + (out.a[i] - a) * own[i];
    });
  }

  void move(Index k, ConstVectorRef factor, double weight) override {
    Vector change = weight * factor - f_.x_.weights[k] * f_.x_.factors[mode_].col(k);
    f_.x_.factors[mode_].col(k) = factor;
    f_.x_.weights[k] = weight;
    Vector held = other().col(k);
    if (mode_ == 0)
      f_.add(std::move(change), std::move(held));
    else
      f_.add(std::move(held), std::move(change));
  }

  bool sweep(const CoordinateSweep& options) override {
    if (!options.nonnegative) return false;
    Panel& panel = f_.x_.factors[mode_];
    Panel X = panel * f_.x_.weights.asDiagonal();
    const double value = f_.counts_->sweep(mode_, other(), {.first = options.first, .value = true}, X);
    const Vector norms = f_.axis(mode_).norms(X);
    for (Index k = options.first; k < X.cols(); ++k) {  // a zero column keeps its old atom
      f_.x_.weights[k] = norms[k];
      if (norms[k] > 0) panel.col(k) = X.col(k) / norms[k];
    }
    f_.forget();
    f_.value_ = value;
    return true;
  }

 private:
  const Panel& other() const { return f_.x_.factors[1 - mode_]; }

  PoissonCounts& f_;
  Index mode_;
};

PoissonCounts::PoissonCounts(Counts counts, const Vector& row_scale, int threads)
    : counts_(std::make_unique<CountTable>(std::move(counts), row_scale, threads)),
      axes_{Axis(counts_->size(0), threads), Axis(counts_->size(1), threads)},
      x_(Panel(counts_->size(0), 0), Panel(counts_->size(1), 0), Vector(0)) {}
PoissonCounts::~PoissonCounts() = default;

std::unique_ptr<FreeSweeps> PoissonCounts::free_sweeps() const {
  return std::make_unique<Sweeps>(*counts_);
}

double PoissonCounts::null_value() const {
  return counts_->null_value();
}

void PoissonCounts::forget() {
  for (Model& model : models_) model = {};
  value_.reset();
}

/// Moves wait until a mode is looked at again.
const std::vector<double>& PoissonCounts::model(Index mode) const {
  auto& [x, pending] = models_[mode];
  if (x.empty()) {
    x.resize(std::size_t(counts_->entries()));
    value_ = counts_->value(mode, x_.factors[mode] * x_.weights.asDiagonal(), x_.factors[1 - mode], x.data());
  } else if (!pending.empty()) {
    counts_->for_rows(mode, [&, &x = x, &pending = pending](Index, Index i) {
      const CountRow row = counts_->row(mode, i);
      double* own = x.data() + counts_->first_entry(mode, i);
      for (const Pending& change : pending)
        if (const double by = change.own[i]; by != 0)
          for (Index e = 0; e < row.size; ++e) own[e] += by * change.other[row.index[e]];
      for (Index e = 0; e < row.size; ++e) own[e] = std::max(own[e], counts_->floor());
    });
  }
  pending.clear();
  return x;
}

void PoissonCounts::add(Vector left, Vector right) {
  models_[1].pending.push_back({right, left});
  models_[0].pending.push_back({std::move(left), std::move(right)});
  value_.reset();
}

double PoissonCounts::value() const {
  if (!value_) value_ = counts_->value(0, x_.factors[0] * x_.weights.asDiagonal(), x_.factors[1]);
  return *value_;
}

/// At x = 0 the slopes of f say nothing but where the counts are: there it is the counts themselves that are
/// contracted, and the quadratic is that of squares.
void PoissonCounts::contract(Index mode, const Factors& z, Panel& out) const {
  const RowPanel other(z[1 - mode], counts_->threads());
  const auto [rows, rank, stride] = other.rows();
  const bool at_zero = x_.rank() == 0;
  const Vector background = at_zero ? Vector::Zero(rank) : counts_->weighted_sums(1 - mode, z[1 - mode]);
  const double* x = at_zero ? nullptr : model(mode).data();
  out.resize(counts_->size(mode), rank);
  counts_->for_rows(mode, [&, rows = rows, rank = rank, stride = stride](Index, Index i) {
    thread_local std::vector<double> sums;
    sums.resize(std::size_t(rank));
    for (Index k = 0; k < rank; ++k) sums[std::size_t(k)] = -counts_->multiplier(mode, i) * background[k];
    const CountRow row = counts_->row(mode, i);
    const double* own = x ? x + counts_->first_entry(mode, i) : nullptr;
    for (Index e = 0; e < row.size; ++e) {
      const double r = own ? row.count[e] / own[e] - (row.exposed ? row.exposed[e] : 0.0) : row.count[e];
      const double* v = rows + Index(row.index[e]) * stride;
      for (Index k = 0; k < rank; ++k) sums[std::size_t(k)] += r * v[k];
    }
    for (Index k = 0; k < rank; ++k) out(i, k) = sums[std::size_t(k)];
  });
}

void PoissonCounts::move_to(Expansion x) {
  x_ = std::move(x);
  forget();
}

void PoissonCounts::append(const Factors& atom, double) {
  x_.append(atom, 0);
}

void PoissonCounts::reweigh(const Vector& weights) {
  const Vector change = weights - x_.weights;
  if (const Index changed = (change.array() != 0).count(); changed > 1) {
    move_to({std::move(x_.factors), weights});
  } else if (changed == 1) {
    Index k = 0;
    change.cwiseAbs().maxCoeff(&k);
    x_.weights = weights;
    add(change[k] * x_.left().col(k), x_.right().col(k));
  }
}

void PoissonCounts::replace(Index k, const Factors& atom, double, double weight) {
  x_.factors.replace(k, atom);
  x_.weights[k] = weight;
  if (weight != 0) add(weight * x_.left().col(k), x_.right().col(k));
}

void PoissonCounts::keep(const std::vector<Index>& atoms) {
  x_.keep(atoms);
}

Matrix PoissonCounts::gram(const Factors& a, const Factors& b) const {
  if (x_.rank() == 0) return grams_but(*this, -1, a, b);
  constexpr Index kBlock = 512;  // entries as rows of a matrix: their products are dense ones
  const std::vector<double>& x = model(0);
  const RowPanel left_a(a[0], counts_->threads()), right_a(a[1], counts_->threads()),
      left_b(b[0], counts_->threads()), right_b(b[1], counts_->threads());
  struct Part {
    Matrix sum, of_a, of_b;
    Index filled = 0;
  };
  std::vector<Part> parts(std::size_t(counts_->pieces(0)));
  const auto add_up = [](Part& part) {
    part.sum += transposed_product(part.of_a.topRows(part.filled), part.of_b.topRows(part.filled));
    part.filled = 0;
  };
  counts_->for_rows(0, [&](Index piece, Index i) {
    Part& part = parts[std::size_t(piece)];
    if (part.of_a.size() == 0) {
      part.sum.setZero(a.count(), b.count());
      part.of_a.resize(kBlock, a.count());
      part.of_b.resize(kBlock, b.count());
    }
    const auto fill = [&](const RowPanel& left, const RowPanel& right, Index j, double weight,
                          Matrix& block) {
      const double *own = left.rows().rows + i * left.rows().stride,
                   *other = right.rows().rows + j * right.rows().stride;
      for (Index k = 0; k < block.cols(); ++k) block(part.filled, k) = weight * own[k] * other[k];
    };
    const CountRow row = counts_->row(0, i);
    const double* model = x.data() + counts_->first_entry(0, i);
    for (Index e = 0; e < row.size; ++e) {
      if (!(row.count[e] > 0)) continue;
      const Index j = row.index[e];
      const double exposed =
          row.exposed ? row.exposed[e] : counts_->multiplier(0, i) * counts_->multiplier(1, j);
      fill(left_a, right_a, j, curvature_of(row.count[e], exposed, model[e]), part.of_a);
      fill(left_b, right_b, j, 1.0, part.of_b);
      if (++part.filled == kBlock) add_up(part);
    }
  });
  Matrix sum = Matrix::Zero(a.count(), b.count());
  for (Part& part : parts) {
    if (part.filled > 0) add_up(part);
    if (part.sum.size() > 0) sum += part.sum;
  }
  return sum;
}

Objective::WeightQuadratic PoissonCounts::weight_quadratic() const {
  Panel image;
  contract(0, x_.factors, image);
  Matrix G = gram(x_.factors, x_.factors);
  Vector linear = axis(0).dots(x_.factors[0], image) + G * x_.weights;
  return {std::move(G), std::move(linear)};
}

std::unique_ptr<ModeSystem> PoissonCounts::along(Index mode) {
  return std::make_unique<System>(*this, mode);
}

}  // namespace pursuit
