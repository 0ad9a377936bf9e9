#include "pursuit/correction/regularization.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "pursuit/base/error.hpp"

namespace pursuit {

std::string Regularization::spec() const {
  switch (kind) {
    case none: return "none";
    case ridge: return fmt::format("{}", lambda);
    case count_weighted_ridge: return fmt::format("{}:count", lambda);
    case self_tuned: break;
  }
  return "auto";
}

Regularization parse_regularization(const std::string& spec) {
  if (spec == "auto") return {Regularization::self_tuned, 0};
  if (spec == "none") return {};
  const char *first = spec.data(), *end = first + spec.size();
  double lambda = 0;
  const auto [last, error] = std::from_chars(first, end, lambda);
  const std::string rest(last, end);
  if (error != std::errc{} || !std::isfinite(lambda) || lambda < 0 || !(rest.empty() || rest == ":count"))
    throw InvalidArgument(
        fmt::format("regularization '{}': must be auto, none, a number of 0 or more (0.1), or one that "
                    "counts entries (0.1:count)",
                    spec));
  return {rest.empty() ? Regularization::ridge : Regularization::count_weighted_ridge, lambda};
}

}  // namespace pursuit
