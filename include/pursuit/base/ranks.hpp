#pragma once
// Several processes ("ranks") that work on one job. Rank 0 leads: it decides, prints and writes; the others
// own parts of the data and do what it says. What ranks tell each other goes through this face, so that the
// library knows no message passing; libpursuit_mpi.so brings MPI behind it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
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
  /// Ends all processes at once.
  [[noreturn]] virtual void abort(int status) = 0;
  /// Once, when all have nothing more to say.
  virtual void finish() = 0;

  const RankTraffic& traffic() const { return traffic_; }

 private:
  virtual void do_broadcast(void* data, std::size_t bytes) = 0;
  virtual void do_exchange(const std::vector<Parcel>& outgoing, const std::vector<Parcel>& incoming) = 0;

  RankTraffic traffic_;
};

/// One process.
class OneRank final : public Ranks {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  [[noreturn]] void abort(int status) override;
  void finish() override {}

 private:
  void do_broadcast(void*, std::size_t) override {}
  void do_exchange(const std::vector<Parcel>& outgoing, const std::vector<Parcel>& incoming) override;
};

/// Everyone's bytes, as many from each, in the order of ranks, to rank 0 (others get none) or to all.
std::vector<std::byte> gather(Ranks& ranks, const void* mine, std::size_t bytes, bool to_all = false);

/// Rank 0's text to all.
std::string broadcast_text(Ranks& ranks, std::string text);

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
