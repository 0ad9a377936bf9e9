#include "pursuit/objective/observed.hpp"

#include <utility>

#include "objective/observed_sides.hpp"

namespace pursuit {

class ObservedSquares::System final : public ModeSystem {
 public:
  System(ObservedSquares& f, Index mode) : f_(f), mode_(mode) {}

  void parabolas(Index k, const Factors* squares, Parabolas& out) override {
    const Expansion& x = f_.x_;
    const Vector other = x.factors[1 - mode_].col(k), own = x.factors[mode_].col(k);
    const Vector of_squares = squares ? Vector((*squares)[1 - mode_].col(0)) : Vector(0);
    f_.sides_->parabolas(mode_, other, squares ? &of_squares : nullptr, own, x.weights[k], out);
  }

  void move(Index k, ConstVectorRef factor, double weight) override {
    const Vector change = weight * factor - f_.x_.weights[k] * f_.x_.factors[mode_].col(k);
    f_.x_.factors[mode_].col(k) = factor;
    f_.x_.weights[k] = weight;
    const Vector held = f_.x_.factors[1 - mode_].col(k);
    if (mode_ == 0)
      f_.add(change, held);
    else
      f_.add(held, change);
  }

 private:
  ObservedSquares& f_;
  Index mode_;
};

ObservedSquares::ObservedSquares(ObservedMatrix data, bool symmetric, int threads, RankTeam* team)
    : data_(std::move(data)),
      axes_{Axis(data_.rows()), Axis(data_.cols())},
      sides_(std::make_unique<ObservedSides>(data_, threads, team)),
      x_(Panel(data_.rows(), 0), Panel(data_.cols(), 0), Vector(0), symmetric) {
  null_value_ = value();
}
ObservedSquares::~ObservedSquares() = default;

void ObservedSquares::contract(Index mode, const Factors& z, Panel& out) const {
  out = sides_->contract(mode, z[1 - mode]);
}

double ObservedSquares::value() const {
  if (!value_) value_ = 0.5 * sides_->squares();
  return *value_;
}

void ObservedSquares::add(const Vector& left, const Vector& right) {
  sides_->take_off(left, right);
  value_.reset();
}

void ObservedSquares::move_to(Expansion x) {
  x_ = std::move(x);
  value_.reset();
  sides_->rewrite(x_);
}

void ObservedSquares::append(const Factors& atom, double) {
  x_.append(atom, 0);
}

void ObservedSquares::reweigh(const Vector& weights) {
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

void ObservedSquares::replace(Index k, const Factors& atom, double, double weight) {
  x_.factors.replace(k, atom);
  x_.weights[k] = weight;
  if (weight != 0) add(weight * x_.left().col(k), x_.right().col(k));
}

void ObservedSquares::keep(const std::vector<Index>& atoms) {
  x_.keep(atoms);
}

Matrix ObservedSquares::gram(const Factors& a, const Factors& b) const {
  if (b.count() == 1) return sides_->products(a[0], a[1], b[0].col(0), b[1].col(0));
  return sides_->gram(a, b);
}

Objective::WeightQuadratic ObservedSquares::weight_quadratic() const {
  Panel image;
  contract(0, x_.factors, image);
  Matrix G = gram(x_.factors, x_.factors);
  Vector linear = axis(0).dots(x_.factors[0], image) + G * x_.weights;
  return {std::move(G), std::move(linear)};
}

std::unique_ptr<ModeSystem> ObservedSquares::along(Index mode) {
  return std::make_unique<System>(*this, mode);
}

void ObservedSquares::visit_state(StateArchive& archive) {
  visit(archive, "x", x_);
  archive("value", value_);
  for (Index mode = 0; mode < modes(); ++mode)
    sides_->visit_residual(mode, archive.reads(), [&](std::vector<double>& residual) {
      archive("residual" + std::to_string(mode), residual, Index(residual.size()));
    });
}

class ObservedSquares::Sweeps final : public FreeSweeps {
 public:
  explicit Sweeps(const ObservedSquares& f) : f_(f) {}

  double sweep(Index mode, const Factors& at, bool nonnegative, bool, Panel& X) override {
    return f_.sides_->sweep(mode, at[1 - mode], nonnegative, kPasses, X);
  }

 private:
  static constexpr int kPasses = 6;  // over the coordinates of a row: cheap beside its system

  const ObservedSquares& f_;
};

std::unique_ptr<FreeSweeps> ObservedSquares::free_sweeps(const FreeSweepsOf& what) const {
  if (x_.symmetric() || !what.nonnegative || what.prices.any()) return nullptr;
  return std::make_unique<Sweeps>(*this);
}

}  // namespace pursuit
