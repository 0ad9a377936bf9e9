#include "pursuit/objective/observed.hpp"

#include <fmt/format.h>

#include <limits>

#include "pursuit/base/error.hpp"

namespace pursuit {

void require_indexable(Index entries) {
  constexpr Index kMost = std::numeric_limits<int>::max();
  if (entries > kMost)
    throw InvalidInput(
        fmt::format("{} observed entries: structured completion takes at most {} (those below and above "
                    "the diagonal of a symmetric matrix both count)",
                    entries, kMost));
}

template <class Visit>
void ObservedObjective::for_each(const Visit& visit) const {
  const int *start = residual_.outerIndexPtr(), *column = residual_.innerIndexPtr();
  for (Index i = 0; i < rows(); ++i)
    for (int e = start[i]; e < start[i + 1]; ++e) visit(i, Index(column[e]), e);
}

ObservedObjective::ObservedObjective(const ObservedMatrix& data)
    : target_(data.by_row().value.begin(), data.by_row().value.end()), residual_(data.rows(), data.cols()) {
  require_indexable(data.size());
  const GroupedEntries& entries = data.by_row();
  residual_.resizeNonZeros(data.size());
  std::copy(entries.start.begin(), entries.start.end(), residual_.outerIndexPtr());
  std::copy(entries.index.begin(), entries.index.end(), residual_.innerIndexPtr());
  std::copy(target_.begin(), target_.end(), residual_.valuePtr());
  target_norm_squared_ = 2 * value();
}

double ObservedObjective::value() const {
  return 0.5 * Eigen::Map<const Vector>(residual_.valuePtr(), size()).squaredNorm();
}

void ObservedObjective::move_to(const Model& model) {
  const auto r = model.rank();
  // One entry's factors side by side.
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> left = model.scaled_left(),
                                                                               right = model.right;
  double* values = residual_.valuePtr();
  for_each([&](Index i, Index j, int e) {
    values[e] = target_[std::size_t(e)] - (r > 0 ? left.row(i).dot(right.row(j)) : 0.0);
  });
}

void ObservedObjective::add(ConstVectorRef u, ConstVectorRef v, double weight) {
  double* values = residual_.valuePtr();
  for_each([&](Index i, Index j, int e) { values[e] -= weight * u[i] * v[j]; });
}

double ObservedObjective::norm_squared(ConstVectorRef u, ConstVectorRef v) const {
  double sum = 0;
  for_each([&](Index i, Index j, int) { sum += u[i] * u[i] * v[j] * v[j]; });
  return sum;
}

double ObservedObjective::product(ConstVectorRef u, ConstVectorRef v) const {
  double sum = 0;
  for_each([&](Index i, Index j, int e) { sum += residual_.valuePtr()[e] * u[i] * v[j]; });
  return sum;
}

Vector ObservedObjective::inner_products(const Model& model, ConstVectorRef u, ConstVectorRef v) const {
  Vector result(model.rank());
  for (Index k = 0; k < model.rank(); ++k) {
    const auto l = model.left.col(k), r = model.right.col(k);
    double sum = 0;
    for_each([&](Index i, Index j, int) { sum += u[i] * v[j] * l[i] * r[j]; });
    result[k] = sum;
  }
  return result;
}

Matrix ObservedObjective::gram(const Model& model) const {
  Matrix result(model.rank(), model.rank());
  for (Index k = 0; k < model.rank(); ++k)
    result.col(k) = inner_products(model, model.left.col(k), model.right.col(k));
  return result;
}

Vector ObservedObjective::target_products(const Model& model) const {
  Vector result = Vector::Zero(model.rank());
  for (Index k = 0; k < model.rank(); ++k) {
    const auto l = model.left.col(k), r = model.right.col(k);
    double sum = 0;
    for_each([&](Index i, Index j, int e) { sum += target_[std::size_t(e)] * l[i] * r[j]; });
    result[k] = sum;
  }
  return result;
}

ObservedObjective::Parabolas ObservedObjective::left_parabolas(ConstVectorRef v,
                                                               ConstVectorRef v_squares) const {
  Parabolas result{Vector::Zero(rows()), Vector::Zero(rows())};
  for_each([&](Index i, Index j, int e) {
    result.a[i] += v_squares[j];
    result.b[i] += residual_.valuePtr()[e] * v[j];
  });
  return result;
}

ObservedObjective::Parabolas ObservedObjective::right_parabolas(ConstVectorRef u,
                                                                ConstVectorRef u_squares) const {
  Parabolas result{Vector::Zero(cols()), Vector::Zero(cols())};
  for_each([&](Index i, Index j, int e) {
    result.a[j] += u_squares[i];
    result.b[j] += residual_.valuePtr()[e] * u[i];
  });
  return result;
}

Vector ObservedObjective::row_counts() const {
  Vector result = Vector::Zero(rows());
  for_each([&](Index i, Index, int) { ++result[i]; });
  return result;
}

Vector ObservedObjective::col_counts() const {
  Vector result = Vector::Zero(cols());
  for_each([&](Index, Index j, int) { ++result[j]; });
  return result;
}

}  // namespace pursuit
