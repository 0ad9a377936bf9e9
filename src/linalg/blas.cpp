#include "linalg/blas.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <sys/mman.h>

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
int alive = 0;     // objects alive: threads that may be in OpenBLAS
int previous = 1;  // threads of OpenBLAS before the first of them
int buffers = 0;   // that OpenBLAS is known to have

bool has_room_for_a_buffer() {
  constexpr std::size_t kBuffer = (std::size_t{128} << 20) + (std::size_t{1} << 16);
  void* room = ::mmap(nullptr, kBuffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  ::munmap(room, kBuffer);
  return true;
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
  if (alive >= buffers) {
    if (!has_room_for_a_buffer()) throw std::bad_alloc();
    blas_memory_free(blas_memory_alloc(0));
    ++buffers;
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
