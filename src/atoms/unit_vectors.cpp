#include "atoms/unit_vectors.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "atoms/largest_sizes.hpp"
#include "atoms/passes.hpp"
#include "linalg/top_k.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

namespace {

/// Where only the number of non-zeros is bounded, or nothing is.
std::optional<SimpleSet> simple_set(bool nonnegative, const Supports* supports) {
  if (!supports) return SimpleSet{nonnegative};
  const auto constraints = supports->constraints();
  if (!constraints || constraints->size() != 1) return std::nullopt;
  const auto* sparsity = std::get_if<Sparsity>(&constraints->front());
  return sparsity ? std::optional<SimpleSet>({nonnegative, *sparsity}) : std::nullopt;
}

AtomTraits traits_of(bool nonnegative, const Supports* supports) {
  const double factor = supports ? supports->factor() : 1;
  return {.symmetric = !nonnegative,
          .exact_fit = factor == 1,
          .oracle_factor = factor,
          .simple = simple_set(nonnegative, supports)};
}

}  // namespace

UnitVectors::UnitVectors(bool nonnegative, const SupportsPtr& supports)
    : UnitVectors(nonnegative, supports, traits_of(nonnegative, supports.get())) {}

UnitVectors::UnitVectors(bool nonnegative, SupportsPtr supports, const AtomTraits& traits)
    : ConeSet(traits, traits.simple ? Finiteness::left_to_oracles : Finiteness::checked),
      nonnegative_(nonnegative),
      supports_(std::move(supports)) {}

std::string UnitVectors::spec() const {
  if (!supports_) return nonnegative_ ? "nonneg" : "sphere";
  std::string spec = supports_->spec();
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

std::optional<Constraints> UnitVectors::constraints() const {
  Constraints own;
  if (nonnegative_) own.emplace_back(Nonnegativity{});
  if (!supports_) return own;
  const auto inner = supports_->constraints();
  if (!inner) return std::nullopt;
  own.insert(own.end(), inner->begin(), inner->end());
  return own;
}

AtomSetPtr UnitVectors::narrowed(const Constraint& constraint) const {
  if (std::holds_alternative<Nonnegativity>(constraint))
    return std::make_shared<UnitVectors>(true, supports_);
  auto supports = pursuit::narrowed(supports_, constraint);
  return supports ? std::make_shared<UnitVectors>(nonnegative_, std::move(supports)) : nullptr;
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

// Where only the number of non-zeros is bounded both oracles are what project would do, in two passes over
// memory: one that sums and finds the largest entries, and one that writes. Squares are taken of the entries
// as they are; where they are so large or small that squares overflow or vanish, entries are scaled first.
void UnitVectors::maximize_impl(ConstVectorRef g, VectorRef u) const {
  if (!traits().simple) return ConeSet::maximize_impl(g, u);
  const Index n = g.size(), k = traits().simple->max_nonzeros(n);
  bool finite = true;
  double largest = 0, squares = 0;
  TopK top{};
  if (k == n) {
    const passes::Sums sums = passes::sums_of(g, floor());
    finite = sums.finite;
    largest = sums.largest;
    squares = sums.squares;
  } else {
    passes::SizeKeys keys(g, nonnegative_);
    const LargestSizes kept = largest_sizes(keys, k);
    finite = kept.finite;
    top = kept.top;
    squares = kept.squares;
    largest = std::sqrt(squares);  // or a little more
    if (finite && !squares_safely(largest)) largest = passes::sums_of(g, floor()).largest;
  }
  if (!finite) refuse_not_finite(g);
  if (largest == 0) return least_bad(g, u);
  if (!squares_safely(largest)) {
    const Vector scaled = g / largest;
    return maximize_impl(scaled, u);
  }
  const double scale = 1 / std::sqrt(squares);
  if (k == n)
    passes::scale_into(g, 1, floor(), scale, u);
  else
    passes::keep_sizes(g, top, nonnegative_, scale, u);
}

double UnitVectors::fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const {
  if (!traits().simple) return ConeSet::fit_impl(a, b, sign, u);
  const Index n = b.size(), k = traits().simple->max_nonzeros(n);
  const bool both_ways = nonnegative_ && sign == Sign::free;
  bool finite = true, overflown = false;
  double largest = 0, squares = 0, direction = 1;
  TopK top{};
  if (k == n) {
    const passes::QuotientSums sums = passes::divide_into(b, a, u);
    finite = sums.finite;
    largest = sums.largest;
    if (both_ways && sums.down_gains > sums.up_gains) direction = -1;
    squares =
        (direction > 0 ? sums.up_squares : 0.0) + (direction < 0 || !nonnegative_ ? sums.down_squares : 0.0);
  } else {
    double best = -1;
    for (const double side : {1.0, -1.0}) {
      if (side < 0 && !both_ways) break;
      passes::GainKeys keys(b, a, side, floor(), u);
      const SourceTopK search = find_top_k(keys, k);
      finite = keys.finite;
      overflown = !search.found;
      largest = keys.largest;
      if (!finite || overflown) break;
      double gains = keys.gains_above, own = keys.squares_above;
      search.for_each_kept([&](double gain, Index i) {
        gains += gain;
        own += keys.value(i) * keys.value(i);
      });
      if (!(gains > best)) continue;
      best = gains;
      squares = own;
      top = search.top;
      direction = side;
    }
  }
  if (!finite) refuse_not_finite(passes::all_finite(a) ? b : a);
  if (!(largest > std::numeric_limits<double>::min())) {
    maximize_impl(b, u);
    return 0;
  }
  if (!squares_safely(largest)) {
    const Vector scaled = b / largest;
    return largest * fit_impl(a, scaled, sign, u);
  }
  if (overflown) {  // gains alone are too large: they shrink with the curvatures
    const double steepest = a.maxCoeff();
    const Vector flatter = a / steepest, scaled = b / steepest;
    return fit_impl(flatter, scaled, sign, u);
  }
  const double norm = std::sqrt(squares);
  if (!(norm > 0)) {
    maximize_impl(b, u);
    return 0;
  }
  if (k == n)
    passes::scale_into(u, direction, floor(), 1 / norm, u);
  else
    passes::keep_gains(b, top, direction, floor(), 1 / norm, u);
  return direction * norm;
}

}  // namespace pursuit
