#include "atoms/restricted.hpp"

#include <utility>

#include "atoms/scratch.hpp"
#include "atoms/supports.hpp"

namespace pursuit {

Restricted::Restricted(const Mask& mask, AtomSetPtr inner)
    : AtomSet(inner->traits()),
      length_(Index(mask.inside.size())),
      source_(mask.source),
      inner_(std::move(inner)) {
  for (std::size_t i = 0; i < mask.inside.size(); ++i)
    if (mask.inside[i]) places_.push_back(Index(i));
  require_entries(spec(), !places_.empty());
}

bool Restricted::contains(ConstVectorRef u, double tolerance) const {
  if (u.size() != length_) return false;
  const Vector inside = u(places_);
  return (inside.array() != 0).count() == (u.array() != 0).count() && inner_->contains(inside, tolerance);
}

std::string Restricted::spec() const {
  return spec_of_mask(source_) + "+" + inner_->spec();
}

void Restricted::require_dimension(Index n) const {
  require_length(spec(), length_, n);
  inner_->require_dimension(Index(places_.size()));
}

// Not x(places_), which copies the places.
void Restricted::gather(ConstVectorRef x, VectorRef inside) const {
  for (Index i = 0; i < size(); ++i) inside[i] = x[places_[std::size_t(i)]];
}

void Restricted::scatter(ConstVectorRef inside, VectorRef u) const {
  u.setZero();
  for (Index i = 0; i < size(); ++i) u[places_[std::size_t(i)]] = inside[i];
}

void Restricted::maximize_impl(ConstVectorRef g, VectorRef u) const {
  Scratch asked(size()), inside(size());
  gather(g, asked);
  inner_->maximize(asked, inside);
  scatter(inside, u);
}

double Restricted::fit_uniform_impl(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const {
  Scratch slopes(size()), inside(size());
  gather(b, slopes);
  const double scale = inner_->fit(curvature, slopes, sign, inside);
  scatter(inside, u);
  return scale;
}

double Restricted::fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const {
  Scratch curvatures(size()), slopes(size()), inside(size());
  gather(a, curvatures);
  gather(b, slopes);
  const double scale = inner_->fit(curvatures, slopes, sign, inside);
  scatter(inside, u);
  return scale;
}

}  // namespace pursuit
