// From specs to sets.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "catalogue/plugin.hpp"
#include "catalogue/spec_fields.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/catalogue/index_files.hpp"

namespace pursuit {
namespace {

using Names = std::vector<std::string>;
using Make = std::function<Atoms(const SpecFields&, const Names&)>;

/// How the parameters of a set are read.
struct Reader {
  std::size_t least, most;  // parameters
  bool has_path;            // the first is a file
  Make make;
};

Atoms make_sparse(const SpecFields& f, const Names&) {
  if (f.is_count(0)) return sparse(f.count(0));
  if (f.is_number(0)) return sparse_fraction(f.number(0));
  f.refuse(fmt::format("'{}' is neither a count such as 40 nor a fraction such as 0.1", f.text(0)));
}

Atoms make_monotone(const SpecFields& f, const Names&) {
  if (f.size() == 0) return monotone();
  if (f.text(0) == "up") return monotone(Direction::up);
  if (f.text(0) == "down") return monotone(Direction::down);
  f.refuse(fmt::format("'{}' is neither up nor down", f.text(0)));
}

Dictionary named_dictionary(const std::string& name) {
  if (name == "dct") return {.kind = Dictionary::Kind::dct};
  if (name == "haar") return {.kind = Dictionary::Kind::haar};
  return read_dictionary(name);
}

Make plain(Atoms (*make)()) {
  return [make](const SpecFields&, const Names&) { return make(); };
}

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> table{
      {"sphere", {0, 0, false, plain(sphere)}},
      {"nonneg", {0, 0, false, plain(nonneg)}},
      {"sparse", {1, 1, false, make_sparse}},
      {"onehot", {0, 0, false, plain(onehot)}},
      {"block", {1, 1, false, [](const SpecFields& f, const Names&) { return block(f.count(0)); }}},
      {"blocks",
       {2, 2, false, [](const SpecFields& f, const Names&) { return blocks(f.count(0), f.count(1)); }}},
      {"group",
       {2, 3, true,
        [](const SpecFields& f, const Names& names) {
          Groups groups = read_groups(f.text(0), names);
          return f.size() > 2 ? group(std::move(groups), f.count(1), f.count(2))
                              : group(std::move(groups), f.count(1));
        }}},
      {"sets",
       {2, 2, true,
        [](const SpecFields& f, const Names& names) {
          return entry_sets(read_sets(f.text(0), names), f.count(1));
        }}},
      {"tree",
       {2, 2, true,
        [](const SpecFields& f, const Names& names) {
          return tree(read_tree(f.text(0), names), f.count(1));
        }}},
      {"graph",
       {2, 3, true,
        [](const SpecFields& f, const Names& names) {
          return graph(read_graph(f.text(0), names), f.count(1), f.size() > 2 ? f.count(2) : 1);
        }}},
      {"support",
       {1, 1, true,
        [](const SpecFields& f, const Names& names) {
          return support(read_mask(f.text(0), names), f.text(0));
        }}},
      {"monotone", {0, 1, false, make_monotone}},
      {"unimodal", {0, 0, false, plain(unimodal)}},
      {"convex-shape", {0, 0, false, [](const SpecFields&, const Names&) { return shape(Curve::convex); }}},
      {"concave-shape", {0, 0, false, [](const SpecFields&, const Names&) { return shape(Curve::concave); }}},
      {"smooth", {1, 1, false, [](const SpecFields& f, const Names&) { return smooth(f.number(0)); }}},
      {"fused", {1, 1, false, [](const SpecFields& f, const Names&) { return fused(f.count(0)); }}},
      {"l1ball", {1, 1, false, [](const SpecFields& f, const Names&) { return l1ball(f.number(0)); }}},
      {"lp", {1, 1, false, [](const SpecFields& f, const Names&) { return lp(f.number(0)); }}},
      {"box", {2, 2, false, [](const SpecFields& f, const Names&) { return box(f.number(0), f.number(1)); }}},
      {"simplex", {0, 0, false, plain(simplex)}},
      {"sign", {0, 0, false, plain(signs)}},
      {"binary", {0, 0, false, plain(binary)}},
      {"dictionary",
       {1, 1, true,
        [](const SpecFields& f, const Names&) { return dictionary(named_dictionary(f.text(0))); }}},
      {"span",
       {1, 1, true, [](const SpecFields& f, const Names&) { return span(named_dictionary(f.text(0))); }}},
      {"sparse-in",
       {2, 2, true,
        [](const SpecFields& f, const Names&) {
          return sparse_in(named_dictionary(f.text(0)), f.count(1));
        }}},
      {"plugin",
       {2, 2, false, [](const SpecFields& f, const Names&) { return plugin_set(f.text(0), f.text(1)); }}},
  };
  return table;
}

std::string form_of(const std::string& name) {
  for (const CatalogueEntry& entry : catalogue())
    if (entry.name == name) return entry.form;
  return name;
}

std::string known_forms() {
  std::vector<std::string> forms;
  for (const CatalogueEntry& entry : catalogue()) forms.push_back(entry.form);
  return fmt::format("{}", fmt::join(forms, ", "));
}

/// NAME:PARAMETER:...
Atoms parse_set(const std::string& text, const std::string& spec, const Names& names) {
  std::vector<std::string> fields = split_spec(text, ':', spec);
  const std::string name = fields.front();
  fields.erase(fields.begin());
  if (name == "custom")
    throw InvalidArgument(
        fmt::format("atom set '{}': a custom set exists only in the program that defines it", spec));
  const auto found = readers().find(name);
  if (found == readers().end())
    throw InvalidArgument(fmt::format(
        "atom set '{}': {}; known are {}", spec,
        name.empty() ? "a name is missing" : fmt::format("'{}' is not a known set", name), known_forms()));
  const auto& [least, most, has_path, make] = found->second;
  const SpecFields read = has_path ? SpecFields::with_path(spec, form_of(name), fields, most - 1)
                                   : SpecFields(spec, form_of(name), fields);
  read.require(least, most);
  return make(read, names);
}

/// A set whose last parameter may be a list: one set for every atom.
Atoms parse_list(const std::string& text, const std::string& spec, const Names& names) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return parse_set(text, spec, names);
  const std::string last = text.substr(colon + 1);
  const bool is_list =
      last.find(',') != std::string::npos && last.find_first_not_of("0123456789.,e+-") == std::string::npos;
  if (!is_list) return parse_set(text, spec, names);  // file names may hold commas
  std::vector<Atoms> sets;
  for (const std::string& one : split_spec(last, ',', spec))
    sets.push_back(parse_set(text.substr(0, colon + 1) + one, spec, names));
  return per_atom(sets);
}

