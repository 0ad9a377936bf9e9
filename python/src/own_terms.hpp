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
  out["grades"] = std::move(own.grades);
  out["thresholds"] = std::move(own.thresholds);
  out["size"] = own.size;
}

inline OwnTerms own_terms_of(const pybind11::dict& terms) {
  const auto vector = [&](const char* name) {
    return terms.contains(name) ? terms[name].cast<Vector>() : Vector(0);
  };
  return {vector("row_offsets"), vector("column_offsets"), vector("grades"), vector("thresholds"),
          terms.contains("size") ? terms["size"].cast<double>() : 0.0};
}

}  // namespace pursuit::python
