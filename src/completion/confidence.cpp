#include "pursuit/completion/confidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// The number between `first` and the next colon or the end; `first` moves behind it. NaN where there is
/// none.
double number_at(std::string_view text, std::size_t& first) {
  const std::size_t last = std::min(text.find(':', first), text.size());
  double value = 0;
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + last, value);
  const bool whole = first < last && error == std::errc{} && end == text.data() + last;
  first = last + 1;
  return whole ? value : NAN;
}

}  // namespace

std::string Confidence::spec() const {
  if (kind == linear) return fmt::format("linear:{}", a);
  return kind == logarithmic ? fmt::format("log:{}:{}", a, b) : "constant";
}

Confidence parse_confidence(const std::string& text) {
  if (text == "constant") return {};
  Confidence result;
  std::size_t at = 0;
  if (text.starts_with("linear:")) {
    at = 7;
    result = {Confidence::linear, number_at(text, at), 1};
  } else if (text.starts_with("log:")) {
    at = 4;
    result.kind = Confidence::logarithmic;
    result.a = number_at(text, at);
    result.b = at < text.size() ? number_at(text, at) : NAN;
  }
  constexpr double kMost = 1e9;
  if (result.kind == Confidence::constant || at != text.size() + 1 || !(result.a >= 0 && result.a <= kMost) ||
      !(result.b >= 1 / kMost && result.b <= kMost))
    throw InvalidArgument(fmt::format(
        "confidence {}: must be constant, linear:A (1 + A times the value) or log:A:B (1 + A times "
        "log(1 + value / B)), A from 0 and B from {:g}, to {:g}",
        text, 1 / kMost, kMost));
  return result;
}

}  // namespace pursuit
