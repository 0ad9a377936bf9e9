#include "apps/memory_limit.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>

#include "apps/console.hpp"
#include "apps/session.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/base/memory_limit.hpp"

namespace pursuit::app {
namespace {

constexpr std::uint64_t kLeastMemory = std::uint64_t{16} << 20;  // what the program itself needs
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 60;
constexpr std::chrono::milliseconds kBetweenLooks(5);

}  // namespace

std::uint64_t parse_memory_size(const std::string& option, const std::string& text) {
  const auto refuse = [&] {
    throw InvalidArgument(
        fmt::format("{} {}: must be a size from 16M to 1000P, such as 500M, 8G or 1.5GiB", option, text));
  };
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) refuse();
  std::string_view unit(rest, std::size_t(text.data() + text.size() - rest));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  constexpr std::string_view kUnits = "KMGTP";
  double bytes = number;
  if (!unit.empty() && unit != "B") {
    const char letter = unit[0] >= 'a' && unit[0] <= 'z' ? char(unit[0] - 'a' + 'A') : unit[0];
    const std::size_t power = kUnits.find(letter);
    const std::string_view more = unit.substr(1);
    if (power == std::string_view::npos || !(more.empty() || more == "B" || more == "iB" || more == "b"))
      refuse();
    bytes = std::ldexp(number, 10 * (int(power) + 1));
  }
  if (!(bytes >= double(kLeastMemory) && bytes <= double(kMostMemory))) refuse();
  return std::uint64_t(bytes);
}

void watch_memory(std::uint64_t bytes) {
  limit_memory(bytes);
  // Not a limit of the system: OpenBLAS waits forever for memory that it is refused.
  std::thread([bytes] {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);  // left to the threads of the program
    while (used_memory() <= bytes) std::this_thread::sleep_for(kBetweenLooks);
    tell("pursuit: not enough memory: it takes more than --max-memory allows, {} MiB\n", bytes >> 20);
    ::_exit(bad_input);  // files that are not complete have no name yet
  }).detach();
}

void tell_of_memory() {
  write_to_stderr("pursuit: not enough memory\n");
}

}  // namespace pursuit::app
