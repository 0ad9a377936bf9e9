#pragma once
// A set that lives on the entries of a mask, zero elsewhere: the entries are gathered, the inner set answers,
// and its answer is scattered. Only for sets to which inserted zeros make no difference.

#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

class Restricted final : public AtomSet {
 public:
  Restricted(const Mask& mask, AtomSetPtr inner);

  bool contains(ConstVectorRef u, double tolerance) const override;
  std::string spec() const override;
  void require_dimension(Index n) const override;

 private:
  void maximize_impl(ConstVectorRef g, VectorRef u) const override;
  double fit_uniform_impl(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const override;
  double fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const override;

  Index size() const { return Index(places_.size()); }
  void gather(ConstVectorRef x, VectorRef inside) const;
  void scatter(ConstVectorRef inside, VectorRef u) const;

  Index length_;
  std::vector<Index> places_;
  std::string source_;
  AtomSetPtr inner_;
};

/// A set to which inserted zeros make no difference, on the entries of a mask, where the constraint is one.
template <class Set>
AtomSetPtr restricted(const Set& set, const Constraint& constraint) {
  const auto* mask = std::get_if<Mask>(&constraint);
  return mask ? std::make_shared<Restricted>(*mask, std::make_shared<Set>(set)) : nullptr;
}

}  // namespace pursuit
