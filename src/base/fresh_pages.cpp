#include "base/fresh_pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include "base/parallel.hpp"

namespace pursuit {
namespace {

constexpr std::size_t kPage = 4096, kLargePage = std::size_t{1} << 21;
constexpr std::size_t kWorthwhile =
    4 * kLargePage;  // the ends of a list may fill a large page by a little only

constexpr std::align_val_t kLine{64};

bool is_in_large_pages(std::size_t bytes) {
  return bytes >= kLargePage;
}

}  // namespace

void* allocate_fresh(std::size_t bytes) {
  if (!is_in_large_pages(bytes)) return ::operator new(bytes, kLine);
  void* const memory = ::operator new (bytes, std::align_val_t{kLargePage});
  ::madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);  // what is left over has small ones
  return memory;
}

void free_fresh(void* memory, std::size_t bytes) {
  if (is_in_large_pages(bytes))
    ::operator delete (memory, std::align_val_t{kLargePage});
  else
    ::operator delete(memory, kLine);
}

void prefer_large_pages(void* memory, std::size_t bytes) {
  if (bytes < kWorthwhile) return;
  const std::size_t into = reinterpret_cast<std::uintptr_t>(memory) % kLargePage;  // a large page
  const std::size_t skipped = into == 0 ? 0 : kLargePage - into;
  ::madvise(static_cast<char*>(memory) + skipped, (bytes - skipped) / kLargePage * kLargePage,
            MADV_HUGEPAGE);  // a wish, which may be refused
}

void make_pages(void* memory, std::size_t bytes, int threads) {
  if (bytes < kWorthwhile || threads == 1) return;  // whoever fills it touches it too
  auto* const begin = static_cast<volatile char*>(memory);
  parallel_for(Index((bytes + kLargePage - 1) / kLargePage), threads, [&](Index k) {
    const std::size_t from = std::size_t(k) * kLargePage, to = std::min(bytes, from + kLargePage);
    for (std::size_t at = from; at < to; at += kPage) begin[at] = 0;
  });
}

}  // namespace pursuit
