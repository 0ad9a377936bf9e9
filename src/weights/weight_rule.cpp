#include "pursuit/weights/weight_rule.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

struct NamedKind {
  const char* name;
  WeightRule::Kind kind;
};
constexpr std::array<NamedKind, 5> kKinds{{{"free", WeightRule::free},
                                           {"newest", WeightRule::newest},
                                           {"nonneg", WeightRule::nonneg},
                                           {"convex", WeightRule::convex},
                                           {"economic", WeightRule::economic}}};

}  // namespace

std::string WeightRule::spec() const {
  for (const auto& [name, k] : kKinds)
    if (k == kind)
      return kind == WeightRule::convex && radius != 1 ? fmt::format("{}:{}", name, radius) : name;
  return "free";
}

WeightRule parse_weight_rule(const std::string& spec) {
  const auto colon = spec.find(':');
  for (const auto& [name, kind] : kKinds) {
    if (spec.substr(0, colon) != name) continue;
    WeightRule rule{kind};
    if (colon == std::string::npos) return rule;
    const char *begin = spec.data() + colon + 1, *end = spec.data() + spec.size();
    const auto [stop, error] = std::from_chars(begin, end, rule.radius);
    if (kind == WeightRule::convex && error == std::errc() && stop == end && std::isfinite(rule.radius) &&
        rule.radius > 0)
      return rule;
  }
  throw InvalidArgument(fmt::format(
      "weights '{}': allowed are free, newest, nonneg, convex, convex:RADIUS (a number above 0) and economic",
      spec));
}

}  // namespace pursuit
