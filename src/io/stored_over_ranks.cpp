#include "io/stored_over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "io/defect.hpp"
#include "io/parse_matrix.hpp"
#include "io/plain_vector.hpp"

namespace pursuit::io {

namespace {

template <class Stored>
constexpr bool kIsDense = requires(const Stored& stored) {
  stored.view;
};

/// What all ranks have to know of a matrix before they have their rows.
struct RankedHead {
  Index kind = 0;  // its place in StoredMatrix
  Index rows = 0, cols = 0, stored = 0;
  bool row_major = false;

  bool operator==(const RankedHead&) const = default;
};

RankedHead head_of(const StoredMatrix& matrix) {
  RankedHead head{.kind = Index(matrix.index())};
  std::visit(
      [&](const auto& stored) {
        if constexpr (kIsDense<std::decay_t<decltype(stored)>>) {
          head.rows = stored.view.rows;
          head.cols = stored.view.cols;
          head.stored = head.rows * head.cols;
          head.row_major = stored.view.row_major;
        } else {
          head.rows = stored.rows();
          head.cols = stored.cols();
          head.stored = stored.nonZeros();
        }
      },
      matrix);
  return head;
}

RowCuts cuts_of(const StoredMatrix& matrix, const RankedHead& head) {
  return std::visit(
      [&](const auto& stored) {
        if constexpr (kIsDense<std::decay_t<decltype(stored)>>)
          return RowCuts::of_dense(head.rows);
        else
          return RowCuts::by_entries(std::span(stored.outerIndexPtr(), std::size_t(head.rows) + 1));
      },
      matrix);
}

/// What rank 0 has read, on its way to the owners of the rows.
class DealtRows {
 public:
  DealtRows(Ranks& ranks, const RowCuts& cuts, const RankedHead& head, int threads)
      : ranks_(ranks), cuts_(cuts), own_(ranks, cuts), head_(head), threads_(threads) {}

  /// Every rank calls it; `all` is looked at on rank 0 alone.
  template <class Scalar>
  std::vector<DataMatrixPtr> blocks_of(const DenseArray<Scalar>& all) const {
    PlainVector<Scalar> rows;
    together(ranks_, [&] { rows.resize(std::size_t(own_.count() * head_.cols)); });
    PlainVector<Scalar> packed;
    deal(
        [&](int rank) {
          const auto part = all.view.row_block(own_.first(rank), own_.count(rank));
          packed.resize(std::size_t(part.rows * part.cols));
          const Index lines = part.row_major ? part.rows : part.cols,
                      length = part.row_major ? part.cols : part.rows;
          for (Index i = 0; i < lines; ++i)
            std::copy_n(part.data + i * part.stride, length, packed.data() + i * length);
          return std::pair<const void*, std::size_t>(packed.data(), packed.size() * sizeof(Scalar));
        },
        rows.data(), rows.size() * sizeof(Scalar));
    return own_.dense_blocks(dense_array(std::move(rows), own_.count(), head_.cols, head_.row_major),
                             threads_);
  }

  template <class Scalar>
  std::vector<DataMatrixPtr> blocks_of(const SparseMatrixOf<Scalar>& all) const {
    struct Entries {
      std::vector<int> before;              // every row of all, of the rows here and the one after them
      std::vector<std::vector<int>> start;  // of every block, counted in it
      PlainVector<int> index;
      PlainVector<Scalar> values;
    };
    const auto own = std::make_shared<Entries>();
    const int* start = all.outerIndexPtr();
    own->before.resize(std::size_t(own_.count()) + 1);
    deal(
        [&](int rank) {
          return std::pair<const void*, std::size_t>(start + own_.first(rank),
                                                     std::size_t(own_.count(rank) + 1) * sizeof(int));
        },
        own->before.data(), own->before.size() * sizeof(int));
    const auto entries = std::size_t(own->before.back() - own->before.front());
    together(ranks_, [&] {
      own->index.resize(entries);
      own->values.resize(entries);
    });
    const auto slice = [&](int rank, const auto* data) {
      const Index begin = start[own_.first(rank)], end = start[own_.first(rank) + own_.count(rank)];
      return std::pair<const void*, std::size_t>(data + begin, std::size_t(end - begin) * sizeof *data);
    };
    deal([&](int rank) { return slice(rank, all.innerIndexPtr()); }, own->index.data(),
         entries * sizeof(int));
    deal([&](int rank) { return slice(rank, all.valuePtr()); }, own->values.data(), entries * sizeof(Scalar));
    own->start.reserve(std::size_t(own_.last_block() - own_.first_block()));
    return own_.blocks([&](Index b) {
      const Index row = cuts_.first(b) - own_.first(), rows = cuts_.length(b);
      auto& counted =
          own->start.emplace_back(own->before.begin() + row, own->before.begin() + row + rows + 1);
      const int before = counted.front();
      for (int& place : counted) place -= before;
      const Index entry = before - own->before.front();
      return owning(data_matrix(SparseView<Scalar, int>{counted.data(), own->index.data() + entry,
                                                        own->values.data() + entry, rows, head_.cols},
                                threads_),
                    own);
    });
  }

