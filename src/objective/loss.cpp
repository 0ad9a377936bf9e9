#include "pursuit/objective/loss.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

struct NamedLoss {
  const char *name, *parameter;  // the latter null where there is none
  Loss::Kind kind;
  const char* domain;
};
constexpr const char *kAny = "any number", *kCount = "a count (0, 1, 2, ...)";
constexpr std::array<NamedLoss, 11> kLosses{
    {{"squares", nullptr, Loss::squares, kAny},
     {"huber", "DELTA", Loss::huber, kAny},
     {"absolute", nullptr, Loss::absolute, kAny},
     {"quantile", "TAU", Loss::quantile, kAny},
     {"bernoulli", nullptr, Loss::bernoulli, "0, 1 or a share between them"},
     {"poisson", nullptr, Loss::poisson, "a number of at least 0"},
     {"poisson-log", nullptr, Loss::poisson_log, "a number of at least 0"},
     {"negative-binomial", "SIZE", Loss::negative_binomial, kCount},
     {"gamma", nullptr, Loss::gamma, "a number above 0"},
     {"ordinal", nullptr, Loss::ordinal, "a whole number from -100 to 100"},
     {"itakura-saito", nullptr, Loss::itakura_saito, "a number above 0"}}};

const NamedLoss& named(Loss::Kind kind) {
  for (const NamedLoss& loss : kLosses)
    if (loss.kind == kind) return loss;
  return kLosses.front();
}

std::string placeholder(const NamedLoss& loss) {
  return loss.parameter ? fmt::format("{}:{}", loss.name, loss.parameter) : loss.name;
}

bool is_whole(double y) {
  return y == std::floor(y);
}

}  // namespace

std::string Loss::spec() const {
  const NamedLoss& loss = named(kind);
  if (!loss.parameter) return loss.name;
  return parameter == 0 ? fmt::format("{}:auto", loss.name) : fmt::format("{}:{}", loss.name, parameter);
}

std::string Loss::domain() const {
  return named(kind).domain;
}

bool Loss::accepts(double y) const {
  if (!std::isfinite(y)) return false;
  switch (kind) {
    case bernoulli: return y >= 0 && y <= 1;
    case poisson:
    case poisson_log: return y >= 0;
    case negative_binomial: return y >= 0 && is_whole(y);
    case gamma:
    case itakura_saito: return y > 0;
    case ordinal: return std::abs(y) <= 100 && is_whole(y);
    default: return true;
  }
}

double Loss::mean(double x) const {
  if (kind == bernoulli) return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
  return has_log_link() ? std::exp(x) : x;
}

Loss parse_loss(const std::string& spec) {
  const auto colon = spec.find(':');
  const auto allowed = [&](Loss::Kind kind, double value) {
    if (kind == Loss::quantile) return value > 0 && value < 1;
    return std::isfinite(value) && value > 0;
  };
  for (const NamedLoss& loss : kLosses) {
    if (spec.substr(0, colon) != loss.name) continue;
    if (!loss.parameter) {
      if (colon == std::string::npos) return {loss.kind};
      throw InvalidArgument(fmt::format("loss '{}': {} takes no parameter", spec, loss.name));
    }
    const std::string text = colon == std::string::npos ? "" : spec.substr(colon + 1);
    if (loss.kind == Loss::negative_binomial && (text == "auto" || colon == std::string::npos))
      return {loss.kind};
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && stop == text.data() + text.size() && allowed(loss.kind, value))
      return {loss.kind, value};
    throw InvalidArgument(fmt::format("loss '{}': {} must be a number {}{}, as in {}", spec,
                                      placeholder(loss),
                                      loss.kind == Loss::quantile ? "between 0 and 1" : "above 0",
                                      loss.kind == Loss::negative_binomial ? ", or auto" : "",
                                      loss.kind == Loss::quantile            ? "quantile:0.9"
                                      : loss.kind == Loss::negative_binomial ? "negative-binomial:2"
                                                                             : "huber:1.5"));
  }
  std::vector<std::string> names;
  names.reserve(std::size(kLosses));
  for (const NamedLoss& loss : kLosses) names.push_back(placeholder(loss));
  throw InvalidArgument(fmt::format("loss '{}': allowed are {}", spec, fmt::join(names, ", ")));
}

std::string losses_for(double y) {
  std::vector<std::string> names;
  for (const NamedLoss& loss : kLosses)
    if (Loss(loss.kind, 0.5).accepts(y)) names.push_back(placeholder(loss));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace pursuit
