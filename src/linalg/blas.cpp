#include "linalg/blas.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <new>

#include "pursuit/base/error.hpp"

// OpenBLAS exports its allocator without declaring it. Buffers that were freed stay, for the next caller.
extern "C" void* blas_memory_alloc(int position);
extern "C" void blas_memory_free(void* buffer);

namespace pursuit {

static_assert(sizeof(blasint) == sizeof(int));

namespace {

std::mutex setting;
int alive = 0;                    // objects alive: threads that may be in OpenBLAS
int previous = 1;                 // threads of OpenBLAS before the first of them
int buffers = 0;                  // that OpenBLAS is known to have
constexpr int kMostBuffers = 64;  // half of those that it can keep account of

bool has_room_for_a_buffer() {
  constexpr std::size_t kBuffer = (std::size_t{128} << 20) + (std::size_t{1} << 16);
  void* room = ::mmap(nullptr, kBuffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  ::munmap(room, kBuffer);
  return true;
}

/// Makes OpenBLAS have so many buffers, or as many as there is memory for.
void provide_buffers(int wanted) {
  std::array<void*, kMostBuffers> held;
  std::size_t had = 0;
  while (had < std::size_t(wanted) && (int(had) + alive < buffers || has_room_for_a_buffer()))
    held[had++] = blas_memory_alloc(0);
  for (std::size_t k = 0; k < had; ++k) blas_memory_free(held[k]);
  buffers = std::max(buffers, int(had));
}

}  // namespace

int blas_size(Index size) {
  if (size > std::numeric_limits<int>::max())
    throw InvalidInput(fmt::format("a dense matrix has {} rows or columns; this BLAS counts to {}", size,
                                   std::numeric_limits<int>::max()));
  return int(size);
}

SingleThreadedBlas::SingleThreadedBlas() {
  const std::lock_guard lock(setting);
  if (const int wanted = std::min(alive + 1, kMostBuffers); wanted > buffers) {
    provide_buffers(wanted);
    if (wanted > buffers) throw std::bad_alloc();
  }
  if (alive++ > 0) return;
  previous = openblas_get_num_threads();
  if (previous != 1) openblas_set_num_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
  const std::lock_guard lock(setting);
  if (--alive == 0 && previous != 1) openblas_set_num_threads(previous);
}

}  // namespace pursuit
