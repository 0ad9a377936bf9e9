#include "pursuit/algorithms/trace.hpp"

namespace pursuit {

const char* name(Stop stop) {
  switch (stop) {
    case Stop::rank_reached: return "rank_reached";
    case Stop::target_error: return "target_error";
    case Stop::no_ascent: return "no_ascent";
    case Stop::dependent_atom: return "dependent_atom";
    case Stop::time_limit: return "time_limit";
    case Stop::interrupted: return "interrupted";
    case Stop::not_converged: return "not_converged";
  }
  return "unknown";
}

const char* explanation(Stop stop) {
  switch (stop) {
    case Stop::rank_reached: return "the rank asked for was reached";
    case Stop::target_error: return "the target error was reached";
    case Stop::no_ascent: return "no further atom of these sets lowers the error: more rank would not help";
    case Stop::dependent_atom: return "the best further atom is a combination of those already there";
    case Stop::time_limit: return "the time limit was reached; the result is the best found by then";
    case Stop::interrupted: return "the run was interrupted; the result is the best found by then";
    case Stop::not_converged: return "the iterations did not settle; the result is the best found by them";
  }
  return "";
}

}  // namespace pursuit
