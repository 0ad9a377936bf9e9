// Sets made of given vectors: one of them, any combination of all, any combination of a few.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "atoms/basis.hpp"
#include "atoms/cone_set.hpp"
#include "atoms/spec_text.hpp"
#include "atoms/supports.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/top_k.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

std::string name_of(const Dictionary& dictionary) {
  switch (dictionary.kind) {
    case Dictionary::Kind::dct: return "dct";
    case Dictionary::Kind::haar: return "haar";
    case Dictionary::Kind::columns: break;
  }
  return spec_path(dictionary.source);
}

/// "dictionary:FILE", or "custom:dictionary" where there is no file.
std::string spec_of(const char* set, const Dictionary& dictionary) {
  const std::string name = name_of(dictionary);
  return name.empty() ? fmt::format("custom:{}", set) : fmt::format("{}:{}", set, name);
}

/// Energies below this are rounding alone: they belong to directions that nothing was asked about.
double negligible(ConstVectorRef a) {
  return 1e-14 * a.maxCoeff();
}

/// The smallest solution of gram w = slope within the directions whose energy is not negligible.
Vector solve_where_seen(const Matrix& gram, const Vector& slope, double nothing) {
  const SymmetricEigen eigen = symmetric_eigen(gram);
  const auto energies = eigen.values.array();
  const Vector inside = eigen.vectors.transpose() * slope;
  return eigen.vectors * Vector((energies > nothing).select(inside.array() / energies, 0.0));
}

/// One of the vectors, up to sign.
class DictionarySet final : public ConeSet {
 public:
  explicit DictionarySet(const Dictionary& dictionary)
      : ConeSet({.symmetric = true, .exact_fit = true}),
        spec_(spec_of("dictionary", dictionary)),
        basis_(make_basis(dictionary, spec_)) {}

  std::string spec() const override { return spec_; }
  void require_dimension(Index n) const override { basis_->require_dimension(spec_, n); }

  bool contains(ConstVectorRef u, double tolerance) const override {
    if (!has_unit_norm(u, tolerance)) return false;
    Vector products, d(u.size());
    basis_->analyze(u, products);
    Index best = 0;
    products.cwiseAbs().maxCoeff(&best);
    basis_->vector(best, d);
    return (std::copysign(1.0, products[best]) * d - u).cwiseAbs().maxCoeff() <= tolerance;
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    thread_local Vector products, energies;
    basis_->analyze(b, products);
    basis_->energies(a, energies);
    const double nothing = negligible(a);
    double best = 0;
    Index chosen = -1;
    for (Index j = 0; j < products.size(); ++j)
      if (energies[j] > nothing)
        if (const double gain = products[j] * products[j] / energies[j]; gain > best) {
          best = gain;
          chosen = j;
        }
    if (chosen < 0) {
      x.setZero();
      return 0;
    }
    basis_->vector(chosen, x);
    x *= products[chosen] / energies[chosen];
    return best;
  }

  void least_bad(ConstVectorRef, VectorRef u) const override { basis_->vector(0, u); }

 private:
  /// With equal curvatures every vector has the same energy.
  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    thread_local Vector products;
    basis_->analyze(g, products);
    Index best = 0;
    products.cwiseAbs().maxCoeff(&best);
    basis_->vector(best, u);
    if (products[best] < 0) u = -u;
  }

  std::string spec_;
  std::shared_ptr<const Basis> basis_;
};

/// Any combination of the columns.
class Span final : public ConeSet {
 public:
  explicit Span(const Dictionary& dictionary)
      : ConeSet({.symmetric = true, .exact_fit = true}), spec_(spec_of("span", dictionary)) {
    if (dictionary.kind != Dictionary::Kind::columns)
      throw InvalidArgument(fmt::format("{}: the span of a whole basis is everything; say sphere", spec_));
    auto dense = std::visit([](const auto& columns) { return Matrix(columns); }, dictionary.columns);
    if (dense.size() == 0) throw InvalidArgument(fmt::format("{}: has no columns", spec_));
    for (auto column : dense.colwise()) column.normalize();  // zero stays zero
    Q_ = independent_basis(dense, 1e-12);  // what rounding adds to dependent columns is no direction
    if (Q_.cols() == 0) throw InvalidArgument(fmt::format("{}: has no column that is not zero", spec_));
  }

