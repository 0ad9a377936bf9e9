#include "pursuit/base/ranks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>

#include "base/chunks.hpp"
#include "base/shared_numbers.hpp"
#include "base/tree_fold.hpp"
#include "pursuit/base/error.hpp"
#include "rank_threads.hpp"

namespace pursuit {
namespace {

TEST(TreeFold, OwnersOfAnyRangesGiveTheBitsOfTheTree) {
  for (const int parts : {1, 2, 8, 64}) {
    std::vector<double> numbers;
    for (int i = 0; i < parts; ++i) numbers.push_back(std::sin(1.0 + i) * std::exp2(i % 40));
    std::vector<double> whole = numbers;
    tree_sum(whole, [](double& into, double part) { into += part; });
    for (int owners = 1; owners <= 17; ++owners) {
      TreeFold<double> all;
      for (int owner = 0; owner < owners; ++owner) {
        TreeFold<double> own;
        for (int i = parts * owner / owners; i < parts * (owner + 1) / owners; ++i)
          own.push(0, i, numbers[std::size_t(i)]);
        for (const auto& node : own.nodes()) all.push(node.level, node.index, node.part);
      }
      ASSERT_EQ(all.nodes().size(), 1u);
      EXPECT_EQ(all.nodes().front().part, whole.front()) << parts << " parts, " << owners << " owners";
    }
  }
}

TEST(Ranks, GatherAndBroadcastBringEverythingInOrder) {
  for (const int size : {1, 2, 5})
    on_ranks(size, [&](Ranks& ranks) {
      const int mine = 10 * ranks.rank() + 3;
      for (const bool to_all : {false, true}) {
        const auto bytes = gather(ranks, &mine, sizeof mine, to_all);
        if (!to_all && !ranks.leads()) {
          EXPECT_TRUE(bytes.empty());
          continue;
        }
        const auto* numbers = reinterpret_cast<const int*>(bytes.data());
        for (int rank = 0; rank < size; ++rank) EXPECT_EQ(numbers[rank], 10 * rank + 3);
      }
      EXPECT_EQ(broadcast_text(ranks, ranks.leads() ? "from the first" : "lost"), "from the first");
      EXPECT_EQ(broadcast_text(ranks, ""), "");
    });
}

TEST(Ranks, ListsOfAnyLengthComeInOrder) {
  for (const int size : {1, 2, 5})
    on_ranks(size, [&](Ranks& ranks) {
      const auto list_of = [](int from, int to) {
        return std::vector<int>(std::size_t(from * 7 + to * 3) % 4, 100 * from + to);
      };
      std::vector<int> all;
      std::vector<std::vector<int>> mine, theirs;
      for (int rank = 0; rank < size; ++rank) {
        const std::vector<int> part = list_of(rank, 0);
        all.insert(all.end(), part.begin(), part.end());
        mine.push_back(list_of(ranks.rank(), rank));
        theirs.push_back(list_of(rank, ranks.rank()));
      }
      EXPECT_EQ(gather_lists(ranks, list_of(ranks.rank(), 0)), all);
      EXPECT_EQ(gather_lists(ranks, list_of(ranks.rank(), 0), false),
                ranks.leads() ? all : std::vector<int>());
      EXPECT_EQ(trade_lists(ranks, mine), theirs);
      for (const int length : {0, 1, 2, 11}) {
        std::vector<std::int64_t> numbers, expected;
        for (int k = 0; k < length; ++k) {
          numbers.push_back((std::int64_t(1) << 40) * (ranks.rank() + 1) + k);
          expected.push_back((std::int64_t(1) << 40) * (size * (size + 1) / 2) + k * size);
        }
        std::vector<std::int64_t> at_leader = numbers;
        add_up(ranks, numbers);
        EXPECT_EQ(numbers, expected);
        add_up(ranks, at_leader, false);
        if (ranks.leads()) {
          EXPECT_EQ(at_leader, expected);
        }
      }
    });
}

TEST(Ranks, AMachineSeesWhatItsRanksWrite) {
  for (const int size : {1, 2, 3, 5})
    for (const int per_machine : {1, 2, 3, 5})
      on_ranks(
          size,
          [&](Ranks& ranks) {
            EXPECT_EQ(ranks.machines().size(), std::size_t((size + per_machine - 1) / per_machine));
            ASSERT_GT(ranks.neighbours().size(), 0u);
            for (std::size_t machine = 0; machine < ranks.machines().size(); ++machine)
              EXPECT_EQ(ranks.machine_of(ranks.receiver(int(machine), ranks.rank())), int(machine));
            for (const std::size_t count : {10u, 5000u, 20u}) {
              SharedNumbers<int> numbers(AlignedVector<int>(count, 7));
              numbers.share_from_leader(ranks, 4, count);
              for (const int number : numbers) ASSERT_EQ(number, 7);
              ranks.meet();
              numbers[ranks.rank()] = ranks.rank();
              ranks.meet();
              for (const int other : ranks.neighbours()) EXPECT_EQ(numbers[other], other);
              const SharedNumbers<int> copy = numbers;
              ranks.meet();
              numbers[ranks.rank()] = -1;
              EXPECT_EQ(copy[ranks.rank()], ranks.rank()) << "a copy is its process's own";
              numbers.take_back();
              ranks.meet();
              EXPECT_EQ(numbers.size(), count);
              EXPECT_EQ(numbers[ranks.rank()], -1);
            }
          },
          per_machine);
}

TEST(Ranks, ABoardStandsUntilTheRoundAfterTheNext) {
  on_ranks(
      4,
      [](Ranks& ranks) {
        for (int round = 0; round < 50; ++round) {
          auto* board = static_cast<int*>(ranks.board(sizeof(int) * std::size_t(4 + round % 7)));
          board[ranks.rank()] = 100 * round + ranks.rank();
          ranks.meet();
          for (int other = 0; other < 4; ++other) ASSERT_EQ(board[other], 100 * round + other);
        }
      },
      4);
}

TEST(Ranks, AFailureOfOneIsThatOfAll) {
  std::atomic<int> told = 0;
  on_ranks(4, [&](Ranks& ranks) {
    try {
      together(ranks, [&] {
        if (ranks.rank() == 2) throw InvalidInput("line 7");
        if (ranks.rank() == 3) throw InvalidArgument("later");
      });
    } catch (const InvalidInput& error) {
      EXPECT_STREQ(error.what(), "line 7 (rank 2)");
      ++told;
    }
    together(ranks, [] {});  // they have not lost each other
  });
  EXPECT_EQ(told, 4);
}

TEST(Ranks, NeighboursShareCores) {
  OneRank one;
  const int all = fair_share(one).threads;
  EXPECT_GE(all, 1);
  on_ranks(3, [&](Ranks& ranks) {  // three on the cores of one
    const int threads = fair_share(ranks).threads;
    EXPECT_GE(threads, 1);
    EXPECT_LE(threads, std::max(1, all / 2));
  });
}

}  // namespace
}  // namespace pursuit
