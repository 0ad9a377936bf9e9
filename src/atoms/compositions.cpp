// The sets of unit vectors with a family of supports by name, and what a + b means for any two sets.

#include <fmt/format.h>

#include <utility>

#include "atoms/restricted.hpp"
#include "atoms/unit_vectors.hpp"
#include "atoms/windows.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

Atoms with_supports(SupportsPtr supports) {
  return std::make_shared<UnitVectors>(false, std::move(supports));
}

/// Where one of the sets is only a mask, and the other one does not notice zeros.
Atoms restricted(const Atoms& mask, const Atoms& set) {
  const auto* vectors = dynamic_cast<const UnitVectors*>(mask.get());
  const auto* masked = vectors ? dynamic_cast<const Masked*>(vectors->supports().get()) : nullptr;
  if (!masked || !masked->is_plain() || !vectors->symmetric()) return nullptr;
  if (!set->ignores_zeros(masked->mask())) return nullptr;
  return std::make_shared<Restricted>(masked->mask(), masked->source(), set);
}

constexpr const char* kPairs =
    "nonneg with sparse, group, tree, graph, block, blocks, support, monotone, unimodal, fused, l1ball and "
    "lp; sparse with group; support with any of sphere, nonneg, sparse, group, tree, graph, block, blocks, "
    "l1ball, lp, simplex, binary, and with nonneg+unimodal where it is one stretch; two sparse bounds of one "
    "kind (counts or fractions)";

}  // namespace

Atoms sphere() {
  return with_supports(nullptr);
}
Atoms nonneg() {
  return std::make_shared<UnitVectors>(true, nullptr);
}
Atoms sparse(Index k) {
  return with_supports(std::make_shared<Cardinality>(k));
}
Atoms sparse_fraction(double fraction) {
  return with_supports(std::make_shared<Cardinality>(fraction));
}
Atoms onehot() {
  return nonneg() + sparse(1);
}
Atoms block(Index length) {
  return with_supports(std::make_shared<Windows>(length, 1));
}
Atoms blocks(Index length, Index count) {
  return with_supports(std::make_shared<Windows>(length, count));
}
Atoms support(std::vector<unsigned char> mask, std::string source) {
  return with_supports(std::make_shared<Masked>(std::move(mask), std::move(source)));
}

Atoms operator+(const Atoms& a, const Atoms& b) {
  if (a->is_sphere()) return b;
  if (b->is_sphere()) return a;
  if (auto both = a->intersect(*b)) return both;
  if (auto both = b->intersect(*a)) return both;
  if (auto both = restricted(a, b)) return both;
  if (auto both = restricted(b, a)) return both;
  throw InvalidArgument(fmt::format("atom sets '{}' and '{}' cannot be combined exactly; what combines: {}",
                                    a->spec(), b->spec(), kPairs));
}

}  // namespace pursuit
