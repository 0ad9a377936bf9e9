#include "data/compressed_rows.hpp"

#include <algorithm>
#include <type_traits>

#include "base/fresh_pages.hpp"
#include "base/kernel.hpp"
#include "data/transpose_rows.hpp"

namespace pursuit {
namespace {

constexpr Index kLanes = 8;                    // block widths are padded to this many columns
constexpr Index kEntriesOfAChunk = 16384;      // or more
constexpr Index kWorkOfARow = 8;               // beside its entries, in entries
constexpr Index kTile = 256;                   // columns; their rows of a block stay in the first caches
constexpr Index kEntriesInATile = 24;          // of a row, so that tiles pay
constexpr Index kSmallBlock = Index(1) << 20;  // bytes: stays in the second cache without tiles
constexpr Index kFewRows = 64, kTilesOfLongRows = 64;

/// Eight doubles that the compiler keeps in vector registers: one of 512 bits, or several narrower ones.
typedef double Lane __attribute__((vector_size(kLanes * sizeof(double))));

/// A block of vectors, row-major, each row a whole number of aligned lanes: no access crosses a cache line.
class LaneBlock {
 public:
  LaneBlock(Index rows, Index columns)
      : rows_(rows), lanes_((columns + kLanes - 1) / kLanes), data_(std::size_t(rows_ * lanes_)) {}
  LaneBlock(const Matrix& block, int threads) : LaneBlock(block.rows(), block.cols()) {
    const Chunks pieces(rows_, 512);
    parallel_for(pieces.count(), threads, [&](Index c) {
      auto piece = values().middleRows(pieces.first(c), pieces.length(c));
      piece.leftCols(block.cols()) = block.middleRows(pieces.first(c), pieces.length(c));
      piece.rightCols(lanes_ * kLanes - block.cols()).setZero();
    });
  }
  void set_zero() { std::fill_n(reinterpret_cast<double*>(data_.data()), rows_ * lanes_ * kLanes, 0.0); }

  Index lanes() const { return lanes_; }
  std::size_t bytes() const { return std::size_t(rows_ * lanes_) * sizeof(Lane); }
  Lane* data() { return data_.data(); }
  const Lane* data() const { return data_.data(); }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<RowMajor> values() { return {reinterpret_cast<double*>(data_.data()), rows_, lanes_ * kLanes}; }

 private:
  Index rows_, lanes_;
  Room<Lane> data_;
};

/// The entries of rows in one tile of columns: those of row i begin at splits[i * stride], end at the next.
template <class Scalar, class StoredIndex>
struct Tile {
  const Scalar* values;
  const StoredIndex *columns, *splits;
  Index stride, rows;
};

template <class Scalar, class StoredIndex, int Width>
struct BlockKernels {
  /// out[i, :] += a_ij v[j, :], Width lanes at a time in registers.
  PURSUIT_KERNEL static void gather(Tile<Scalar, StoredIndex> tile, const Lane* v, Lane* out, Index lanes) {
    for (Index i = 0; i < tile.rows; ++i, out += lanes) {
      Lane sum[Width];
      for (int c = 0; c < Width; ++c) sum[c] = out[c];
      const StoredIndex end = tile.splits[i * tile.stride + 1];
      for (StoredIndex e = tile.splits[i * tile.stride]; e < end; ++e) {
        const double a = double(tile.values[e]);
        const Lane* source = v + Index(tile.columns[e]) * lanes;
        for (int c = 0; c < Width; ++c) sum[c] += a * source[c];
      }
      for (int c = 0; c < Width; ++c) out[c] = sum[c];
    }
  }

