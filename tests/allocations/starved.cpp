// Preloaded into the program, it refuses memory: allocation PURSUIT_STARVE_AT, counted from the beginning of
// main(), and those after it, PURSUIT_STARVE_FOR in all (one, unless told). How many there were is written to
// PURSUIT_STARVE_COUNT.

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

std::atomic<bool> in_main{false};
std::atomic<long> allocations{0};
long first_refused = 0, last_refused = 0;

long number_of(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atol(text) : otherwise;
}

bool is_refused() {
  if (!in_main) return false;
  const long number = ++allocations;
  if (number < first_refused || number >= last_refused) return false;
  errno = ENOMEM;
  return true;
}

struct Report {
  ~Report() {
    const char* path = std::getenv("PURSUIT_STARVE_COUNT");
    if (path == nullptr) return;
    char text[32];
    const int size = std::snprintf(text, sizeof text, "%ld\n", allocations.load());
    const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    [[maybe_unused]] const auto written = ::write(file, text, std::size_t(size));
    ::close(file);
  }
} report;

}  // namespace

extern "C" void* malloc(std::size_t size) {
  return is_refused() ? nullptr : __libc_malloc(size);
}
extern "C" void* calloc(std::size_t count, std::size_t size) {
  return is_refused() ? nullptr : __libc_calloc(count, size);
}
extern "C" void* realloc(void* memory, std::size_t size) {
  return is_refused() ? nullptr : __libc_realloc(memory, size);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return is_refused() ? nullptr : __libc_memalign(alignment, size);
}
extern "C" int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  if (is_refused()) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory != nullptr ? 0 : ENOMEM;
}

/// The first thing that the program does is to say that closed pipes do not end it: what is allocated before,
/// while libraries are loaded, cannot be answered by anybody.
extern "C" sighandler_t signal(int number, sighandler_t handler) {
  using Signal = sighandler_t (*)(int, sighandler_t);
  static const auto next = reinterpret_cast<Signal>(::dlsym(RTLD_NEXT, "signal"));
  if (number == SIGPIPE && !in_main) {
    first_refused = number_of("PURSUIT_STARVE_AT", 0);
    last_refused = first_refused > 0 ? first_refused + number_of("PURSUIT_STARVE_FOR", 1) : 0;
    in_main = true;
  }
  return next(number, handler);
}
