#include "pursuit/objective/full_squares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "base/work.hpp"
#include "objective/coordinate_sweep.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

Factors no_atoms(const Form& form, std::vector<Index> panel_of_mode) {
  std::vector<Panel> panels;
  for (Index mode = 0; mode < form.modes(); ++mode)
    if (panel_of_mode[std::size_t(mode)] == Index(panels.size()))
      panels.emplace_back(form.axis(mode).own(), 0);
  return {std::move(panels), std::move(panel_of_mode)};
}

std::vector<Index> panels_of(const Form& form, bool symmetric) {
  std::vector<Index> panel_of_mode(std::size_t(form.modes()), 0);
  if (!symmetric) std::iota(panel_of_mode.begin(), panel_of_mode.end(), Index(0));
  return panel_of_mode;
}

}  // namespace

Matrix grams_but(const Form& form, Index left_out, const Factors& a, const Factors& b) {
  Matrix product;
  for (Index mode = 0; mode < form.modes(); ++mode) {
    if (mode == left_out) continue;
    Matrix own = form.axis(mode).inner(a[mode], b[mode]);
    product = product.size() == 0 ? std::move(own) : Matrix(product.cwiseProduct(own));
  }
  return product;
}

/// Refers to the objective, whose iterate moves with it.
class FullSquares::System final : public ModeSystem {
 public:
  System(FullSquares& f, Index mode) : f_(f), mode_(mode), X_(f.scaled_) {
    X_.resize(panel().rows(), panel().cols());
    for_columns(0, [&](Index k) { X_.col(k) = f_.x_.weights[k] * panel().col(k); });
  }

  void parabolas(Index k, const Factors* squares, Parabolas& out) override {
    out.a.resize(0);
    out.uniform = curvature(k, squares);
    leave_to(k, f_.P_, f_.G_, X_, out.b);
  }

  void move(Index k, ConstVectorRef factor, double weight) override {
    panel().col(k) = factor;
    f_.x_.weights[k] = weight;
    X_.col(k) = weight * factor;
  }

  bool sweep(const CoordinateSweep& options) override {
    coordinate_sweep(f_.P_, f_.G_, options, X_);
    const Vector norms = axis().norms(X_);
    for_columns(options.first, [&](Index k) {  // a zero column keeps its old atom
      f_.x_.weights[k] = norms[k];
      if (norms[k] > 0) panel().col(k) = X_.col(k) / norms[k];
    });
    return true;
  }

 private:
  const Axis& axis() const { return f_.axis(mode_); }
  Panel& panel() const { return f_.x_.factors[mode_]; }
  template <class Work>
  void for_columns(Index first, const Work& work) const {
    parallel_for(X_.cols() - first, threads_for(double(X_.size()), axis().threads()),
                 [&](Index k) { work(first + k); });
  }

  double curvature(Index k, const Factors* squares) const {
    if (!squares) return f_.G_(k, k);
    double product = 1;
    for (Index mode = 0; mode < f_.modes(); ++mode)
      if (mode != mode_)
        product *= f_.axis(mode).dots((*squares)[mode], Panel::Ones(f_.axis(mode).own(), 1))[0];
    return product;
  }

  FullSquares& f_;
  Index mode_;
  Panel& X_;  // weight * factor of every atom
};

FullSquares::FullSquares(const TargetPtr& target, bool symmetric)
    : FullSquares(target, panels_of(*target, symmetric)) {}

FullSquares::FullSquares(TargetPtr target, std::vector<Index> panel_of_mode)
    : target_(std::move(target)), null_value_(0.5 * target_->squared_norm()) {
  if (!std::isfinite(null_value_))
    throw InvalidInput("the squared norm of the matrix overflows; divide the matrix by a large number first");
  move_to({no_atoms(*target_, std::move(panel_of_mode)), Vector(0)}, Vector(0));
}

void FullSquares::contract(Index mode, const Factors& z, Panel& out) const {
  target_->contract(mode, z, out);
  if (x_.rank() == 0) return;
  axis(mode).subtract(x_.factors[mode], x_.weights.asDiagonal() * grams_but(*this, mode, x_.factors, z), out);
}

