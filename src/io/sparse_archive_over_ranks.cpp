#include "io/sparse_archive_over_ranks.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "io/defect.hpp"
#include "io/entries_over_ranks.hpp"
#include "io/npy.hpp"
#include "io/parse_matrix.hpp"
#include "io/rank_words.hpp"
#include "io/scipy_sparse.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit::io {

namespace {

constexpr std::string_view kArraySuffix = ".npy";

/// The entries of an archive that all ranks have found; refused where that of a rank is another than rank
/// 0's.
CsrInPlace entries_of_all(Ranks& ranks, const Bytes& archive, const std::string& name) {
  CsrInPlace entries;
  together(ranks, [&] {
    std::optional<CsrInPlace> found = find_csr_in_place(archive, name);
    if (!found) refuse(name, "this rank finds another archive than rank 0");
    entries = std::move(*found);
  });
  struct Sizes {
    std::uint64_t archive, entries;
    bool operator==(const Sizes&) const = default;
  } mine{archive.view.size(), entries.size()};
  const Sizes leader = words_of_all(ranks, mine).front();
  together(ranks, [&] {
    if (!(mine == leader))
      refuse(name, fmt::format("this rank finds an archive of {} bytes, and rank 0 one of {}", mine.archive,
                               leader.archive));
  });
  return entries;
}

/// Each rank looks at its part of every array.
void require_checksums(Ranks& ranks, const CsrInPlace& entries, const std::string& name) {
  const auto cut = [&](const ZipEntryInPlace& entry, int rank) {
    const auto size = static_cast<std::size_t>(ranks.size()), part = static_cast<std::size_t>(rank);
    return entry.bytes.size() / size * part + entry.bytes.size() % size * part / size;
  };
  std::vector<std::uint32_t> mine;
  for (const ZipEntryInPlace& entry : entries) {
    const std::size_t begin = cut(entry, ranks.rank()), end = cut(entry, ranks.rank() + 1);
    mine.push_back(zip_checksum(entry.bytes.substr(begin, end - begin)));
  }
  const std::vector<std::byte> all = gather(ranks, mine.data(), mine.size() * sizeof mine[0]);
  together(ranks, [&] {
    if (!ranks.leads()) return;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      std::uint32_t whole = mine[k];
      for (int rank = 1; rank < ranks.size(); ++rank) {
        std::uint32_t part = 0;
        std::memcpy(&part, all.data() + (static_cast<std::size_t>(rank) * entries.size() + k) * sizeof part,
                    sizeof part);
        whole = zip_checksum_of_both(whole, part, cut(entries[k], rank + 1) - cut(entries[k], rank));
      }
      if (whole != entries[k].checksum) refuse_checksum(at_entry(name, entries[k].name));
    }
  });
}

/// Everybody's counts of its own rows, one after the other on rank 0.
std::vector<std::int64_t> counts_at_leader(Ranks& ranks, const OwnRows& own, Index rows,
                                           std::vector<std::int64_t> mine) {
  std::vector<std::int64_t> all(ranks.leads() ? static_cast<std::size_t>(rows) : 0);
  std::vector<Parcel> incoming;
  for (int rank = 0; rank < ranks.size() && ranks.leads(); ++rank)
    incoming.push_back({rank, all.data() + own.first(rank),
                        static_cast<std::size_t>(own.count(rank)) * sizeof(std::int64_t)});
  ranks.exchange({{0, mine.data(), mine.size() * sizeof mine[0]}}, incoming);
  return all;
}

/// Rows of the archive, in blocks that the entries fix.
template <class Scalar>
class RowsOfArchive {
 public:
  RowsOfArchive(Ranks& ranks, const CsrRows& rows, const std::string& name, int threads)
      : ranks_(ranks), archive_(rows), name_(name), threads_(threads), cuts_({0}) {}

