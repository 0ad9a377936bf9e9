#pragma once
// Lists of numbers that are about to be filled by several threads: growing does not touch the memory, which
// belongs to whoever writes to it first.

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace pursuit::io {

template <class T>
struct Unfilled : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unfilled<U>;
  };
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0)
      ::new (static_cast<void*>(place)) U;
    else
      ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

template <class T>
using PlainVector = std::vector<T, Unfilled<T>>;

}  // namespace pursuit::io
