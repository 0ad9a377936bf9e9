#pragma once
// Runs that are killed between any two steps and go on.

#include <memory>
#include <utility>
#include <vector>

#include "pursuit/base/checkpoints.hpp"
#include "test_support.hpp"

namespace pursuit {

/// Every state that a run could have been killed after.
inline std::vector<Snapshot> all_snapshots(const std::function<void(CheckpointsPtr)>& run) {
  std::vector<Snapshot> all;
  run(std::make_shared<Checkpoints>(Checkpoints::Rhythm{.steps = 1},
                                    [&](const Snapshot& snapshot) { all.push_back(snapshot); }));
  return all;
}

/// `steps` counts those that are made from there on.
inline CheckpointsPtr going_on_from(const Snapshot& snapshot, std::size_t* steps = nullptr) {
  auto checkpoints = std::make_shared<Checkpoints>(Checkpoints::Rhythm{.steps = 1}, [steps](const Snapshot&) {
    if (steps) ++*steps;
  });
  checkpoints->resume(snapshot, "state.npz");
  return checkpoints;
}

/// run(checkpoints, threads) gives the same result uninterrupted, with its steps kept, and killed at all of
/// them (or about `kills` of them) and resumed with another number of threads.
template <class RunOf, class Same>
void expect_resumes_anywhere(const RunOf& run, const Same& expect_same, std::size_t kills = 1000) {
  const auto whole = run(CheckpointsPtr(), 1);
  const std::vector<Snapshot> all =
      all_snapshots([&](const CheckpointsPtr& checkpoints) { expect_same(whole, run(checkpoints, 1)); });
  ASSERT_GE(all.size(), 2U);
  const std::size_t step = 1 + all.size() / kills;
  for (std::size_t k = 0; k < all.size(); k += step) {
    SCOPED_TRACE("killed after step " + std::to_string(k + 1) + " of " + std::to_string(all.size()));
    std::size_t steps = 0;
    expect_same(whole, run(going_on_from(all[k], &steps), 1 + int(k % 3)));
    EXPECT_EQ(steps, all.size() - k - 1) << "it did not go on from where it was";
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace pursuit
