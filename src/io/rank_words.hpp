#pragma once
// What ranks that read a file tell each other: a few numbers, and what went wrong.

#include <cstring>
#include <string>
#include <vector>

#include "io/defect.hpp"
#include "pursuit/base/ranks.hpp"

namespace pursuit::io {

/// Numbers of every rank, the same list on all of them.
template <class Word>
std::vector<Word> words_of_all(Ranks& ranks, const Word& mine) {
  const std::vector<std::byte> bytes = gather(ranks, &mine, sizeof mine, true);
  std::vector<Word> all(bytes.size() / sizeof mine);
  std::memcpy(static_cast<void*>(all.data()), bytes.data(), bytes.size());
  return all;
}

/// together() of work that takes in the file of this name, or a part of it.
template <class Work>
void take_in_together(Ranks& ranks, const std::string& name, const Work& work) {
  together(ranks, [&] { within_memory(name, work); });
}

}  // namespace pursuit::io
