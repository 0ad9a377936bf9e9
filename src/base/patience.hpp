#pragma once
// Waiting for other threads: awake for as long as it pays, and then not at all.

#include <chrono>
#include <thread>

namespace pursuit {

/// Whether `done` comes true while it is worth waiting awake. Gives way to others that want the processor.
template <class Done>
bool comes_soon(const Done& done) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPatience = std::chrono::microseconds(50);
  constexpr int kLooks = 64;
  const auto look = [&] {
    for (int i = 0; i < kLooks; ++i) {
      if (done()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    return false;
  };
  if (look()) return true;
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    std::this_thread::yield();
    if (look()) return true;
  }
  return false;
}

}  // namespace pursuit
