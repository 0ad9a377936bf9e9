#include "pursuit/objective/poisson.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/kernel.hpp"
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

/// sums += sum_e factor_e v_e; a row more of memory follows them.
PURSUIT_KERNEL void add_rows_of(const CountRow& row, const double* factors, const FactorRows& other,
                                double* sums) {
  const Index stride = other.stride;
  double* scratch = sums + stride;
  for (Index e = 0; e < row.size; ++e) {
    const double factor = factors[e], *v = row_at(other, row.index, row.further, e, scratch);
    for (Index k = 0; k < stride; ++k) sums[k] += factor * v[k];
  }
}

/// sums = sum_e factor_e v_e w_e^T, a line for every coordinate of v; memory for a row of each follows.
PURSUIT_KERNEL void products_of(const CountRow& row, const double* factors, const FactorRows& left,
                                const FactorRows& right, double* sums) {
  double* scratch = sums + left.rank * right.rank;
  std::fill(sums, scratch, 0.0);
  for (Index e = 0; e < row.size; ++e) {
    const double *v = row_at(left, row.index, row.further, e, scratch),
                 *w = row_at(right, row.index, row.further, e, scratch + left.stride);
    for (Index k = 0; k < left.rank; ++k) {
      const double factor = factors[e] * v[k];
      for (Index l = 0; l < right.rank; ++l) sums[k * right.rank + l] += factor * w[l];
    }
  }
}

/// The single columns of the other modes, entry by entry.
class FactorColumns {
 public:
  FactorColumns(const Factors& atom, Index mode) {
    for (Index other = 0; other < atom.modes(); ++other)
      if (other != mode) columns_[count_++] = atom[other].data();
  }
  FactorColumns(const std::vector<Vector>& columns, Index mode) {
    for (std::size_t other = 0; other < columns.size(); ++other)
      if (Index(other) != mode) columns_[count_++] = columns[other].data();
  }
  double at(const CountRow& row, Index e) const {
    double product = columns_[0][row.index[e]];
    for (std::size_t m = 1; m < count_; ++m) product *= columns_[m][row.further[m - 1][e]];
    return product;
  }

 private:
  std::array<const double*, kFurtherModes + 1> columns_ = {};
  std::size_t count_ = 0;
};

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
  Sweeps(const PoissonCounts& f, ElasticNets prices) : f_(f), prices_(std::move(prices)) {}

  double sweep(Index mode, const Factors& at, bool, bool value, Panel& X) override {
    const auto [l1, l2] = prices_.along(mode);
    const double reached = f_.counts_->sweep(mode, at, {.l1 = l1, .l2 = l2, .value = value}, X);
    return value ? reached + prices_.along(mode).cost(f_.axis(mode), X) + prices_.cost_but(f_, mode, at)
                 : 0.0;
  }

 private:
  const PoissonCounts& f_;
  ElasticNets prices_;
};

class PoissonCounts::System final : public ModeSystem {
 public:
  System(PoissonCounts& f, Index mode) : f_(f), mode_(mode) {}

  void parabolas(Index k, const Factors* squares, Parabolas& out) override {
    const CountTable& counts = *f_.counts_;
    const Vector own = f_.x_.weights[k] * f_.x_.factors[mode_].col(k);
    const Factors atom = f_.x_.factors.atom(k);
    const FactorColumns other(atom, mode_), spread(squares ? *squares : atom, mode_);
    const double background = counts.background(mode_, atom)[0];
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
        const double v = other.at(row, e);
        if (row.exposed) entry.pay(row.exposed[e] * v);
        if (squares) curvature += row.count[e] / (model[e] * model[e]) * spread.at(row, e);
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
    f_.add(f_.product_with(k, mode_, change));
  }