/// SET+SET+... in any order. Masks come last: what others make together may go with one that none of them
/// goes with alone.
Atoms parse_sum(const std::string& text, const std::string& spec, const Names& names) {
  std::optional<Atoms> result;
  std::vector<std::string> parts = split_spec(text, '+', spec);
  std::stable_partition(parts.begin(), parts.end(),
                        [](const std::string& part) { return !part.starts_with("support:"); });
  for (const std::string& part : parts) {
    const Atoms set = parse_list(part, spec, names);
    result = result ? *result + set : set;
  }
  return result.value();
}

/// Those of a range; its entries are counted from its beginning.
Names names_between(const Names& names, Index first, Index last) {
  const auto count = Index(names.size());
  const Index end = last < 0 || last >= count ? count : last + 1;
  if (first < 0 || first >= end) return {};
  return {names.begin() + first, names.begin() + end};
}

/// FIRST-LAST:SETS; nothing where the text does not begin like a range.
std::optional<RangePart> parse_range(const std::string& text, const std::string& spec, const Names& names) {
  const std::size_t colon = text.find(':'), dash = text.find('-');
  const auto digits = [](const std::string& word) {
    return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (colon == std::string::npos || dash == std::string::npos || dash == 0 || dash > colon)
    return std::nullopt;
  const std::string first = text.substr(0, dash), last = text.substr(dash + 1, colon - dash - 1);
  if (!digits(first) || !digits(last)) return std::nullopt;
  const SpecFields ends(spec, "FIRST-LAST:SET|FIRST-:SET", {first, last.empty() ? "-1" : last});
  const Index from = ends.count(0), to = ends.count(1);
  return RangePart{from, to, parse_sum(text.substr(colon + 1), spec, names_between(names, from, to))};
}

}  // namespace

Atoms parse_atoms(const std::string& spec) {
  return parse_atoms_by_name(spec, {});
}

Atoms parse_atoms_by_name(const std::string& spec, const std::vector<std::string>& names) {
  const std::vector<std::string> ranges = split_spec(spec, '|', spec);
  if (ranges.size() == 1 && !parse_range(spec, spec, names)) return parse_sum(spec, spec, names);
  std::vector<RangePart> parts;
  for (const std::string& text : ranges) {
    auto part = parse_range(text, spec, names);
    if (!part)
      throw InvalidArgument(fmt::format(
          "atom set '{}': '{}' does not begin with a range of entries such as 0-99:", spec, text));
    parts.push_back(std::move(*part));
  }
  return product(parts);
}

}  // namespace pursuit
