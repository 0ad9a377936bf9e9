#include "base/machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "pursuit/base/memory_limit.hpp"

namespace pursuit {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  if (const std::ifstream file(path); file) text << file.rdbuf();
  return text.str();
}

/// Calls visit(folder) for the control group of this process and all above it, where `controller` is managed.
template <class Visit>
void for_each_group(const std::string& controller, const Visit& visit) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/a/b", or "0::/a/b" of version 2
    const std::size_t names = line.find(':') + 1, path = line.find(':', names) + 1;
    if (names == 0 || path == 0) continue;
    const std::string managed = fmt::format(",{},", line.substr(names, path - 1 - names));
    const bool unified = managed == ",,";
    if (!unified && managed.find(fmt::format(",{},", controller)) == std::string::npos) continue;
    const std::filesystem::path root = unified ? std::filesystem::path("/sys/fs/cgroup")
                                               : std::filesystem::path("/sys/fs/cgroup") / controller;
    std::filesystem::path group = std::filesystem::path(line.substr(path)).relative_path();
    while (true) {
      visit(root / group);
      if (group.empty()) break;
      group = group.parent_path();
    }
  }
}

int cores_of_affinity() {
  const long online = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
  // The mask of a machine with more cores than the usual set can count is refused; then all of them are
  // meant.
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int count = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : int(online);
  return std::max(1, count);
}

int count_cores() {
  int cores = cores_of_affinity();
  for_each_group("cpu", [&](const std::filesystem::path& group) {
    const std::string quota = content_of(group / "cpu.max") + content_of(group / "cpu.cfs_quota_us") + " " +
                              content_of(group / "cpu.cfs_period_us");
    if (const auto share = cores_of_quota(quota)) cores = std::min(cores, *share);
  });
  return cores;
}

/// A number of bytes; no bound for "max" or where there is no such file.
std::uint64_t bytes_in(const std::filesystem::path& path) {
  std::uint64_t bytes = kUnlimited;
  std::istringstream text(content_of(path));
  return text >> bytes ? bytes : kUnlimited;
}

/// What a control group uses beside copies of files, which give way when memory is wanted.
std::uint64_t used_by(const std::filesystem::path& group) {
  std::uint64_t used = bytes_in(group / "memory.current"), bytes = 0;
  if (used == kUnlimited) used = bytes_in(group / "memory.usage_in_bytes");
  if (used == kUnlimited) return 0;
  std::istringstream figures(content_of(group / "memory.stat"));
  for (std::string what; figures >> what >> bytes;)
    if (what == "file" || what == "total_cache") return used > bytes ? used - bytes : 0;
  return used;
}

std::uint64_t difference(std::uint64_t limit, std::uint64_t used) {
  return limit == kUnlimited ? kUnlimited : limit > used ? limit - used : 0;
}

std::uint64_t free_in_machine() {
  std::ifstream lines("/proc/meminfo");
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("MemAvailable:")) return std::stoull(line.substr(13)) * 1024;
  return kUnlimited;
}

/// Of the address space, or of the part of it that is no copy of a file.
std::uint64_t limit_of(decltype(RLIMIT_AS) resource) {
  rlimit limit = {};
  const bool limited = ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? limit.rlim_cur : kUnlimited;
}

std::atomic<std::uint64_t> own_limit = kUnlimited;

/// In bytes.
struct Usage {
  std::uint64_t all = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;

  Usage() {
    std::ifstream("/proc/self/statm") >> all >> resident >> shared >> text >> library >> data;
    for (std::uint64_t* pages : {&all, &resident, &shared, &data})
      *pages *= std::uint64_t(::sysconf(_SC_PAGESIZE));
  }
  std::uint64_t used() const { return resident - shared; }
};

std::uint64_t free_in_process() {
  const Usage now;
  return std::min({difference(limit_of(RLIMIT_AS), now.all), difference(limit_of(RLIMIT_DATA), now.data),
                   difference(own_limit, now.used())});
}

}  // namespace

std::optional<int> cores_of_quota(const std::string& text) {
  double quota = 0, period = 0;
  std::istringstream words(text);
  if (!(words >> quota >> period) || !(quota > 0) || !(period > 0)) return std::nullopt;
  return int(std::clamp(std::ceil(quota / period), 1.0, 1e6));
}

int usable_cores() {
  static const int cores = count_cores();
  return cores;
}

void limit_memory(std::uint64_t bytes) {
  own_limit = bytes;
}

std::uint64_t used_memory() {
  return Usage().used();
}

std::optional<std::uint64_t> memory_limit() {
  const std::uint64_t limit = std::min({own_limit.load(), limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA)});
  return limit == kUnlimited ? std::nullopt : std::optional(limit);
}

std::uint64_t available_memory() {
  std::uint64_t available = std::min(free_in_machine(), free_in_process());
  for_each_group("memory", [&](const std::filesystem::path& group) {
    const std::uint64_t limit =
        std::min(bytes_in(group / "memory.max"), bytes_in(group / "memory.limit_in_bytes"));
    available = std::min(available, difference(limit, used_by(group)));
  });
  return available;
}

}  // namespace pursuit
