#include "pursuit/io/ranked_matrix_file.hpp"

#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/parallel.hpp"
#include "completion/completion_part.hpp"
#include "completion/implicit_factors.hpp"
#include "correction/fits_over_ranks.hpp"
#include "correction/sweeps_over_ranks.hpp"
#include "data/followed_parts.hpp"
#include "data/matrix_over_ranks.hpp"
#include "io/completion_share.hpp"
#include "io/defect.hpp"
#include "io/entries_over_ranks.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_text_over_ranks.hpp"
#include "io/npy_header.hpp"
#include "io/parse_matrix.hpp"
#include "io/ratings_over_ranks.hpp"
#include "io/sparse_archive_over_ranks.hpp"
#include "io/stored_over_ranks.hpp"
#include "io/zip_bytes.hpp"
#include "objective/observed_sides.hpp"

namespace pursuit {
namespace io {
namespace {

/// How ranks come to their rows: rank 0 deals them out, or all find them in arrays that lie there as they
/// are, or all read a part of a text.
enum class Way : std::int64_t { dealt, mapped, csr, coordinates, table };

/// A file as rank 0 has opened it, and as far as it has read it to find the way.
struct OpenedFile {
  explicit OpenedFile(const std::string& path) : source(std::filesystem::path(path)) {}

  ByteSource source;
  Way way = Way::dealt;
  StoredTable stored;  // what is mapped, or dealt
  TextHead text;
  MarketHeader coordinates;
  TableHead table;
};

std::unique_ptr<OpenedFile> open_file(const Ranks& ranks, const std::string& path,
                                      const MatrixReading& reading) {
  auto file = std::make_unique<OpenedFile>(path);
  const std::string_view head = file->source.head();
  const auto in_place = file->source.in_place();
  if (in_place && looks_like_matrix_market(head)) {
    TextLines lines(file->source);
    file->coordinates = read_market_header(lines, false, room_over_ranks(ranks));
    file->text = head_of_text(file->source, lines);
    if (file->coordinates.sparse) file->way = Way::coordinates;
  } else if (in_place && !is_npy(head) && !is_zip(head)) {
    require_no_zero_byte(head, path);
    TextLines lines(file->source);
    file->table = read_table_head(lines, reading.header);
    file->text = head_of_text(file->source, lines);
    file->way = Way::table;
  } else if (in_place && is_zip(head) && find_csr_in_place(file->source.take_all(), path)) {
    file->way = Way::csr;
  }
  if (file->way != Way::dealt) return file;
  file->stored = read_stored(std::move(file->source), reading);
  if (in_place && lies_in(*in_place, file->stored.matrix)) file->way = Way::mapped;
  return file;
}

/// All ranks call it; path and reading are those of rank 0.
RankedTable read_ranked(Ranks& ranks, std::string path, MatrixReading reading) {
  std::unique_ptr<OpenedFile> file;
  const auto open = [&] { file = within_memory(path, [&] { return open_file(ranks, path, reading); }); };
  struct {
    Way way;
    std::int64_t threads;
  } said{};
  together(ranks, [&] {
    if (!ranks.leads()) return;
    open();
    said = {file->way, resolve_threads(reading.threads)};
  });
  ranks.broadcast(&said, sizeof said);
  path = broadcast_text(ranks, path);
  reading.threads = int(said.threads);
  together(ranks, [&] {
    if (ranks.leads() || said.way == Way::dealt) return;
    if (said.way == Way::mapped)
      open();
    else
      file = std::make_unique<OpenedFile>(path);
  });
  switch (said.way) {
    case Way::mapped: return map_rows(ranks, path, std::move(file->stored.matrix), reading.threads);
    case Way::csr: return read_csr_over_ranks(ranks, file->source.take_all(), path, reading.threads);
    case Way::coordinates:
      return read_market_over_ranks(ranks, file->source, file->text, file->coordinates, reading.threads);
    case Way::table: {
      std::optional<RankedTable> table =
          read_table_over_ranks(ranks, file->source, file->text, file->table, reading.threads);
      if (table) return std::move(*table);
      together(ranks, [&] {
        if (ranks.leads())
          file->stored = within_memory(path, [&] { return read_stored(std::move(file->source), reading); });
      });
      break;
    }
    default: break;
  }
  return deal_rows(ranks, path, file ? std::move(file->stored) : StoredTable{}, reading.threads);
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
  const double eps = table->dense && table->single ? std::numeric_limits<float>::epsilon()
                                                   : std::numeric_limits<double>::epsilon();
  const RankedTraits traits{(table->dense ? 1.0 : 4.0) * double(table->stored), eps, table->threads};
  const Index blocks = table->rows.cuts().blocks();
  return {{matrix_over_ranks(team, job.matrix, std::move(table->rows), traits), table->stored,
           std::move(table->row_names), std::move(table->column_names)},
          blocks,
          table->dealt};
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
    if (job.order == Order::fits) {
      follow_fits(matrices.rows_of(job.matrix));
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
