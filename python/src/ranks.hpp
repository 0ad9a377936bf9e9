#pragma once
// Ranks that an mpi4py communicator brings together.

#include <pybind11/pybind11.h>

#include <memory>

#include "pursuit/data/data_matrix.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit::python {

/// A matrix whose rows several ranks have, as Python hands it on. Rank 0 has it.
struct RankedMatrix {
  std::shared_ptr<DataMatrixPtr> held;

  /// InvalidArgument where the fit that shared it has ended.
  const DataMatrixPtr& matrix() const;
};

/// Those that this process leads at the moment, or null.
RankTeam* led_team();

void bind_ranks(pybind11::module_& m);

}  // namespace pursuit::python
