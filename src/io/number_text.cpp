#include "io/number_text.hpp"

#include <algorithm>
#include <limits>

namespace pursuit::io {

double saturated_number(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);

  const std::size_t exponent_mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, exponent_mark);
  std::string_view exponent = text.substr(std::min(exponent_mark + 1, text.size()));

  // The power of ten of the first digit that is not zero, before the exponent is applied.
  const auto point = static_cast<long long>(std::min(digits.find('.'), digits.size()));
  const auto leading = static_cast<long long>(std::min(digits.find_first_of("123456789"), digits.size()));
  const long long magnitude = leading < point ? point - leading - 1 : point - leading;

  if (!exponent.empty() && exponent.front() == '+') exponent.remove_prefix(1);
  long long power = 0;
  const auto result = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  constexpr long long kBeyondAnyText = std::numeric_limits<long long>::max() / 4;
  if (result.ec == std::errc::result_out_of_range) {
    power = exponent.front() == '-' ? -kBeyondAnyText : kBeyondAnyText;
  }
  power = std::clamp(power, -kBeyondAnyText, kBeyondAnyText);

  const double size = magnitude + power < 0 ? 0.0 : std::numeric_limits<double>::infinity();
  return negative ? -size : size;
}

}  // namespace pursuit::io
