#pragma once
// Several processes ("ranks") that work on one job. Rank 0 leads: it decides, prints and writes; the others
// own parts of the data and do what it says. What ranks tell each other goes through this face, so that the
// library knows no message passing; libpursuit_mpi.so brings MPI behind it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pursuit {

/// Bytes on their way to another rank, or room for those that come from it.
struct Parcel {
  int rank;
  void* data;
  std::size_t bytes;
};

/// What went through a rank, for whoever compares it with formulas.
struct RankTraffic {
  std::int64_t collectives = 0, bytes_received = 0;
};

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool leads() const { return rank() == 0; }

  /// The bytes of rank 0 to everyone.
  void broadcast(void* data, std::size_t bytes);
  /// Everyone says at once what it sends and what it expects; parcels between two ranks arrive in order.
  void exchange(const std::vector<Parcel>& outgoing, const std::vector<Parcel>& incoming);

  /// The ranks of every machine, in order: those that see the same memory. A rank may be alone.
  const std::vector<std::vector<int>>& machines() const { return machines_; }
  const std::vector<int>& neighbours() const { return machines_[std::size_t(machine_of(rank()))]; }
  int machine_of(int rank) const { return machine_of_[std::size_t(rank)]; }
  /// Whoever of a machine gets what this rank has for it, so that it need not come twice.
  int receiver(int machine, int sender) const;
  /// Memory that a machine's ranks see as one, under a number. All ranks ask for it together; it is the same
  /// as before unless it has to grow, and then what it held is lost. It lasts to the end.
  void* shared(int number, std::size_t bytes);
  /// The same for what is said in one round: it stands there until the round after the next begins.
  void* board(std::size_t bytes);
  /// A machine's ranks wait for each other: each sees afterwards what the others have written before.
  void meet();

  /// Ends all processes at once.
  [[noreturn]] virtual void abort(int status) = 0;
  /// Once, when all have nothing more to say.
  virtual void finish() = 0;

  const RankTraffic& traffic() const { return traffic_; }

 protected:
  Ranks() = default;
  /// The number of a machine for every rank. Here for the sake of libpursuit_mpi.so, which has no other code
  /// of ours.
  void set_machines(const std::vector<int>& machine_of) {
    std::map<int, int> place;  // in the order in which they appear: that of rank 0 is the first
    machine_of_.clear();
    machines_.clear();
    for (std::size_t rank = 0; rank < machine_of.size(); ++rank) {
      const int machine = place.emplace(machine_of[rank], int(place.size())).first->second;
      machines_.resize(place.size());
      machines_[std::size_t(machine)].push_back(int(rank));
      machine_of_.push_back(machine);
    }
  }

 private:
  /// As much memory as a machine's ranks see as one, and the end of what there was under a number; not asked
  /// of a rank that is alone.
  virtual void* do_share(int number, std::size_t bytes) = 0;
  virtual void do_meet() = 0;
  virtual void do_broadcast(void* data, std::size_t bytes) = 0;
  virtual void do_exchange(const std::vector<Parcel>& outgoing, const std::vector<Parcel>& incoming) = 0;

  struct Shared {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  RankTraffic traffic_;
  int boards_ = 0;  // so far
  std::vector<int> machine_of_;
  std::vector<std::vector<int>> machines_;
  std::map<int, Shared> shared_;
  std::map<int, std::shared_ptr<void>> own_;  // of a rank that is alone
};

/// One process.
class OneRank final : public Ranks {
 public:
  OneRank() { set_machines({0}); }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  [[noreturn]] void abort(int status) override;
  void finish() override {}

 private:
  void* do_share(int, std::size_t) override { return nullptr; }
  void do_meet() override {}
  void do_broadcast(void*, std::size_t) override {}
  void do_exchange(const std::vector<Parcel>& outgoing, const std::vector<Parcel>& incoming) override;
};

/// Everyone's bytes, as many from each, in the order of ranks, to rank 0 (others get none) or to all.
std::vector<std::byte> gather(Ranks& ranks, const void* mine, std::size_t bytes, bool to_all = false);

