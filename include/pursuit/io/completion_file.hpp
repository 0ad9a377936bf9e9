#pragma once
// A completed matrix in one .npz that NumPy opens without us:
//
//   scaling                       mean, scale, noise variance, lowest and highest prediction
//   row_mean, row_variance, row_pattern, row_features, row_intercept, row_prior_variance,
//   row_pattern_variance, row_features_variance, row_base_intercept, row_base_variance,
//   row_selection, row_noise_weight, row_noise_shape
//                                 see CompletionSide
//   column_...                    the same for columns
//   left, right, weights          structured atoms, one per column
//   nonnegative                   whether those of rows and of columns have no negative entry, by their sets
//                                 and weights: 1 or 0 each
//   grades, thresholds, size      of losses that have them
//   sample_rows, sample_columns, sample_row_noise_weight, sample_column_noise_weight,
//   sample_noise_variance         posterior draws, along the first axis
//   average_rows, average_columns the mean over all draws, offsets first
//   seen_start, seen_column, seen_value     the entries it was made from, row by row
//   held_out_start, ...           entries that are known besides
//   row_unseen, column_unseen     in place of all of these, where they are not to be kept
//   row_feature_names, row_feature_member, row_feature_index, row_feature_value     side information
//   column_feature_...            the same of columns
//   row_names, column_names       the ids
//   metadata                      a JSON text: kind (completion), version, command, stop, loss where it is
//   not
//                                 squares, ...

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "pursuit/completion/model.hpp"
#include "pursuit/data/observed_matrix.hpp"
#include "pursuit/io/features_file.hpp"
#include "pursuit/io/id_table.hpp"
#include "pursuit/io/model_file.hpp"

namespace pursuit {

class EntryPool;
class RankTeam;

struct CompletionFile {
  CompletionModel model;
  IdTable rows, cols;
  GroupedEntries seen;  // by row
  std::map<std::string, std::string> metadata;
  GroupedEntries held_out = {};  // entries that are known but that the model was not made from; may be empty
  std::optional<FeatureFile> row_features = {}, col_features = {};
  bool keeps_entries = true;  // false: written without `seen` and `held_out`

  /// All entries that are known, of columns in ascending order.
  GroupedEntries known() const;
};

/// The file appears whole or not at all; OutputFailure where it cannot be written, InvalidInput for a model
/// that makes no sense (require_sound).
void save_completion(const std::filesystem::path& path, const CompletionFile& file);

/// The same of a file whose entries are with the ranks of a team (CompletionResult::seen_by_ranks), where
/// they are until it makes another completion (InvalidArgument): each packs its own, and rank 0 writes.
void save_completion(const std::filesystem::path& path, const CompletionFile& file, const EntryPool& seen,
                     RankTeam& team);

/// InvalidInput names what is missing or does not fit.
CompletionFile load_completion(const std::filesystem::path& path);

/// A factorization or a completed matrix, whichever the file is; it is read once.
using AnyModelFile = std::variant<ModelFile, CompletionFile>;
AnyModelFile load_any_model(const std::filesystem::path& path);

/// A factorization as a completed matrix, to predict and recommend with: of squares, with what the atoms
/// leave unexplained as noise, or of bernoulli. Rows and columns without names are called "0", "1", ...
/// InvalidInput for other losses and arrays of more modes.
CompletionFile as_completion(ModelFile file);

/// Whichever the file is, as a completed matrix; messages name the file.
CompletionFile predictions_of(AnyModelFile file, const std::filesystem::path& path);
CompletionFile load_predictions(const std::filesystem::path& path);

/// Whether the file is a completed matrix; false for a factorization, InvalidInput for anything else.
bool is_completion_file(const std::filesystem::path& path);

}  // namespace pursuit
