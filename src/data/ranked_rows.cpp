#include "data/ranked_rows.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "data/made_of.hpp"
#include "data/member_shares.hpp"
#include "data/ranked_sides.hpp"
#include "data/sparse_matrix.hpp"

namespace pursuit {
namespace {

Index allowed_blocks(Index blocks) {
  return Index(std::bit_floor(std::uint64_t(std::clamp<Index>(blocks, 1, RowCuts::kMostBlocks))));
}

/// Blocks of as much work each, where nothing is added up over blocks but sums of few numbers.
template <class Count>
RowCuts cut_by_entries(std::span<const Count> entries_before) {
  constexpr Index kFewestRows = 16, kWorkBesideEntries = 8;
  const Index rows = Index(entries_before.size()) - 1, blocks = allowed_blocks(rows / kFewestRows);
  const auto work_before = [&](Index row) {
    return Index(entries_before[std::size_t(row)]) + kWorkBesideEntries * row;
  };
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

}  // namespace

RowCuts RowCuts::of_dense(Index rows) {
  constexpr Index kRows = 16;  // adding up A^T U is small beside making it
  const Index blocks = allowed_blocks(rows / kRows);
  std::vector<Index> first;
  first.reserve(std::size_t(blocks) + 1);
  for (Index b = 0; b <= blocks; ++b) first.push_back(rows / blocks * b + rows % blocks * b / blocks);
  return RowCuts(std::move(first));
}

RowCuts RowCuts::by_entries(std::span<const int> entries_before) {
  return cut_by_entries(entries_before);
}

RowCuts RowCuts::by_entries(std::span<const std::int64_t> entries_before) {
  return cut_by_entries(entries_before);
}

const RankedSides& RankedRows::sides() const {
  if (!sides_) sides_ = std::make_shared<RankedSides>(*this);
  return *sides_;
}

RankedRows::RankedRows(Ranks& ranks, RowCuts cuts, Index cols, std::vector<DataMatrixPtr> own)
    : ranks_(ranks), cuts_(std::move(cuts)), cols_(cols), own_(std::move(own)) {}

template <class OfBlock>
Matrix RankedRows::number(const OfBlock& of_block) const {
  const MemberShares shares(cuts_.first_rows(), &ranks_);
  std::size_t block = 0;  // chunks are asked in order
  return sum_over(shares, 1, 1, [&](Index first, Index last, double* sum) {
    if (const DataMatrixPtr& A = own_[block++]) *sum += of_block(*A, first - shares.first(), last - first);
  });
}

template <class OfBlock>
Matrix RankedRows::largest(const OfBlock& of_block) const {
  Matrix most = Matrix::Zero(1, 1);
  for (const DataMatrixPtr& A : own_)
    if (A) most(0) = std::max(most(0), of_block(*A));
  const auto all = gather(ranks_, most.data(), sizeof(double));
  for (std::size_t rank = 0; rank < all.size() / sizeof(double); ++rank)
    most(0) = std::max(most(0), reinterpret_cast<const double*>(all.data())[rank]);
  return most;
}

double RankedRows::squared_distance(const Matrix& L, const Matrix& R, Index columns) const {
  const SharedFactors shared = sides().factors(columns);
  shared.from_leader(0, L);
  shared.from_leader(1, R);
  const Matrix left = shared.own(0), right = shared.rows(1, 0, cols_);
  return number([&](const DataMatrix& A, Index first, Index count) {  // NaN: too much work for one
    return A.squared_distance(left.middleRows(first, count), right)
        .value_or(std::numeric_limits<double>::quiet_NaN());
  })(0);
}

Vector RankedRows::to_all(const Matrix& row) const {
  Vector received = ranks_.leads() ? Vector(row) : Vector(cols_);
  ranks_.broadcast(received.data(), std::size_t(received.size()) * sizeof(double));
  return received;
}

Matrix RankedRows::perform(const Job& job, const Matrix& shared, const Matrix& by_rows) const {
  switch (job.order) {
    case Order::multiply: return sides().multiply(0, shared, job.columns);
    case Order::multiply_transposed: return sides().multiply(1, by_rows, job.columns);
    case Order::multiply_gram: return sides().multiply_gram(shared, job.columns);
    case Order::norm: return number([](const DataMatrix& A, Index, Index) { return A.squared_norm(); });
    case Order::norm_about: {
      const Vector shift = to_all(shared);
      return number([&](const DataMatrix& A, Index, Index) { return A.squared_norm_about(shift); });
    }
    case Order::distance: return Matrix::Constant(1, 1, squared_distance(by_rows, shared, job.columns));
    case Order::largest: return largest([](const DataMatrix& A) { return A.largest_magnitude(); });
    case Order::sparse: return largest([](const DataMatrix& A) { return double(is_sparse(A)); });
    default: return {};
  }
}

RankedRows RankedRows::changed(const Job& job, const Vector& shift) const {
  const Vector row = job.order == Order::shift ? to_all(shift) : Vector();
  std::vector<DataMatrixPtr> blocks;
  blocks.reserve(own_.size());
  for (const DataMatrixPtr& A : own_)
    blocks.push_back(!A ? nullptr : job.order == Order::shift ? less_row(A, row) : A->scaled(job.number));
  return {ranks_, cuts_, cols_, std::move(blocks)};
}

}  // namespace pursuit
