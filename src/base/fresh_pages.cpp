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

constexpr std::size_t kLine = 64;

}  // namespace

// The boundary is looked for here: an allocator that is asked for it gives away what lies before, and what
// was freed seldom fits the next list of the same size.
FreshMemory::FreshMemory(std::size_t bytes) {
  const std::size_t boundary = bytes < kLargePage ? kLine : kLargePage;
  block_ = ::operator new(bytes + boundary);
  const auto place = reinterpret_cast<std::uintptr_t>(block_);
  begin_ = static_cast<char*>(block_) + (boundary - place % boundary) % boundary;
  if (boundary == kLargePage)
    ::madvise(begin_, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);  // what is left over has small ones
}

FreshMemory::~FreshMemory() {
  ::operator delete(block_);
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
