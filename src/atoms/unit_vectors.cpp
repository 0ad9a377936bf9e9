#include "atoms/unit_vectors.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "atoms/passes.hpp"
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

double UnitVectors::floor() const {
  return nonnegative_ ? 0.0 : passes::kUnbounded;
}

// Where only the number of non-zeros is bounded both oracles are what project would do, in few passes over
// memory. Entries are scaled by the largest before they are squared; beyond these sizes, before anything.
namespace {

bool scales_safely(double largest) {
  return largest > 1e-290 && largest < 1e290;
}

/// The kept entries as bounds for two ranges of keys, before and after the last tie that is taken.
struct Kept {
  TopK top;
  double after = std::nextafter(top.threshold, std::numeric_limits<double>::infinity());

  double squares(ConstVectorRef x, ConstVectorRef keys, double floor, double scale) const {
    const Index head = top.ties_end, tail = x.size() - head;
    return passes::kept_squares(x.head(head), keys.head(head), top.threshold, floor, scale) +
           passes::kept_squares(x.tail(tail), keys.tail(tail), after, floor, scale);
  }
  double sum(ConstVectorRef keys) const {
    const Index head = top.ties_end;
    return passes::kept_sum(keys.head(head), top.threshold) +
           passes::kept_sum(keys.tail(keys.size() - head), after);
  }
  void write(ConstVectorRef x, ConstVectorRef keys, double floor, double scale, VectorRef u) const {
    const Index head = top.ties_end, tail = x.size() - head;
    passes::keep_into(x.head(head), keys.head(head), top.threshold, floor, scale, u.head(head));
    passes::keep_into(x.tail(tail), keys.tail(tail), after, floor, scale, u.tail(tail));
  }
};

}  // namespace

void UnitVectors::maximize_impl(ConstVectorRef g, VectorRef u) const {
  if (!is_plainly_sparse()) return ConeSet::maximize_impl(g, u);
  const Index n = g.size(), k = max_support(n);
  if (k == n)
    if (const double squares = passes::sum_squares(g, floor(), 1); squares > 1e-200 && squares < 1e200)
      return passes::scale_into(g, floor(), 1 / std::sqrt(squares), u);
  const double largest = k < n ? passes::sizes_into(g, floor(), u) : passes::largest(g, floor());
  if (largest == 0) return least_bad(g, u);
  if (!scales_safely(largest)) {
    const Vector scaled = g / largest;
    return maximize_impl(scaled, u);
  }
  if (k == n) {
    const double norm = std::sqrt(passes::sum_squares(g, floor(), 1 / largest));
    passes::scale_into(g, floor(), 1 / largest / norm, u);
    return;
  }
  const Kept kept{find_top_k(u, k)};
  const double norm = std::sqrt(kept.squares(u, u, passes::kUnbounded, 1 / largest));
  kept.write(g, u, floor(), 1 / largest / norm, u);
}

double UnitVectors::fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const {
  if (!is_plainly_sparse()) return ConeSet::fit_impl(a, b, sign, u);
  const Index n = b.size(), k = max_support(n);
  const double largest = passes::divide_into(b, a, u);
  if (!(largest > std::numeric_limits<double>::min())) {
    maximize_impl(b, u);
    return 0;
  }
  if (!scales_safely(largest)) {
    const Vector scaled = b / largest;
    return largest * fit_impl(a, scaled, sign, u);
  }
  const double scale = 1 / largest;
  const bool both_ways = nonnegative_ && sign == Sign::free;
  thread_local Vector keys, opposite;
  std::optional<Kept> kept;
  double direction = 1;
  if (k < n) {
    keys.resize(n);
    passes::energies_into(a, u, 1, floor(), scale, keys);
    kept = Kept{find_top_k(keys, k)};
  }
  if (both_ways && k == n) {
    if (const auto [up, down] = passes::energies_of_sides(a, u, scale); down > up) direction = -1;
  } else if (both_ways) {
    opposite.resize(n);
    passes::energies_into(a, u, -1, 0, scale, opposite);
    const Kept others{find_top_k(opposite, k)};
    if (others.sum(opposite) > kept->sum(keys)) {
      direction = -1;
      kept = others;
      keys.swap(opposite);
    }
  }
  if (direction < 0) u = -u;
  const double norm =
      std::sqrt(kept ? kept->squares(u, keys, floor(), scale) : passes::sum_squares(u, floor(), scale));
  if (!(norm > 0)) {
    maximize_impl(b, u);
    return 0;
  }
  if (kept)
    kept->write(u, keys, floor(), scale / norm, u);
  else
    passes::scale_into(u, floor(), scale / norm, u);
  return direction * norm * largest;
}

}  // namespace pursuit
