// Before everything else: OpenBLAS starts its threads when it is loaded, each with a buffer of 128 MB for
// which it tries for ever. Where the address space is limited, the program starts over with the setting that
// tells it not to; we call OpenBLAS on threads of our own anyway.

#if defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

namespace {

constexpr char kVariable[] = "OPENBLAS_NUM_THREADS=";
char setting[] = "OPENBLAS_NUM_THREADS=1";

/// Runs before the constructors of any library: there are no streams yet, and no allocator.
void start_without_threads_of_openblas(int, char** argv, char** environment) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  constexpr std::size_t kMost = 4096;
  static char* changed[kMost];
  std::size_t count = 0;
  for (; *environment != nullptr; ++environment) {
    if (std::strcmp(*environment, setting) == 0 || count + 2 >= kMost) return;
    if (std::strncmp(*environment, kVariable, sizeof kVariable - 1) != 0) changed[count++] = *environment;
  }
  changed[count] = setting;
  ::execve("/proc/self/exe", argv, changed);  // where this fails, the program goes on as it is
}

}  // namespace

[[gnu::section(".preinit_array"),
  gnu::used]] static void (*const first)(int, char**, char**) = start_without_threads_of_openblas;

#endif
