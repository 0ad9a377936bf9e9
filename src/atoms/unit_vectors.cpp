#include "atoms/unit_vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/top_k.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

UnitVectors::UnitVectors(bool nonnegative, std::optional<Cardinality> cardinality)
    : nonnegative_(nonnegative), cardinality_(cardinality) {
  if (!cardinality) return;
  if (const auto* count = std::get_if<Index>(&*cardinality); count && *count < 1)
    throw InvalidArgument(fmt::format("sparse:{}: the number of non-zeros must be at least 1", *count));
  if (const auto* fraction = std::get_if<double>(&*cardinality);
      fraction && !(*fraction > 0 && *fraction <= 1))
    throw InvalidArgument(
        fmt::format("sparse:{}: a fraction of non-zeros must be above 0 and at most 1", *fraction));
}

std::string UnitVectors::spec() const {
  std::string bound;
  if (cardinality_) {
    if (const auto* count = std::get_if<Index>(&*cardinality_))
      bound = fmt::format("sparse:{}", *count);
    else
      bound = fmt::format("sparse:{:#}", std::get<double>(*cardinality_));  // '#' keeps the point: a fraction
  }
  if (!nonnegative_) return bound.empty() ? "sphere" : bound;
  return bound.empty() ? "nonneg" : "nonneg+" + bound;
}

void UnitVectors::require_dimension(Index n) const {
  if (!cardinality_) return;
  if (const auto* count = std::get_if<Index>(&*cardinality_); count && *count > n)
    throw InvalidArgument(
        fmt::format("{}: {} non-zeros do not fit a vector of {} entries; allowed are 1..{}, or a fraction "
                    "such as sparse:0.1",
                    spec(), *count, n, n));
}

Index UnitVectors::max_support(Index n) const {
  if (!cardinality_) return n;
  if (const auto* count = std::get_if<Index>(&*cardinality_)) return std::min(*count, n);
  const double share = std::get<double>(*cardinality_) * double(n);
  return std::clamp<Index>(Index(std::floor(share * (1 + 1e-12))), 1, n);  // 0.29 * 100 is meant to be 29
}

std::shared_ptr<const UnitVectors> UnitVectors::intersect(const UnitVectors& other) const {
  auto bound = cardinality_ ? cardinality_ : other.cardinality_;
  if (cardinality_ && other.cardinality_) {
    if (cardinality_->index() != other.cardinality_->index()) return nullptr;
    bound = std::min(*cardinality_, *other.cardinality_);
  }
  return std::make_shared<UnitVectors>(nonnegative_ || other.nonnegative_, bound);
}

bool UnitVectors::contains(ConstVectorRef u, double tolerance) const {
  if (!(std::abs(u.norm() - 1) <= tolerance)) return false;
  if (nonnegative_ && u.minCoeff() < 0) return false;
  return (u.array() != 0).count() <= max_support(u.size());
}

void UnitVectors::maximize_impl(ConstVectorRef g, VectorRef u) const {
  const Index k = max_support(g.size());
  if (nonnegative_)
    u = g.cwiseMax(0.0);
  else
    u = g;
  const double largest = u.cwiseAbs().maxCoeff();
  if (largest == 0) {  // no direction helps: the least bad coordinate
    Index best = 0;
    g.maxCoeff(&best);
    u.setZero();
    u[best] = 1;
    return;
  }
  u /= largest;  // squares can then neither overflow nor vanish
  if (k < g.size()) {
    thread_local Vector keys;
    keys = u.cwiseAbs();
    u.setZero();
    for_top_k(keys, k, [&](Index i) { u[i] = nonnegative_ ? keys[i] : std::copysign(keys[i], g[i]); });
  }
  u /= u.norm();
}

double UnitVectors::fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const {
  // Coordinate i alone is best at x_i = b_i / a_i and then gains b_i^2 / a_i.
  const Index k = max_support(b.size());
  thread_local Vector best_x, gains;
  const auto free_x = (a.array() > 0).select(b.array() / a.array(), 0.0);
  const double largest = std::max(free_x.abs().maxCoeff(), std::numeric_limits<double>::min());
  const auto solve = [&](double direction) {
    best_x = free_x / largest;  // squares can then neither overflow nor vanish
    if (nonnegative_) best_x = direction * (direction * best_x.array()).max(0.0);
    gains = a.array() * best_x.array().square();
    double total = 0;
    u.setZero();
    for_top_k(gains, k, [&](Index i) {
      u[i] = best_x[i];
      total += gains[i];
    });
    return total;
  };
  double direction = 1;
  const double upward = solve(direction);
  if (nonnegative_ && sign == Sign::free) {
    direction = -1;
    if (!(solve(direction) > upward)) solve(direction = 1);
  }
  const double scale = u.norm();
  if (scale == 0) {
    maximize_impl(b, u);
    return 0;
  }
  u *= direction / scale;
  return direction * scale * largest;
}

}  // namespace pursuit
