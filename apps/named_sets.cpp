#include "apps/named_sets.hpp"

#include "pursuit/catalogue/catalogue.hpp"

namespace pursuit::app {

std::optional<Atoms> set_before_data(const std::string& spec) {
  try {
    return parse_atoms(spec);
  } catch (const NamesNeeded&) {
    return std::nullopt;
  }
}

Atoms set_for(const std::optional<Atoms>& before, const std::string& spec,
              const std::vector<std::string>& names) {
  return before ? *before : parse_atoms_by_name(spec, names);
}

}  // namespace pursuit::app
