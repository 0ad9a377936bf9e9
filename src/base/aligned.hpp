#pragma once
// Arrays that start on a cache line, so that a row of 16 floats is one line and one vector register.

#include <cstdlib>
#include <new>
#include <vector>

namespace pursuit {

template <class T>
struct CacheAligned {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  CacheAligned() = default;
  template <class U>
  CacheAligned(const CacheAligned<U>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* pointer, std::size_t) { ::operator delete(pointer, kAlignment); }
  bool operator==(const CacheAligned&) const { return true; }
};

template <class T>
using AlignedVector = std::vector<T, CacheAligned<T>>;

}  // namespace pursuit
