#include "io/zip_over_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "base/parallel.hpp"

namespace pursuit::io {

namespace {

constexpr std::uint64_t kParcel = std::uint64_t{1} << 22;  // the most that is sent at once

/// The bytes of one rank on their way to rank 0, which asks for one parcel after the other: whoever has
/// failed meanwhile, each of the two knows what the other waits for.
class BytesForLeader {
 public:
  /// All memory that is needed is taken here.
  BytesForLeader(Ranks& ranks, std::uint64_t size)
      : ranks_(ranks), left_(size), parcel_(std::size_t(std::min(size, kParcel)), '\0') {}

  void write(std::string_view bytes) {
    while (!bytes.empty() && left_ > 0) {
      const std::size_t taken = std::min(bytes.size(), next() - filled_);
      std::memcpy(parcel_.data() + filled_, bytes.data(), taken);
      filled_ += taken;
      bytes.remove_prefix(taken);
      if (filled_ == next()) send();
    }
  }

  /// Anything in place of what is missing: rank 0 counts on its size, and is told of the failure later.
  void pad() {
    while (left_ > 0) send();
  }

 private:
  std::size_t next() const { return std::size_t(std::min(left_, kParcel)); }

  void send() {
    std::uint8_t asked = 0;
    ranks_.exchange({}, {{0, &asked, sizeof asked}});
    if (asked != 0) ranks_.exchange({{0, parcel_.data(), next()}}, {});
    left_ = asked != 0 ? left_ - next() : 0;
    filled_ = 0;
  }

  Ranks& ranks_;
  std::uint64_t left_;
  std::string parcel_;
  std::size_t filled_ = 0;
};

class ZipOverRanks {
 public:
  ZipOverRanks(Ranks& ranks, const ZipPieces& own, const Sink& sink, int threads)
      : ranks_(ranks), own_(own), next_(own.begin()), writer_(sink), threads_(threads) {}

  void write(const RankedFile& file) {
    const EntryCut cut({file.head.size(), file.body.cuts.back()});
    const std::vector<Index> cuts = piece_cuts(cut, file.body);
    std::optional<BytesInReach> reach;
    meet([&] {
      if (ranks_.leads()) write_own([&](const std::string& name) { return name < file.name; });
      reach.emplace(ranks_, file.body, [&](int rank) { return needs(cut, cuts, rank); });
    });
    reach->bring(ranks_);
    const std::vector<ReadBytes> contents = {bytes_in_place(file.head),
                                             [&](std::uint64_t first, std::size_t count, std::string& room) {
                                               return reach->read(first, count, room);
                                             }};
    bool packs = false;
    meet([&] { packs = ranks_.leads() && is_worth_packing(cut, contents); });
    ranks_.broadcast(&packs, sizeof packs);
    std::optional<PackedPieces> pieces;
    std::optional<BytesForLeader> to_leader;
    std::string parcel;
    meet([&] {
      const auto rank = std::size_t(ranks_.rank());
      pieces.emplace(cut, contents, cuts[rank], cuts[rank + 1], packs, threads_);
      if (ranks_.leads())
        parcel.resize(kParcel);
      else
        to_leader.emplace(ranks_, pieces->size().packed_size);
    });
    const PackedSize mine = pieces->size();
    const std::vector<std::byte> all = gather(ranks_, &mine, sizeof mine);
    if (!to_leader) return lead(file.name, packs, all, *pieces, parcel);
    attempt([&] { pieces->write([&](std::string_view bytes) { to_leader->write(bytes); }); });
    to_leader->pad();
  }

  void finish() {
    meet([&] {
      if (!ranks_.leads()) return;
      write_own([](const std::string&) { return true; });
      writer_.finish();
    });
  }

 private:
  /// Where the pieces of each rank begin, and where those of the last end: the head is rank 0's, a piece of
  /// the body belongs to the rank that has its first byte.
  static std::vector<Index> piece_cuts(const EntryCut& cut, const RankedBytes& body) {
    std::vector<Index> cuts = {0};
    for (std::size_t rank = 1; rank < body.cuts.size(); ++rank)
      cuts.push_back(cut.first_piece(1) + Index((body.cuts[rank] + EntryCut::kPiece - 1) / EntryCut::kPiece));
    return cuts;
  }

  /// What a rank reads of the body: its pieces, what they may refer to, and on rank 0 the samples.
  static std::vector<ByteRange> needs(const EntryCut& cut, const std::vector<Index>& cuts, int rank) {
    std::vector<ByteRange> ranges;
    const Index begin = std::max(cuts[std::size_t(rank)], cut.first_piece(1)),
                end = cuts[std::size_t(rank) + 1];
    if (begin < end) {
      const EntryCut::Piece first = cut.piece(begin), last = cut.piece(end - 1);
      ranges.push_back({first.first - first.before, last.first + last.size});
    }
    if (rank != 0) return ranges;
    for (const EntryCut::Sample& sample : cut.samples())
      if (sample.content == 1) ranges.push_back({sample.first, sample.first + sample.size});
    return ranges;
  }

  /// Rank 0 writes its own pieces and then what the others send.
  void lead(const std::string& name, bool packs, const std::vector<std::byte>& sizes,
            const PackedPieces& pieces, std::string& parcel) {
    std::vector<PackedSize> of_ranks(std::size_t(ranks_.size()));
    std::memcpy(of_ranks.data(), sizes.data(), sizes.size());
    attempt([&] {
      PackedSize all;
      for (const PackedSize& one : of_ranks) all.append(one);
      writer_.begin(name, packs, all);
      pieces.write([&](std::string_view bytes) { writer_.put(bytes); });
    });
    for (int rank = 1; rank < ranks_.size(); ++rank)
      for (std::uint64_t left = of_ranks[std::size_t(rank)].packed_size; left > 0;) {
        std::uint8_t asked = !failure_;
        const std::size_t size = asked != 0 ? std::size_t(std::min(left, kParcel)) : 0;
        ranks_.exchange({{rank, &asked, sizeof asked}}, {{rank, parcel.data(), size}});
        if (asked == 0) break;
        left -= size;
        attempt([&] { writer_.put({parcel.data(), size}); });
      }
  }

  template <class Which>
  void write_own(const Which& which) {
    for (; next_ != own_.end() && which(next_->first); ++next_)
      writer_.write(next_->first, next_->second, threads_);
  }

  /// While bytes are on their way nobody may leave: what has failed is told when all meet next.
  template <class Work>
  void attempt(const Work& work) {
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  template <class Work>
  void meet(const Work& work) {
    together(ranks_, [&] {
      if (failure_) std::rethrow_exception(failure_);
      work();
    });
  }

  Ranks& ranks_;
  const ZipPieces& own_;
  ZipPieces::const_iterator next_;  // that is not yet written
  ZipWriter writer_;                // of rank 0
  int threads_;
  std::exception_ptr failure_;
};

}  // namespace

void write_zip_over_ranks(Ranks& ranks, const ZipPieces& own, const std::vector<RankedFile>& shared,
                          const Sink& sink, int threads) {
  ZipOverRanks archive(ranks, own, sink, threads);
  for (const RankedFile& file : shared) archive.write(file);
  archive.finish();
}

}  // namespace pursuit::io
