#include "data/ranked_sides.hpp"

#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/tree_fold.hpp"
#include "data/sparse_matrix.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

// Numbers of shared memory.
constexpr int kParts = 1 << 20, kFactors = 1 << 22;

using RowMajorPanel = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

class RankedSides::OwnColumns {
 public:
  virtual ~OwnColumns() = default;
  virtual void multiply_rows(const double* whole, const RankedRows& rows, Index columns,
                             Panel& out) const = 0;
  virtual void multiply_columns(const double* whole, Index columns, Panel& out) const = 0;
};

template <class Scalar>
class RankedSides::OwnColumnsOf final : public OwnColumns {
 public:
  using Rows = SparseDataMatrix<Scalar, int>;

  /// Entries by the columns that are owned here.
  OwnColumnsOf(std::vector<int> start, std::vector<int> index, std::vector<Scalar> value, Index rows,
               int threads)
      : start_(std::move(start)), index_(std::move(index)), value_(std::move(value)) {
    const Index columns = Index(start_.size()) - 1;
    if (columns > 0)
      columns_.emplace(SparseView<Scalar, int>{start_.data(), index_.data(), value_.data(), columns, rows},
                       threads);
  }

  void multiply_rows(const double* whole, const RankedRows& rows, Index columns, Panel& out) const override {
    Matrix product;
    Index row = 0;
    for (const DataMatrixPtr& block : rows.own()) {
      if (!block) continue;
      static_cast<const Rows&>(*block).apply_rows(whole, columns, product);
      out.middleRows(row, product.rows()) = product;
      row += product.rows();
    }
  }
  void multiply_columns(const double* whole, Index columns, Panel& out) const override {
    if (columns_) columns_->multiply_rows(whole, columns, out);
  }

 private:
  std::vector<int> start_, index_;
  std::vector<Scalar> value_;
  std::optional<CompressedRows<Scalar, int>> columns_;
};

RankedSides::RankedSides(const RankedRows& rows) : rows_(rows), ranks_(rows.ranks()) {
  shares_.emplace_back(rows.cuts().first_rows(), &ranks_);
  if (!bring_columns<double>() && !bring_columns<float>())
    shares_.emplace_back(RowCuts::of_dense(rows.cols()).first_rows(), &ranks_);
}

RankedSides::~RankedSides() = default;

