#pragma once
// A vector of structs as NumPy arrays, one per member.

#include <pybind11/numpy.h>

#include <type_traits>
#include <vector>

namespace pursuit::python {

template <class Row, class Member>
pybind11::array column_of(const std::vector<Row>& rows, Member Row::*member) {
  using Value = std::conditional_t<std::is_integral_v<Member>, std::int64_t, Member>;
  pybind11::array_t<Value> column(pybind11::ssize_t(rows.size()));
  Value* out = column.mutable_data();
  for (const Row& row : rows) *out++ = Value(row.*member);
  return column;
}

template <class Row, class Name>
pybind11::array names_of(const std::vector<Row>& rows, const Name& name) {
  pybind11::list names;
  for (const Row& row : rows) names.append(name(row));
  return pybind11::module_::import("numpy").attr("asarray")(names, "str");
}

}  // namespace pursuit::python
