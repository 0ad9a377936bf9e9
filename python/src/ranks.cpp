// Ranks whose messages an mpi4py communicator carries: whatever MPI it was built with, and no other library.

#include "ranks.hpp"

#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "interpreter.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/ranked_matrix_file.hpp"

namespace pursuit::python {
namespace {

class CommunicatorRanks final : public Ranks {
 public:
  explicit CommunicatorRanks(py::object comm)
      : comm_(std::move(comm)),
        mpi_(py::module_::import("mpi4py.MPI")),
        byte_(mpi_.attr("BYTE")),
        rank_(comm_.attr("Get_rank")().cast<int>()),
        size_(comm_.attr("Get_size")().cast<int>()) {
    std::vector<int> machine_of(static_cast<std::size_t>(size_));
    std::iota(machine_of.begin(), machine_of.end(), 0);
    set_machines(machine_of);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  [[noreturn]] void abort(int status) override {
    const Locked locked;
    comm_.attr("Abort")(status);
    std::_Exit(status);
  }
  void finish() override {}

 private:
  static constexpr std::size_t kPiece = std::size_t(1) << 30;  // MPI counts with an int
  static constexpr int kTag = 16;

  // Not asked of ranks that are alone, each on what counts as a machine of its own.
  void* do_share(int, std::size_t) override { throw Error("ranks: they share no memory"); }
  void do_meet() override {}

  void do_broadcast(void* data, std::size_t bytes) override {
    const Locked locked;
    py::list requests;
    for_pieces(data, bytes, [&](const py::object& piece) {
      requests.append(comm_.attr("Ibcast")(py::make_tuple(piece, byte_), 0));
    });
    wait(requests);
  }

  void do_exchange(const std::vector<Parcel>& outgoing, const std::vector<Parcel>& incoming) override {
    const Locked locked;
    py::list requests;
    for (const Parcel& parcel : incoming)
      for_pieces(parcel.data, parcel.bytes, [&](const py::object& piece) {
        requests.append(comm_.attr("Irecv")(py::make_tuple(piece, byte_), parcel.rank, kTag));
      });
    for (const Parcel& parcel : outgoing)
      for_pieces(parcel.data, parcel.bytes, [&](const py::object& piece) {
        requests.append(comm_.attr("Isend")(py::make_tuple(piece, byte_), parcel.rank, kTag));
      });
    wait(requests);
  }

  template <class Use>
  static void for_pieces(void* data, std::size_t bytes, const Use& use) {
    for (std::size_t done = 0; done < bytes; done += kPiece)
      use(py::memoryview::from_memory(static_cast<char*>(data) + done,
                                      py::ssize_t(std::min(kPiece, bytes - done))));
  }

  /// Whoever waits for long sleeps in between: cores are there for threads.
  void wait(const py::list& requests) const {
    using Clock = std::chrono::steady_clock;
    using std::chrono::microseconds;
    constexpr microseconds kBusy(200), kShortest(50), kLongest(2000);
    const py::object test = mpi_.attr("Request").attr("Testall");
    const Clock::time_point start = Clock::now();
    while (!test(requests).cast<bool>()) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      const Unlocked unlocked;
      const auto waited = std::chrono::duration_cast<microseconds>(Clock::now() - start);
      if (waited < kBusy)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::clamp(waited / 16, kShortest, kLongest));
    }
  }

  py::object comm_, mpi_, byte_;
  int rank_, size_;
};

RankTeam* leading = nullptr;  // under the interpreter's lock

/// What a rank has of a matrix, block by block, and what lies in memory for it.
struct Blocks {
  OwnBlocks own;
  std::vector<py::object> owners;

  Blocks(std::vector<Index> cuts, Index cols, const py::list& arrays, int threads)
      : own{std::move(cuts), cols, {}} {
    for (const auto& array : arrays) {
      if (py::len(array.attr("shape")) == 2 && py::cast<Index>(array.attr("shape")[py::int_(0)]) == 0) {
        own.blocks.push_back(nullptr);
        continue;
      }
      ArrayData data = data_of(py::reinterpret_borrow<py::object>(array), threads);
      own.blocks.push_back(std::move(data.matrix));
      owners.push_back(std::move(data.owner));
    }
  }
};

/// Rank 0's hold on the others, for as long as it is.
class Lead {
 public:
  explicit Lead(py::object comm)
      : ranks_(std::make_unique<CommunicatorRanks>(std::move(comm))),
        team_(std::make_unique<RankTeam>(*ranks_)) {
    if (leading) throw InvalidArgument("ranks: a fit that they share is under way");
    leading = team_.get();
  }
  ~Lead() { end(); }
  Lead(const Lead&) = delete;
  Lead& operator=(const Lead&) = delete;

