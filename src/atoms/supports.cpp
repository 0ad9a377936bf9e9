#include "atoms/supports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "atoms/scratch.hpp"
#include "atoms/spec_text.hpp"
#include "linalg/top_k.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

void require_length(const std::string& spec, Index own, Index n) {
  if (own != n)
    throw InvalidArgument(fmt::format("{}: is about vectors of {} entries, and these have {}", spec, own, n));
}

Index Supports::best_single(ConstVectorRef g) const {
  Index best = 0;
  g.maxCoeff(&best);
  return best;
}

SupportsPtr narrowed(const SupportsPtr& family, const Constraint& constraint) {
  if (family)
    if (auto own = family->narrowed(constraint)) return own;
  if (const auto* mask = std::get_if<Mask>(&constraint)) return std::make_shared<Masked>(*mask, family);
  const auto* sparsity = std::get_if<Sparsity>(&constraint);
  return sparsity && !family ? std::make_shared<Cardinality>(*sparsity) : nullptr;
}

Cardinality::Cardinality(Sparsity sparsity) : sparsity_(sparsity) {
  if (const auto* count = std::get_if<Index>(&sparsity.bound); count && *count < 1)
    throw InvalidArgument(fmt::format("sparse:{}: the number of non-zeros must be at least 1", *count));
  if (const auto* fraction = std::get_if<double>(&sparsity.bound);
      fraction && !(*fraction > 0 && *fraction <= 1))
    throw InvalidArgument(
        fmt::format("sparse:{}: a fraction of non-zeros must be above 0 and at most 1", *fraction));
}

void Cardinality::select(ConstVectorRef gains, Marks& kept) const {
  const Index k = sparsity_.most(gains.size());
  if (k == gains.size()) {
    kept.assign(std::size_t(k), 1);
    return;
  }
  kept.assign(std::size_t(gains.size()), 0);
  for_top_k(gains, k, [&](Index i) { kept[std::size_t(i)] = 1; });
}

bool Cardinality::allows(ConstVectorRef u) const {
  return (u.array() != 0).count() <= sparsity_.most(u.size());
}

std::string Cardinality::spec() const {
  if (const auto* count = std::get_if<Index>(&sparsity_.bound)) return fmt::format("sparse:{}", *count);
  return fmt::format("sparse:{:#}", std::get<double>(sparsity_.bound));  // '#' keeps the point: a fraction
}

void Cardinality::require_dimension(Index n) const {
  if (const auto* count = std::get_if<Index>(&sparsity_.bound); count && *count > n)
    throw InvalidArgument(
        fmt::format("{}: {} non-zeros do not fit a vector of {} entries; allowed are 1..{}, or a fraction "
                    "such as sparse:0.1",
                    spec(), *count, n, n));
}

SupportsPtr Cardinality::narrowed(const Constraint& constraint) const {
  const auto* other = std::get_if<Sparsity>(&constraint);
  if (!other || other->bound.index() != sparsity_.bound.index()) return nullptr;
  return std::make_shared<Cardinality>(Sparsity{std::min(sparsity_.bound, other->bound)});
}

std::string spec_of_mask(const std::string& source) {
  return source.empty() ? "custom:support" : "support:" + spec_path(source);
}

void require_entries(const std::string& spec, bool any) {
  if (!any) throw InvalidArgument(fmt::format("{}: allows no entry at all", spec));
}

Masked::Masked(Mask mask, SupportsPtr inner) : mask_(std::move(mask)), inner_(std::move(inner)) {
  const auto n = Index(mask_.inside.size());
  if (inner_) inner_->require_dimension(n);
  const Index first = n > 0 ? best_single(Vector::Zero(n)) : 0;
  require_entries(spec(), n > 0 && mask_.inside[std::size_t(first)] &&
                              (!inner_ || inner_->allows(Vector::Unit(n, first))));
}

void Masked::select(ConstVectorRef gains, Marks& kept) const {
  if (!inner_) {
    kept = mask_.inside;
    return;
  }
  Scratch inside(gains.size());
  inside = gains;
  for (std::size_t i = 0; i < mask_.inside.size(); ++i)
    if (!mask_.inside[i]) inside[Index(i)] = 0;
  inner_->select(inside, kept);
  for (std::size_t i = 0; i < mask_.inside.size(); ++i) kept[i] = kept[i] && mask_.inside[i];
}

bool Masked::allows(ConstVectorRef u) const {
  if (u.size() != Index(mask_.inside.size())) return false;
  for (Index i = 0; i < u.size(); ++i)
    if (u[i] != 0 && !mask_.inside[std::size_t(i)]) return false;
  return !inner_ || inner_->allows(u);
}

Index Masked::best_single(ConstVectorRef g) const {
  Scratch inside(g.size());
  inside = g;
  for (std::size_t i = 0; i < mask_.inside.size(); ++i)
    if (!mask_.inside[i]) inside[Index(i)] = -std::numeric_limits<double>::infinity();
  return inner_ ? inner_->best_single(inside) : Supports::best_single(inside);
}

std::string Masked::spec() const {
  const std::string own = spec_of_mask(mask_.source);
  return inner_ ? own + "+" + inner_->spec() : own;
}

void Masked::require_dimension(Index n) const {
  require_length(spec(), Index(mask_.inside.size()), n);
  if (inner_) inner_->require_dimension(n);
}

std::optional<Constraints> Masked::constraints() const {
  auto all = inner_ ? inner_->constraints() : Constraints{};
  if (all) all->emplace_back(mask_);
  return all;
}

SupportsPtr Masked::narrowed(const Constraint& constraint) const {
  auto inner = pursuit::narrowed(inner_, constraint);
  return inner ? std::make_shared<Masked>(mask_, std::move(inner)) : nullptr;
}

}  // namespace pursuit