 private:
  /// slice(rank) is where rank 0 has the bytes of a rank; one rank after the other, so that no more than one
  /// has to be packed at a time.
  template <class Slice>
  void deal(const Slice& slice, void* room, std::size_t bytes) const {
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      std::vector<Parcel> outgoing, incoming;
      if (ranks_.leads()) {
        const auto [data, size] = slice(rank);
        outgoing.push_back({rank, const_cast<void*>(data), size});
      }
      if (rank == ranks_.rank()) incoming.push_back({0, room, bytes});
      ranks_.exchange(outgoing, incoming);
    }
  }

  Ranks& ranks_;
  const RowCuts& cuts_;
  OwnRows own_;
  const RankedHead& head_;
  int threads_;
};

RankedTable table_of(Ranks& ranks, RowCuts cuts, const RankedHead& head, std::vector<DataMatrixPtr> blocks,
                     int threads) {
  return {.rows = {ranks, std::move(cuts), head.cols, std::move(blocks)},
          .dense = head.kind < 2,
          .single = head.kind % 2 == 1,
          .stored = head.stored,
          .threads = threads};
}

}  // namespace

bool lies_in(std::string_view file, const StoredMatrix& matrix) {
  return std::visit(
      [&](const auto& stored) {
        if constexpr (kIsDense<std::decay_t<decltype(stored)>>) {
          const auto* bytes = reinterpret_cast<const char*>(stored.view.data);
          return bytes >= file.data() && bytes < file.data() + file.size();
        } else {
          return false;
        }
      },
      matrix);
}

RankedTable map_rows(Ranks& ranks, const std::string& path, StoredMatrix matrix, int threads) {
  RankedHead head = head_of(matrix);
  const RankedHead found = head;
  ranks.broadcast(&head, sizeof head);
  RowCuts cuts = cuts_of_leader(ranks, ranks.leads() ? RowCuts::of_dense(head.rows) : RowCuts({0}));
  const OwnRows own(ranks, cuts);
  std::vector<DataMatrixPtr> blocks;
  together(ranks, [&] {
    if (!(found == head))
      refuse(path, fmt::format("this rank finds another matrix ({} x {}) than rank 0 ({} x {})", found.rows,
                               found.cols, head.rows, head.cols));
    std::visit(
        [&](const auto& stored) {
          if constexpr (kIsDense<std::decay_t<decltype(stored)>>) {
            const auto rows = stored.view.row_block(own.first(), own.count());
            if (rows.rows > 0) require_finite(rows, path, threads, own.first());
            blocks = own.dense_blocks(std::decay_t<decltype(stored)>{rows, stored.owner}, threads);
          }
        },
        matrix);
  });
  return table_of(ranks, std::move(cuts), head, std::move(blocks), threads);
}

RankedTable deal_rows(Ranks& ranks, const std::string& path, StoredTable all, int threads) {
  RankedHead head;
  together(ranks, [&] {
    if (!ranks.leads()) return;
    head = head_of(all.matrix);
    std::visit(
        [&](const auto& stored) {
          if constexpr (kIsDense<std::decay_t<decltype(stored)>>)
            require_finite(stored.view, path, threads);
          else
            require_finite(stored, path, threads);
        },
        all.matrix);
  });
  ranks.broadcast(&head, sizeof head);
  RowCuts cuts = cuts_of_leader(ranks, ranks.leads() ? cuts_of(all.matrix, head) : RowCuts({0}));
  const DealtRows dealt(ranks, cuts, head, threads);
  std::vector<DataMatrixPtr> blocks;
  const auto deal = [&]<class Kind>(const Kind& none) {
    const auto* stored = std::get_if<Kind>(&all.matrix);
    blocks = dealt.blocks_of(stored ? *stored : none);
  };
  switch (head.kind) {
    case 0: deal(DenseArray<double>{}); break;
    case 1: deal(DenseArray<float>{}); break;
    case 2: deal(SparseMatrixOf<double>()); break;
    default: deal(SparseMatrixOf<float>());
  }
  RankedTable table = table_of(ranks, std::move(cuts), head, std::move(blocks), threads);
  table.dealt = true;
  table.row_names = std::move(all.row_names);
  table.column_names = std::move(all.column_names);
  return table;
}

}  // namespace pursuit::io
