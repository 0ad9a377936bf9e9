// One set, or a list with one for each atom.

#include <fmt/format.h>

#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

Atoms::Atoms(std::vector<AtomSetPtr> sets) : sets_(std::move(sets)) {
  for (const AtomSetPtr& set : sets_)
    if (!set) throw InvalidArgument("atoms: a set is missing");
  traits_ = sets_.front()->traits();
  for (std::size_t i = 1; i < sets_.size(); ++i) traits_ = common_traits(traits_, sets_[i]->traits());
}

const AtomSet& Atoms::operator*() const {
  if (varies())
    throw InvalidArgument(fmt::format(
        "atom sets '{}': one set is needed here, and this is a list with one for each atom", spec()));
  return *sets_.front();
}

bool Atoms::contains(ConstVectorRef u, double tolerance) const {
  return std::any_of(sets_.begin(), sets_.end(),
                     [&](const AtomSetPtr& set) { return set->contains(u, tolerance); });
}

/// A list where sets differ in their last number alone, "sparse:30,20"; there is no text for others.
std::string Atoms::spec() const {
  std::string first = sets_.front()->spec();
  if (!varies()) return first;
  const std::string common(first, 0, first.rfind(':') + 1);
  std::string text;
  for (const AtomSetPtr& set : sets_) {
    const std::string own = set->spec();
    const bool ends_in_number = own.rfind(':') + 1 == common.size() && !common.empty() &&
                                own.find_first_not_of("0123456789.e+-", common.size()) == std::string::npos;
    const bool is_product = !own.empty() && own.front() >= '0' && own.front() <= '9';
    if (!ends_in_number || is_product || !own.starts_with(common)) return "custom:per-atom";
    text.append(text.empty() ? common : ",").append(own, common.size());
  }
  return text;
}

void Atoms::require_dimension(Index n) const {
  for (const AtomSetPtr& set : sets_) set->require_dimension(n);
}

Atoms per_atom(const std::vector<Atoms>& sets) {
  if (sets.empty()) throw InvalidArgument("per_atom: at least one set is needed");
  std::vector<AtomSetPtr> list;
  for (const Atoms& set : sets) {
    if (set.varies()) throw InvalidArgument("per_atom: lists do not nest");
    list.push_back(set.shared(0));
  }
  return Atoms(std::move(list));
}

}  // namespace pursuit
