// The sets of unit vectors with a family of supports by name, and what a + b means for any two sets.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "atoms/unit_vectors.hpp"
#include "atoms/windows.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

Atoms with_supports(const SupportsPtr& supports) {
  return std::make_shared<UnitVectors>(false, supports);
}

/// The members of a set under all constraints of another one; empty where that one is more than constraints,
/// or where the set has no exact oracles under one of them.
AtomSetPtr under_constraints_of(const AtomSet& other, AtomSetPtr set) {
  const auto constraints = other.constraints();
  if (!constraints) return nullptr;
  for (const Constraint& constraint : *constraints)
    if (set) set = set->narrowed(constraint);
  return set;
}

AtomSetPtr common_members(const AtomSetPtr& a, const AtomSetPtr& b) {
  if (auto both = under_constraints_of(*b, a)) return both;
  return under_constraints_of(*a, b);
}

constexpr const char* kPairs =
    "nonneg with sparse, group, tree, graph, block, blocks, support, monotone, unimodal, smooth, fused, "
    "l1ball "
    "and lp; sparse with group; support with any of sphere, nonneg, sparse, group, tree, graph, block, "
    "blocks, "
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
  return with_supports(std::make_shared<Cardinality>(Sparsity{k}));
}
Atoms sparse_fraction(double fraction) {
  return with_supports(std::make_shared<Cardinality>(Sparsity{fraction}));
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
  return with_supports(std::make_shared<Masked>(Mask{std::move(mask), std::move(source)}));
}

Atoms operator+(const Atoms& a, const Atoms& b) {
  const auto refusal = [&]() {
    return InvalidArgument(fmt::format(
        "atom sets '{}' and '{}' cannot be combined exactly; what combines: {}", a.spec(), b.spec(), kPairs));
  };
  if (a.varies() && b.varies()) throw refusal();
  std::vector<AtomSetPtr> sets;
  for (std::size_t i = 0; i < std::max(a.sets_.size(), b.sets_.size()); ++i) {
    sets.push_back(common_members(a.shared(Index(i)), b.shared(Index(i))));
    if (!sets.back()) throw refusal();
  }
  return Atoms(std::move(sets));
}

}  // namespace pursuit
