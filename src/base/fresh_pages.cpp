#include "base/fresh_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

#include "base/parallel.hpp"

namespace pursuit {
namespace {

constexpr std::size_t kPage = 4096, kLargePage = std::size_t{1} << 21;
constexpr std::size_t kWorthwhile =
    4 * kLargePage;  // the ends of a list may fill a large page by a little only

}  // namespace

void prefer_large_pages(void* memory, std::size_t bytes) {
  if (bytes < kWorthwhile) return;
  const auto first = (reinterpret_cast<std::uintptr_t>(memory) + kLargePage - 1) / kLargePage * kLargePage,
             last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / kLargePage * kLargePage;
  ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // a wish, which may be refused
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
