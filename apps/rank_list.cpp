#include "apps/rank_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "pursuit/base/error.hpp"

namespace pursuit::app {
namespace {

Index whole_number(std::string_view text, const std::string& all) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1)
    throw InvalidArgument(fmt::format(
        "--ranks {}: '{}' is no number of atoms; allowed are numbers and ranges, as in 2-10 or 1,2,5-8", all,
        text));
  return value;
}

}  // namespace

std::vector<Index> ranks_of(const std::string& text) {
  std::vector<Index> ranks;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    const std::string_view part = std::string_view(text).substr(first, comma - first);
    const std::size_t dash = part.find('-');
    const Index from = whole_number(part.substr(0, dash), text);
    const Index to = dash == std::string_view::npos ? from : whole_number(part.substr(dash + 1), text);
    if (to < from) throw InvalidArgument(fmt::format("--ranks {}: {} is below {}", text, to, from));
    constexpr Index kMostRanks = 10'000;
    if (to - from >= kMostRanks)
      throw InvalidArgument(fmt::format("--ranks {}: more ranks than can be tried", text));
    for (Index rank = from; rank <= to; ++rank) ranks.push_back(rank);
    first = comma + 1;
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace pursuit::app
