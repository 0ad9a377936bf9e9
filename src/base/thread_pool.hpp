#pragma once
// The threads that share work with whoever has some. They are started when they are first needed and then
// kept: one that has nothing to do looks out for a few microseconds, since the next piece of an iteration
// often follows at once, and then sleeps. Waiting therefore never takes a processor from those who work,
// which is why this is not OpenMP: its threads spin for milliseconds, and beside other programs every barrier
// then waits for one that was put aside.

#include "pursuit/base/types.hpp"

namespace pursuit {

/// Work that is cut into pieces, by what calls it: no allocation, no copy.
struct Pieces {
  Index count;
  const void* work;
  void (*call)(const void* work, Index piece);  // must not throw
};

/// Calls each piece once, on up to `threads` threads, the calling one among them; fewer where the system has
/// no more threads. Pieces that themselves share work do it alone: their thread already is one of many.
void share_pieces(const Pieces& pieces, int threads);

}  // namespace pursuit
