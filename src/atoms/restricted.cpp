#include "atoms/restricted.hpp"

#include <utility>

namespace pursuit {

Restricted::Restricted(Marks mask, std::string source, Atoms inner)
    : length_(Index(mask.size())), source_(std::move(source)), inner_(std::move(inner)) {
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) places_.push_back(Index(i));
}

bool Restricted::contains(ConstVectorRef u, double tolerance) const {
  if (u.size() != length_) return false;
  const Vector inside = gathered(u);
  return (inside.array() != 0).count() == (u.array() != 0).count() && inner_->contains(inside, tolerance);
}

std::string Restricted::spec() const {
  return (source_.empty() ? "custom:support" : "support:" + source_) + "+" + inner_->spec();
}

void Restricted::require_dimension(Index n) const {
  require_length(spec(), length_, n);
  inner_->require_dimension(Index(places_.size()));
}

void Restricted::scatter(const Vector& inside, VectorRef u) const {
  u.setZero();
  u(places_) = inside;
}

void Restricted::maximize_impl(ConstVectorRef g, VectorRef u) const {
  Vector inside(Index(places_.size()));
  inner_->maximize(gathered(g), inside);
  scatter(inside, u);
}

double Restricted::fit_uniform_impl(double curvature, ConstVectorRef b, Sign sign, VectorRef u) const {
  Vector inside(Index(places_.size()));
  const double scale = inner_->fit(curvature, gathered(b), sign, inside);
  scatter(inside, u);
  return scale;
}

double Restricted::fit_impl(ConstVectorRef a, ConstVectorRef b, Sign sign, VectorRef u) const {
  Vector inside(Index(places_.size()));
  const double scale = inner_->fit(gathered(a), gathered(b), sign, inside);
  scatter(inside, u);
  return scale;
}

}  // namespace pursuit
