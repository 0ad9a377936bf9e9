#include "apps/shared_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "pursuit/base/checkpoints.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::app {
namespace {

/// Everybody's text to rank 0, which writes it.
void bring_together(Ranks& ranks, const std::string& mine,
                    const std::function<void(std::string_view)>& write) {
  const std::uint64_t length = mine.size();
  const std::vector<std::byte> lengths = gather(ranks, &length, sizeof length);
  std::vector<std::string> texts(ranks.leads() ? std::size_t(ranks.size()) : 0);
  together(ranks, [&] {  // rank 0 may not have the memory
    for (std::size_t rank = 1; rank < texts.size(); ++rank) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, lengths.data() + rank * sizeof bytes, sizeof bytes);
      texts[rank].resize(bytes);
    }
  });
  std::vector<Parcel> outgoing, incoming;
  if (!ranks.leads()) outgoing.push_back({0, const_cast<char*>(mine.data()), mine.size()});
  for (std::size_t rank = 1; rank < texts.size(); ++rank)
    incoming.push_back({int(rank), texts[rank].data(), texts[rank].size()});
  ranks.exchange(outgoing, incoming);
  together(ranks, [&] {
    if (!ranks.leads()) return;
    write(mine);
    for (std::size_t rank = 1; rank < texts.size(); ++rank) write(texts[rank]);
  });
}

}  // namespace

Index write_together(Ranks& ranks, const SharedText& text) {
  Index done = 0;
  while (done < text.count) {
    std::uint8_t on = ranks.leads() && text.goes_on(done);
    ranks.broadcast(&on, sizeof on);
    if (on == 0) break;
    const Index round = std::min(text.count - done, text.at_once * ranks.size());
    const Index first = done + round * ranks.rank() / ranks.size(),
                last = done + round * (ranks.rank() + 1) / ranks.size();
    std::string mine;
    together(ranks, [&] { mine = text.of(first, last); });
    bring_together(ranks, mine, text.write);
    done += round;
  }
  return done;
}

void require_one_model(Ranks& ranks, const CompletionModel& model, const std::string& path) {
  if (ranks.size() == 1) return;
  Identity identity;
  const auto add = [&](const char* name, const auto& table) {
    identity.add_bytes(name, table.data(), std::size_t(table.size()) * sizeof(*table.data()));
  };
  for (const CompletionSide* side : {&model.rows, &model.cols}) {
    identity.add("members", double(side->size()));
    add("means", side->mean);
    add("variances", side->variance);
  }
  for (const Index mode : {0, 1})
    if (model.atoms.rank() > 0) add("atoms", model.atoms.factors[mode]);
  std::string all;
  for (const auto& [name, value] : identity.parts()) all += value + ' ';
  if (const int other = first_that_differs(ranks, all); other >= 0)
    throw InvalidInput(fmt::format("{}: rank {} finds another model there than rank 0", path, other));
}

}  // namespace pursuit::app
