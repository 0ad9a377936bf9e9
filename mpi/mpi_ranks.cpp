// The ranks of MPI: libpursuit_mpi.so, which the program loads where it was started under MPI, and which is
// all that knows of it.

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "pursuit/base/ranks.hpp"

namespace {

constexpr std::size_t kPiece = std::size_t(1) << 30;  // MPI counts with an int
constexpr int kTag = 16;

class MpiRanks final : public pursuit::Ranks {
 public:
  MpiRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  [[noreturn]] void abort(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }
  void finish() override { MPI_Finalize(); }

 private:
  void do_broadcast(void* data, std::size_t bytes) override {
    std::vector<MPI_Request> requests;
    for_pieces(data, bytes, [&](void* piece, int count) {
      requests.emplace_back();
      MPI_Ibcast(piece, count, MPI_BYTE, 0, MPI_COMM_WORLD, &requests.back());
    });
    wait(requests);
  }

  void do_exchange(const std::vector<pursuit::Parcel>& outgoing,
                   const std::vector<pursuit::Parcel>& incoming) override {
    std::vector<MPI_Request> requests;
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
    wait(requests);
  }

  template <class Use>
  static void for_pieces(void* data, std::size_t bytes, const Use& use) {
    for (std::size_t done = 0; done < bytes; done += kPiece)
      use(static_cast<char*>(data) + done, int(std::min(kPiece, bytes - done)));
  }

  /// MPI's own waiting keeps a core busy, which another rank's threads could use: who waits sleeps in
  /// between, the longer the longer it has been waiting.
  static void wait(std::vector<MPI_Request>& requests) {
    using Clock = std::chrono::steady_clock;
    using std::chrono::microseconds;
    constexpr microseconds kBusy(200), kShortest(50), kLongest(2000);
    const Clock::time_point start = Clock::now();
    for (int done = 0;;) {
      MPI_Testall(int(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
      if (done) return;
      const auto waited = std::chrono::duration_cast<microseconds>(Clock::now() - start);
      if (waited < kBusy)
        ::sched_yield();
      else
        std::this_thread::sleep_for(std::clamp(waited / 16, kShortest, kLongest));
    }
  }

  int rank_ = 0, size_ = 1;
};

}  // namespace

// The leader's threads take turns, so that calls never overlap.
extern "C" __attribute__((visibility("default"))) pursuit::Ranks* pursuit_start_ranks(std::string& reason) {
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    reason = "MPI could not be started";
    return nullptr;
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    reason = "this MPI cannot be called by several threads in turn (MPI_THREAD_SERIALIZED)";
    return nullptr;
  }
  static MpiRanks ranks;
  return &ranks;
}
