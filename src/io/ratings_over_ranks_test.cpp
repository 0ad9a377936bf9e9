// Ratings that stay with the ranks that have read them: numbered, judged and completed as by one process.

#include "io/ratings_over_ranks.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "completion/test_support.hpp"
#include "io/byte_source.hpp"
#include "io/ids_over_ranks.hpp"
#include "io/test_support.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/completion/split.hpp"
#include "pursuit/io/completion_file.hpp"
#include "rank_teams.hpp"

namespace pursuit::io {
namespace {

using testing::HasSubstr;

/// What rank 0 of so many gets, or is refused, while the others follow.
template <class Result, class Work>
std::pair<Result, std::string> led_by(int size, int per_machine, const Work& work) {
  std::pair<Result, std::string> result;
  on_team_of(
      size,
      [&](RankTeam& team) {
        try {
          result.first = work(team);
        } catch (const InvalidInput& error) {
          result.second = error.what();
        }
      },
      per_machine);
  return result;
}

TEST(IdsOverRanks, AreNumberedAsTheyAppear) {
  for (const int size : {1, 2, 3, 6}) {
    IdTable alone;
    std::vector<std::vector<int>> expected(static_cast<std::size_t>(size));
    const auto ids_of = [](int rank) {
      std::vector<std::string> ids;
      for (int k = 0; k < 50 * (rank % 3); ++k) ids.push_back(fmt::format("{:x}", k * k * (rank + 2) % 331));
      return ids;
    };
    for (int rank = 0; rank < size; ++rank) {
      IdTable own;
      for (const std::string& id : ids_of(rank))
        if (const int before = own.size(); own.add(id) == before)
          expected[std::size_t(rank)].push_back(alone.add(id));
    }
    on_ranks(size, [&](Ranks& ranks) {
      IdTable own;
      for (const std::string& id : ids_of(ranks.rank())) own.add(id);
      EXPECT_EQ(number_together(ranks, own), expected[std::size_t(ranks.rank())]) << size;
      if (ranks.leads()) {
        EXPECT_EQ(own.names(), alone.names()) << size;
      }
    });
  }
}

class RatingsApart : public testing::Test {
 protected:
  /// Two texts and a packed one between them, with headers, blank lines and ids that come again.
  void SetUp() override {
    const Planted data = planted(120, 70, 2, 0.3, 0.3, 3);
    const Index third = data.train.size() / 3;
    for (int part = 0; part < 3; ++part) {
      std::string text = part == 1 ? "" : "user,item,rating\n";
      for (Index e = third * part; e < (part == 2 ? data.train.size() : third * (part + 1)); ++e)
        text += fmt::format("u{},i{},{}\n{}", data.train.row[std::size_t(e)], data.train.col[std::size_t(e)],
                            data.train.value[std::size_t(e)], e % 101 ? "" : "\n");
      folder_.with(fmt::format("{}.csv", part), part == 1 ? gzip(text) : text);
    }
  }
  std::string path() const { return folder_.path().string(); }

