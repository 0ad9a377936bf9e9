#pragma once
// A few numbers taken out of a long list, or put back, by all threads: everything between two of them moves
// as a whole.

#include <algorithm>
#include <span>
#include <vector>

#include "base/chunks.hpp"
#include "base/fresh_pages.hpp"

namespace pursuit {

/// Without the numbers at these places, which ascend.
template <class Number>
void erase_at(std::vector<Number>& list, std::span<const std::int64_t> places, int threads) {
  if (places.empty()) return;
  std::vector<Number> rest;
  resize_on(threads, rest, list.size() - places.size());
  const Chunks chunks(Index(list.size()), 1 << 14);
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    std::int64_t from = chunks.first(chunk);
    const std::int64_t last = chunks.first(chunk + 1);
    auto next = std::size_t(std::lower_bound(places.begin(), places.end(), from) - places.begin());
    auto into = rest.begin() + (from - std::int64_t(next));
    while (from < last) {
      const std::int64_t until = next < places.size() ? std::min(places[next], last) : last;
      into = std::copy(list.begin() + from, list.begin() + until, into);
      from = until + 1;
      ++next;
    }
  });
  list = std::move(rest);
}

/// With each of these numbers before the one that stood at its place; places ascend, and may be the end.
template <class Number>
void insert_at(std::vector<Number>& list, std::span<const std::int64_t> places,
               std::span<const Number> numbers, int threads) {
  if (places.empty()) return;
  std::vector<Number> all;
  resize_on(threads, all, list.size() + places.size());
  const Chunks chunks(Index(list.size()) + 1, 1 << 14);  // the end is a place, too
  parallel_for(chunks.count(), threads, [&](Index chunk) {
    std::int64_t from = chunks.first(chunk);
    const std::int64_t last = chunks.first(chunk + 1);
    auto next = std::size_t(std::lower_bound(places.begin(), places.end(), from) - places.begin());
    auto into = all.begin() + (from + std::int64_t(next));
    while (from < last) {
      for (; next < places.size() && places[next] == from; ++next) *into++ = numbers[next];
      const std::int64_t stands = std::min(last, std::int64_t(list.size()));
      const std::int64_t until = next < places.size() ? std::min(places[next], stands) : stands;
      into = std::copy(list.begin() + from, list.begin() + until, into);
      if (from == until) break;  // the end
      from = until;
    }
  });
  list = std::move(all);
}

}  // namespace pursuit
