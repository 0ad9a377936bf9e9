#include "atoms/unit_vectors.hpp"

#include <cmath>
#include <utility>

#include "linalg/top_k.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

UnitVectors::UnitVectors(bool nonnegative, SupportsPtr supports)
    : nonnegative_(nonnegative), supports_(std::move(supports)) {}

std::string UnitVectors::spec() const {
  if (!supports_) return nonnegative_ ? "nonneg" : "sphere";
  const std::string spec = supports_->spec();
  if (!nonnegative_) return spec;
  constexpr std::string_view kCustom = "custom:";  // stays in front
  return spec.starts_with(kCustom) ? "custom:nonneg+" + spec.substr(kCustom.size()) : "nonneg+" + spec;
}

void UnitVectors::require_dimension(Index n) const {
  if (!supports_) return;
  try {
    supports_->require_dimension(n);
  } catch (const InvalidArgument& error) {
    if (!nonnegative_) throw;
    throw InvalidArgument(std::string("nonneg+") + error.what());
  }
}

bool UnitVectors::is_plainly_sparse() const {
  return !supports_ || dynamic_cast<const Cardinality*>(supports_.get()) != nullptr;
}

Atoms UnitVectors::intersect(const AtomSet& other) const {
  const auto* second = dynamic_cast<const UnitVectors*>(&other);
  if (!second) return nullptr;
  const auto supports = common_supports(supports_, second->supports_);
  if (!supports) return nullptr;
  return std::make_shared<UnitVectors>(nonnegative_ || second->nonnegative_, *supports);
}

bool UnitVectors::contains(ConstVectorRef u, double tolerance) const {
  if (!has_unit_norm(u, tolerance) || (nonnegative_ && u.minCoeff() < 0)) return false;
  return !supports_ || supports_->allows(u);
}

double UnitVectors::project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const {
  // Coordinate i alone is best at x_i = b_i / a_i and then gains b_i^2 / a_i.
  thread_local Vector gains;
  thread_local Marks kept;
  x = (a.array() > 0).select(b.array() / a.array(), 0.0);
  if (nonnegative_) x = x.cwiseMax(0.0);
  if (!supports_) return x.dot(b);
  gains = x.cwiseProduct(b);
  supports_->select(gains, kept);
  double total = 0;
  for (Index i = 0; i < x.size(); ++i) {
    if (kept[std::size_t(i)])
      total += gains[i];
    else
      x[i] = 0;
  }
  return total;
}

void UnitVectors::least_bad(ConstVectorRef g, VectorRef u) const {
  Index best = 0;
  if (supports_)
    best = supports_->best_single(g);
  else
    g.maxCoeff(&best);
  u.setZero();
  u[best] = 1;
}

/// What project would do, in fewer passes over memory where only the number of non-zeros is bounded.
void UnitVectors::maximize_impl(ConstVectorRef g, VectorRef u) const {
  if (!is_plainly_sparse()) return ConeSet::maximize_impl(g, u);
  const Index k = max_support(g.size());
  if (nonnegative_)
    u = g.cwiseMax(0.0);
  else
    u = g;
  const double largest = u.cwiseAbs().maxCoeff();
  if (largest == 0) return least_bad(g, u);
  u /= largest;  // squares can then neither overflow nor vanish
  if (k < g.size()) {
    thread_local Vector keys;
    keys = u.cwiseAbs();
    u.setZero();
    for_top_k(keys, k, [&](Index i) { u[i] = nonnegative_ ? keys[i] : std::copysign(keys[i], g[i]); });
  }
  u /= u.norm();
}

}  // namespace pursuit
