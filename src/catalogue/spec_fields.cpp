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

/// Where the quote that opens at `begin` closes; npos where it does not.
std::size_t closing_quote(const std::string& text, std::size_t begin) {
  std::size_t end = text.find('"', begin + 1);
  while (end < text.size() - 1 && text[end + 1] == '"') end = text.find('"', end + 2);  // "" stands for one
  return end;
}

bool is_quoted(const std::string& field) {
  return field.starts_with('"');
}

}  // namespace

std::vector<std::string> split_spec(const std::string& text, char separator, const std::string& spec) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i;
    if (text[i] == '"' && (i == 0 || text[i - 1] == ':')) {
      end = closing_quote(text, i);
      if (end == std::string::npos)
        throw InvalidArgument(fmt::format("atom set '{}': a quote is opened and not closed", spec));
    } else if (text[i] == separator) {
      const bool in_number =
          separator == '+' && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
      if (!in_number) {
        parts.emplace_back();
        continue;
      }
    }
    parts.back().append(text, i, end + 1 - i);
    i = end;
  }
  return parts;
}

SpecFields::SpecFields(std::string spec, std::string form, std::vector<std::string> fields)
    : spec_(std::move(spec)), form_(std::move(form)), fields_(std::move(fields)) {
  for (std::string& field : fields_) {
    if (!is_quoted(field)) continue;
    if (closing_quote(field, 0) != field.size() - 1)
      refuse(fmt::format("{} goes on after its closing quote", field));
    std::string inside;
    for (std::size_t i = 1; i + 1 < field.size(); i += field[i] == '"' ? 2 : 1) inside += field[i];
    field = std::move(inside);
  }
}

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
  const bool quoted = !fields.empty() && is_quoted(fields.front());
  while (!quoted && numbers < most && numbers + 1 < fields.size() &&
         parse_number<double>(fields[fields.size() - 1 - numbers]))
    ++numbers;
  const auto split = quoted ? fields.begin() + 1 : fields.end() - std::ptrdiff_t(numbers);
  std::vector<std::string> joined;
  if (!fields.empty()) joined.push_back(fmt::format("{}", fmt::join(fields.begin(), split, ":")));
  joined.insert(joined.end(), split, fields.end());
  SpecFields result(std::move(spec), std::move(form), std::move(joined));
  if (result.size() == 0 || result.text(0).empty()) result.refuse("the name of a file is missing");
  return result;
}

}  // namespace pursuit