  ScratchDirectory folder_;
};

struct Completed {
  std::vector<std::string> rows, cols;
  ObservedEntries test;
  CompletionResult result;
};

TEST_F(RatingsApart, AreCompletedAsByOneProcess) {
  CompletionOptions options;
  options.max_rank = 7;
  Completed alone;
  {
    Ratings ratings = read_ratings(path());
    const Index all = ratings.entries.size();
    auto parts = split(std::move(ratings.entries), {all - 100, 100}, 5);
    options.predict = positions_of(parts[1]);
    alone = {ratings.rows.names(), ratings.cols.names(), parts[1], complete(parts[0], options)};
  }
  for (const auto& [size, per_machine] : {std::pair(2, 1), {3, 3}, {5, 2}}) {
    const auto [many, refusal] = led_by<Completed>(size, per_machine, [&](RankTeam& team) {
      RankedRatings ratings = read_ratings_apart(path(), {.threads = 1, .team = &team});
      EXPECT_EQ(ratings.entries.size(), Index(alone.result.seen.index.size()) + 100);
      EXPECT_LT(ratings.entries.own.size(), ratings.entries.size());
      Completed done{ratings.rows.names(), ratings.cols.names(), take_out(team, ratings.entries, 100, 5),
                     CompletionResult()};
      CompletionOptions own = options;
      own.team = &team;
      own.predict = positions_of(done.test);
      done.result = complete_ranked(std::move(ratings.entries), own);
      return done;
    });
    const std::string what = fmt::format("{} ranks, {} on a machine", size, per_machine);
    EXPECT_EQ(refusal, "") << what;
    EXPECT_EQ(many.rows, alone.rows) << what;
    EXPECT_EQ(many.cols, alone.cols) << what;
    EXPECT_EQ(many.test.row, alone.test.row) << what;
    EXPECT_EQ(many.test.value, alone.test.value) << what;
    EXPECT_TRUE(many.result.seen_by_ranks);
    EXPECT_TRUE(many.result.seen.index.empty());
    EXPECT_EQ(many.result.known, 0);
    EXPECT_TRUE(same_predictions(many.result.predictions, alone.result.predictions)) << what;
    EXPECT_TRUE(many.result.model.rows.mean == alone.result.model.rows.mean) << what;
    EXPECT_TRUE(many.result.model.cols.pattern == alone.result.model.cols.pattern) << what;
    EXPECT_EQ(many.result.model.rows.selection, alone.result.model.rows.selection) << what;
    EXPECT_EQ(many.result.model.cols.unseen, alone.result.model.cols.unseen) << what;
  }
}

TEST_F(RatingsApart, AnEntryThatComesTwiceIsToldWithItsLines) {
  const std::string first = content_of(folder_.path() / "0.csv"),
                    line = first.substr(17, first.find('\n', 17) - 16);
  std::string again = content_of(folder_.path() / "2.csv");
  again.insert(again.find('\n', again.size() / 2) + 1, line);
  folder_.with("2.csv", again + line);
  const std::string expected = message_of<InvalidInput>([&] { read_ratings(path()); });
  EXPECT_THAT(expected, HasSubstr("2.csv, line "));
  EXPECT_THAT(expected, HasSubstr("on line 2 of "));
  for (const int size : {2, 4, 7}) {
    const auto completed = [&](RankTeam& team) {
      RankedRatings ratings = read_ratings_apart(path(), {.threads = 1, .team = &team});
      CompletionOptions options;
      options.team = &team;
      return complete_ranked(std::move(ratings.entries), options).predictions.size();
    };
    EXPECT_EQ(led_by<std::size_t>(size, 1, completed).second, expected) << size;
    const auto taken_out = [&](RankTeam& team) {
      RankedRatings ratings = read_ratings_apart(path(), {.threads = 1, .team = &team});
      return take_out(team, ratings.entries, ratings.entries.size() - 1, 3).size();
    };
    EXPECT_EQ(led_by<Index>(size, 1, taken_out).second, expected) << size;
  }
}

TEST_F(RatingsApart, OfZerosAndOnesOthersAreRefused) {
  std::string text;
  for (int e = 0; e < 400; ++e) text += fmt::format("u{},i{},{}\n", e % 20, e / 20, e * e % 7 % 2);
  const std::string file = folder_.with("zeros.csv", text).string();
  CompletionOptions options;
  options.loss = Loss::bernoulli;
  options.max_rank = 3;
  const auto completed = [&](RankTeam& team) {
    CompletionOptions own = options;
    own.team = &team;
    RankedEntries entries = read_ratings_apart(file, {.threads = 1, .team = &team}).entries;
    return complete_ranked(std::move(entries), own).model.rows.mean;
  };
  const auto [mean, refusal] = led_by<FactorMatrix>(3, 2, completed);
  EXPECT_EQ(refusal, "");
  EXPECT_TRUE(mean == complete(read_ratings(file).entries, options).model.rows.mean);
  folder_.with("zeros.csv", text + "u3,i99,2\n");
  EXPECT_EQ(led_by<FactorMatrix>(3, 2, completed).second,
            message_of<InvalidInput>([&] { complete(read_ratings(file).entries, options); }));
}

TEST_F(RatingsApart, ASparseMatrixIsReadByOneRankAndSharedOut) {
  folder_.with("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1\n2 2 2\n3 1 3\n3 2 5\n");
  const std::string matrix = (folder_.path() / "a.mtx").string();
  const auto names = [&](RankTeam& team) {
    const RankedRatings ratings = read_ratings_apart(matrix, {.threads = 1, .team = &team});
    EXPECT_EQ(ratings.entries.own.size(), 4);
    return ratings.rows.names();
  };
  EXPECT_EQ(led_by<std::vector<std::string>>(3, 1, names).first, read_ratings(matrix).rows.names());
}

TEST_F(RatingsApart, APackedTextThatIsAloneIsReadByRankZero) {
  const std::string file = folder_.with("alone.gz", gzip("u,i,1\nv,i,2\n")).string();
  const auto own = [&](RankTeam& team) {
    return read_ratings_apart(file, {.threads = 1, .team = &team}).entries.own.size();
  };
  EXPECT_EQ(led_by<Index>(3, 1, own).first, 2);
}

TEST_F(RatingsApart, EntriesAreThereUntilTheNextCompletion) {
  CompletionOptions options;
  options.max_rank = 1;
  const std::string model = (folder_.path() / "model.npz").string();
  const std::vector<float> seen = complete(read_ratings(path()).entries, options).seen.value;
  on_team_of(3, [&](RankTeam& team) {
    options.team = &team;
    const auto completed = [&](CompletionFile& file) {
      RankedRatings ratings = read_ratings_apart(path(), {.threads = 1, .team = &team});
      file.rows = ratings.rows;
      file.cols = ratings.cols;
      CompletionResult result = complete_ranked(std::move(ratings.entries), options);
      file.model = std::move(result.model);
      return result.seen_by_ranks;
    };
    CompletionFile first, second;
    const auto before = completed(first), now = completed(second);
    EXPECT_THROW(save_completion(model, first, *before, team), InvalidArgument);
    save_completion(model, second, *now, team);
  });
  EXPECT_EQ(load_completion(model).seen.value, seen);
}

TEST_F(RatingsApart, WhatRanksCannotKeepIsRefused) {
  EXPECT_THROW(read_ratings_apart(path(), {}), InvalidArgument) << "without a team";
  EXPECT_THROW(complete_ranked({}, {}), InvalidArgument);
}

}  // namespace
}  // namespace pursuit::io
