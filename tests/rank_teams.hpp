#pragma once
// Teams whose ranks are threads: rank 0 works, the others follow.

#include <gtest/gtest.h>

#include "pursuit/data/rank_team.hpp"
#include "pursuit/io/ranked_matrix_file.hpp"
#include "rank_threads.hpp"

namespace pursuit {

/// work(team) on rank 0 of so many.
template <class Work>
void on_team_of(int size, const Work& work, int per_machine = 1) {
  on_ranks(
      size,
      [&](Ranks& ranks) {
        if (!ranks.leads()) {
          EXPECT_EQ(follow(ranks), 0);
          return;
        }
        RankTeam team(ranks);
        work(team);
        team.dismiss(0);
      },
      per_machine);
}

}  // namespace pursuit
