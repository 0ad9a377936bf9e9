// The named sets, their compositions, and the specs that stand for them.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "atoms/unit_vectors.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

class Custom final : public AtomSet {
 public:
  explicit Custom(CustomSet definition) : definition_(std::move(definition)) {
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
  std::string spec() const override { return "custom:" + definition_.name; }
  bool symmetric() const override { return definition_.symmetric; }

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

constexpr const char* kKnownSpecs = "sphere, nonneg, sparse:COUNT, sparse:FRACTION, nonneg+sparse:COUNT";

[[noreturn]] void refuse(const std::string& spec, const std::string& why) {
  throw InvalidArgument(fmt::format("atom set '{}': {}; known are {}", spec, why, kKnownSpecs));
}

template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Atoms parse_single(const std::string& part, const std::string& spec) {
  if (part == "sphere") return sphere();
  if (part == "nonneg") return nonneg();
  if (part.rfind("sparse:", 0) == 0) {
    const std::string bound = part.substr(7);
    if (const auto count = parse_number<Index>(bound)) return sparse(*count);
    if (const auto fraction = parse_number<double>(bound)) return sparse_fraction(*fraction);
    refuse(spec, fmt::format("'{}' is neither a count such as 40 nor a fraction such as 0.1", bound));
  }
  if (part.rfind("custom:", 0) == 0) refuse(spec, "a custom set exists only in the program that defines it");
  refuse(spec, part.empty() ? "a name is missing" : fmt::format("'{}' is not a known set", part));
}

}  // namespace

Atoms sphere() {
  return std::make_shared<UnitVectors>(false, std::nullopt);
}
Atoms nonneg() {
  return std::make_shared<UnitVectors>(true, std::nullopt);
}
Atoms sparse(Index k) {
  return std::make_shared<UnitVectors>(false, k);
}
Atoms sparse_fraction(double fraction) {
  return std::make_shared<UnitVectors>(false, fraction);
}
Atoms custom(CustomSet definition) {
  return std::make_shared<Custom>(std::move(definition));
}

Atoms operator+(const Atoms& a, const Atoms& b) {
  const auto* first = dynamic_cast<const UnitVectors*>(a.get());
  const auto* second = dynamic_cast<const UnitVectors*>(b.get());
  if (first && second)
    if (auto both = first->intersect(*second)) return both;
  throw InvalidArgument(
      fmt::format("atom sets '{}' and '{}' cannot be combined exactly; what combines is any of sphere, "
                  "nonneg and sparse, with bounds of one kind (counts or fractions)",
                  a->spec(), b->spec()));
}

Atoms parse_atoms(const std::string& spec) {
  Atoms result;
  for (std::size_t begin = 0; begin <= spec.size();) {
    const std::size_t end = std::min(spec.find('+', begin), spec.size());
    const Atoms part = parse_single(spec.substr(begin, end - begin), spec);
    result = result ? result + part : part;
    begin = end + 1;
  }
  return result;
}

}  // namespace pursuit
