#pragma once
// A factorization in one .npz that NumPy opens without us:
//
//   left (n x r), right (m x r), weights (r)            the atoms, one per column
//   factor_0, factor_1, factor_2, ...                   in the place of left and right, of three and more
//   modes trace_rank, trace_objective, trace_relative_error, trace_lmo_value, trace_gain, trace_spread,
//   trace_iterations, trace_sweeps, trace_seconds,
//   trace_left_support, trace_right_support,
//   trace_last_sweep                                    one entry per step
//   row_names, column_names                             where the data had them; of more modes
//   names_0, names_1, ...
//   column_means, column_deviations                     of data that were centred, and scaled
//   row_offsets, column_offsets, offsets_2, ..., row_scale,
//   grades, thresholds, size                            of losses that have them
//   metadata                                            a JSON text: version, command, sets, weights, seed,
//   stop, ...

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pursuit/algorithms/trace.hpp"
#include "pursuit/objective/loss.hpp"
#include "pursuit/objective/objective.hpp"

namespace pursuit {

struct ModelFile {
  Expansion model;
  Trace trace;
  std::vector<std::string> row_names, column_names;
  std::map<std::string, std::string> metadata;
  Vector column_means = {}, column_deviations = {};  // where atoms are of centred (and scaled) data; or empty
  Loss loss = {};
  OwnTerms own_terms = {};
  Vector row_scale = {};
  std::vector<std::vector<std::string>> mode_names =
      {};  // of three and more modes; empty where there are none
};

/// The file appears whole or not at all; OutputFailure where it cannot be written.
void save_model(const std::filesystem::path& path, const ModelFile& file);

/// Of a matrix. InvalidInput names what is missing or does not fit.
ModelFile load_model(const std::filesystem::path& path);

}  // namespace pursuit
