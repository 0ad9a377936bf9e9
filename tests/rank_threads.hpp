#pragma once
// Ranks that are threads of one process, so that tests need no MPI.

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "pursuit/base/ranks.hpp"

namespace pursuit {

class ThreadRanks final : public Ranks {
 public:
  struct Mail {
    std::mutex mutex;
    std::condition_variable arrived;
    std::map<std::pair<int, int>, std::deque<std::vector<char>>> waiting;  // from, to
    std::map<std::pair<int, int>, AlignedVector<char>> shared;             // by machine and number
    std::map<int, std::pair<int, int>> meetings;  // of a machine: who is there, and how many there were
  };
  /// So many in a row are on one machine.
  ThreadRanks(Mail& mail, int rank, int size, int per_machine = 1) : mail_(mail), rank_(rank), size_(size) {
    std::vector<int> machine_of;
    for (int other = 0; other < size; ++other) machine_of.push_back(other / per_machine);
    set_machines(machine_of);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  [[noreturn]] void abort(int) override { std::terminate(); }
  void finish() override {}

 private:
  void send(int to, const void* data, std::size_t bytes) {
    const std::lock_guard lock(mail_.mutex);
    const auto* first = static_cast<const char*>(data);
    mail_.waiting[{rank_, to}].emplace_back(first, first + bytes);
    mail_.arrived.notify_all();
  }
  void receive(int from, void* data, std::size_t bytes) {
    std::unique_lock lock(mail_.mutex);
    auto& box = mail_.waiting[{from, rank_}];
    mail_.arrived.wait(lock, [&] { return !box.empty(); });
    if (box.front().size() != bytes) throw std::logic_error("a parcel of another size than expected");
    std::memcpy(data, box.front().data(), bytes);
    box.pop_front();
  }
  void* do_share(int number, std::size_t bytes) override {
    do_meet();  // nobody uses what there was
    char* memory = nullptr;
    {
      const std::lock_guard lock(mail_.mutex);
      AlignedVector<char>& room = mail_.shared[{machine_of(rank_), number}];
      if (room.size() < bytes) room.assign(bytes, char(-1));  // what nobody wrote is no number
      memory = room.data();
    }
    do_meet();
    return memory;
  }
  void do_meet() override {
    std::unique_lock lock(mail_.mutex);
    auto& [present, past] = mail_.meetings[machine_of(rank_)];
    const int mine = past;
    if (++present == int(neighbours().size())) {
      present = 0;
      ++past;
      mail_.arrived.notify_all();
    }
    mail_.arrived.wait(lock, [&, &meetings = past] { return meetings != mine; });
  }
  void do_broadcast(void* data, std::size_t bytes) override {
    if (!leads()) return receive(0, data, bytes);
    for (int rank = 1; rank < size_; ++rank) send(rank, data, bytes);
  }
  void do_exchange(const std::vector<Parcel>& outgoing, const std::vector<Parcel>& incoming) override {
    for (const Parcel& parcel : outgoing)
      if (parcel.bytes > 0) send(parcel.rank, parcel.data, parcel.bytes);
    for (const Parcel& parcel : incoming)
      if (parcel.bytes > 0) receive(parcel.rank, parcel.data, parcel.bytes);
  }

  Mail& mail_;
  int rank_, size_;
};

/// Calls work(ranks) on every one of so many ranks, of which so many are on a machine.
template <class Work>
void on_ranks(int size, const Work& work, int per_machine = 1) {
  ThreadRanks::Mail mail;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  threads.reserve(std::size_t(size));
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadRanks ranks(mail, rank, size, per_machine);
        work(ranks);
      } catch (...) {
        failures[std::size_t(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace pursuit