  RankedTable read() {
    std::vector<std::int64_t> counts;
    Index used = 0;
    take_in_together(ranks_, name_, [&] {
      if (!ranks_.leads()) return;
      counts = archive_.all_starts();
      used = counts.back();
      for (std::size_t row = 0; row + 1 < counts.size(); ++row) counts[row] = counts[row + 1] - counts[row];
      counts.pop_back();
    });
    ranks_.broadcast(&used, sizeof used);
    cuts_ = cuts_by_counts(ranks_, counts, archive_.cols(), name_);
    read_own(used);
    if (stored_ < used) {  // entries were summed: what rows have now says where they are cut
      counts = counts_at_leader(ranks_, OwnRows(ranks_, cuts_), archive_.rows(), counts_of_own());
      cuts_ = cuts_by_counts(ranks_, counts, archive_.cols(), name_);
      read_own(used);
    }
    std::vector<DataMatrixPtr> blocks;
    take_in_together(ranks_, name_, [&] {
      const OwnRows own(ranks_, cuts_);
      blocks = own.blocks([&](Index b) {
        SparseMatrixOf<Scalar>& matrix = blocks_[static_cast<std::size_t>(b - own.first_block())];
        require_finite(matrix, name_, threads_, cuts_.first(b));
        return data_matrix(std::move(matrix), threads_);
      });
    });
    return {.rows = {ranks_, std::move(cuts_), archive_.cols(), std::move(blocks)},
            .stored = stored_,
            .threads = threads_};
  }

 private:
  /// Of so many entries in all rows.
  void read_own(Index used) {
    const OwnRows own(ranks_, cuts_);
    Index mine = 0;
    take_in_together(ranks_, name_, [&] {
      blocks_ =
          std::vector<SparseMatrixOf<Scalar>>(static_cast<std::size_t>(own.last_block() - own.first_block()));
      for (Index b = own.first_block(); b < own.last_block(); ++b) {
        if (cuts_.length(b) == 0) continue;
        SparseMatrixOf<Scalar> block =
            archive_.read<Scalar>(cuts_.first(b), cuts_.first(b) + cuts_.length(b));
        mine += block.nonZeros();
        blocks_[static_cast<std::size_t>(b - own.first_block())].swap(block);
      }
      if (ranks_.rank() + 1 == ranks_.size()) archive_.require_unused_columns(used);
    });
    stored_ = 0;
    for (const Index stored : words_of_all(ranks_, mine)) stored_ += stored;
  }

  std::vector<std::int64_t> counts_of_own() const {
    std::vector<std::int64_t> counts;
    for (const SparseMatrixOf<Scalar>& block : blocks_)
      for (Index row = 0; row < block.rows(); ++row)
        counts.push_back(block.outerIndexPtr()[row + 1] - block.outerIndexPtr()[row]);
    return counts;
  }

  Ranks& ranks_;
  const CsrRows& archive_;
  const std::string& name_;
  int threads_;
  RowCuts cuts_;
  std::vector<SparseMatrixOf<Scalar>> blocks_;
  Index stored_ = 0;
};

}  // namespace

std::optional<CsrInPlace> find_csr_in_place(const Bytes& archive, const std::string& name) {
  std::optional<CsrInPlace> entries = zip_entries_in_place(archive.view, name);
  if (!entries) return std::nullopt;
  bool csr = false;
  for (const ZipEntryInPlace& entry : *entries) {
    if (!entry.name.ends_with(kArraySuffix)) return std::nullopt;
    if (entry.name != "format.npy") continue;
    try {
      const NpyArray format = parse_npy(entry.bytes, name);
      const auto* layout = std::get_if<std::vector<std::string>>(&format.values);
      csr = layout && *layout == std::vector<std::string>{"csr"};
    } catch (const InvalidInput&) {  // of which they tell who take the archive for damaged
    }
  }
  return csr ? entries : std::nullopt;
}

RankedTable read_csr_over_ranks(Ranks& ranks, const Bytes& archive, const std::string& name, int threads) {
  const CsrInPlace entries = entries_of_all(ranks, archive, name);
  require_checksums(ranks, entries, name);
  std::optional<CsrRows> rows;
  take_in_together(ranks, name, [&] {
    NpzEntries arrays;
    for (const ZipEntryInPlace& entry : entries)
      arrays.emplace(entry.name.substr(0, entry.name.size() - kArraySuffix.size()),
                     Bytes{entry.bytes, archive.owner});
    rows.emplace(std::move(arrays), name, room_over_ranks(ranks), threads);
  });
  if (rows->single()) return RowsOfArchive<float>(ranks, *rows, name, threads).read();
  return RowsOfArchive<double>(ranks, *rows, name, threads).read();
}

}  // namespace pursuit::io
