#include "io/ids_over_ranks.hpp"

#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>

namespace pursuit::io {
namespace {

/// The same on every machine, whatever its libraries.
std::uint64_t hash_of(std::string_view id) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char letter : id) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  return hash ^ hash >> 32;
}

/// Ids on their way.
struct Letters {
  std::vector<std::uint32_t> lengths;
  std::vector<char> text;

  void add(std::string_view id) {
    lengths.push_back(std::uint32_t(id.size()));
    text.insert(text.end(), id.begin(), id.end());
  }
};

/// use(id) for every one of them.
template <class Use>
void for_ids(const std::vector<std::uint32_t>& lengths, const std::vector<char>& text, const Use& use) {
  const char* at = text.data();
  for (const std::uint32_t length : lengths) {
    use(std::string_view(at, length));
    at += length;
  }
}

}  // namespace

std::vector<int> number_together(Ranks& ranks, IdTable& table) {
  const auto size = std::size_t(ranks.size());
  std::vector<int> number(std::size_t(table.size()));
  if (size == 1) {
    std::iota(number.begin(), number.end(), 0);
    return number;
  }
  std::vector<std::vector<int>> asked(size);  // ids that each rank looks after
  std::vector<std::vector<std::uint32_t>> lengths(size);
  std::vector<std::vector<char>> text(size);
  for (int id = 0; id < table.size(); ++id) {
    const std::string_view name = table.name(id);
    const std::size_t owner = hash_of(name) % size;
    asked[owner].push_back(id);
    lengths[owner].push_back(std::uint32_t(name.size()));
    text[owner].insert(text[owner].end(), name.begin(), name.end());
  }
  const auto lengths_of = trade_lists(ranks, lengths);
  const auto text_of = trade_lists(ranks, text);

  // Whoever looks after an id knows the first rank that has it.
  IdTable looked_after;
  std::vector<std::vector<int>> place(size);
  std::vector<std::vector<char>> is_first(size);
  for (std::size_t rank = 0; rank < size; ++rank)
    for_ids(lengths_of[rank], text_of[rank], [&](std::string_view id) {
      const int known = looked_after.size();
      place[rank].push_back(looked_after.add(id));
      is_first[rank].push_back(looked_after.size() > known);
    });
  const auto first_here = trade_lists(ranks, is_first);

  // These ranks number them, each behind those before it.
  std::vector<char> is_new(number.size());
  for (std::size_t owner = 0; owner < size; ++owner)
    for (std::size_t k = 0; k < asked[owner].size(); ++k)
      is_new[std::size_t(asked[owner][k])] = first_here[owner][k];
  const std::vector<std::int64_t> found = gather_lists(
      ranks, std::vector<std::int64_t>{std::accumulate(is_new.begin(), is_new.end(), std::int64_t(0))});
  std::int64_t next = std::accumulate(found.begin(), found.begin() + ranks.rank(), std::int64_t(0));
  const std::int64_t all = std::accumulate(found.begin(), found.end(), std::int64_t(0));
  if (all > std::numeric_limits<int>::max()) IdTable::refuse_more();
  Letters fresh;
  for (std::size_t id = 0; id < number.size(); ++id) {
    if (is_new[id] == 0) continue;
    number[id] = int(next++);
    if (!ranks.leads()) fresh.add(table.name(int(id)));
  }
  std::vector<std::vector<int>> numbered(size);
  for (std::size_t owner = 0; owner < size; ++owner)
    for (const int id : asked[owner])
      if (is_new[std::size_t(id)] != 0) numbered[owner].push_back(number[std::size_t(id)]);
  const auto numbers_of = trade_lists(ranks, numbered);

  // Then everybody hears of the rest.
  std::vector<int> known(std::size_t(looked_after.size()));
  for (std::size_t rank = 0; rank < size; ++rank)
    for (std::size_t k = 0, at = 0; k < place[rank].size(); ++k)
      if (is_first[rank][k] != 0) known[std::size_t(place[rank][k])] = numbers_of[rank][at++];
  std::vector<std::vector<int>> answers(size);
  for (std::size_t rank = 0; rank < size; ++rank)
    for (const int at : place[rank]) answers[rank].push_back(known[std::size_t(at)]);
  const auto answered = trade_lists(ranks, answers);
  for (std::size_t owner = 0; owner < size; ++owner)
    for (std::size_t k = 0; k < asked[owner].size(); ++k)
      number[std::size_t(asked[owner][k])] = answered[owner][k];

  const auto all_lengths = gather_lists(ranks, fresh.lengths, false);
  const auto all_text = gather_lists(ranks, fresh.text, false);
  for_ids(all_lengths, all_text, [&](std::string_view id) { table.add(id); });
  return number;
}

}  // namespace pursuit::io
