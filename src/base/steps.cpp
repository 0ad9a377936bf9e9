#include "base/steps.hpp"

#include "base/patience.hpp"

namespace pursuit {

void StepBoard::wait(Index pieces) {
  const auto done = [&] { return done_.load(std::memory_order_acquire) >= pieces; };
  if (done() || comes_soon(done)) return;
  sleepers_.fetch_add(1);
  for (Index seen; (seen = done_.load()) < pieces;) done_.wait(seen);
  sleepers_.fetch_sub(1);
}

}  // namespace pursuit
