#pragma once
// A completed matrix in one .npz that NumPy opens without us:
//
//   scaling                       mean, scale, noise variance, lowest and highest prediction
//   row_mean, row_variance, row_pattern, row_features, row_intercept, row_prior_variance, row_noise_weight
//   column_...                    the same for columns; see CompletionSide
//   left, right, weights          structured atoms, one per column
//   sample_rows, sample_columns, sample_row_noise_weight, sample_column_noise_weight, sample_noise_variance
//                                 posterior draws, along the first axis
//   seen_start, seen_column, seen_value     the entries it was made from, row by row
//   row_names, column_names       the ids
//   metadata                      a JSON text: kind (completion), version, command, stop, loss where it is not
//                                 squares, ...

#include <filesystem>
#include <map>
#include <string>
#include <variant>

#include "pursuit/completion/model.hpp"
#include "pursuit/data/observed_matrix.hpp"
#include "pursuit/io/id_table.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit {

struct CompletionFile {
  CompletionModel model;
  IdTable rows, cols;
  GroupedEntries seen;  // by row
  std::map<std::string, std::string> metadata;
};

/// The file appears whole or not at all; OutputFailure where it cannot be written, InvalidInput for a model
/// that makes no sense (require_sound).
void save_completion(const std::filesystem::path& path, const CompletionFile& file);

/// InvalidInput names what is missing or does not fit.
CompletionFile load_completion(const std::filesystem::path& path);

/// A factorization or a completed matrix, whichever the file is; it is read once.
using AnyModelFile = std::variant<ModelFile, CompletionFile>;
AnyModelFile load_any_model(const std::filesystem::path& path);

/// Whether the file is a completed matrix; false for a factorization, InvalidInput for anything else.
bool is_completion_file(const std::filesystem::path& path);

}  // namespace pursuit
