#pragma once
// Ratings that ranks read together: each parses a part of the bytes of all files, one behind the other. Ids
// are numbered as one reader would; entries go to rank 0, or stay with whoever has read them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "io/ratings_collector.hpp"
#include "pursuit/data/ranked_entries.hpp"

namespace pursuit::io {

/// By all ranks of a team, which find the files under the same paths, into a collector of rank 0. What is not
/// text in place is one rank's. What fails on some rank is thrown here, and the others know.
void read_over_ranks(RankTeam& team, const std::vector<std::filesystem::path>& files,
                     const RatingsOptions& options, RatingsCollector& ratings);

/// The same with entries that stay where they are; the collector ends with those of rank 0. Whether one comes
/// twice is seen when they come to their owners: then all is read once more to tell where, which costs a
/// sound text nothing. Returns how many there are in all, and their number for the others.
RankedEntries read_apart(RankTeam& team, const std::vector<std::filesystem::path>& files,
                         const RatingsOptions& options, RatingsCollector& ratings);

/// The part of a rank that follows: the entries that it has to keep, if it has.
std::optional<ObservedEntries> read_share(Ranks& ranks);

}  // namespace pursuit::io
