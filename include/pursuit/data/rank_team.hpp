#pragma once
// Rank 0's hold on all ranks: what it asks of them goes out one job at a time, whichever thread asks.

#include <cstdint>
#include <functional>
#include <mutex>

#include "pursuit/base/ranks.hpp"

namespace pursuit {

struct Job;

class RankTeam {
 public:
  explicit RankTeam(Ranks& ranks) : ranks_(ranks) {}
  RankTeam(const RankTeam&) = delete;
  RankTeam& operator=(const RankTeam&) = delete;

  Ranks& ranks() { return ranks_; }

  /// Sends the job to all and does rank 0's part of it. Where that fails, the others wait for something that
  /// will not come, and nothing more can be asked of them.
  void ask(const Job& job, const std::function<void()>& own_part);
  bool broken() const { return broken_; }

  /// Once, at the end: the others return this status.
  void dismiss(int status);

  /// A number for one more matrix.
  std::int64_t fresh_number() { return ++numbers_; }

 private:
  Ranks& ranks_;
  std::mutex turn_;
  std::int64_t numbers_ = 0;
  bool broken_ = false;
};

}  // namespace pursuit
