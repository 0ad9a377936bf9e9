#include "io/npz_over_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "base/parallel.hpp"
#include "io/defect.hpp"
#include "io/npz_entries.hpp"
#include "io/zip_over_ranks.hpp"
#include "pursuit/base/error.hpp"
#include "pursuit/io/atomic_file.hpp"

namespace pursuit {

namespace {

void require_same_arrays(Ranks& ranks, const std::vector<RankedArray>& shared) {
  std::string all;
  for (const RankedArray& array : shared) all += fmt::format("{} {}\n", array.name, array.own.index());
  if (const int other = first_that_differs(ranks, all); other >= 0)
    throw InvalidArgument(fmt::format("rank {} has parts of other arrays than rank 0", other));
}

/// Every name once; these are in their order.
void require_other_names(const NpzArchive& archive, const std::vector<RankedArray>& shared) {
  for (std::size_t k = 0; k < shared.size(); ++k)
    if (archive.contains(shared[k].name) || (k > 0 && shared[k].name == shared[k - 1].name))
      throw InvalidArgument(
          fmt::format("an archive cannot have two arrays of the name {}", io::shown(shared[k].name)));
}

std::vector<io::RankedFile> ranked_files(Ranks& ranks, const std::vector<RankedArray>& shared) {
  if (shared.empty()) return {};
  std::vector<std::uint64_t> mine;
  mine.reserve(shared.size());
  for (const RankedArray& array : shared) mine.push_back(io::npy_size(array.own));
  std::vector<std::uint64_t> sizes(mine.size() * std::size_t(ranks.size()));
  const std::vector<std::byte> all = gather(ranks, mine.data(), mine.size() * sizeof mine[0], true);
  std::memcpy(sizes.data(), all.data(), all.size());
  std::vector<io::RankedFile> files;
  for (std::size_t k = 0; k < shared.size(); ++k) {
    io::RankedBytes body;
    body.cuts = {0};
    body.own = [&own = shared[k].own](std::uint64_t first, std::size_t count, std::string& room) {
      return io::npy_part(own, first, count, room);
    };
    for (std::size_t at = k; at < sizes.size(); at += mine.size())
      body.cuts.push_back(body.cuts.back() + sizes[at]);
    std::string head = io::npy_list_header(shared[k].own, body.cuts.back());
    files.push_back({io::npz_file(shared[k].name), std::move(head), std::move(body)});
  }
  return files;
}

}  // namespace

void write_npz_over_ranks(Ranks& ranks, const std::filesystem::path& path, const NpzArchive& archive,
                          std::vector<RankedArray> shared, int threads) {
  require_same_arrays(ranks, shared);
  std::map<std::string, io::NpyBytes> arrays;
  std::optional<AtomicFile> file;
  together(ranks, [&] {
    threads = resolve_threads(threads);
    std::sort(shared.begin(), shared.end(), [](const RankedArray& a, const RankedArray& b) {
      return io::npz_file(a.name) < io::npz_file(b.name);
    });
    if (!ranks.leads()) return;
    require_other_names(archive, shared);
    for (const auto& [name, array] : archive) arrays.emplace(name, io::npy_bytes(array));
    file.emplace(path);
  });
  io::write_zip_over_ranks(
      ranks, io::npz_files(arrays), ranked_files(ranks, shared),
      [&](std::string_view bytes) { file->write(bytes); }, threads);
  together(ranks, [&] {
    if (file) file->commit();
  });
}

}  // namespace pursuit
