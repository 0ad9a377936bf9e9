#include "pursuit/io/ranked_matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "base/parallel.hpp"
#include "completion/completion_part.hpp"
#include "completion/implicit_factors.hpp"
#include "correction/sweeps_over_ranks.hpp"
#include "data/followed_parts.hpp"
#include "data/matrix_over_ranks.hpp"
#include "io/completion_share.hpp"
#include "io/defect.hpp"
#include "io/parse_matrix.hpp"
#include "io/plain_vector.hpp"
#include "io/ratings_over_ranks.hpp"
#include "objective/observed_sides.hpp"

namespace pursuit {
namespace io {
namespace {

/// What all ranks have to know of a matrix before they have their rows.
struct RankedHead {
  Index kind = 0;  // its place in StoredMatrix
  Index rows = 0, cols = 0, stored = 0, blocks = 0, threads = 0;
  bool row_major = false, mapped = false;

  bool operator==(const RankedHead&) const = default;
};

template <class Stored>
constexpr bool kIsDense = requires(const Stored& stored) {
  stored.view;
};

RankedHead head_of(const StoredMatrix& matrix, std::optional<std::string_view> file) {
  RankedHead head{.kind = Index(matrix.index())};
  std::visit(
      [&](const auto& stored) {
        if constexpr (kIsDense<std::decay_t<decltype(stored)>>) {
          const auto* bytes = reinterpret_cast<const char*>(stored.view.data);
          head.rows = stored.view.rows;
          head.cols = stored.view.cols;
          head.stored = head.rows * head.cols;
          head.row_major = stored.view.row_major;
          head.mapped = file && bytes >= file->data() && bytes < file->data() + file->size();
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

/// The part of a matrix that the ranks of `cuts` give to this one, on its way into blocks.
class OwnRows {
 public:
  OwnRows(Ranks& ranks, const RowCuts& cuts, const RankedHead& head)
      : ranks_(ranks), cuts_(cuts), head_(head) {}

  template <class Scalar>
  std::vector<DataMatrixPtr> mapped(const DenseArray<Scalar>& array, const std::string& name) const {
    const DenseView<Scalar> own = array.view.row_block(first(), count());
    if (count() > 0) require_finite(own, name, int(head_.threads), first());
    return blocks_of(own, array.owner);
  }

  /// Every rank calls it; `all` is looked at on rank 0 alone.
  template <class Scalar>
  std::vector<DataMatrixPtr> dealt(const DenseArray<Scalar>& all) const {
    const auto own = std::make_shared<PlainVector<Scalar>>();
    together(ranks_, [&] { own->resize(std::size_t(count() * head_.cols)); });
    PlainVector<Scalar> packed;
    deal(
        [&](int rank) {
          const auto rows = all.view.row_block(first(rank), count(rank));
          packed.resize(std::size_t(rows.rows * rows.cols));
          const Index lines = rows.row_major ? rows.rows : rows.cols,
                      length = rows.row_major ? rows.cols : rows.rows;
          for (Index i = 0; i < lines; ++i)
            std::copy_n(rows.data + i * rows.stride, length, packed.data() + i * length);
          return std::pair<const void*, std::size_t>(packed.data(), packed.size() * sizeof(Scalar));
        },
        own->data(), own->size() * sizeof(Scalar));
    return blocks_of(DenseView<Scalar>{own->data(), count(), head_.cols,
                                       head_.row_major ? head_.cols : count(), head_.row_major},
                     own);
  }

  template <class Scalar>
  std::vector<DataMatrixPtr> dealt(const SparseMatrixOf<Scalar>& all) const {
    struct Entries {
      std::vector<int> before;              // every row of all, of the rows here and the one after them
      std::vector<std::vector<int>> start;  // of every block, counted in it
      PlainVector<int> index;
      PlainVector<Scalar> values;
    };
    const auto own = std::make_shared<Entries>();
    const int* start = all.outerIndexPtr();
    own->before.resize(std::size_t(count()) + 1);
    deal(
        [&](int rank) {
          return std::pair<const void*, std::size_t>(start + first(rank),
                                                     std::size_t(count(rank) + 1) * sizeof(int));
        },
        own->before.data(), own->before.size() * sizeof(int));
    const auto entries = std::size_t(own->before.back() - own->before.front());
    together(ranks_, [&] {
      own->index.resize(entries);
      own->values.resize(entries);
    });
    const auto slice = [&](int rank, const auto* data) {
      const Index begin = start[first(rank)], end = start[first(rank) + count(rank)];
      return std::pair<const void*, std::size_t>(data + begin, std::size_t(end - begin) * sizeof *data);
    };
    deal([&](int rank) { return slice(rank, all.innerIndexPtr()); }, own->index.data(),
         entries * sizeof(int));
    deal([&](int rank) { return slice(rank, all.valuePtr()); }, own->values.data(), entries * sizeof(Scalar));
    std::vector<DataMatrixPtr> blocks;
    own->start.reserve(std::size_t(last_block() - first_block()));
    for (Index b = first_block(); b < last_block(); ++b) {
      const Index row = cuts_.first(b) - first(), rows = cuts_.length(b);
      auto& counted =
          own->start.emplace_back(own->before.begin() + row, own->before.begin() + row + rows + 1);
      const int before = counted.front();
      for (int& place : counted) place -= before;
      const Index entry = before - own->before.front();
      blocks.push_back(block_of(SparseView<Scalar, int>{counted.data(), own->index.data() + entry,
                                                        own->values.data() + entry, rows, head_.cols},
                                own));
    }
    return blocks;
  }

 private:
  Index first_block() const { return cuts_.first_block(ranks_.rank(), ranks_.size()); }
  Index last_block() const { return cuts_.first_block(ranks_.rank() + 1, ranks_.size()); }
  Index first(int rank) const { return cuts_.first_row(rank, ranks_.size()); }
  Index count(int rank) const { return first(rank + 1) - first(rank); }
  Index first() const { return first(ranks_.rank()); }
  Index count() const { return count(ranks_.rank()); }

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

  template <class View>
  DataMatrixPtr block_of(const View& view, const std::shared_ptr<const void>& owner) const {
    if (view.rows == 0) return nullptr;
    const DataMatrixPtr matrix = data_matrix(view, int(head_.threads));
    return {matrix.get(), [matrix, owner](const DataMatrix*) {}};
  }

  template <class Scalar>
  std::vector<DataMatrixPtr> blocks_of(const DenseView<Scalar>& own,
                                       const std::shared_ptr<const void>& owner) const {
    std::vector<DataMatrixPtr> blocks;
    blocks.reserve(std::size_t(last_block() - first_block()));
    for (Index b = first_block(); b < last_block(); ++b)
      blocks.push_back(block_of(own.row_block(cuts_.first(b) - first(), cuts_.length(b)), owner));
    return blocks;
  }

  Ranks& ranks_;
  const RowCuts& cuts_;
  const RankedHead& head_;
};

struct RankedTable {
  RankedRows rows;
  RankedHead head;
  StoredTable names;  // of rank 0, without its matrix
};

/// All ranks call it; path and reading are those of rank 0.
RankedTable read_ranked(Ranks& ranks, std::string path, MatrixReading reading) {
  StoredTable table;
  RankedHead head;
  const auto open = [&] {
    ByteSource source{std::filesystem::path(path)};
    const auto file = source.in_place();
    table = within_memory(path, [&] { return read_stored(std::move(source), reading); });
    head = head_of(table.matrix, file);
    head.threads = resolve_threads(reading.threads);
  };
  together(ranks, [&] {
    if (!ranks.leads()) return;
    open();
    if (head.mapped) return;
    std::visit(
        [&](const auto& stored) {
          if constexpr (kIsDense<std::decay_t<decltype(stored)>>)
            require_finite(stored.view, path, reading.threads);
          else
            require_finite(stored, path, reading.threads);
        },
        table.matrix);
  });
  RowCuts cuts = ranks.leads() ? cuts_of(table.matrix, head) : RowCuts({0});
  std::vector<Index> first_rows = cuts.first_rows();
  head.blocks = cuts.blocks();
  ranks.broadcast(&head, sizeof head);
  first_rows.resize(std::size_t(head.blocks) + 1);
  ranks.broadcast(first_rows.data(), first_rows.size() * sizeof(Index));
  cuts = RowCuts(std::move(first_rows));

  std::vector<DataMatrixPtr> blocks;
  if (head.mapped) {
    path = broadcast_text(ranks, path);
    together(ranks, [&] {
      if (!ranks.leads()) {
        const RankedHead said = std::exchange(head, {});
        reading.threads = int(said.threads);
        open();
        head.blocks = said.blocks;
        head.threads = said.threads;
        if (!(head == said))
          refuse(path, fmt::format("this rank finds another matrix ({} x {}) than rank 0 ({} x {})",
                                   head.rows, head.cols, said.rows, said.cols));
      }
      const OwnRows own(ranks, cuts, head);
      blocks = std::visit(
          [&](const auto& stored) -> std::vector<DataMatrixPtr> {
            if constexpr (kIsDense<std::decay_t<decltype(stored)>>)
              return own.mapped(stored, path);
            else
              return {};
          },
          table.matrix);
    });
  } else {
    const OwnRows own(ranks, cuts, head);
    const auto deal = [&]<class Kind>(const Kind& none) {
      const auto* all = std::get_if<Kind>(&table.matrix);
      blocks = own.dealt(all ? *all : none);
    };
    switch (head.kind) {
      case 0: deal(DenseArray<double>{}); break;
      case 1: deal(DenseArray<float>{}); break;
      case 2: deal(SparseMatrixOf<double>()); break;
      default: deal(SparseMatrixOf<float>());
    }
  }
  table.matrix = DenseArray<double>{};
  return {RankedRows(ranks, std::move(cuts), head.cols, std::move(blocks)), head, std::move(table)};
}

}  // namespace
}  // namespace io

RankedMatrixData read_data(const std::filesystem::path& path, const MatrixReading& reading, RankTeam& team) {
  const Job job{.order = Order::read, .matrix = team.fresh_number()};
  std::optional<io::RankedTable> table;
  std::exception_ptr refusal;  // all ranks know of it, and are ready for the next job
  team.ask(job, [&] {
    try {
      table.emplace(io::read_ranked(team.ranks(), path.string(), reading));
    } catch (const Error&) {
      refusal = std::current_exception();
    }
  });
  if (refusal) std::rethrow_exception(refusal);
  const io::RankedHead& head = table->head;
  const bool dense = head.kind < 2, single = head.kind % 2 == 1;
  const double eps =
      dense && single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const RankedTraits traits{dense ? double(head.stored) : 4.0 * double(head.stored), eps, int(head.threads)};
  return {{matrix_over_ranks(team, job.matrix, std::move(table->rows), traits), head.stored,
           std::move(table->names.row_names), std::move(table->names.column_names)},
          head.blocks,
          !head.mapped};
}

namespace {

int follow_with(Ranks& ranks, RankedMatrices matrices) {
  CompletionPart completion(ranks);
  FollowedParts<ObservedSides> observed(ranks);
  FollowedParts<ImplicitSides> implicit(ranks);
  while (true) {
    Job job{};
    ranks.broadcast(&job, sizeof job);
    if (job.order == Order::end) return int(job.number);
    if (job.order == Order::store) {
      try {
        io::store_seen_share(ranks, completion.pool());
      } catch (const Error&) {  // of which rank 0 tells
      }
      continue;
    }
    if (job.order == Order::entries || job.order == Order::complete) {
      completion.follow(job);
      continue;
    }
    if (job.order == Order::sweeps) {
      follow_sweeps(matrices.rows_of(job.matrix));
      continue;
    }
    if (job.order == Order::observed) {
      observed.perform(job);
      continue;
    }
    if (job.order == Order::implicit) {
      implicit.perform(job);
      continue;
    }
    if (job.order != Order::read && job.order != Order::ratings) {
      matrices.perform(job);
      continue;
    }
    try {
      if (job.order == Order::ratings) {
        if (auto own = io::read_share(ranks)) completion.keep(job.matrix, std::move(*own));
      } else
        matrices.keep(job.matrix, io::read_ranked(ranks, {}, {}).rows);
    } catch (const Error&) {  // of which rank 0 tells
    }
  }
}

}  // namespace

int follow(Ranks& ranks) {
  return follow_with(ranks, {});
}

int follow(Ranks& ranks, OwnBlocks own) {
  RankedMatrices matrices;
  matrices.keep(kBroughtMatrix, ranked_rows(ranks, std::move(own)));
  return follow_with(ranks, std::move(matrices));
}

}  // namespace pursuit
