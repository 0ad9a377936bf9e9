#include "catalogue/spec_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void SpecFields::refuse(const std::string& why) const {
  throw InvalidArgument(fmt::format("atom set '{}': {}; the form is {}", spec_, why, form_));
}

void SpecFields::require(std::size_t least, std::size_t most) const {
  if (size() < least) refuse("a parameter is missing");
  if (size() > most)
    refuse(most == 0 ? "it takes no parameter" : fmt::format("'{}' is too much", fields_[most]));
}

bool SpecFields::is_count(std::size_t i) const {
  return parse_number<Index>(fields_[i]).has_value();
}

bool SpecFields::is_number(std::size_t i) const {
  const auto value = parse_number<double>(fields_[i]);
  return value && !std::isnan(*value);
}

Index SpecFields::count(std::size_t i) const {
  const auto value = parse_number<Index>(fields_[i]);
  if (!value) refuse(fmt::format("'{}' is not a whole number", fields_[i]));
  return *value;
}

double SpecFields::number(std::size_t i) const {
  if (!is_number(i)) refuse(fmt::format("'{}' is not a number", fields_[i]));
  return *parse_number<double>(fields_[i]);
}

SpecFields SpecFields::with_path(std::string spec, std::string form, const std::vector<std::string>& fields,
                                 std::size_t most) {
  std::size_t numbers = 0;
  while (numbers < most && numbers + 1 < fields.size() &&
         parse_number<double>(fields[fields.size() - 1 - numbers]))
    ++numbers;
  const auto split = fields.end() - std::ptrdiff_t(numbers);
  std::vector<std::string> joined;
  if (!fields.empty()) joined.push_back(fmt::format("{}", fmt::join(fields.begin(), split, ":")));
  joined.insert(joined.end(), split, fields.end());
  SpecFields result(std::move(spec), std::move(form), std::move(joined));
  if (result.size() == 0 || result.text(0).empty()) result.refuse("the name of a file is missing");
  return result;
}

}  // namespace pursuit
