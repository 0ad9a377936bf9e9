// A list of sets, one for each atom in turn.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "atoms/scratch.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

class PerAtom final : public AtomSet {
 public:
  explicit PerAtom(std::vector<Atoms> sets) : sets_(std::move(sets)) {}

  const AtomSet& of_atom(Index i) const override {
    return *sets_[std::size_t(std::min(i, Index(sets_.size()) - 1))];
  }
  bool varies_by_atom() const override { return true; }

  /// Sets that differ in their last number alone, "sparse:30,20"; there is no text for others.
  std::string spec() const override {
    const std::string first = sets_.front()->spec(), common(first, 0, first.rfind(':') + 1);
    std::string text;
    for (const Atoms& set : sets_) {
      const std::string own = set->spec();
      const bool ends_in_number = own.rfind(':') + 1 == common.size() && !common.empty() &&
                                  own.find_first_not_of("0123456789.e+-", common.size()) == std::string::npos;
      const bool is_product = !own.empty() && own.front() >= '0' && own.front() <= '9';
      if (!ends_in_number || is_product || !own.starts_with(common)) return "custom:per-atom";
      text.append(text.empty() ? common : ",").append(own, common.size());
    }
    return text;
  }

  bool contains(ConstVectorRef u, double tolerance) const override {
    return std::any_of(sets_.begin(), sets_.end(),
                       [&](const Atoms& set) { return set->contains(u, tolerance); });
  }
  bool symmetric() const override {
    return all([](const AtomSet& set) { return set.symmetric(); });
  }
  bool has_unit_norms() const override {
    return all([](const AtomSet& set) { return set.has_unit_norms(); });
  }
  double oracle_factor() const override {
    double factor = 1;
    for (const Atoms& set : sets_) factor = std::min(factor, set->oracle_factor());
    return factor;
  }
  bool exact_fit() const override {
    return all([](const AtomSet& set) { return set.exact_fit(); });
  }
  void require_dimension(Index n) const override {
    for (const Atoms& set : sets_) set->require_dimension(n);
  }

  Atoms intersect(const AtomSet& other) const override {
    if (other.varies_by_atom()) return nullptr;
    std::vector<Atoms> both;
    for (const Atoms& set : sets_) {
      Atoms narrowed = set->intersect(other);
      if (!narrowed) narrowed = other.intersect(*set);
      if (!narrowed) return nullptr;
      both.push_back(std::move(narrowed));
    }
    return per_atom(std::move(both));
  }

 private:
  template <class Property>
  bool all(const Property& property) const {
    return std::all_of(sets_.begin(), sets_.end(), [&](const Atoms& set) { return property(*set); });
  }

  // As a set of its own it is the union, whose oracle asks every one.
  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    Scratch candidate(g.size());
    sets_.front()->maximize(g, u);
    for (std::size_t i = 1; i < sets_.size(); ++i) {
      sets_[i]->maximize(g, candidate);
      if (candidate.dot(g) > u.dot(g)) u = candidate;
    }
  }

  double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const override {
    const double largest = (a.array() > 0).select(b.array() / a.array(), 0.0).abs().maxCoeff();
    // Squares can then neither overflow nor vanish.
    Scratch scaled(b.size());
    if (largest > std::numeric_limits<double>::min())
      scaled = b / largest;
    else
      scaled.setZero();
    const auto value = [&](double t, const auto& x) {
      return t * (t * a.dot(x.cwiseAbs2()) - 2 * scaled.dot(x));
    };
    Scratch candidate(b.size());
    double scale = sets_.front()->fit(a, scaled, sign, u);
    for (std::size_t i = 1; i < sets_.size(); ++i)
      if (const double other = sets_[i]->fit(a, scaled, sign, candidate);
          value(other, candidate) < value(scale, u)) {
        u = candidate;
        scale = other;
      }
    return scale * largest;
  }

  std::vector<Atoms> sets_;
};

}  // namespace

Atoms per_atom(std::vector<Atoms> sets) {
  if (sets.empty()) throw InvalidArgument("per_atom: at least one set is needed");
  const auto varies = [](const Atoms& set) { return set->varies_by_atom(); };
  if (std::any_of(sets.begin(), sets.end(), varies)) throw InvalidArgument("per_atom: lists do not nest");
  return sets.size() == 1 ? sets.front() : std::make_shared<PerAtom>(std::move(sets));
}

}  // namespace pursuit
