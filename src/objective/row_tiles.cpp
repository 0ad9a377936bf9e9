#include "objective/row_tiles.hpp"

namespace pursuit::row_tiles {
namespace {

constexpr Index kPadding = 8;          // entries of a row are filled up to a multiple of this
constexpr Index kTileNumbers = 32768;  // of the other factor, turned around and held in cache

}  // namespace

// NOLINTNEXTLINE(readability-non-const-parameter): u is written to through what is returned
RowWork work_of(const CountRow& row, const RowDescent& d, const double* background, double scale, double* u,
                AlignedVector<double>& memory) {
  const Index padded = (row.size + kPadding - 1) / kPadding * kPadding, rank = d.other.rank,
              stride = d.other.stride;
  const Index tile =
      std::min(padded, std::max<Index>(kTileNumbers / std::max<Index>(stride, 1) / kPadding, 1) * kPadding);
  const Index line = tile + kPadding;  // lines a power of two apart would meet in the cache
  const Index small = (rank + 8) / 8 * 8;
  const Index needed =
      (stride + kSquare) * line + 5 * padded + (1 + kSquare) * stride + 16 + 6 * small + rank * rank + 8;
  if (Index(memory.size()) < needed) memory.resize(std::size_t(needed));
  double* next = memory.data();
  const auto take = [&](Index count) {
    double* place = next;
    next += (count + 7) / 8 * 8;
    return place;
  };
  RowWork w{row, d,  background, scale, u,  padded, tile, line, {}, {}, {},
            {},  {}, {},         {},    {}, {},     {},   {},   {}, {}};
  w.turned = take(stride * line);
  w.y = take(padded);
  w.exposed = take(padded);
  w.x = take(padded);
  w.q = take(padded);
  w.t = take(padded);
  w.zeros = take(stride);
  w.products = take(kSquare * stride);
  w.slope = take(rank + kSquare);
  w.sums = take(2 * rank);
  w.step = take(rank);
  w.active = reinterpret_cast<Index*>(take(rank));
  w.hessian = take(rank * rank);
  std::fill_n(w.zeros, stride, 0.0);
  std::copy_n(row.count, row.size, w.y);
  std::fill(w.y + row.size, w.y + padded, 0.0);
  if (row.exposed) std::copy_n(row.exposed, row.size, w.exposed);
  std::fill(w.exposed + (row.exposed ? row.size : 0), w.exposed + padded, 0.0);
  return w;
}

}  // namespace pursuit::row_tiles