  RankedMatrix matrix(std::vector<Index> cuts, Index cols, const py::list& arrays, double work,
                      double rounding, int threads) {
    if (!team_ || matrix_) throw InvalidArgument("ranks: one matrix for every fit");
    blocks_ = std::make_unique<Blocks>(std::move(cuts), cols, arrays, threads);
    matrix_ = std::make_shared<DataMatrixPtr>(
        matrix_of_blocks(*team_, std::move(blocks_->own), work, rounding, threads));
    return {matrix_};
  }

  /// The others go on with what comes after.
  void end() {
    if (!team_) return;
    leading = nullptr;
    if (team_->broken()) ranks_->abort(1);  // they wait for what will not come
    const Unlocked unlocked;
    if (matrix_) matrix_->reset();
    team_->dismiss(0);
    team_.reset();
  }

 private:
  std::unique_ptr<Ranks> ranks_;
  std::unique_ptr<RankTeam> team_;
  std::unique_ptr<Blocks> blocks_;
  std::shared_ptr<DataMatrixPtr> matrix_;
};

}  // namespace

const DataMatrixPtr& RankedMatrix::matrix() const {
  if (!*held) throw InvalidArgument("rows of several processes: the fit that shared them has ended");
  return *held;
}

RankTeam* led_team() {
  return leading;
}

void bind_ranks(py::module_& m) {
  py::class_<RankedMatrix>(m, "RankedMatrix", py::dynamic_attr(), "Rows that several ranks have.")
      .def(
          "mean",
          [](const RankedMatrix& self, const std::optional<int>& axis, const py::object&) {
            if (axis && *axis != 0) throw InvalidArgument("axis: means are of columns, or of all entries");
            const DataMatrixPtr matrix = self.matrix();
            Vector means;
            {
              const Unlocked unlocked;
              means = matrix->column_means();
            }
            return axis ? py::cast(means) : py::cast(means.mean());
          },
          "As NumPy has it, in double precision.", py::arg("axis") = py::none(),
          py::arg("dtype") = py::none())
      .def("squared_norm", [](const RankedMatrix& self) {
        const DataMatrixPtr matrix = self.matrix();
        const Unlocked unlocked;
        return matrix->squared_norm();
      });
  py::class_<Lead>(m, "Lead", "Rank 0's hold on the others of a communicator.")
      .def("matrix", &Lead::matrix, py::arg("cuts"), py::arg("cols"), py::arg("blocks"), py::arg("work"),
           py::arg("rounding"), py::arg("threads"))
      .def("end", &Lead::end);
  m.def(
      "lead", [](const py::object& comm) { return std::make_unique<Lead>(comm); }, py::arg("comm"));
  m.def(
      "follow",
      [](const py::object& comm, std::vector<Index> cuts, Index cols, const py::list& arrays, int threads) {
        CommunicatorRanks ranks(comm);
        Blocks blocks(std::move(cuts), cols, arrays, threads);
        const Unlocked unlocked;
        follow(ranks, std::move(blocks.own));
      },
      "What the others do until rank 0 lets go.", py::arg("comm"), py::arg("cuts"), py::arg("cols"),
      py::arg("blocks"), py::arg("threads"));
  m.def(
      "row_cuts", [](Index rows) { return row_cuts(rows); }, py::arg("rows"));
  m.def(
      "sparse_row_cuts",
      [](const py::array_t<int, py::array::c_style | py::array::forcecast>& before) {
        return row_cuts({before.data(), std::size_t(before.size())});
      },
      py::arg("entries_before"));
  m.def("blocks_of_rank", &blocks_of_rank, py::arg("cuts"), py::arg("rank"), py::arg("ranks"));
}

}  // namespace pursuit::python