  bool sweep(const CoordinateSweep& options) override {
    if (!options.nonnegative) return false;
    Panel& panel = f_.x_.factors[mode_];
    Panel X = panel * f_.x_.weights.asDiagonal();
    const double value = f_.counts_->sweep(mode_, f_.x_.factors, {.first = options.first, .value = true}, X);
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
  PoissonCounts& f_;
  Index mode_;
};

PoissonCounts::PoissonCounts(Counts counts, const Vector& row_scale, int threads)
    : counts_(std::make_unique<CountTable>(std::move(counts), row_scale, threads)),
      axes_{Axis(counts_->size(0), threads), Axis(counts_->size(1), threads)},
      x_(Panel(counts_->size(0), 0), Panel(counts_->size(1), 0), Vector(0)),
      models_(2) {}

PoissonCounts::PoissonCounts(const ObservedTensor& counts, int threads)
    : counts_(std::make_unique<CountTable>(counts, threads)),
      x_(no_atoms(counts.entries.shape)),
      models_(counts.entries.shape.size()) {
  for (const Index size : counts.entries.shape) axes_.emplace_back(size, threads);
}
PoissonCounts::~PoissonCounts() = default;

std::unique_ptr<FreeSweeps> PoissonCounts::free_sweeps(const FreeSweepsOf& what) const {
  if (!what.nonnegative) return nullptr;
  return std::make_unique<Sweeps>(*this, what.prices);
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
  auto& [x, pending] = models_[std::size_t(mode)];
  if (x.empty()) {
    x.resize(std::size_t(counts_->entries()));
    value_ = counts_->value(mode, x_.factors[mode] * x_.weights.asDiagonal(), x_.factors, x.data());
  } else if (!pending.empty()) {
    counts_->for_rows(mode, [&, &x = x, &pending = pending](Index, Index i) {
      const CountRow row = counts_->row(mode, i);
      double* own = x.data() + counts_->first_entry(mode, i);
      for (const Pending& change : pending)
        if (const double by = change[std::size_t(mode)][i]; by != 0) {
          const FactorColumns held(change, mode);
          for (Index e = 0; e < row.size; ++e) own[e] += by * held.at(row, e);
        }
      for (Index e = 0; e < row.size; ++e) own[e] = std::max(own[e], counts_->floor());
    });
  }
  pending.clear();
  return x;
}

void PoissonCounts::add(Pending change) {
  for (Index mode = 1; mode < modes(); ++mode) models_[std::size_t(mode)].pending.push_back(change);
  models_[0].pending.push_back(std::move(change));
  value_.reset();
}

PoissonCounts::Pending PoissonCounts::product_with(Index k, Index mode, const Vector& own) const {
  Pending result;
  for (Index other = 0; other < modes(); ++other)
    result.push_back(other == mode ? own : Vector(x_.factors[other].col(k)));
  return result;
}

double PoissonCounts::value() const {
  if (!value_) value_ = counts_->value(0, x_.factors[0] * x_.weights.asDiagonal(), x_.factors);
  return *value_;
}

/// At x = 0 the slopes of f say nothing but where the counts are: there it is the counts themselves that are
/// contracted, and the quadratic is that of squares.
void PoissonCounts::contract(Index mode, const Factors& z, Panel& out) const {
  const RowPanel other(z, mode, counts_->threads());
  const Index rank = other.rows().rank, stride = other.rows().stride;
  const bool at_zero = x_.rank() == 0;
  const Vector background = at_zero ? Vector::Zero(rank) : counts_->background(mode, z);
  const double* x = at_zero ? nullptr : model(mode).data();
  out.resize(counts_->size(mode), rank);
  counts_->for_rows(mode, [&](Index, Index i) {
    thread_local std::vector<double> slopes, sums;
    const CountRow row = counts_->row(mode, i);
    slopes.assign(row.count, row.count + row.size);
    if (const double* own = x ? x + counts_->first_entry(mode, i) : nullptr)
      for (Index e = 0; e < row.size; ++e)
        slopes[std::size_t(e)] = row.count[e] / own[e] - (row.exposed ? row.exposed[e] : 0.0);
    sums.assign(std::size_t(2 * stride), 0.0);
    add_rows_of(row, slopes.data(), other.rows(), sums.data());
    for (Index k = 0; k < rank; ++k)
      out(i, k) = sums[std::size_t(k)] - counts_->multiplier(mode, i) * background[k];
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
    add(product_with(k, 0, change[k] * x_.left().col(k)));
  }
}

void PoissonCounts::replace(Index k, const Factors& atom, double, double weight) {
  x_.factors.replace(k, atom);
  x_.weights[k] = weight;
  if (weight != 0) add(product_with(k, 0, weight * x_.left().col(k)));
}

void PoissonCounts::keep(const std::vector<Index>& atoms) {
  x_.keep(atoms);
}

Matrix PoissonCounts::gram(const Factors& a, const Factors& b) const {
  if (x_.rank() == 0) return grams_but(*this, -1, a, b);
  const std::vector<double>& x = model(0);
  const RowPanel left(a, 0, counts_->threads()), right(b, 0, counts_->threads());
  const bool same = &a == &b;
  std::vector<Matrix> parts(std::size_t(counts_->pieces(0)));
  counts_->for_rows(0, [&](Index piece, Index i) {
    thread_local std::vector<double> curvatures, sums;
    thread_local RowNewton newton;
    const CountRow row = counts_->row(0, i);
    const double* model = x.data() + counts_->first_entry(0, i);
    curvatures.resize(std::size_t(row.size));
    for (Index e = 0; e < row.size; ++e) {
      const double exposed =
          row.exposed ? row.exposed[e] : counts_->multiplier(0, i) * counts_->multiplier(1, row.index[e]);
      curvatures[std::size_t(e)] = curvature_of(row.count[e], exposed, model[e]);
    }
    sums.resize(std::size_t(a.count() * b.count() + left.rows().stride + right.rows().stride));
    if (same)
      newton.gram(row, right.rows(), curvatures.data(), sums.data());
    else
      products_of(row, curvatures.data(), left.rows(), right.rows(), sums.data());
    Matrix& part = parts[std::size_t(piece)];
    if (part.size() == 0) part.setZero(a.count(), b.count());
    for (Index k = 0; k < a.count(); ++k)
      for (Index l = 0; l < (same ? k + 1 : b.count()); ++l)
        part(k, l) += a[0](i, k) * b[0](i, l) * sums[std::size_t(k * b.count() + l)];
  });
  Matrix sum = Matrix::Zero(a.count(), b.count());
  for (const Matrix& part : parts)
    if (part.size() > 0) sum += part;
  if (same) sum.triangularView<Eigen::StrictlyUpper>() = sum.transpose();
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

void PoissonCounts::visit_state(StateArchive& archive) {
  constexpr Index kMostPending = 1 << 20;
  visit(archive, "x", x_);
  archive("value", value_);
  for (Index mode = 0; mode < modes(); ++mode) {
    auto& [x, pending] = models_[std::size_t(mode)];
    StateArchive own = archive.in("mode", mode);
    own("model", x);
    archive.require(x.empty() || Index(x.size()) == counts_->entries(),
                    "a model has not one value per count");
    Index changes = Index(pending.size());
    own("pending", changes, 0, kMostPending);
    pending.resize(std::size_t(changes));
    for (Index k = 0; k < changes; ++k) {
      Pending& change = pending[std::size_t(k)];
      change.resize(std::size_t(modes()));
      for (Index m = 0; m < modes(); ++m)
        own.in("change", k)("mode" + std::to_string(m), change[std::size_t(m)], axis(m).own());
    }
  }
}

}  // namespace pursuit
