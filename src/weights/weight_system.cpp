#include "pursuit/weights/weight_system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/cholesky.hpp"
#include "linalg/decompositions.hpp"

namespace pursuit {
namespace {

/// The share of a new atom's squared length that must lie outside the span of the others: below it the
/// weights of a re-fit would have lost half their digits.
constexpr double kIndependence = 1e-10;

}  // namespace

struct WeightSystem::Factor : IncrementalCholesky {};

WeightSystem::WeightSystem(WeightRule rule) : rule_(rule), factor_(std::make_unique<Factor>()) {}
WeightSystem::~WeightSystem() = default;
WeightSystem::WeightSystem(WeightSystem&&) noexcept = default;
WeightSystem& WeightSystem::operator=(WeightSystem&&) noexcept = default;

bool WeightSystem::append(ConstVectorRef products_with_atoms, double norm_squared,
                          double product_with_target) {
  // Only the normal equations of free weights need independent atoms; the active-set methods take in an atom
  // only where it lowers f, which one in the span of those with weight cannot do.
  if (rule_.kind == WeightRule::free && factor_->size() == size_ &&
      !factor_->append(products_with_atoms, norm_squared, kIndependence))
    return false;
  if (size_ == gram_.rows()) {
    const Index capacity = 2 * size_ + 8;
    gram_.conservativeResize(capacity, capacity);
    targets_.conservativeResize(capacity);
    weights_.conservativeResize(capacity);
  }
  gram_.col(size_).head(size_) = products_with_atoms;
  gram_.row(size_).head(size_) = products_with_atoms.transpose();
  gram_(size_, size_) = norm_squared;
  targets_[size_] = product_with_target;
  weights_[size_] = 0;
  ++size_;
  return true;
}

void WeightSystem::reset(const Matrix& gram, const Vector& target_products, const Vector& weights) {
  size_ = 0;
  factor_->clear();
  gram_ = gram;
  targets_ = target_products;
  weights_ = weights;
  while (size_ < gram.rows() &&
         factor_->append(gram.col(size_).head(size_), gram(size_, size_), kIndependence))
    ++size_;
  size_ = gram.rows();  // the factor stays behind where corrections made atoms dependent
}

/// The factor is made anew of the same numbers in the same order, in room of the same size.
void WeightSystem::visit_state(StateArchive& archive, Index atoms) {
  Index factored = factor_->size(), room = gram_.rows();
  Matrix gram = gram_.topLeftCorner(size_, size_);
  Vector targets = targets_.head(size_), weights = this->weights();
  archive("gram", gram, atoms, atoms);
  archive("targets", targets, atoms);
  archive("weights", weights, atoms);
  archive("factored", factored, 0, atoms);
  archive("room", room, atoms, 2 * atoms + 8);
  if (!archive.reads()) return;
  size_ = atoms;
  gram_.setZero(room, room);
  targets_.setZero(room);
  weights_.setZero(room);
  gram_.topLeftCorner(size_, size_) = gram;
  targets_.head(size_) = targets;
  weights_.head(size_) = weights;
  factor_ = std::make_unique<Factor>();
  for (Index i = 0; i < factored; ++i)
    archive.require(factor_->append(gram.col(i).head(i), gram(i, i), kIndependence),
                    "the inner products of atoms are not those of independent ones");
}

double WeightSystem::change(const Vector& weights) const {
  return 0.5 * weights.dot(gram_.topLeftCorner(size_, size_) * weights) - targets_.head(size_).dot(weights);
}

double WeightSystem::ascent(double value) const {
  if (rule_.allows_negative()) return std::abs(value);
  if (rule_.kind == WeightRule::nonneg || size_ == 0) return value;
  const Vector x = weights();
  return std::max(value, 0.0) -
         x.dot(targets_.head(size_) - gram_.topLeftCorner(size_, size_) * x) / rule_.radius;
}

Vector WeightSystem::newest_weight() const {  // z_r alone, against the residual
  Vector result = weights();
  const Index r = size_ - 1;
  result[r] = (targets_[r] - gram_.row(r).head(r).dot(weights_.head(r))) / gram_(r, r);
  return result;
}

Vector WeightSystem::economic_weights() const {  // min over (s, t) of ||y - s x - t z_r||
  const Index r = size_ - 1;
  const auto old = weights_.head(r);
  const double xx = old.dot(gram_.topLeftCorner(r, r) * old), xz = gram_.row(r).head(r).dot(old),
               zz = gram_(r, r);
  const double xy = old.dot(targets_.head(r)), zy = targets_[r], determinant = xx * zz - xz * xz;
  if (!(determinant > kIndependence * xx * zz)) return newest_weight();
  Vector result(size_);
  result << (xy * zz - zy * xz) / determinant * old, (zy * xx - xy * xz) / determinant;
  return result;
}

Vector WeightSystem::free_weights() {  // G alpha = c
  if (factor_->size() != size_)        // dependent after corrections: the solution of least norm
    return least_squares(gram_.topLeftCorner(size_, size_), targets_.head(size_));
  Vector result = targets_.head(size_);
  factor_->solve_in_place(result);
  return result;
}

void WeightSystem::solve() {
  if (size_ == 0) return;
  const auto gram = gram_.topLeftCorner(size_, size_);
  Vector candidate;
  switch (rule_.kind) {
    case WeightRule::free: candidate = free_weights(); break;
    case WeightRule::newest: candidate = newest_weight(); break;
    case WeightRule::economic: candidate = economic_weights(); break;
    case WeightRule::nonneg:
    case WeightRule::convex: {
      const bool bounded = rule_.kind == WeightRule::convex;
      Vector start = weights().cwiseMax(0.0);  // atoms given with other weights: what is allowed comes first
      if (bounded && start.sum() > rule_.radius) start *= rule_.radius / start.sum();
      weights_.head(size_) = start;
      candidate = constrained_weights(gram, targets_.head(size_), bounded ? rule_.radius : 0, start);
      // Beside a radius that is next to nothing it is met up to rounding of what the weights would be.
      if (bounded && candidate.sum() > rule_.radius) candidate *= rule_.radius / candidate.sum();
      break;
    }
  }
  if (candidate.allFinite() && change(candidate) <= change()) weights_.head(size_) = candidate;
}

}  // namespace pursuit
