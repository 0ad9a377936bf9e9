#include "objective/weak_zeros.hpp"

#include "pursuit/objective/full_squares.hpp"

namespace pursuit {

class WeakZeros::System final : public ModeSystem {
 public:
  System(const WeakZeros& f, std::unique_ptr<ModeSystem> seen, Index mode)
      : f_(f), seen_(std::move(seen)), mode_(mode) {}

  void parabolas(Index k, const Factors* squares, Parabolas& out) override {
    seen_->parabolas(k, squares, out);
    const Expansion& x = f_.iterate();
    const Axis& other = f_.axis(1 - mode_);
    const auto held = x.factors[1 - mode_].col(k);
    Vector overlap = other.inner(x.factors[1 - mode_], held);  // of every atom with this one
    const double curvature =
        f_.zeros_ *
        (squares ? other.dots((*squares)[1 - mode_], Panel::Ones(other.own(), 1))[0] : overlap[k]);
    if (out.is_uniform())
      out.uniform += curvature;
    else
      out.a.array() += curvature;
    overlap[k] = 0;  // as if the atom were not there
    f_.axis(mode_).subtract(x.factors[mode_], f_.zeros_ * x.weights.cwiseProduct(overlap), out.b);
  }

  void move(Index k, ConstVectorRef factor, double weight) override { seen_->move(k, factor, weight); }

 private:
  const WeakZeros& f_;
  std::unique_ptr<ModeSystem> seen_;
  Index mode_;
};

void WeakZeros::contract(Index mode, const Factors& z, Panel& out) const {
  seen_->contract(mode, z, out);
  const Expansion& x = iterate();
  if (x.rank() == 0) return;
  axis(mode).subtract(x.factors[mode],
                      zeros_ * (x.weights.asDiagonal() * grams_but(*this, mode, x.factors, z)), out);
}

double WeakZeros::value() const {
  const Expansion& x = iterate();
  if (x.rank() == 0) return seen_->value();
  return seen_->value() +
         0.5 * zeros_ * x.weights.dot(grams_but(*this, -1, x.factors, x.factors) * x.weights);
}

Matrix WeakZeros::gram(const Factors& a, const Factors& b) const {
  return seen_->gram(a, b) + zeros_ * grams_but(*this, -1, a, b);
}

Objective::WeightQuadratic WeakZeros::weight_quadratic() const {
  WeightQuadratic result = seen_->weight_quadratic();  // c_i is <y, z_i> over what was seen
  result.gram += zeros_ * grams_but(*this, -1, iterate().factors, iterate().factors);
  return result;
}

std::unique_ptr<ModeSystem> WeakZeros::along(Index mode) {
  return std::make_unique<System>(*this, seen_->along(mode), mode);
}

}  // namespace pursuit
