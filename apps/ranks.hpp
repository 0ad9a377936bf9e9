#pragma once
// Whether the program was started once, or as several processes ("ranks") by mpirun or srun.

#include <string>

#include "apps/json.hpp"
#include "pursuit/base/types.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit::app {

/// Several processes work on one job where MPI brings them together; where it does not, each would do the
/// whole job and write the same files: refused, with one message for all of them. Where every process has a
/// job of its own, PURSUIT_RANKS=apart says so.
void start_ranks();

/// Thrown by all processes but the first, which has told why.
struct AnotherRank {};

/// Processes that follow do what the first asks for and return the status that it ended with.
bool follows();
int follow_to_the_end();

/// Null where the program was not started under MPI. The first process alone asks.
RankTeam* rank_team();

/// How many processes do the work.
int rank_count();

/// A command that does not share its work is refused where there are several processes.
void require_shared_work(int argc, char** argv);
void require_one_process(bool alone, const std::string& what);

/// Threads of this process, where the user gave no number: 0, all cores, unless other ranks use them too.
int threads_of_rank();
/// Words about how many processes and threads there are, and how the rows came to them.
void tell_of_ranks(const std::string& input, int threads, Index blocks, bool dealt);

/// The field `ranks` of the JSON object, where there are several.
void describe_ranks(int threads, Json& object);

/// Once, by the first process: ends the others with its own status.
void finish_ranks(int status);

}  // namespace pursuit::app
