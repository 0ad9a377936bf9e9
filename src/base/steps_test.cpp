#include "base/steps.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "test_support.hpp"

namespace pursuit {
namespace {

TEST(ParallelSteps, CallEveryPieceOnceAndStepsInTurn) {
  for (const int threads : {1, 2, 3, 16})
    for (const Index steps : {0, 1, 2, 50}) {
      const auto pieces = [](Index step) { return (step * 7) % 12; };  // none at the first step
      std::atomic<Index> done = 0;
      Index before = 0;
      std::vector<std::vector<int>> calls;
      std::vector<Index> done_before;
      for (Index s = 0; s < steps; ++s) {
        calls.emplace_back(std::size_t(pieces(s)), 0);
        done_before.push_back(before);
        before += pieces(s);
      }
      std::atomic<int> early = 0;
      parallel_steps(steps, threads, pieces, [&](Index step, Index piece) {
        if (done < done_before[std::size_t(step)]) ++early;
        ++calls[std::size_t(step)][std::size_t(piece)];
        ++done;
      });
      EXPECT_EQ(early, 0) << threads << " threads";
      EXPECT_EQ(done, before);
      for (const auto& step : calls) EXPECT_EQ(step, std::vector<int>(step.size(), 1));
    }
}

TEST(ParallelSteps, SeeWhatTheStepBeforeHasWritten) {
  constexpr Index kPieces = 9, kSteps = 2000;
  std::vector<Index> now(kPieces, 0), next(kPieces, 0);
  parallel_steps(
      kSteps, 4, [](Index) { return kPieces; },
      [&](Index step, Index piece) {
        auto& from = step % 2 == 0 ? now : next;
        auto& to = step % 2 == 0 ? next : now;
        to[std::size_t(piece)] = from[std::size_t((piece + 1) % kPieces)] + 1;
      });
  EXPECT_EQ(now, std::vector<Index>(kPieces, kSteps));
}

TEST(ParallelSteps, WaitForPiecesThatTakeLong) {
  std::atomic<int> done = 0, early = 0;
  parallel_steps(
      4, 3, [](Index) { return 3; },
      [&](Index step, Index piece) {
        if (done < 3 * step) ++early;
        if (piece == step % 3)
          std::this_thread::sleep_for(std::chrono::milliseconds(5));  // others fall asleep
        ++done;
      });
  EXPECT_EQ(early, 0);
  EXPECT_EQ(done, 12);
}

TEST(ParallelSteps, RethrowAndStillDoTheRest) {
  for (const int threads : {2, 4}) {
    std::atomic<int> calls = 0;
    const auto work = [&](Index step, Index piece) {
      ++calls;
      if (step == 2 && piece == 1) throw std::range_error("piece");
    };
    EXPECT_EQ(message_of<std::range_error>([&] {
                parallel_steps(
                    5, threads, [](Index) { return 4; }, work);
              }),
              "piece");
    EXPECT_EQ(calls, 20);
  }
}

TEST(ParallelSteps, WithinSharedWorkGoOnAlone) {
  std::atomic<int> calls = 0;
  parallel_for(6, 3, [&](Index) {
    parallel_steps(
        5, 4, [](Index) { return 4; }, [&](Index, Index) { ++calls; });
  });
  EXPECT_EQ(calls, 120);
}

}  // namespace
}  // namespace pursuit
