#pragma once
// What the commands that answer from a model share: ids, names to show, what to choose from, reasons.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/json.hpp"
#include "pursuit/completion/explain.hpp"
#include "pursuit/completion/recommend.hpp"
#include "pursuit/completion/similar.hpp"
#include "pursuit/io/completion_file.hpp"

namespace pursuit::app {

/// Names of ids, "FILE" or "FILE:COLUMN"; none for an empty text.
class Names {
 public:
  Names() = default;
  explicit Names(const std::string& spec);

  bool any() const { return !names_.empty(); }
  /// Empty where an id has none.
  std::string_view of(std::string_view id) const;
  /// The id where it has none.
  std::string_view shown(std::string_view id) const;
  /// The file that `spec` names.
  static std::string file_of(const std::string& spec);

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

/// Rows as columns and columns as rows, ids, entries and features too.
CompletionFile transposed(CompletionFile file);

/// A model that is asked again and again; what a question needs is made when it first comes.
class ServedModel {
 public:
  explicit ServedModel(CompletionFile file);

  const CompletionFile& file() const { return file_; }
  const CompletionModel& model() const { return file_.model; }
  const Recommender& recommender() const { return recommender_; }
  /// All entries that are known, by row; none where the model does not keep them.
  const GroupedEntries* known() const { return file_.keeps_entries ? &known_ : nullptr; }
  const Neighbours& neighbours(Neighbours::Side side) const;
  /// What is known of a row of the model: its entries and features.
  RowFacts facts(int row) const;

 private:
  CompletionFile file_;
  Recommender recommender_;
  GroupedEntries known_, row_features_;
  mutable std::mutex making_;
  mutable std::unique_ptr<Neighbours> rows_, cols_;
};

/// Ids, as numbers of `table`, ascending and each once, without those that it does not have.
std::vector<int> known_ids(const std::vector<std::string>& ids, const IdTable& table);

/// Columns that lists may hold: `candidates` (all where there is none) without `blocked`.
std::optional<std::vector<int>> allowed_columns(const std::optional<std::vector<int>>& candidates,
                                                const std::vector<int>& blocked, Index columns);

/// `old`, which may be null, with these positions besides, of which there is one at least.
GroupedEntries with_positions(const GroupedEntries* old, const std::vector<Position>& more, Index rows,
                              Index cols);

/// One column of a list with all that there is to say about it; `member` is "column" or "row".
Json describe(const Recommendation& each, const IdTable& ids, const std::string& member, const Names& names,
              const Explanation* why);
Json describe(const Neighbour& each, const IdTable& ids, const std::string& member, const Names& names);

}  // namespace pursuit::app