  std::string spec() const override { return spec_; }
  void require_dimension(Index n) const override { require_length(spec_, Q_.rows(), n); }

  bool contains(ConstVectorRef u, double tolerance) const override {
    return u.size() == Q_.rows() && has_unit_norm(u, tolerance) &&
           (u - Q_ * (Q_.transpose() * u)).norm() <= 10 * tolerance;
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    const Matrix weighted = Q_.transpose() * a.asDiagonal() * Q_;
    const Vector slope = Q_.transpose() * b;
    x = Q_ * solve_where_seen(weighted, slope, negligible(a));
    return std::max(b.dot(x), 0.0);
  }

  void least_bad(ConstVectorRef, VectorRef u) const override { u = Q_.col(0); }

 private:
  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    thread_local Vector inside;
    inside.noalias() = Q_.transpose() * g;
    const double largest = inside.cwiseAbs().maxCoeff();
    if (!(largest > 0)) return least_bad(g, u);
    inside /= largest;
    u.noalias() = Q_ * inside;
    u /= u.norm();
  }

  std::string spec_;
  Matrix Q_;
};

/// A combination of at most k of the vectors.
class SparseIn final : public ConeSet {
 public:
  SparseIn(std::string spec, std::shared_ptr<const Basis> basis, Index k, double factor)
      : ConeSet({.symmetric = true, .oracle_factor = factor}),
        spec_(std::move(spec)),
        basis_(std::move(basis)),
        k_(k) {}

  std::string spec() const override { return spec_; }

  void require_dimension(Index n) const override {
    basis_->require_dimension(spec_, n);
    if (k_ > basis_->count(n))
      throw InvalidArgument(fmt::format("{}: {} of {} vectors are not to be had; allowed are 1..{}", spec_,
                                        k_, basis_->count(n), basis_->count(n)));
  }

  /// Certain where it says yes. A no may be a failure of the search where the vectors are not orthogonal.
  bool contains(ConstVectorRef u, double tolerance) const override {
    if (!has_unit_norm(u, tolerance)) return false;
    Vector x(u.size());
    project(Vector::Ones(u.size()), u, x);
    return (x - u).norm() <= 10 * std::max(tolerance, 1e-12);
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    const bool equal = (a.array() == a[0]).all();
    if (equal && basis_->orthonormal() && a[0] > 0) return largest_coefficients(a[0], b, x);
    return matching_pursuit(a, b, x);
  }

  void least_bad(ConstVectorRef, VectorRef u) const override { basis_->vector(0, u); }

 private:
  double largest_coefficients(double curvature, ConstVectorRef b, VectorRef x) const {
    Vector products, d(b.size());
    basis_->analyze(b, products);
    x.setZero();
    double gain = 0;
    const Vector sizes = products.cwiseAbs();
    for_top_k(sizes, std::min(k_, products.size()), [&](Index j) {
      basis_->vector(j, d);
      x += products[j] / curvature * d;
      gain += products[j] * products[j] / curvature;
    });
    return gain;
  }

  /// Orthogonal matching pursuit under the curvatures, then exchanges of one vector as long as they help.
  double matching_pursuit(ConstVectorRef a, ConstVectorRef b, VectorRef x) const {
    Chosen chosen(*basis_, a, b);
    while (chosen.size() < k_ && chosen.add_best()) {
    }
    for (int round = 0; round < 2; ++round) {
      bool better = false;
      for (Index place = 0; place < chosen.size(); ++place) {
        Chosen other = chosen;
        other.remove(0);  // the oldest: after a whole round every one has had its turn
        other.add_best();
        if (other.gain() > chosen.gain() * (1 + 1e-12)) {
          chosen = std::move(other);
          better = true;
        } else {
          chosen.rotate();
        }
      }
      if (!better) break;
    }
    x = chosen.combination();
    return chosen.gain();
  }

