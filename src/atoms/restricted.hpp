#pragma once
// A set that lives on the entries of a mask, zero elsewhere: the entries are gathered, the inner set answers,
// and its answer is scattered. Only for sets to which inserted zeros make no difference.

#include "atoms/supports.hpp"
#include "pursuit/atoms/atom_set.hpp"

namespace pursuit {

class Restricted final : public AtomSet {
 public:
  Restricted(Marks mask, std::string source, Atoms inner);

  bool contains(ConstVectorRef u, double tolerance) const override;
  std::string spec() const override;
  bool symmetric() const override { return inner_->symmetric(); }
  bool has_unit_norms() const override { return inner_->has_unit_norms(); }
  double oracle_factor() const override { return inner_->oracle_factor(); }
  bool exact_fit() const override { return inner_->exact_fit(); }
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
  Atoms inner_;
};

}  // namespace pursuit