/// Whether all blocks of all ranks are sparse and of this type; then columns get their entries.
template <class Scalar>
bool RankedSides::bring_columns() {
  using Rows = SparseDataMatrix<Scalar, int>;
  std::vector<const Rows*> blocks;
  std::vector<std::int64_t> others{0};
  int threads = 1;
  for (const DataMatrixPtr& block : rows_.own()) {
    if (!block) continue;
    threads = std::max(threads, block->threads());
    blocks.push_back(dynamic_cast<const Rows*>(block.get()));
    if (!blocks.back()) ++others[0];
  }
  add_up(ranks_, others);
  if (others[0] > 0) return false;

  // By columns, as far as this rank has them.
  const Index cols = rows_.cols();
  std::vector<std::int64_t> start(std::size_t(cols) + 1, 0);
  for (const Rows* block : blocks) {
    const SparseView<Scalar, int>& view = block->view();
    for (int e = view.start[0]; e < view.start[view.rows]; ++e) ++start[std::size_t(view.index[e]) + 1];
  }
  std::vector<std::int64_t> before = start;
  add_up(ranks_, before);
  std::partial_sum(before.begin(), before.end(), before.begin());
  shares_.emplace_back(RowCuts::by_entries(before).first_rows(), &ranks_);
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<int> index(std::size_t(start.back()));
  std::vector<Scalar> value(index.size());
  std::vector<std::int64_t> next(start.begin(), start.end() - 1);
  Index first_row = first(0);
  for (const Rows* block : blocks) {
    const SparseView<Scalar, int>& view = block->view();
    for (Index i = 0; i < view.rows; ++i)
      for (int e = view.start[i]; e < view.start[i + 1]; ++e) {
        const auto place = std::size_t(next[std::size_t(view.index[e])]++);
        index[place] = int(first_row + i);
        value[place] = view.values[e];
      }
    first_row += view.rows;
  }

  // To their owners: from each rank where columns begin, then the entries.
  const MemberShares& shares = shares_[1];
  const auto size = std::size_t(ranks_.size());
  const Index own_columns = own(1);
  std::vector<std::vector<std::int64_t>> starts(size);
  std::vector<std::vector<int>> indices(size);
  std::vector<std::vector<Scalar>> values(size);
  std::vector<Parcel> outgoing, incoming;
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const auto from = std::size_t(rank);
    starts[from].resize(std::size_t(own_columns) + 1);
    outgoing.push_back({rank, start.data() + shares.first(rank),
                        std::size_t(shares.first(rank + 1) - shares.first(rank) + 1) * sizeof start[0]});
    incoming.push_back({rank, starts[from].data(), starts[from].size() * sizeof start[0]});
  }
  ranks_.exchange(outgoing, incoming);
  outgoing.clear();
  incoming.clear();
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const auto from = std::size_t(rank), begin = std::size_t(start[std::size_t(shares.first(rank))]),
               count = std::size_t(start[std::size_t(shares.first(rank + 1))]) - begin,
               coming = std::size_t(starts[from].back() - starts[from].front());
    indices[from].resize(coming);
    values[from].resize(coming);
    outgoing.push_back({rank, index.data() + begin, count * sizeof(int)});
    outgoing.push_back({rank, value.data() + begin, count * sizeof(Scalar)});
    incoming.push_back({rank, indices[from].data(), coming * sizeof(int)});
    incoming.push_back({rank, values[from].data(), coming * sizeof(Scalar)});
  }
  ranks_.exchange(outgoing, incoming);

  std::int64_t all = 0;
  for (const auto& coming : indices) all += std::int64_t(coming.size());
  if (all > std::numeric_limits<int>::max())
    throw Error("the columns of rank " + std::to_string(ranks_.rank()) + " have " + std::to_string(all) +
                " entries; more ranks would have fewer, and at most 2147483647 are allowed");
  std::vector<int> own_start{0}, own_index;
  std::vector<Scalar> own_value;
  own_start.reserve(std::size_t(own_columns) + 1);
  own_index.reserve(std::size_t(all));
  own_value.reserve(std::size_t(all));
  for (std::size_t column = 0; column < std::size_t(own_columns); ++column) {
    for (std::size_t from = 0; from < size; ++from) {  // rows of a rank are before those of the next
      const auto begin = starts[from][column] - starts[from].front(),
                 end = starts[from][column + 1] - starts[from].front();
      own_index.insert(own_index.end(), indices[from].begin() + begin, indices[from].begin() + end);
      own_value.insert(own_value.end(), values[from].begin() + begin, values[from].begin() + end);
    }
    own_start.push_back(int(own_index.size()));
  }
  columns_ = std::make_unique<OwnColumnsOf<Scalar>>(std::move(own_start), std::move(own_index),
                                                    std::move(own_value), rows_.cuts().rows(), threads);
  return true;
}

void RankedSides::contract(Index mode, const double* whole, const Panel& own_part, Panel& out) const {
  const Index columns = own_part.cols();
  out.resize(own(mode), columns);
  if (columns_) {
    if (mode == 0)
      columns_->multiply_rows(whole, rows_, columns, out);
    else
      columns_->multiply_columns(whole, columns, out);
    return;
  }
  if (mode == 1) return add_up_parts(own_part, out);
  const Matrix factor = Eigen::Map<const RowMajorPanel, 0, Eigen::OuterStride<>>(
      whole, rows_.cols(), columns, Eigen::OuterStride<>(padded_columns(columns)));
  Matrix product;
  Index row = 0;
  for (const DataMatrixPtr& block : rows_.own()) {
    if (!block) continue;
    block->apply(factor, product);
    out.middleRows(row, product.rows()) = product;
    row += product.rows();
  }
}