  /// out[j - first, :] += a_ij u[:] over entries of one row.
  PURSUIT_KERNEL static void scatter(const Scalar* values, const StoredIndex* columns, const StoredIndex* end,
                                     StoredIndex first, const Lane* u, Lane* out, Index lanes) {
    Lane source[Width];
    for (int c = 0; c < Width; ++c) source[c] = u[c];
    for (; columns != end; ++columns, ++values) {
      const double a = double(*values);
      Lane* target = out + Index(*columns - first) * lanes;
      for (int c = 0; c < Width; ++c) target[c] += a * source[c];
    }
  }
};

template <class Scalar, class StoredIndex>
struct VectorKernel {
  /// out[i] = sum of a_ij v[j]; four chains hide the latency of the additions.
  PURSUIT_KERNEL static void dots(Tile<Scalar, StoredIndex> tile, const double* v, double* out) {
    for (Index i = 0; i < tile.rows; ++i) {
      double sum[4] = {0, 0, 0, 0};
      StoredIndex e = tile.splits[i * tile.stride];
      const StoredIndex end = tile.splits[i * tile.stride + 1];
      for (; e + 3 < end; e += 4)
        for (int k = 0; k < 4; ++k) sum[k] += double(tile.values[e + k]) * v[Index(tile.columns[e + k])];
      for (; e < end; ++e) sum[0] += double(tile.values[e]) * v[Index(tile.columns[e])];
      out[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
  }
};

/// Calls work with the compile-time width of each slice of a block: slices of four lanes, and what is left.
template <class Work>
void for_each_slice(Index lanes, const Work& work) {
  for (Index c = 0; c < lanes; c += 4) {
    switch (std::min<Index>(4, lanes - c)) {
      case 1: work(c, std::integral_constant<int, 1>()); break;
      case 2: work(c, std::integral_constant<int, 2>()); break;
      case 3: work(c, std::integral_constant<int, 3>()); break;
      default: work(c, std::integral_constant<int, 4>());
    }
  }
}

template <class Scalar, class StoredIndex>
void gather(const Tile<Scalar, StoredIndex>& tile, const Lane* v, LaneBlock& out) {
  for_each_slice(out.lanes(), [&](Index c, auto width) {
    BlockKernels<Scalar, StoredIndex, width>::gather(tile, v + c, out.data() + c, out.lanes());
  });
}

}  // namespace

Index padded_columns(Index columns) {
  return (columns + kLanes - 1) / kLanes * kLanes;
}

template <class Scalar, class StoredIndex>
CompressedRows<Scalar, StoredIndex>::CompressedRows(const SparseView<Scalar, StoredIndex>& A, int threads)
    : A_(A),
      threads_(threads),
      chunks_(Index(A.start[A.rows]) + kWorkOfARow * A.rows, kEntriesOfAChunk),
      long_rows_(A.in_order && A.rows < kFewRows && entries() >= 4 * kEntriesOfAChunk) {
  const auto work_before = [&](Index row) { return Index(A.start[row]) + kWorkOfARow * row; };
  first_rows_.reserve(std::size_t(chunks_.count()) + 1);
  for (Index c = 0, row = 0; c <= chunks_.count(); ++c) {
    Index after = A.rows;
    while (row < after) {  // the first row with so much work before it
      const Index middle = row + (after - row) / 2;
      if (work_before(middle) < chunks_.first(c))
        row = middle + 1;
      else
        after = middle;
    }
    first_rows_.push_back(row);
  }
  if (long_rows_)
    cut_columns(std::min(kTilesOfLongRows, A.cols));
  else if (A.in_order && entries() / A.rows >= kEntriesInATile * (A.cols / kTile))
    cut_columns(A.cols / kTile);
}

template <class Scalar, class StoredIndex>
void CompressedRows<Scalar, StoredIndex>::cut_columns(Index tiles) {
  if (tiles <= 1) return;
  tiles_ = tiles;
  splits_.resize(std::size_t(A_.rows * (tiles + 1)));
  parallel_for(chunks(), threads_, [&](Index c) {
    for (Index i = first_row(c); i < first_row(c + 1); ++i) {
      const StoredIndex *begin = A_.index + A_.start[i], *end = A_.index + A_.start[i + 1];
      for (Index tile = 0; tile <= tiles; ++tile)
        splits_[std::size_t(i * (tiles + 1) + tile)] =
            StoredIndex(std::lower_bound(begin, end, A_.cols * tile / tiles) - A_.index);
    }
  });
}

template <class Scalar, class StoredIndex>
void CompressedRows<Scalar, StoredIndex>::multiply(const Matrix& V, Matrix& out) const {
  if (long_rows_) return multiply_long_rows(V, out);
  if (V.cols() == 1) {
    const Vector v = V;  // out may be the same matrix
    out.resize(A_.rows, 1);
    return parallel_for(chunks(), threads_, [&](Index c) {
      const Index first = first_row(c);
      VectorKernel<Scalar, StoredIndex>::dots(
          {A_.values, A_.index, A_.start + first, 1, first_row(c + 1) - first}, v.data(), out.data() + first);
    });
  }
  const LaneBlock v(V, threads_);
  multiply_rows(reinterpret_cast<const double*>(v.data()), V.cols(), out);
}

template <class Scalar, class StoredIndex>
void CompressedRows<Scalar, StoredIndex>::multiply_rows(const double* block, Index columns,
                                                        Matrix& out) const {
  const auto* v = reinterpret_cast<const Lane*>(block);
  out.resize(A_.rows, columns);
  const bool by_tiles = tiles_ > 1 && A_.cols * padded_columns(columns) * Index(sizeof(double)) > kSmallBlock;
  parallel_for(chunks(), threads_, [&](Index c) {
    const Index first = first_row(c), rows = first_row(c + 1) - first;
    LaneBlock sums(rows, columns);
    sums.set_zero();
    if (by_tiles)
      for (Index tile = 0; tile < tiles_; ++tile)
        gather<Scalar, StoredIndex>(
            {A_.values, A_.index, splits_.data() + first * (tiles_ + 1) + tile, tiles_ + 1, rows}, v, sums);
    else
      gather<Scalar, StoredIndex>({A_.values, A_.index, A_.start + first, 1, rows}, v, sums);
    out.middleRows(first, rows) = sums.values().leftCols(columns);
  });
}

template <class Scalar, class StoredIndex>
void CompressedRows<Scalar, StoredIndex>::multiply_long_rows(const Matrix& V, Matrix& out) const {
  const LaneBlock v(V, threads_);
  std::vector<Matrix> parts(static_cast<std::size_t>(tiles_));
  parallel_for(tiles_, threads_, [&](Index tile) {
    LaneBlock sums(A_.rows, V.cols());
    sums.set_zero();
    const StoredIndex* splits = tiles_ > 1 ? splits_.data() + tile : A_.start;
    gather<Scalar, StoredIndex>({A_.values, A_.index, splits, tiles_ > 1 ? tiles_ + 1 : 1, A_.rows}, v.data(),
                                sums);
    parts[std::size_t(tile)] = sums.values().leftCols(V.cols());
  });
  tree_sum(parts, [](Matrix& into, const Matrix& part) { into += part; });
  out = std::move(parts.front());
}

template <class Scalar, class StoredIndex>
void CompressedRows<Scalar, StoredIndex>::multiply_transposed(const Matrix& U, Matrix& out) const {
  constexpr Index kColumnsOfARange = 512;  // or more: every range looks into every row
  const Index columns = U.cols();
  const LaneBlock u(U, threads_);
  out.resize(A_.cols, columns);
  const Chunks ranges(A_.cols, kColumnsOfARange, 64);
  parallel_for(ranges.count(), threads_, [&](Index range) {
    const Index first = ranges.first(range), count = ranges.length(range);
    LaneBlock sums(count, columns);
    sums.set_zero();
    for (Index i = 0; i < A_.rows; ++i) {
      const StoredIndex *row_end = A_.index + A_.start[i + 1],
                        *begin = std::lower_bound(A_.index + A_.start[i], row_end, first),
                        *end = std::lower_bound(begin, row_end, first + count);
      if (begin == end) continue;
      for_each_slice(u.lanes(), [&](Index c, auto width) {
        BlockKernels<Scalar, StoredIndex, width>::scatter(A_.values + (begin - A_.index), begin, end,
                                                          StoredIndex(first), u.data() + i * u.lanes() + c,
                                                          sums.data() + c, u.lanes());
      });
    }
    out.middleRows(first, count) = sums.values().leftCols(columns);
  });
}

template <class Scalar, class StoredIndex>
std::uint64_t TransposedCopy<Scalar, StoredIndex>::bytes(const CompressedRows<Scalar, StoredIndex>& A) {
  return std::uint64_t(A.entries()) * (sizeof(Scalar) + sizeof(StoredIndex)) +
         std::uint64_t(A.view().cols) * sizeof(StoredIndex);
}

template <class Scalar, class StoredIndex>
TransposedCopy<Scalar, StoredIndex>::TransposedCopy(const CompressedRows<Scalar, StoredIndex>& A, int threads)
    : start_(std::size_t(A.view().cols) + 1),
      index_(std::size_t(A.entries())),
      values_(std::size_t(A.entries())) {
  const SparseView<Scalar, StoredIndex>& a = A.view();
  transpose_rows<StoredIndex, StoredIndex, Scalar>(a.rows, a.cols, {a.start, a.index, a.values},
                                                   {start_.data(), index_.data(), values_.data()}, threads);
  rows_ = std::make_unique<CompressedRows<Scalar, StoredIndex>>(
      SparseView<Scalar, StoredIndex>{start_.data(), index_.data(), values_.data(), a.cols, a.rows}, threads);
}

template class CompressedRows<double, int>;
template class CompressedRows<float, int>;
template class CompressedRows<double, std::int64_t>;
template class CompressedRows<float, std::int64_t>;
template class TransposedCopy<double, int>;
template class TransposedCopy<float, int>;
template class TransposedCopy<double, std::int64_t>;
template class TransposedCopy<float, std::int64_t>;

}  // namespace pursuit
