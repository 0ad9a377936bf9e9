#pragma once
// Whether the program was started once, or as one of several processes.

namespace pursuit::app {

/// Several processes that mpirun or srun started would each do the whole job and write the same files:
/// refused, with one message for all of them. Where every process has a job of its own, PURSUIT_RANKS=apart
/// says so.
void require_alone();

/// Thrown by all processes but the first, which has told why.
struct AnotherRank {};

}  // namespace pursuit::app
