#pragma once
// Whether the program was started once, or as several processes ("ranks") by mpirun or srun.

#include <string>

#include "apps/json.hpp"
#include "pursuit/base/types.hpp"
#include "pursuit/data/rank_team.hpp"

namespace pursuit::app {

/// Several processes work on one job where MPI brings them together; where it does not, or they have been
/// given different jobs, each would do the whole of one and write the same files: refused, with one message
/// for all of them. Where every process has a job of its own, PURSUIT_RANKS=apart says so.
void start_ranks(int argc, char** argv);

/// Thrown where a process has nothing to say, since the first has told why, or will.
struct AnotherRank {};

/// How processes work on a command: the first runs it and asks the others, which own a part of the data, or
/// has nothing to ask; or all of them run it, each for a part of what it writes.
enum class Sharing { led, together, alone };
Sharing sharing();

/// Processes that follow do what the first asks for and return the status that it ended with.
bool follows();
int follow_to_the_end();

/// Where all of them run the command: all that is there; one rank where there is but one process. Whatever
/// may fail there, but for the last words of the first, fails `together`.
Ranks& ranks_together();

/// Null where the program was not started under MPI. The first process alone asks.
RankTeam* rank_team();

/// How many processes do the work.
int rank_count();

/// Where there are several processes and this is work that the first does alone: a sentence that says so.
void tell_if_alone(bool alone, const std::string& what);

/// Threads of this process, where the user gave no number: 0, all cores, unless other ranks use them too.
int threads_of_rank();
int threads_used(int asked_for);

/// Words about how many processes and threads there are, and how the rows came to them.
void tell_of_ranks(const std::string& input, int threads, Index blocks, bool dealt);

/// The field `ranks` of the JSON object, where there are several.
void describe_ranks(int threads, Json& object);

/// Once, by the first process and by all that run the command: all end with the status of the first.
int finish_ranks(int status);

}  // namespace pursuit::app
