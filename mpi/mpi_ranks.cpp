// The ranks of MPI: libpursuit_mpi.so, which the program loads where it was started under MPI, and which is
// all that knows of it.

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "pursuit/base/error.hpp"
#include "pursuit/base/ranks.hpp"

namespace {

constexpr std::size_t kPiece = std::size_t(1) << 30;  // MPI counts with an int
constexpr int kTag = 16, kNoTag = 17;
constexpr int kMeetings = -1;  // the number of a window
constexpr std::size_t kLine = 64;

/// So many ranks in a row share memory at most; 0 for all of a machine. Where a machine has too little
/// memory to be shared, and in tests.
constexpr const char* kPerMachine = "PURSUIT_RANKS_PER_MACHINE";
bool read_ranks_per_machine(int& most) {
  const char* text = std::getenv(kPerMachine);  // NOLINT(concurrency-mt-unsafe)
  if (!text || !*text) return true;
  const char* end = text + std::strlen(text);
  const auto [stopped, wrong] = std::from_chars(text, end, most);
  return wrong == std::errc() && stopped == end && most >= 0;
}

class MpiRanks final : public pursuit::Ranks {
 public:
  explicit MpiRanks(int per_machine) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    find_neighbours(per_machine);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  [[noreturn]] void abort(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }
  void finish() override {
    for (auto& [number, window] : windows_) MPI_Win_free(&window);
    MPI_Finalize();
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Those who can share memory, and where they wait for each other. Where one page cannot be shared,
  /// everyone is alone.
  void find_neighbours(int most) {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine_);
    if (most > 0) {
      int place = 0;
      MPI_Comm_rank(machine_, &place);
      MPI_Comm part = MPI_COMM_NULL;
      MPI_Comm_split(machine_, place / most, rank_, &part);
      std::swap(machine_, part);
      MPI_Comm_free(&part);
    }
    MPI_Comm_set_errhandler(machine_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(machine_, &place_);
    MPI_Comm_size(machine_, &neighbours_);
    void* page = nullptr;
    int alone = neighbours_ > 1 && !(page = window(kMeetings, sizeof(Meetings)));
    MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int head = rank_;
    if (!alone) MPI_Bcast(&head, 1, MPI_INT, 0, machine_);
    if (!alone && neighbours_ > 1) {
      meetings_ = place_ == 0 ? new (page) Meetings : static_cast<Meetings*>(page);
      MPI_Barrier(machine_);
    }
    std::vector<int> heads(static_cast<std::size_t>(size_));
    MPI_Allgather(&head, 1, MPI_INT, heads.data(), 1, MPI_INT, MPI_COMM_WORLD);
    set_machines(heads);
  }

  /// Memory of the first of a machine's ranks that all of them see; null on all of them where there is none.
  void* window(int number, std::size_t bytes) {
    if (const auto old = windows_.find(number); old != windows_.end()) {
      MPI_Win_free(&old->second);
      windows_.erase(old);
    }
    MPI_Win window = MPI_WIN_NULL;
    void* memory = nullptr;
    int failed = MPI_Win_allocate_shared(place_ == 0 ? MPI_Aint(bytes + kLine) : 0, 1, MPI_INFO_NULL,
                                         machine_, &memory, &window) != MPI_SUCCESS;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, machine_);
    if (failed) return nullptr;
    windows_[number] = window;
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window, 0, &size, &unit, static_cast<void*>(&memory));
    std::size_t room = bytes + kLine;
    return std::align(kLine, bytes, memory, room);  // as far from its beginning for all: pages begin alike
  }

  void* do_share(int number, std::size_t bytes) override {
    void* memory = window(number, bytes);
    if (!memory)
      throw pursuit::Error(
          "ranks cannot share " + std::to_string(bytes) +
          " bytes of memory on this machine; PURSUIT_RANKS_PER_MACHINE=1 lets each have its own");
    // Pages are made now, while too little room is an error and not a signal, by those who will use them.
    const std::size_t share = bytes / std::size_t(neighbours_) + 1,
                      first = std::min(bytes, share * std::size_t(place_));
    std::memset(static_cast<char*>(memory) + first, 0, std::min(share, bytes - first));
    do_meet();
    return memory;
  }

