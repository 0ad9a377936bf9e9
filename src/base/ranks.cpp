#include "pursuit/base/ranks.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/fresh_pages.hpp"
#include "base/machine.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {

void Ranks::broadcast(void* data, std::size_t bytes) {
  if (bytes == 0 || size() == 1) return;
  ++traffic_.collectives;
  if (!leads()) traffic_.bytes_received += std::int64_t(bytes);
  do_broadcast(data, bytes);
}

void Ranks::exchange(const std::vector<Parcel>& outgoing, const std::vector<Parcel>& incoming) {
  if (size() > 1) ++traffic_.collectives;
  for (const Parcel& parcel : incoming)
    if (parcel.rank != rank()) traffic_.bytes_received += std::int64_t(parcel.bytes);
  do_exchange(outgoing, incoming);
}

int Ranks::receiver(int machine, int sender) const {
  const std::vector<int>&there = machines_[std::size_t(machine)],
        &here = machines_[std::size_t(machine_of(sender))];
  const auto place = std::size_t(std::find(here.begin(), here.end(), sender) - here.begin());
  return there[place % there.size()];
}

void* Ranks::shared(int number, std::size_t bytes) {
  Shared& shared = shared_[number];
  if (shared.memory && shared.bytes >= bytes) return shared.memory;
  shared.bytes = std::max<std::size_t>(bytes, 1);
  if (neighbours().size() > 1) return shared.memory = do_share(number, shared.bytes);
  own_[number].reset();
  const auto own = std::make_shared<FreshMemory>(shared.bytes);
  own_[number] = own;
  return shared.memory = own->begin();
}

void* Ranks::board(std::size_t bytes) {
  constexpr int kFirst = -3, kBoards = 2;  // while some still read one, others begin the next
  return shared(kFirst + boards_++ % kBoards, bytes);
}

void Ranks::meet() {
  if (neighbours().size() > 1) do_meet();
}

void share_from_leader(Ranks& ranks, void* memory, std::size_t bytes) {
  const std::vector<std::vector<int>>& machines = ranks.machines();
  const int count = int(machines.size()), mine = ranks.machine_of(ranks.rank());
  const auto head = [&](int machine) { return machines[std::size_t(machine)].front(); };
  for (int step = 1; step < count; step *= 2) {  // those that have it are twice as many each time
    std::vector<Parcel> outgoing, incoming;
    const bool heads = ranks.rank() == head(mine);
    if (heads && mine < step && mine + step < count) outgoing.push_back({head(mine + step), memory, bytes});
    if (heads && mine >= step && mine < 2 * step) incoming.push_back({head(mine - step), memory, bytes});
    ranks.exchange(outgoing, incoming);
  }
  ranks.meet();
}

void OneRank::abort(int status) {
  std::_Exit(status);
}

void OneRank::do_exchange(const std::vector<Parcel>& outgoing, const std::vector<Parcel>& incoming) {
  for (std::size_t i = 0; i < std::min(outgoing.size(), incoming.size()); ++i)  // from itself to itself
    if (outgoing[i].bytes > 0) std::memcpy(incoming[i].data, outgoing[i].data, outgoing[i].bytes);
}

std::vector<std::byte> gather(Ranks& ranks, const void* mine, std::size_t bytes, bool to_all) {
  std::vector<std::byte> all(to_all || ranks.leads() ? bytes * std::size_t(ranks.size()) : 0);
  std::vector<Parcel> outgoing, incoming;
  outgoing.reserve(std::size_t(ranks.size()));
  incoming.reserve(std::size_t(ranks.size()));
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (to_all || rank == 0) outgoing.push_back({rank, const_cast<void*>(mine), bytes});
    if (to_all || ranks.leads()) incoming.push_back({rank, all.data() + std::size_t(rank) * bytes, bytes});
  }
  ranks.exchange(outgoing, incoming);
  return all;
}