  /// Some of the vectors with their best coefficients.
  class Chosen {
   public:
    Chosen(const Basis& basis, ConstVectorRef a, ConstVectorRef b)
        : basis_(&basis), a_(a), b_(b), vectors_(b.size(), 0), x_(Vector::Zero(b.size())) {
      basis.energies(a, energies_);
      nothing_ = negligible(a);
    }

    Index size() const { return vectors_.cols(); }
    double gain() const { return gain_; }
    const Vector& combination() const { return x_; }

    /// Adds the vector that gains most by itself; false where none gains anything.
    bool add_best() {
      Vector products;
      basis_->analyze(b_ - a_.cwiseProduct(x_), products);
      double best = 0;
      Index which = -1;
      for (Index j = 0; j < products.size(); ++j)
        if (energies_[j] > nothing_ && products[j] * products[j] / energies_[j] > best) {
          best = products[j] * products[j] / energies_[j];
          which = j;
        }
      if (which < 0) return false;
      vectors_.conservativeResize(Eigen::NoChange, size() + 1);
      basis_->vector(which, vectors_.col(size() - 1));
      solve();
      return true;
    }

    void remove(Index place) {
      rotate_from(place);
      vectors_.conservativeResize(Eigen::NoChange, size() - 1);
      solve();
    }
    void rotate() { rotate_from(0); }

   private:
    void rotate_from(Index place) {  // the vector at `place` goes to the end
      const Vector moved = vectors_.col(place);
      for (Index j = place; j + 1 < size(); ++j) vectors_.col(j) = vectors_.col(j + 1).eval();
      vectors_.col(size() - 1) = moved;
    }
    void solve() {
      if (size() == 0) {
        x_.setZero();
        gain_ = 0;
        return;
      }
      const Matrix gram = vectors_.transpose() * a_.asDiagonal() * vectors_;
      const Vector slope = vectors_.transpose() * b_;
      x_ = vectors_ * solve_where_seen(gram, slope, nothing_);
      gain_ = std::max(b_.dot(x_), 0.0);
    }

    const Basis* basis_;
    Vector a_, b_, energies_;
    Matrix vectors_;
    Vector x_;
    double gain_ = 0, nothing_ = 0;
  };

  std::string spec_;
  std::shared_ptr<const Basis> basis_;
  Index k_;
};

/// The best single vector alone reaches sqrt((1 - (k - 1) mu) / k) of the best combination, mu the largest
/// inner product of two vectors.
double coherence_factor(const Dictionary& dictionary, Index k) {
  constexpr double kAffordable = 4e9;  // multiply-adds
  const auto D = std::visit([](const auto& columns) { return Matrix(columns); }, dictionary.columns);
  if (double(D.rows()) * double(D.cols()) * double(D.cols()) > kAffordable) return 0;
  const Matrix unit = D.colwise().normalized();
  Matrix gram = (unit.transpose() * unit).cwiseAbs();
  gram.diagonal().setZero();
  return std::sqrt(std::max(0.0, 1 - double(k - 1) * gram.maxCoeff()) / double(k));
}

}  // namespace

Atoms dictionary(const Dictionary& dictionary) {
  return std::make_shared<DictionarySet>(dictionary);
}
Atoms span(const Dictionary& dictionary) {
  return std::make_shared<Span>(dictionary);
}
Atoms sparse_in(const Dictionary& dictionary, Index k) {
  const std::string spec = fmt::format("{}:{}", spec_of("sparse-in", dictionary), k);
  auto basis = make_basis(dictionary, spec);
  if (k < 1) throw InvalidArgument(fmt::format("{}: at least 1 vector is needed", spec));
  const double factor = basis->orthonormal() ? 1.0 : coherence_factor(dictionary, k);
  return std::make_shared<SparseIn>(spec, std::move(basis), k, factor);
}

}  // namespace pursuit
