#pragma once
// What a loss has fitted beside the atoms, as a dictionary of arrays.

#include <pybind11/eigen.h>
#include <pybind11/pybind11.h>

#include <utility>

#include "pursuit/objective/objective.hpp"

namespace pursuit::python {

inline void set_own_terms(pybind11::dict& out, OwnTerms own) {
  out["row_offsets"] = std::move(own.row_offsets);
  out["column_offsets"] = std::move(own.col_offsets);
  pybind11::list further;
  for (Vector& each : own.further_offsets) further.append(pybind11::cast(std::move(each)));
  out["further_offsets"] = further;
  out["grades"] = std::move(own.grades);
  out["thresholds"] = std::move(own.thresholds);
  out["size"] = own.size;
}

inline OwnTerms own_terms_of(const pybind11::dict& terms) {
  const auto vector = [&](const char* name) {
    return terms.contains(name) ? terms[name].cast<Vector>() : Vector(0);
  };
  OwnTerms own;
  own.row_offsets = vector("row_offsets");
  own.col_offsets = vector("column_offsets");
  if (terms.contains("further_offsets"))
    for (const auto& each : terms["further_offsets"]) own.further_offsets.push_back(each.cast<Vector>());
  own.grades = vector("grades");
  own.thresholds = vector("thresholds");
  own.size = terms.contains("size") ? terms["size"].cast<double>() : 0.0;
  return own;
}

}  // namespace pursuit::python
