#pragma once
// Which columns of a text hold row, column, value and time.

#include <string>
#include <vector>

namespace pursuit::io {

/// For every field of a line, as far as they are needed: 0 for the row, 1 for the column, 2 for the value, 3
/// for the time where it is asked for, -1 for none of them. `first` are the fields of the first line, names
/// if it is a header; `wanted` three or four of these names, or numbers from 1, or nothing; an empty one
/// among the first three is found as without them. `clicks` need no value: two names will do.
/// InvalidInput("<where>: ...") where they cannot be found.
struct ColumnsAsked {
  const std::vector<std::string>& wanted;
  bool time = false, clicks = false;
};
std::vector<int> roles_of_columns(const std::vector<std::string>& first, bool header,
                                  const ColumnsAsked& asked, const std::string& where);

/// Whether this is a word for how often something was.
bool names_a_count(const std::string& name);
/// Whether one of these is a word for rows or for columns.
bool names_ids(const std::vector<std::string>& first);

}  // namespace pursuit::io