double FullSquares::value_of(const Vector& weights) const {
  return std::max(0.0,
                  null_value_ - products_.target.dot(weights) + 0.5 * weights.dot(products_.gram * weights));
}

const FullSquares::Products& FullSquares::refreshed() const {
  if (open_mode_ >= 0) {
    const Panel& panel = x_.factors[open_mode_];
    if (P_.size() == 0) target_->contract(open_mode_, x_.factors, P_);
    products_.gram = G_.cwiseProduct(axis(open_mode_).inner(panel, panel));
    products_.target = axis(open_mode_).dots(P_, panel);
    products_.value = value_of(x_.weights);
    open_mode_ = -1;
  }
  return products_;
}

Objective::WeightQuadratic FullSquares::weight_quadratic() const {
  const Products& products = refreshed();
  return {products.gram, products.target};
}

void FullSquares::move_to(Expansion x) {
  Vector products(x.rank());
  if (x.rank() > 0) {
    Panel image;
    target_->contract(0, x.factors, image);
    products = axis(0).dots(x.factors[0], image);
  }
  move_to(std::move(x), products);
}

void FullSquares::move_to(Expansion x, const Vector& target_products) {
  x_ = std::move(x);
  open_mode_ = -1;
  products_.gram = x_.rank() > 0 ? gram(x_.factors, x_.factors) : Matrix(0, 0);
  products_.target = target_products;
  products_.value = value_of(x_.weights);
}

void FullSquares::append(const Factors& atom, double value) {
  refreshed();
  const Index r = x_.rank();
  const Vector older = r > 0 ? Vector(gram(x_.factors, atom)) : Vector(0);
  auto& [gram_matrix, target, f] = products_;
  gram_matrix.conservativeResize(r + 1, r + 1);
  gram_matrix.col(r).head(r) = older;
  gram_matrix.row(r).head(r) = older.transpose();
  gram_matrix(r, r) = gram(atom, atom)(0, 0);
  target.conservativeResize(r + 1);
  target[r] = value + older.dot(x_.weights);
  x_.append(atom, 0);
}

void FullSquares::reweigh(const Vector& weights) {
  refreshed();
  x_.weights = weights;
  products_.value = value_of(weights);
}

void FullSquares::replace(Index k, const Factors& atom, double value, double weight) {
  refreshed();
  x_.factors.replace(k, atom);
  const Vector own = gram(x_.factors, atom);
  products_.gram.col(k) = own;
  products_.gram.row(k) = own.transpose();
  products_.target[k] = value + own.dot(x_.weights);
  x_.weights[k] = weight;
  products_.value = value_of(x_.weights);
}

void FullSquares::keep(const std::vector<Index>& atoms) {
  refreshed();
  x_.keep(atoms);
  products_.gram = Matrix(products_.gram(atoms, atoms));
  products_.target = Vector(products_.target(atoms));
}

Matrix FullSquares::gram(const Factors& a, const Factors& b) const {
  return grams_but(*this, -1, a, b);
}

std::unique_ptr<ModeSystem> FullSquares::along(Index mode) {
  target_->contract(mode, x_.factors, P_);
  G_ = grams_but(*this, mode, x_.factors, x_.factors);
  open_mode_ = mode;
  return std::make_unique<System>(*this, mode);
}

void FullSquares::refit(Index mode, const std::function<void(Panel&, Vector&)>& change, Matrix gram,
                        Panel contraction) {
  change(x_.factors[mode], x_.weights);
  G_ = std::move(gram);
  P_ = std::move(contraction);
  open_mode_ = mode;
}

void FullSquares::visit_state(StateArchive& archive) {
  if (!archive.reads()) refreshed();
  visit(archive, "x", x_);
  const Index rank = x_.rank();
  archive("gram", products_.gram, rank, rank);
  archive("target", products_.target, rank);
  archive("value", products_.value);
  open_mode_ = -1;
}

double FullSquares::relative_error() const {
  if (null_value_ == 0) return 0;
  const double share = value() / null_value_;
  if (share < 1e-4)  // f of single-precision data carries rounding errors of about 1e-7
    if (const auto direct = target_->squared_distance(x_)) return std::sqrt(0.5 * *direct / null_value_);
  return std::sqrt(std::max(share, 0.0));
}

}  // namespace pursuit
