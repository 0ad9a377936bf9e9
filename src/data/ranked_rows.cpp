#include "data/ranked_rows.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/tree_fold.hpp"
#include "data/made_of.hpp"
#include "data/ranked_sides.hpp"

namespace pursuit {
namespace {

constexpr Index kMostBlocks = 64;

Index allowed_blocks(Index blocks) {
  return Index(std::bit_floor(std::uint64_t(std::clamp<Index>(blocks, 1, kMostBlocks))));
}

/// Blocks of as much work each; work_before(row) is that of all rows before it.
template <class WorkBefore>
RowCuts cut_by_work(Index rows, Index blocks, const WorkBefore& work_before) {
  const Index all = work_before(rows);
  std::vector<Index> first;
  first.reserve(std::size_t(blocks) + 1);
  for (Index b = 0, row = 0; b <= blocks; ++b) {
    const Index wanted = all / blocks * b + all % blocks * b / blocks;
    while (row < rows && work_before(row) < wanted) ++row;
    first.push_back(row);
  }
  return RowCuts(std::move(first));
}

std::size_t bytes_of(Index numbers) {
  return std::size_t(numbers) * sizeof(double);
}

}  // namespace

RowCuts RowCuts::of_dense(Index rows) {
  constexpr Index kRows = 16;  // adding up A^T U is small beside making it
  const Index blocks = allowed_blocks(rows / kRows);
  std::vector<Index> first;
  first.reserve(std::size_t(blocks) + 1);
  for (Index b = 0; b <= blocks; ++b) first.push_back(rows / blocks * b + rows % blocks * b / blocks);
  return RowCuts(std::move(first));
}

RowCuts RowCuts::of_sparse(const int* entries_before, Index rows, Index cols) {
  constexpr Index kEntries = 4, kWorkOfARow = 8;  // of a column in a block, for the same reason
  return cut_by_work(rows, allowed_blocks(std::min(rows, Index(entries_before[rows]) / (kEntries * cols))),
                     [&](Index row) { return Index(entries_before[row]) + kWorkOfARow * row; });
}

RowCuts RowCuts::by_entries(const std::vector<std::int64_t>& entries_before) {
  constexpr Index kRows = 16, kWorkOfARow = 8;
  const Index rows = Index(entries_before.size()) - 1;
  return cut_by_work(rows, allowed_blocks(rows / kRows),
                     [&](Index row) { return entries_before[std::size_t(row)] + kWorkOfARow * row; });
}

const RankedSides& RankedRows::sides() const {
  if (!sides_) sides_ = std::make_shared<RankedSides>(*this);
  return *sides_;
}

RankedRows::RankedRows(Ranks& ranks, RowCuts cuts, Index cols, std::vector<DataMatrixPtr> own)
    : ranks_(ranks), cuts_(std::move(cuts)), cols_(cols), own_(std::move(own)) {}

template <class Use>
void RankedRows::for_blocks(const Use& use) const {
  for (std::size_t b = 0; b < own_.size(); ++b) {
    const Index block = first_block() + Index(b);
    use(own_[b], cuts_.first(block) - first_row(ranks_.rank()), cuts_.length(block));
  }
}

Matrix RankedRows::to_all(const Matrix& shared, Index columns) const {
  Matrix received = ranks_.leads() ? shared : Matrix(cols_, columns);
  ranks_.broadcast(received.data(), bytes_of(received.size()));
  return received;
}

Matrix RankedRows::to_owners(const Matrix& by_rows, Index columns) const {
  const int size = ranks_.size();
  if (size == 1) return by_rows;
  std::vector<Matrix> slices(std::size_t(ranks_.leads() ? size : 0));
  Matrix received(first_row(ranks_.rank() + 1) - first_row(ranks_.rank()), columns);
  std::vector<Parcel> outgoing;
  outgoing.reserve(slices.size());
  for (int rank = 0; rank < int(slices.size()); ++rank) {
    Matrix& slice = slices[std::size_t(rank)];
    slice = by_rows.middleRows(first_row(rank), first_row(rank + 1) - first_row(rank));
    outgoing.push_back({rank, slice.data(), bytes_of(slice.size())});
  }
  ranks_.exchange(outgoing, {{0, received.data(), bytes_of(received.size())}});
  return received;
}

Matrix RankedRows::to_leader(Matrix own_rows) const {
  const int size = ranks_.size();
  if (size == 1) return own_rows;
  std::vector<Matrix> slices(std::size_t(ranks_.leads() ? size : 0));
  std::vector<Parcel> incoming;
  incoming.reserve(slices.size());
  for (int rank = 0; rank < int(slices.size()); ++rank) {
    Matrix& slice = slices[std::size_t(rank)];
    slice.resize(first_row(rank + 1) - first_row(rank), own_rows.cols());
    incoming.push_back({rank, slice.data(), bytes_of(slice.size())});
  }
  ranks_.exchange({{0, own_rows.data(), bytes_of(own_rows.size())}}, incoming);
  if (!ranks_.leads()) return {};
  Matrix all(cuts_.rows(), own_rows.cols());
  for (int rank = 0; rank < size; ++rank)
    all.middleRows(first_row(rank), slices[std::size_t(rank)].rows()) = slices[std::size_t(rank)];
  return all;
}

template <class MakePart>
Matrix RankedRows::sum(Index rows, Index cols, const MakePart& make_part) const {
  TreeFold<Matrix> mine;
  Index block = first_block();
  for_blocks([&](const DataMatrixPtr& A, Index first, Index count) {
    Matrix part = mine.take_spare();
    if (A)
      make_part(*A, first, count, part);
    else
      part = Matrix::Zero(rows, cols);
    mine.push(0, block++, std::move(part));
  });
  const int size = ranks_.size();
  if (size == 1) return std::move(mine.nodes().front().part);

  // Sums of subtrees meet at rank 0, or, where they are long, each slice of them at another rank.
  constexpr Index kLong = 4096;
  const Index length = rows * cols;
  const int finishers = length < kLong ? 1 : size;
  const auto slice = [&](int finisher) { return length * finisher / finishers; };
  std::vector<Parcel> outgoing, incoming;
  for (int finisher = 0; finisher < finishers; ++finisher)
    for (auto& node : mine.nodes())
      outgoing.push_back(
          {finisher, node.part.data() + slice(finisher), bytes_of(slice(finisher + 1) - slice(finisher))});
  std::vector<Vector> parts;
  const int me = ranks_.rank();
  const Index own_length = me < finishers ? slice(me + 1) - slice(me) : 0;
  std::vector<std::pair<int, Index>> places;  // level and index of every node
  if (me < finishers)
    for (int rank = 0; rank < size; ++rank)
      for (const auto& node : subtrees(cuts_.first_block(rank, size), cuts_.first_block(rank + 1, size))) {
        places.emplace_back(node.level, node.index);
        parts.emplace_back(own_length);
        incoming.push_back({rank, parts.back().data(), bytes_of(own_length)});
      }
  ranks_.exchange(outgoing, incoming);
  TreeFold<Vector> all;
  for (std::size_t p = 0; p < parts.size(); ++p)
    all.push(places[p].first, places[p].second, std::move(parts[p]));
  Matrix total(ranks_.leads() ? rows : 0, ranks_.leads() ? cols : 0);
  if (finishers == 1) {
    if (ranks_.leads()) total.reshaped() = all.nodes().front().part;
    return total;
  }
  incoming.clear();
  if (ranks_.leads())
    for (int finisher = 0; finisher < finishers; ++finisher)
      incoming.push_back(
          {finisher, total.data() + slice(finisher), bytes_of(slice(finisher + 1) - slice(finisher))});
  ranks_.exchange({{0, all.nodes().front().part.data(), bytes_of(own_length)}}, incoming);
  return total;
}

Matrix RankedRows::perform(const Job& job, const Matrix& shared, const Matrix& by_rows) const {
  const Index columns = job.columns;
  const auto number = [&](const auto& of_block) {
    return sum(1, 1, [&](const DataMatrix& A, Index first, Index count, Matrix& part) {
      part = Matrix::Constant(1, 1, of_block(A, first, count));
    });
  };
  switch (job.order) {
    case Order::multiply: {
      const Matrix V = to_all(shared, columns);
      Matrix out(first_row(ranks_.rank() + 1) - first_row(ranks_.rank()), columns), product;
      for_blocks([&](const DataMatrixPtr& A, Index first, Index count) {
        if (!A) return;
        A->apply(V, product);
        out.middleRows(first, count) = product;
      });
      return to_leader(std::move(out));
    }
    case Order::multiply_transposed: {
      const Matrix U = to_owners(by_rows, columns);
      return sum(cols_, columns, [&](const DataMatrix& A, Index first, Index count, Matrix& part) {
        const Matrix own = U.middleRows(first, count);
        if ((own.array() == 0).all())  // factors are often sparse
          part = Matrix::Zero(cols_, columns);
        else
          A.apply_transposed(own, part);
      });
    }
    case Order::multiply_gram: {
      const Matrix V = to_all(shared, columns);
      return sum(cols_, columns,
                 [&](const DataMatrix& A, Index, Index, Matrix& part) { A.apply_gram(V, part); });
    }
    case Order::norm: return number([](const DataMatrix& A, Index, Index) { return A.squared_norm(); });
    case Order::norm_about: {
      const Vector shift = to_all(shared, 1);
      return number([&](const DataMatrix& A, Index, Index) { return A.squared_norm_about(shift); });
    }
    case Order::distance: {
      const Matrix R = to_all(shared, columns), L = to_owners(by_rows, columns);
      return number([&](const DataMatrix& A, Index first, Index count) {  // NaN: too much work for one
        return A.squared_distance(L.middleRows(first, count), R)
            .value_or(std::numeric_limits<double>::quiet_NaN());
      });
    }
    case Order::largest: {
      Matrix largest = Matrix::Zero(1, 1);
      for_blocks([&](const DataMatrixPtr& A, Index, Index) {
        if (A) largest(0) = std::max(largest(0), A->largest_magnitude());
      });
      const auto all = gather(ranks_, largest.data(), sizeof(double));
      for (std::size_t rank = 0; rank < all.size() / sizeof(double); ++rank)
        largest(0) = std::max(largest(0), reinterpret_cast<const double*>(all.data())[rank]);
      return largest;
    }
    default: return {};
  }
}

RankedRows RankedRows::changed(const Job& job, const Vector& shift) const {
  const Vector row = job.order == Order::shift ? Vector(to_all(shift, 1)) : Vector();
  std::vector<DataMatrixPtr> blocks;
  blocks.reserve(own_.size());
  for (const DataMatrixPtr& A : own_)
    blocks.push_back(!A ? nullptr : job.order == Order::shift ? less_row(A, row) : A->scaled(job.number));
  return {ranks_, cuts_, cols_, std::move(blocks)};
}

}  // namespace pursuit
