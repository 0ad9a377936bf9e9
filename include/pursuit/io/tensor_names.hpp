#pragma once
// Places along the modes of an array by the ids that tables of text give them.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pursuit/io/id_table.hpp"
#include "pursuit/io/tensor_file.hpp"

namespace pursuit {

/// Ids are the names of a mode, or, where it has none, its places, counted from 1.
class ModePlaces {
 public:
  /// InvalidInput where a mode has a name twice.
  ModePlaces(const ModeNames& names, std::vector<Index> shape);

  Index modes() const { return Index(shape_.size()); }
  const std::vector<Index>& shape() const { return shape_; }
  bool has_names(Index mode) const { return !names_.empty() && names_[std::size_t(mode)].size() > 0; }
  /// -1 for an id that is none.
  int find(Index mode, std::string_view id) const;
  std::string id(Index mode, Index place) const;

 private:
  std::vector<Index> shape_;
  std::vector<IdTable> names_;  // or none at all
};

/// Entries that were read with names of their own, `own`, at the places that `places` has for them. Those of
/// an id that it does not have are left out; returns how many. Without names of their own they stay.
Index bring_to(const ModePlaces& places, const ModeNames& own, SparseTensor& entries);

/// A list for every mode: the ids of an entry on every line of a table, what follows them not looked at.
using EntryIds = std::vector<std::vector<std::string>>;
EntryIds read_entry_ids(const std::filesystem::path& path, Index modes);

}  // namespace pursuit
