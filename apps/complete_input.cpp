#include "apps/complete_input.hpp"

#include <fmt/format.h>

#include <cmath>
#include <tuple>
#include <unordered_map>

#include "apps/completion.hpp"
#include "apps/ranks.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/catalogue/catalogue.hpp"
#include "pursuit/completion/complete_in_time.hpp"
#include "pursuit/completion/split.hpp"

namespace pursuit::app {
namespace {

/// One list of ids for rows and columns, for a symmetric matrix.
Ratings with_common_ids(Ratings ratings) {
  std::vector<int> place;
  place.reserve(std::size_t(ratings.cols.size()));
  for (int j = 0; j < ratings.cols.size(); ++j) place.push_back(ratings.rows.add(ratings.cols.name(j)));
  for (int& j : ratings.entries.col) j = place[std::size_t(j)];
  ratings.cols = ratings.rows;
  ratings.entries.rows = ratings.entries.cols = ratings.rows.size();
  return ratings;
}

/// How often entries count, from a file with a weight for every one of them, or a column of RATINGS.
std::vector<float> read_entry_weights(const CompleteCommand& c, RatingsOptions options, Ratings& train) {
  const bool own = !c.weight_column.empty();
  const std::string& path = own ? c.input : c.entry_weights;
  if (own) {
    options.columns.resize(2);  // empty: as they are found for the values
    options.columns.push_back(c.weight_column);
  } else {
    options = {.threads = c.common.threads};
  }
  const int rows = train.rows.size(), cols = train.cols.size();
  const ObservedEntries weights = read_ratings(path, options, &train.rows, &train.cols).entries;
  const auto refuse = [&](Index e, int row, int col, const char* what) {
    throw InvalidInput(fmt::format("--entry-weights {}: row {}, column {} {} ({} weights for {} entries)",
                                   path, train.rows.name(row), train.cols.name(col), what, e,
                                   train.entries.size()));
  };
  std::unordered_map<std::uint64_t, float> found;
  const auto key = [](int i, int j) { return std::uint64_t(i) << 32 | std::uint32_t(j); };
  for (std::size_t e = 0; e < weights.row.size(); ++e) {
    if (weights.row[e] >= rows || weights.col[e] >= cols)
      refuse(weights.size(), weights.row[e], weights.col[e], "has a weight and no entry");
    found[key(weights.row[e], weights.col[e])] = weights.value[e];
  }
  std::vector<float> result;
  for (std::size_t e = 0; e < train.entries.row.size(); ++e) {
    const auto weight = found.find(key(train.entries.row[e], train.entries.col[e]));
    if (weight == found.end())
      refuse(weights.size(), train.entries.row[e], train.entries.col[e], "has an entry and no weight");
    result.push_back(weight->second);
    found.erase(weight);
  }
  if (!found.empty()) {
    const std::uint64_t extra = found.begin()->first;
    refuse(weights.size(), int(extra >> 32), int(extra & 0xffffffffU), "has a weight and no entry");
  }
  return result;
}

/// Whether training entries stay with the ranks that read them: what else looks at them does so on rank 0.
bool stays_apart(const CompleteCommand& c, const RatingsOptions& options) {
  return rank_team() && rank_count() > 1 && !structured(c) && !c.implicit && c.update.empty() &&
         c.entry_weights.empty() && c.weight_column.empty() && !options.times &&
         options.duplicates == RatingsOptions::Duplicates::refuse;
}

/// Entries that are set aside to test with.
Index count_held_out(const CompleteCommand& c, Index entries) {
  const Index count = std::llround(c.holdout * double(entries));
  if (count < 1 || count >= entries)
    throw InvalidInput(fmt::format("--holdout {}: leaves {} of {} entries to train on and {} to test",
                                   c.holdout, entries - count, entries, count));
  return count;
}

}  // namespace

CompletionInput read_completion_input(const CompleteCommand& c) {
  CompletionInput input;
  const RatingsOptions options{.duplicates = duplicates_of(c.duplicates, c.implicit),
                               .threads = c.common.threads,
                               .columns = c.columns,
                               .times = has_times(c),
                               .clicks = c.implicit,
                               .team = rank_team()};
  if (!c.update.empty()) {
    input.earlier = load_completion(c.update);
    if (input.earlier->model.is_implicit() != c.implicit)
      throw InvalidInput(
          c.implicit ? fmt::format("--implicit: {} is not a model of implicit feedback", c.update)
                     : fmt::format("{}: a model of implicit feedback; say --implicit for new entries as well",
                                   c.update));
    if (input.earlier->model.atoms.rank() > 0)
      throw InvalidInput(
          fmt::format("{}: made of structured atoms; only self-tuned models can be updated", c.update));
    if (!input.earlier->keeps_entries)
      throw InvalidInput(fmt::format(
          "{}: written with --no-store-entries; without the entries it was made from it cannot be updated",
          c.update));
    input.train = read_ratings(c.input, options, &input.earlier->rows, &input.earlier->cols);
    input.train.entries = merged(input.earlier->seen, std::move(input.train.entries));
  } else if (stays_apart(c, options)) {
    RankedRatings train = read_ratings_apart(c.input, options);
    input.apart = std::move(train.entries);
    input.train.rows = std::move(train.rows);
    input.train.cols = std::move(train.cols);
  } else {
    input.train = read_ratings(c.input, options);
    if (!c.symmetric.empty()) input.train = with_common_ids(std::move(input.train));
  }
  ObservedEntries& entries = input.train.entries;
  if (!c.entry_weights.empty() || !c.weight_column.empty())
    input.weights = read_entry_weights(c, options, input.train);
  if (input.earlier) {
    input.row_features = std::move(input.earlier->row_features);
    input.col_features = std::move(input.earlier->col_features);
  }
  const auto read_side = [](const std::string& path, IdTable& members, std::optional<FeatureFile>& known) {
    if (path.empty()) return;
    FeatureFile fresh = read_features(path, members);
    known = known ? merged(*known, fresh) : std::move(fresh);
  };
  read_side(c.row_features, input.train.rows, input.row_features);
  read_side(c.col_features, input.train.cols, input.col_features);
  if (input.earlier)
    for (const auto& [side, weights, features] :
         {std::tuple("row", &input.earlier->model.rows.features, &input.row_features),
          {"col", &input.earlier->model.cols.features, &input.col_features}})
      if (weights->size() > 0 && !*features)
        throw InvalidInput(
            fmt::format("{}: made with features that it does not hold; give them again with --{}-features",
                        c.update, side));
  entries.rows = input.train.rows.size();
  entries.cols = input.train.cols.size();
  if (input.apart) {  // features may know more members than entries do
    input.apart->own.rows = entries.rows;
    input.apart->own.cols = entries.cols;
  }
  const Loss loss = parse_loss(c.loss);
  if (c.holdout > 0 && input.apart) {
    input.test = take_out(*rank_team(), *input.apart, count_held_out(c, input.apart->size()), c.seed,
                          c.common.threads);
  } else if (c.holdout > 0) {
    const Index count = count_held_out(c, entries.size());
    const std::vector<Index> sizes{entries.size() - count, count};
    if (!input.weights.empty()) {  // parts depend on positions alone
      auto parts =
          split({entries.rows, entries.cols, entries.row, entries.col, input.weights}, sizes, c.seed);
      input.weights = std::move(parts[0].value);
    }
    const TimesOfEntries times(entries, input.train.time);
    auto parts = split(std::move(entries), sizes, c.seed);
    entries = std::move(parts[0]);
    input.test = std::move(parts[1]);
    input.train.time = times.of(entries);
    input.test_times = times.of(input.test);
  } else if (!c.test.empty()) {
    const int rows = input.train.rows.size(), cols = input.train.cols.size();
    Ratings test = read_ratings(c.test, options, &input.train.rows, &input.train.cols);
    input.test = std::move(test.entries);
    input.test_times = std::move(test.time);
    for (std::size_t e = 0; e < input.test.row.size(); ++e)
      if (const float value = input.test.value[e]; !loss.accepts(value))
        throw InvalidInput(fmt::format("{}: test entry {} is {}; loss {} takes {}", c.test, e + 1, value,
                                       loss.spec(), loss.domain()));
    for (std::size_t e = 0; e < input.test.row.size(); ++e) {
      int &i = input.test.row[e], &j = input.test.col[e];
      if (i >= rows) i = -1;
      if (j >= cols) j = -1;
      input.unknown += i < 0 || j < 0;
    }
  }
  input.times = std::move(input.train.time);
  return input;
}

}  // namespace pursuit::app
