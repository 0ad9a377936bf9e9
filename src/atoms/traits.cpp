#include "pursuit/atoms/traits.hpp"

#include <algorithm>
#include <cmath>

namespace pursuit {

Index Sparsity::most(Index n) const {
  if (const auto* count = std::get_if<Index>(&bound)) return std::min(*count, n);
  const double share = std::get<double>(bound) * double(n);
  return std::clamp<Index>(Index(std::floor(share * (1 + 1e-12))), 1, n);  // 0.29 * 100 is meant to be 29
}

AtomTraits common_traits(const AtomTraits& a, const AtomTraits& b) {
  return {.symmetric = a.symmetric && b.symmetric,
          .unit_norm = a.unit_norm && b.unit_norm,
          .exact_fit = a.exact_fit && b.exact_fit,
          .oracle_factor = std::min(a.oracle_factor, b.oracle_factor)};
}

}  // namespace pursuit
