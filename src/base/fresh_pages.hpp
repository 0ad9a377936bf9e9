#pragma once
// Memory that was allocated and not yet used: its pages are made by whoever touches them first, which for
// large lists takes longer than filling them. Large pages are made faster, and found faster by what goes to
// and fro between them.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pursuit {

/// Asks for large pages, where the system has them and the memory is large enough to use them well.
void prefer_large_pages(void* memory, std::size_t bytes);

/// The same, and makes the pages on up to `threads` threads. What the memory holds is lost.
void make_pages(void* memory, std::size_t bytes, int threads);

/// Memory for so many bytes that begins on the boundary of a cache line; much of it lies on large pages
/// alone.
class FreshMemory {
 public:
  explicit FreshMemory(std::size_t bytes);
  ~FreshMemory();
  FreshMemory(const FreshMemory&) = delete;
  FreshMemory& operator=(const FreshMemory&) = delete;
  void* begin() const { return begin_; }

 private:
  void *block_, *begin_;
};

/// Room for numbers that nobody has written yet: the threads that write them meet their pages.
template <class Number>
class Room {
 public:
  explicit Room(std::size_t size) : memory_(size * sizeof(Number)) {}
  Number* data() { return static_cast<Number*>(memory_.begin()); }
  const Number* data() const { return static_cast<const Number*>(memory_.begin()); }

 private:
  FreshMemory memory_;
};

/// list.resize(size) of numbers, whose new pages are made on up to `threads` threads. Where it has to move it
/// makes room for `expected` or more.
template <class Number>
void resize_on(int threads, std::vector<Number>& list, std::size_t size, std::size_t expected = 0) {
  if (list.capacity() < size) {
    list.reserve(std::max({size, expected, list.empty() ? 0 : 2 * list.capacity()}));
    prefer_large_pages(list.data(), list.capacity() * sizeof(Number));
  }
  if (list.size() < size)
    make_pages(list.data() + list.size(), (size - list.size()) * sizeof(Number), threads);
  list.resize(size);
}

}  // namespace pursuit