/// What rank 0 has in memory that machines share, to all of them.
void share_from_leader(Ranks& ranks, void* memory, std::size_t bytes);

/// Lists of different lengths, one behind the other in the order of ranks, for all or for rank 0.
template <class Number>
std::vector<Number> gather_lists(Ranks& ranks, const std::vector<Number>& mine, bool to_all = true) {
  const auto bytes = std::uint64_t(mine.size() * sizeof(Number));
  const std::vector<std::byte> sizes = gather(ranks, &bytes, sizeof bytes, true);
  std::vector<Number> all;
  std::vector<Parcel> outgoing, incoming;
  std::size_t total = 0;
  const auto size_of = [&](int rank) { return reinterpret_cast<const std::uint64_t*>(sizes.data())[rank]; };
  const bool receives = to_all || ranks.leads();
  for (int rank = 0; rank < ranks.size() && receives; ++rank) total += size_of(rank);
  all.resize(total / sizeof(Number));
  auto* place = reinterpret_cast<std::byte*>(all.data());
  for (int rank = 0; rank < ranks.size(); place += size_of(rank++)) {
    if (bytes > 0 && (to_all || rank == 0))
      outgoing.push_back({rank, const_cast<Number*>(mine.data()), bytes});
    if (size_of(rank) > 0 && receives) incoming.push_back({rank, place, size_of(rank)});
  }
  ranks.exchange(outgoing, incoming);
  return all;
}

/// Everyone has a list for every rank, and gets the lists that the others have for it, in the order of ranks.
template <class Number>
std::vector<std::vector<Number>> trade_lists(Ranks& ranks, const std::vector<std::vector<Number>>& mine) {
  const auto size = std::size_t(ranks.size());
  std::vector<std::uint64_t> sent(size), coming(size);
  std::vector<std::vector<Number>> theirs(size);
  std::vector<Parcel> outgoing, incoming;
  for (std::size_t rank = 0; rank < size; ++rank) {
    sent[rank] = mine[rank].size();
    outgoing.push_back({int(rank), &sent[rank], sizeof sent[rank]});
    incoming.push_back({int(rank), &coming[rank], sizeof coming[rank]});
  }
  ranks.exchange(outgoing, incoming);
  outgoing.clear();
  incoming.clear();
  for (std::size_t rank = 0; rank < size; ++rank) {
    theirs[rank].resize(coming[rank]);
    if (sent[rank] > 0)
      outgoing.push_back({int(rank), const_cast<Number*>(mine[rank].data()), sent[rank] * sizeof(Number)});
    if (coming[rank] > 0) incoming.push_back({int(rank), theirs[rank].data(), coming[rank] * sizeof(Number)});
  }
  ranks.exchange(outgoing, incoming);
  return theirs;
}

/// Whole numbers that every rank has as many of, added up for all, or for rank 0: what others have then is of
/// no use.
void add_up(Ranks& ranks, std::vector<std::int64_t>& numbers, bool to_all = true);

/// Rank 0's text to all.
std::string broadcast_text(Ranks& ranks, std::string text);

/// The first rank that has another text than rank 0, -1 where all have the same; the same answer on all.
int first_that_differs(Ranks& ranks, std::string_view text);

/// Does a part of a job that may fail on some ranks. Where it does, all ranks throw what the first of them
/// threw: InvalidArgument, InvalidInput, OutputFailure or Error with its message, which names the rank.
void together(Ranks& ranks, const std::function<void()>& work);

/// How many threads this rank may use so that ranks on one machine do not get into each other's way: its
/// cores, each divided by the number of ranks that may run on it.
struct FairShare {
  int threads;
  bool bound_to_one;  // of several cores that the machine has, although ranks are fewer
};
FairShare fair_share(Ranks& ranks);

/// What libpursuit_mpi.so has to offer under this name: the ranks of MPI, started; null and a reason where
/// that failed.
using StartRanks = Ranks* (*)(std::string& reason);
constexpr const char* kStartRanks = "pursuit_start_ranks";

}  // namespace pursuit
