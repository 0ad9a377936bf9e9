#pragma once
// What the commands about completion share.

#include <span>
#include <string>

#include "apps/session.hpp"
#include "pursuit/completion/complete.hpp"
#include "pursuit/completion/ranking.hpp"
#include "pursuit/io/completion_file.hpp"
#include "pursuit/io/features_file.hpp"
#include "pursuit/io/ratings_file.hpp"

namespace pursuit::app {

/// "1:5", "none" or "auto" (the observed range, which is no value); InvalidArgument otherwise.
std::optional<Range> parse_range(const std::string& text);

/// NaN has no place in JSON.
Json number_or_null(double value);

/// What errors on entries held back are called.
std::string error_name(const CompletionModel& model);
/// What errors under a loss (error_name) are called in JSON: rmse, log_loss, deviance, loss.
std::string error_key(const Loss& loss);

Json describe(const std::vector<CompletionStage>& path, const CompletionModel& model);
void print_stages(const std::vector<CompletionStage>& path, const CompletionModel& model);

/// How predictions compare with values: a table for people, on standard error (standard output is for
/// results), and the same figures.
Json judge(const CompletionModel& model, std::span<const Position> positions,
           std::span<const Prediction> predictions, std::span<const float> values, int threads);

/// The same of lists of ten.
Json judge_lists(const CompletionModel& model, const GroupedEntries& seen, const ObservedEntries& test,
                 int threads);
Json describe(const RankingScore& score);

/// What a file of features was understood to be.
Json describe(const FeatureFile& file);
void print_features(const FeatureFile& file, const std::string& side);

/// --columns of files with a header.
void add_columns_option(Command& command, std::vector<std::string>& columns);

/// --duplicates: what was asked for, or else that entries are refused that come twice, and clicks added up.
void add_duplicates_option(Command& command, std::string& duplicates);
RatingsOptions::Duplicates duplicates_of(const std::string& duplicates, bool clicks);

/// --time of commands that answer from a model, which move_to() takes: offsets that drift are those of this
/// time, or of the newest entry where the text is empty.
void add_time_option(Command& command, std::string& time);
void move_to(const std::string& time, CompletionModel& model);

/// Ids are quoted where they hold a separator.
std::string csv_field(std::string_view text);

}  // namespace pursuit::app
