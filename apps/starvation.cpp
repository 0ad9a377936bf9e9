// Eigen gives the memory of a matrix back before it asks for that of its new size, and a matrix whose new
// size is refused still believes that it has the old: leaving by an exception would give it back twice. Calls
// of malloc() and free() in the program and its library, Eigen's among them, lead here (`--wrap`): memory
// refused right after some was given back ends the program at once, with the message that all others end
// with. Files that are not complete have no name yet.

#include <unistd.h>

#include <cstddef>

#include "apps/memory_limit.hpp"
#include "apps/session.hpp"

extern "C" {
void* __real_malloc(std::size_t size);
void __real_free(void* memory);
void* __wrap_malloc(std::size_t size);
void __wrap_free(void* memory);
}

namespace {
thread_local bool has_just_freed = false;
}  // namespace

extern "C" void* __wrap_malloc(std::size_t size) {
  void* const memory = __real_malloc(size);
  if (memory == nullptr && size > 0 && has_just_freed) {
    pursuit::app::tell_of_memory();
    ::_exit(pursuit::app::internal_error);
  }
  has_just_freed = false;
  return memory;
}

extern "C" void __wrap_free(void* memory) {
  has_just_freed = has_just_freed || memory != nullptr;
  __real_free(memory);
}
