#pragma once
// A text of ratings that ranks read together: each parses a part of its bytes, rank 0 gets the entries.

#include <string>

#include "io/ratings_collector.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit::io {

/// What read_text_ratings() does, by all ranks of a team, which find the text under the same path. What fails
/// on some rank is thrown here, and the others know.
void read_text_over_ranks(RankTeam& team, const std::string& path, const RatingsOptions& options,
                          RatingsCollector& ratings);

/// The part of a rank that follows.
void read_text_share(Ranks& ranks);

}  // namespace pursuit::io
