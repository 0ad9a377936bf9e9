// A user's own set, known by one function.

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

class Custom final : public AtomSet {
 public:
  explicit Custom(CustomSet definition)
      : AtomSet({.symmetric = definition.symmetric}), definition_(std::move(definition)) {
    if (!definition_.maximize)
      throw InvalidArgument(fmt::format("custom set '{}' has no maximize function", definition_.name));
  }

  bool contains(ConstVectorRef u, double tolerance) const override {
    if (definition_.contains) return definition_.contains(u, tolerance);
    if (!(std::abs(u.norm() - 1) <= tolerance)) return false;
    Vector best(u.size());
    maximize(u, best);  // among unit vectors only u itself reaches <u, u> = 1
    return best.dot(u) >= 1 - tolerance && (best - u).norm() <= std::sqrt(tolerance);
  }
  std::string spec() const override {
    return definition_.spec.empty() ? "custom:" + definition_.name : definition_.spec;
  }

 private:
  void maximize_impl(ConstVectorRef g, VectorRef u) const override {
    const Vector answer = definition_.maximize(g);
    if (answer.size() != g.size())
      throw InvalidArgument(fmt::format("custom set '{}' answered a vector of {} entries to one of {}",
                                        definition_.name, answer.size(), g.size()));
    if (!answer.allFinite())
      throw InvalidArgument(
          fmt::format("custom set '{}' answered a vector that is not finite", definition_.name));
    u = answer;
  }

  CustomSet definition_;
};

}  // namespace

Atoms custom(CustomSet definition) {
  return std::make_shared<Custom>(std::move(definition));
}

}  // namespace pursuit
