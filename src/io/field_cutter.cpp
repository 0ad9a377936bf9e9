#include "io/field_cutter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "io/defect.hpp"

namespace pursuit::io {

namespace {

constexpr std::array<std::pair<Separator, const char*>, 5> kSeparators = {{
    {Separator::kColons, "'::'"},
    {Separator::kTab, "tabs"},
    {Separator::kSemicolon, "';'"},
    {Separator::kComma, "','"},
    {Separator::kBlanks, "blanks"},  // last: blanks also stand within fields
}};

}  // namespace

const char* shown(Separator separator) {
  return kSeparators[static_cast<std::size_t>(separator)].second;
}

FieldCutter::FieldCutter(std::string_view line, std::size_t needed) {
  std::vector<std::string_view> fields(needed);
  std::size_t most = 0;
  for (const auto& [candidate, name] : kSeparators) {
    FieldCutter cutter(candidate);
    const std::size_t count = cutter.cut(line, fields);
    if (count <= most) continue;
    most = count;
    separator_ = candidate;
  }
}

std::size_t FieldCutter::cut(std::string_view line, std::span<std::string_view> fields) {
  const char *at = line.data(), *end = at + line.size();
  defect_.clear();
  for (std::size_t k = 0; k < fields.size(); ++k) {
    at = skip_blanks(at, end);
    if (separator_ == Separator::kBlanks && at == end) return k;
    const char* last = nullptr;
    if (at != end && *at == '"') [[unlikely]] {
      unquoted_.resize(fields.size());
      last = unquote(at, end, unquoted_[k]);
      fields[k] = unquoted_[k];
    } else {
      last = find_separator(at, end);
      const char* behind = last;
      while (behind != at && is_blank(behind[-1])) --behind;
      fields[k] = {at, static_cast<std::size_t>(behind - at)};
    }
    if (last == end) return k + 1;
    at = last + (separator_ == Separator::kColons ? 2 : 1);
  }
  return fields.size();
}

const char* FieldCutter::skip_blanks(const char* at, const char* end) const {
  while (at != end && is_blank(*at)) ++at;
  return at;
}

const char* FieldCutter::find_separator(const char* at, const char* end) const {
  switch (separator_) {
    case Separator::kColons:
      while (at != end && !(*at == ':' && at + 1 != end && at[1] == ':')) ++at;
      return at;
    case Separator::kTab: return std::find(at, end, '\t');
    case Separator::kSemicolon: return std::find(at, end, ';');
    case Separator::kComma: return std::find(at, end, ',');
    default: return std::find_if(at, end, [&](char c) { return is_blank(c); });
  }
}

/// The text of the quoted field that starts at `at`; returns where the separator behind it is.
const char* FieldCutter::unquote(const char* at, const char* end, std::string& text) {
  text.clear();
  for (++at;; ++at) {
    if (at == end) {
      defect_ = "a quote is opened, but not closed on the same line";
      return end;
    }
    if (*at == '"') {
      ++at;
      if (at == end || *at != '"') break;
    }
    text += *at;
  }
  const char* behind = separator_ == Separator::kBlanks ? at : skip_blanks(at, end);
  if (find_separator(behind, end) != behind) {
    defect_ = fmt::format("{} follows the closing quote of a field",
                          shown({behind, static_cast<std::size_t>(end - behind)}));
  }
  return find_separator(behind, end);
}

}  // namespace pursuit::io