  void do_meet() override {
    const std::uint64_t all = std::uint64_t(neighbours_) * ++past_meetings_;
    meetings_->arrivals.fetch_add(1, std::memory_order_acq_rel);
    const Clock::time_point start = Clock::now();
    constexpr int kQuickly = 1000;  // looks, before others are thought of
    for (int looks = 0; meetings_->arrivals.load(std::memory_order_acquire) < all; ++looks) {
      if (looks < kQuickly) continue;
      int any = 0;  // what was sent may need us to be on its way
      MPI_Iprobe(MPI_ANY_SOURCE, kNoTag, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
      rest_after(Clock::now() - start);
    }
  }

  void do_broadcast(void* data, std::size_t bytes) override {
    std::vector<MPI_Request> requests;
    for_pieces(data, bytes, [&](void* piece, int count) {
      requests.emplace_back();
      MPI_Ibcast(piece, count, MPI_BYTE, 0, MPI_COMM_WORLD, &requests.back());
    });
    wait(requests, bytes);
  }

  void do_exchange(const std::vector<pursuit::Parcel>& outgoing,
                   const std::vector<pursuit::Parcel>& incoming) override {
    std::vector<MPI_Request> requests;
    std::size_t bytes = 0;
    for (const auto* parcels : {&outgoing, &incoming})
      for (const pursuit::Parcel& parcel : *parcels) bytes += parcel.bytes;
    if (bytes == 0) return;
    for (const pursuit::Parcel& parcel : incoming)
      for_pieces(parcel.data, parcel.bytes, [&](void* piece, int count) {
        requests.emplace_back();
        MPI_Irecv(piece, count, MPI_BYTE, parcel.rank, kTag, MPI_COMM_WORLD, &requests.back());
      });
    for (const pursuit::Parcel& parcel : outgoing)
      for_pieces(parcel.data, parcel.bytes, [&](void* piece, int count) {
        requests.emplace_back();
        MPI_Isend(piece, count, MPI_BYTE, parcel.rank, kTag, MPI_COMM_WORLD, &requests.back());
      });
    wait(requests, bytes);
  }

  template <class Use>
  static void for_pieces(void* data, std::size_t bytes, const Use& use) {
    for (std::size_t done = 0; done < bytes; done += kPiece)
      use(static_cast<char*>(data) + done, int(std::min(kPiece, bytes - done)));
  }

  static void wait(std::vector<MPI_Request>& requests, std::size_t bytes) {
    constexpr std::chrono::nanoseconds kForAByte(10);  // while it is on its way, which needs both ends
    const Clock::time_point start = Clock::now() + kForAByte * std::int64_t(bytes);
    for (int done = 0;;) {
      MPI_Testall(int(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
      if (done) return;
      rest_after(Clock::now() - start);
    }
  }

  /// MPI's own waiting keeps a core busy, which another rank's threads could use: who waits sleeps in
  /// between, the longer the longer it has been waiting.
  static void rest_after(Clock::duration waiting) {
    using std::chrono::microseconds;
    constexpr microseconds kBusy(1000), kShortest(50), kLongest(2000);
    const auto waited = std::chrono::duration_cast<microseconds>(waiting);
    if (waited < kBusy)
      ::sched_yield();
    else
      std::this_thread::sleep_for(std::clamp(waited / 16, kShortest, kLongest));
  }

  struct Meetings {
    std::atomic<std::uint64_t> arrivals = 0;  // at all of them
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  int rank_ = 0, size_ = 1;
  MPI_Comm machine_ = MPI_COMM_NULL;
  int place_ = 0, neighbours_ = 1;  // on this machine
  std::map<int, MPI_Win> windows_;
  Meetings* meetings_ = nullptr;
  std::uint64_t past_meetings_ = 0;
};

}  // namespace

// The leader's threads take turns, so that calls never overlap.
extern "C" __attribute__((visibility("default"))) pursuit::Ranks* pursuit_start_ranks(std::string& reason) {
  int per_machine = 0, provided = MPI_THREAD_SINGLE;
  if (!read_ranks_per_machine(per_machine)) {
    reason = std::string(kPerMachine) + "=" + std::getenv(kPerMachine) +  // NOLINT(concurrency-mt-unsafe)
             ": must be a whole number, 0 or more";
    return nullptr;
  }
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    reason = "MPI could not be started";
    return nullptr;
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    reason = "this MPI cannot be called by several threads in turn (MPI_THREAD_SERIALIZED)";
    return nullptr;
  }
  static MpiRanks ranks(per_machine);
  return &ranks;
}