void add_up(Ranks& ranks, std::vector<std::int64_t>& numbers, bool to_all) {
  // Each rank adds up a slice of them, so that nobody has everybody's.
  const auto size = std::int64_t(numbers.size());
  const auto first = [&](int rank) {
    return size / ranks.size() * rank + size % ranks.size() * rank / ranks.size();
  };
  const auto slice = [&](int of, int other) {
    return Parcel{other, numbers.data() + first(of),
                  std::size_t(first(of + 1) - first(of)) * sizeof numbers[0]};
  };
  const int me = ranks.rank();
  const std::int64_t own = first(me + 1) - first(me);
  std::vector<std::int64_t> parts(std::size_t(own * (ranks.size() - 1)));
  std::vector<Parcel> outgoing, incoming;
  for (int rank = 0, place = 0; rank < ranks.size(); ++rank) {
    if (rank == me) continue;
    outgoing.push_back(slice(rank, rank));
    incoming.push_back({rank, parts.data() + own * place++, std::size_t(own) * sizeof numbers[0]});
  }
  ranks.exchange(outgoing, incoming);
  for (std::size_t k = 0; k < parts.size(); ++k)
    numbers[std::size_t(first(me) + std::int64_t(k) % own)] += parts[k];
  outgoing.clear();
  incoming.clear();
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (rank == me) continue;
    if (to_all || rank == 0) outgoing.push_back(slice(me, rank));
    if (to_all || me == 0) incoming.push_back(slice(rank, rank));
  }
  ranks.exchange(outgoing, incoming);
}

std::string broadcast_text(Ranks& ranks, std::string text) {
  std::uint64_t length = text.size();
  ranks.broadcast(&length, sizeof length);
  text.resize(length);
  ranks.broadcast(text.data(), length);
  return text;
}

int first_that_differs(Ranks& ranks, std::string_view text) {
  std::uint64_t mine = 14695981039346656037U;  // FNV-1a
  for (const char letter : text) mine = (mine ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  const std::vector<std::byte> all = gather(ranks, &mine, sizeof mine, true);
  for (int rank = 1; rank < ranks.size(); ++rank)
    if (std::memcmp(all.data(), all.data() + std::size_t(rank) * sizeof mine, sizeof mine) != 0) return rank;
  return -1;
}

namespace {

enum class Failure : std::int32_t { none, argument, input, output, other };

struct Outcome {
  Failure failure = Failure::none;
  std::string message;
};

Outcome outcome_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const InvalidArgument& error) {
    return {Failure::argument, error.what()};
  } catch (const InvalidInput& error) {
    return {Failure::input, error.what()};
  } catch (const OutputFailure& error) {
    return {Failure::output, error.what()};
  } catch (const std::bad_alloc&) {
    return {Failure::other, "not enough memory"};
  } catch (const std::exception& error) {
    return {Failure::other, error.what()};
  }
}

}  // namespace

void together(Ranks& ranks, const std::function<void()>& work) {
  if (ranks.size() == 1) return work();
  struct Word {  // short enough for any message of ours; a longer one is cut
    Failure failure = Failure::none;
    std::array<char, 4000> message{};
  } mine;
  const Outcome outcome = outcome_of(work);
  mine.failure = outcome.failure;
  outcome.message.copy(mine.message.data(), mine.message.size() - 1);
  const std::vector<std::byte> all = gather(ranks, &mine, sizeof mine, true);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    Word word;
    std::memcpy(&word, all.data() + std::size_t(rank) * sizeof word, sizeof word);
    const std::string message =
        rank == 0 ? word.message.data() : fmt::format("{} (rank {})", word.message.data(), rank);
    switch (word.failure) {
      case Failure::none: break;
      case Failure::argument: throw InvalidArgument(message);
      case Failure::input: throw InvalidInput(message);
      case Failure::output: throw OutputFailure(message);
      case Failure::other: throw Error(message);
    }
  }
}

FairShare fair_share(Ranks& ranks) {
  struct Place {
    std::array<char, 256> machine{};
    cpu_set_t cores;
  } mine;
  ::gethostname(mine.machine.data(), mine.machine.size() - 1);
  CPU_ZERO(&mine.cores);
  ::sched_getaffinity(0, sizeof mine.cores, &mine.cores);
  const std::vector<std::byte> all = gather(ranks, &mine, sizeof mine, true);
  std::array<int, CPU_SETSIZE> users{};
  int neighbours = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    Place place;
    std::memcpy(&place, all.data() + std::size_t(rank) * sizeof place, sizeof place);
    if (place.machine != mine.machine) continue;
    ++neighbours;
    for (int core = 0; core < CPU_SETSIZE; ++core) users[std::size_t(core)] += CPU_ISSET(core, &place.cores);
  }
  double cores = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mine.cores)) cores += 1.0 / users[std::size_t(core)];
  const bool one = CPU_COUNT(&mine.cores) == 1 && ::sysconf(_SC_NPROCESSORS_ONLN) > neighbours;
  return {std::clamp(int(cores + 1e-6), 1, usable_cores()), one};
}

}  // namespace pursuit