SharedFactors RankedSides::factors(Index columns) const {
  return {ranks_, shares_, kFactors, columns};
}

Matrix RankedSides::multiply(Index mode, const Matrix& factor, Index columns) const {
  const SharedFactors shared = factors(columns);
  shared.from_leader(1 - mode, factor);
  Panel product;
  contract(mode, shared.whole(1 - mode), shared.own(1 - mode), product);
  return shared.to_leader(mode, product);
}

Matrix RankedSides::multiply_gram(const Matrix& V, Index columns) const {
  const SharedFactors shared = factors(columns);
  shared.from_leader(1, V);
  Panel image, product;
  contract(0, shared.whole(1), shared.own(1), image);
  if (looks_at_all(1)) {
    SharingRound round;
    shared.publish(0, image, round);
    round.run();
  }
  contract(1, shared.whole(0), image, product);
  return shared.to_leader(1, product);
}

void RankedSides::add_up_parts(const Panel& own_rows, Panel& out) const {
  const MemberShares &by_rows = shares(0), &by_columns = shares(1);
  const int size = ranks_.size(), me = ranks_.rank();
  const Index cols = rows_.cols(), columns = own_rows.cols(), numbers = cols * columns;
  TreeFold<Matrix> mine;
  Index chunk = by_rows.first_chunk(me);
  for (const DataMatrixPtr& block : rows_.own()) {
    const Index row = by_rows.cuts()[std::size_t(chunk)] - by_rows.first(),
                count = by_rows.cuts()[std::size_t(chunk) + 1] - by_rows.first() - row;
    Matrix part = mine.take_spare();
    const Matrix rows = own_rows.middleRows(row, count);
    if (block && (rows.array() != 0).any())  // factors are often sparse
      block->apply_transposed(rows, part);
    else
      part = Matrix::Zero(cols, columns);
    mine.push(0, chunk++, std::move(part));
  }

  // Sums of subtrees stand one after the other, by rows; of each a rank adds up its own columns.
  std::vector<std::pair<int, TreeFold<Unsummed>::Node>> nodes;  // with their ranks
  for (int rank = 0; rank < size; ++rank)
    for (const auto& node : subtrees(by_rows.first_chunk(rank), by_rows.first_chunk(rank + 1)))
      nodes.emplace_back(rank, node);
  auto* parts =
      static_cast<double*>(ranks_.shared(kParts, nodes.size() * std::size_t(numbers) * sizeof(double)));
  std::size_t own_node = 0;
  std::vector<Parcel> outgoing, incoming;
  const int here = ranks_.machine_of(me);
  const auto slice = [&](std::size_t node, int rank, int other) -> Parcel {
    return {other, parts + Index(node) * numbers + by_columns.first(rank) * columns,
            std::size_t((by_columns.first(rank + 1) - by_columns.first(rank)) * columns) * sizeof(double)};
  };
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (nodes[node].first == me) {
      Eigen::Map<RowMajorPanel>(parts + Index(node) * numbers, cols, columns) = mine.nodes()[own_node++].part;
      for (int rank = 0; rank < size; ++rank)
        if (ranks_.machine_of(rank) != here) outgoing.push_back(slice(node, rank, rank));
    } else if (ranks_.machine_of(nodes[node].first) != here) {
      incoming.push_back(slice(node, me, nodes[node].first));
    }
  }
  ranks_.exchange(outgoing, incoming);
  ranks_.meet();
  TreeFold<Matrix> all;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    Matrix part = all.take_spare();
    part = Eigen::Map<const RowMajorPanel>(parts + Index(node) * numbers + by_columns.first() * columns,
                                           own(1), columns);
    all.push(nodes[node].second.level, nodes[node].second.index, std::move(part));
  }
  out = std::move(all.nodes().front().part);
}

}  // namespace pursuit
