#include "pursuit/completion/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "completion/units.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

RankingScore ranking_score(const std::vector<std::vector<int>>& lists,
                           const std::vector<std::vector<int>>& relevant, Index columns, Index places) {
  RankingScore score{.places = places};
  std::vector<char> listed(std::size_t(columns), 0);
  for (std::size_t i = 0; i < relevant.size(); ++i) {
    if (relevant[i].empty()) continue;
    ++score.rows;
    std::vector<int> wanted = relevant[i];
    std::sort(wanted.begin(), wanted.end());
    const auto count = double(wanted.size()), reachable = std::min(count, double(places));
    double gain = 0, precisions = 0, hits = 0, most = 0;
    for (Index p = 1; p <= Index(reachable); ++p) most += 1 / std::log2(1.0 + double(p));
    for (std::size_t p = 0; p < std::min(lists[i].size(), std::size_t(places)); ++p) {
      listed[std::size_t(lists[i][p])] = 1;
      if (!std::binary_search(wanted.begin(), wanted.end(), lists[i][p])) continue;
      ++hits;
      gain += 1 / std::log2(2.0 + double(p));
      precisions += hits / (1.0 + double(p));
    }
    score.ndcg += gain / most;
    score.recall += hits / count;
    score.map += precisions / reachable;
  }
  for (double* figure : {&score.ndcg, &score.recall, &score.map})
    *figure /= double(std::max<Index>(score.rows, 1));
  score.coverage = double(std::count(listed.begin(), listed.end(), 1)) / double(std::max<Index>(columns, 1));
  return score;
}

RankingScore ranking_score(const CompletionModel& model, const GroupedEntries& seen,
                           const ObservedEntries& test, double relevant, Index places, int threads) {
  if (places < 1) throw InvalidArgument(fmt::format("places {}: must be 1 or more", places));
  std::vector<std::vector<int>> wanted(std::size_t(model.row_count()));
  for (std::size_t e = 0; e < test.row.size(); ++e)
    if (test.row[e] >= 0 && test.value[e] >= relevant)
      wanted[std::size_t(test.row[e])].push_back(test.col[e]);
  constexpr int kRowsAtOnce = 4096;
  const Recommender recommender(model);
  std::vector<std::vector<int>> lists(wanted.size());
  for (int first = 0; first < model.row_count(); first += kRowsAtOnce) {
    const int last = int(std::min<Index>(model.row_count(), first + kRowsAtOnce));
    if (std::all_of(wanted.begin() + first, wanted.begin() + last, [](const auto& w) { return w.empty(); }))
      continue;
    const auto block = recommender.of_rows(first, last, places, &seen, threads);
    for (int row = first; row < last; ++row)
      for (const Recommendation& each : block[std::size_t(row - first)])
        lists[std::size_t(row)].push_back(each.col);
  }
  return ranking_score(lists, wanted, model.column_count(), places);
}

double relevant_from(const ObservedEntries& entries) {
  const ValueRange range = range_of(entries.value, 1);
  return range.low + 0.75 * (range.high - range.low);
}

}  // namespace pursuit
