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

std::optional<SupportsPtr> common_supports(const SupportsPtr& a, const SupportsPtr& b) {
  if (!a) return b;
  if (!b) return a;
  if (const auto* mask = dynamic_cast<const Masked*>(a.get())) return mask->narrowed(b);
  if (const auto* mask = dynamic_cast<const Masked*>(b.get())) return mask->narrowed(a);
  if (auto both = a->intersect(*b)) return both;
  if (auto both = b->intersect(*a)) return both;
  return std::nullopt;
}

Cardinality::Cardinality(Bound bound) : bound_(bound) {
  if (const auto* count = std::get_if<Index>(&bound); count && *count < 1)
    throw InvalidArgument(fmt::format("sparse:{}: the number of non-zeros must be at least 1", *count));
  if (const auto* fraction = std::get_if<double>(&bound); fraction && !(*fraction > 0 && *fraction <= 1))
    throw InvalidArgument(
        fmt::format("sparse:{}: a fraction of non-zeros must be above 0 and at most 1", *fraction));
}

std::optional<Index> Cardinality::count() const {
  const auto* count = std::get_if<Index>(&bound_);
  return count ? std::optional(*count) : std::nullopt;
}

Index Cardinality::max_size(Index n) const {
  if (const auto* count = std::get_if<Index>(&bound_)) return std::min(*count, n);
  const double share = std::get<double>(bound_) * double(n);
  return std::clamp<Index>(Index(std::floor(share * (1 + 1e-12))), 1, n);  // 0.29 * 100 is meant to be 29
}

void Cardinality::select(ConstVectorRef gains, Marks& kept) const {
  const Index k = max_size(gains.size());
  if (k == gains.size()) {
    kept.assign(std::size_t(k), 1);
    return;
  }
  kept.assign(std::size_t(gains.size()), 0);
  for_top_k(gains, k, [&](Index i) { kept[std::size_t(i)] = 1; });
}

bool Cardinality::allows(ConstVectorRef u) const {
  return (u.array() != 0).count() <= max_size(u.size());
}

std::string Cardinality::spec() const {
  if (const auto* count = std::get_if<Index>(&bound_)) return fmt::format("sparse:{}", *count);
  return fmt::format("sparse:{:#}", std::get<double>(bound_));  // '#' keeps the point: a fraction
}

void Cardinality::require_dimension(Index n) const {
  if (const auto* count = std::get_if<Index>(&bound_); count && *count > n)
    throw InvalidArgument(
        fmt::format("{}: {} non-zeros do not fit a vector of {} entries; allowed are 1..{}, or a fraction "
                    "such as sparse:0.1",
                    spec(), *count, n, n));
}

SupportsPtr Cardinality::intersect(const Supports& other) const {
  const auto* second = dynamic_cast<const Cardinality*>(&other);
  if (!second || bound_.index() != second->bound_.index()) return nullptr;
  return std::make_shared<Cardinality>(std::min(bound_, second->bound_));
}

Masked::Masked(Marks mask, std::string source, SupportsPtr inner)
    : mask_(std::move(mask)), source_(std::move(source)), inner_(std::move(inner)) {
  const auto n = Index(mask_.size());
  if (inner_) inner_->require_dimension(n);
  const Index first = n > 0 ? best_single(Vector::Zero(n)) : 0;
  if (n == 0 || !mask_[std::size_t(first)] || (inner_ && !inner_->allows(Vector::Unit(n, first))))
    throw InvalidArgument(fmt::format("{}: allows no entry at all", spec()));
}

void Masked::select(ConstVectorRef gains, Marks& kept) const {
  if (!inner_) {
    kept = mask_;
    return;
  }
  Scratch inside(gains.size());
  inside = gains;
  for (std::size_t i = 0; i < mask_.size(); ++i)
    if (!mask_[i]) inside[Index(i)] = 0;
  inner_->select(inside, kept);
  for (std::size_t i = 0; i < mask_.size(); ++i) kept[i] = kept[i] && mask_[i];
}

bool Masked::allows(ConstVectorRef u) const {
  if (u.size() != Index(mask_.size())) return false;
  for (Index i = 0; i < u.size(); ++i)
    if (u[i] != 0 && !mask_[std::size_t(i)]) return false;
  return !inner_ || inner_->allows(u);
}

Index Masked::best_single(ConstVectorRef g) const {
  Scratch inside(g.size());
  inside = g;
  for (std::size_t i = 0; i < mask_.size(); ++i)
    if (!mask_[i]) inside[Index(i)] = -std::numeric_limits<double>::infinity();
  return inner_ ? inner_->best_single(inside) : Supports::best_single(inside);
}

Index Masked::max_size(Index n) const {
  const Index allowed = std::count(mask_.begin(), mask_.end(), 1);
  return inner_ ? std::min(inner_->max_size(n), allowed) : allowed;
}

std::string Masked::spec() const {
  const std::string own = source_.empty() ? "custom:support" : "support:" + spec_path(source_);
  return inner_ ? own + "+" + inner_->spec() : own;
}

void Masked::require_dimension(Index n) const {
  require_length(spec(), Index(mask_.size()), n);
  if (inner_) inner_->require_dimension(n);
}

std::optional<SupportsPtr> Masked::narrowed(const SupportsPtr& other) const {
  const auto inner = common_supports(inner_, other);
  if (!inner) return std::nullopt;
  return std::make_shared<Masked>(mask_, source_, *inner);
}

}  // namespace pursuit
