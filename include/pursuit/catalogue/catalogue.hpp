#pragma once
// The atom sets by name: what a user types, and what each of them is.
//
//   pursuit::parse_atoms("nonneg+sparse:40")
//   pursuit::parse_atoms("0-99:nonneg|100-:sparse:5")
//
//   SPEC   = RANGES | SETS
//   RANGES = FIRST-LAST:SETS | ... | FIRST-:SETS         entries counted from 0, both ends included
//   SETS   = SET + SET + ...                             members of all of them
//   SET    = name, or name:parameter:parameter...        the last parameter may be a list, one for each atom
//
// A file whose name holds one of : + | , or a quote stands in quotes, its own ones doubled: group:"a+b.txt":2

#include <string>
#include <vector>

#include "pursuit/atoms/atom_set.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

/// The set of a spec. InvalidArgument says what is wrong with it, InvalidInput what is wrong with a file that
/// it names.
Atoms parse_atoms(const std::string& spec);

/// The same where entries have names: files of groups, sets, trees, graphs and masks may call them by these.
Atoms parse_atoms_by_name(const std::string& spec, const std::vector<std::string>& names);

/// A file calls entries by names, and none are given: there are some, perhaps, once the data are read.
class NamesNeeded : public InvalidInput {
 public:
  using InvalidInput::InvalidInput;
};

/// One kind of set.
struct CatalogueEntry {
  std::string name;         // sparse
  std::string form;         // sparse:K
  std::string summary;      // one line
  std::string description;  // a paragraph: what it is, what its oracles cost, where it comes from
  std::string example;      // a spec that works without a file, or with the one that `example_file` holds
  std::string example_file = {};
};
const std::vector<CatalogueEntry>& catalogue();

}  // namespace pursuit
