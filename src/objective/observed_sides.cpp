#include "objective/observed_sides.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "data/dealt_entries.hpp"
#include "data/ranked_rows.hpp"
#include "linalg/products.hpp"
#include "objective/observed_sums.hpp"
#include "objective/observed_sweep.hpp"

namespace pursuit {
namespace {

constexpr Index kWorthThreads = 50000;  // entries; with fewer, threads wait for each other most of the time
constexpr Index kPieces = 256;          // at most
constexpr Index kPieceWork = 4096;      // entries, at least

/// Of pieces, in their order.
double sum_of(const Matrix& parts) {
  double sum = 0;
  for (Index piece = 0; piece < parts.cols(); ++piece) sum += parts(0, piece);
  return sum;
}

std::vector<Index> cuts_of(const GroupedEntries& grouped) {
  const Index total = Index(grouped.index.size());
  const Index pieces = std::clamp<Index>(total / kPieceWork, 1, kPieces);
  std::vector<Index> cuts{0};
  for (Index i = 0; i < grouped.size(); ++i)
    if (grouped.start[std::size_t(i) + 1] >= total * Index(cuts.size()) / pieces && i + 1 < grouped.size())
      cuts.push_back(i + 1);
  cuts.push_back(grouped.size());
  return cuts;
}

}  // namespace

ObservedSides::ObservedSides(const ObservedMatrix& data, int threads, RankTeam* team)
    : ranks_(team && team->ranks().size() > 1 ? &team->ranks() : nullptr),
      team_(ranks_ ? team : nullptr),
      threads_(data.size() < kWorthThreads ? 1 : threads) {
  for (const Index mode : {0, 1}) {
    Side& side = sides_[mode];
    side.entries = mode == 0 ? &data.by_row() : &data.by_col();
    side.cuts = cuts_of(*side.entries);
  }
  own_pieces();
  if (!team_) return;
  number_ = team_->fresh_number();
  ask(SideOrder::make, 0, 0, 0, [&] { deal(); });
}

ObservedSides::ObservedSides(Ranks& ranks) : ranks_(&ranks) {
  deal();
}

ObservedSides::~ObservedSides() {
  if (team_ && !team_->broken()) ask(SideOrder::release, 0, 0, 0, [] {});
}

void ObservedSides::own_pieces() {
  for (Side& side : sides_) {
    side.first_piece = side.pieces() * rank() / ranks();
    side.last_piece = side.pieces() * (rank() + 1) / ranks();
    const auto& values = side.entries->value;
    const std::int64_t end = side.entries->start[std::size_t(side.last())];
    side.residual.assign(values.begin() + side.first_entry(), values.begin() + end);
  }
}

void ObservedSides::deal() {
  ranks_->broadcast(&threads_, sizeof threads_);
  for (const Index mode : {0, 1}) {
    Side& side = sides_[mode];
    tell_all(*ranks_, side.cuts);
    std::vector<Index> ends;
    ends.reserve(std::size_t(ranks()) + 1);
    for (int rank = 0; rank <= ranks(); ++rank)
      ends.push_back(side.cuts[std::size_t(side.pieces() * rank / ranks())]);
    DealtEntries own = deal_groups(*ranks_, side.entries, nullptr, ends);
    if (leads()) continue;
    own_[mode] = std::move(own.entries);
    side.entries = &own_[mode];
  }
  if (!leads()) own_pieces();
}

void ObservedSides::ask(SideOrder order, Index mode, Index width, double number,
                        const std::function<void()>& work) const {
  if (!team_) return work();
  team_->ask({.order = Order::observed,
              .matrix = number_,
              .columns = width,
              .result = 2 * std::int64_t(order) + mode,
              .number = number},
             work);
}

void ObservedSides::follow(const Job& job) {
  const Index mode = job.result % 2, width = job.columns;
  Rows rows[2], others[2];
  Vector first, second;
  Matrix left[2], right[2], parts;
  std::vector<double> residual;
  switch (SideOrder(job.result / 2)) {
    case SideOrder::make:
    case SideOrder::release: break;
    case SideOrder::take_off: do_take_off(first); break;
    case SideOrder::contract: do_contract(mode, width, rows[0], rows[1]); break;
    case SideOrder::parabolas: do_parabolas(mode, width, rows[0], rows[1]); break;
    case SideOrder::squares: do_squares(parts); break;
    case SideOrder::products: do_products(width, rows[0], rows[1], first, second, parts); break;
    case SideOrder::gram: do_gram(width, Index(job.number), left, right, parts); break;
    case SideOrder::rewrite: do_rewrite(width, rows, others); break;
    case SideOrder::sweep: {
      const auto passes = int(job.number) / 2;
      do_sweep(mode, width, int(job.number) % 2 != 0, passes, left[0], right[0], parts);
      break;
    }
    case SideOrder::give_residual: do_residual(side(mode), residual, false); break;
    case SideOrder::take_residual: do_residual(side(mode), residual, true); break;
  }
}

bool ObservedSides::is_made_by(const Job& job) {
  return SideOrder(job.result / 2) == SideOrder::make;
}
bool ObservedSides::is_released_by(const Job& job) {
  return SideOrder(job.result / 2) == SideOrder::release;
}

void ObservedSides::tell(double* numbers, Index count) const {
  if (ranks_) ranks_->broadcast(numbers, std::size_t(count) * sizeof(double));
}

template <class Numbers>
void ObservedSides::tell(Numbers& numbers, Index rows, Index cols) const {
  if (!leads()) numbers.resize(rows, cols);
  tell(numbers.data(), numbers.size());
}

Index ObservedSides::group_of(const Side& side, int rank) const {
  return side.cuts[std::size_t(side.pieces() * rank / ranks())];
}

template <class Begin>
void ObservedSides::move_parts(double* all, double* own, const Begin& begin, bool to_owners) const {
  if (!ranks_) return;
  std::vector<Parcel> parcels;
  const auto bytes = [&](int rank) { return std::size_t(begin(rank + 1) - begin(rank)) * sizeof(double); };
  for (int other = 1; other < ranks() && leads(); ++other)
    parcels.push_back({other, all + begin(other), bytes(other)});
  if (!leads()) parcels.push_back({0, own, bytes(rank())});
  if (leads() == to_owners)
    ranks_->exchange(parcels, {});
  else
    ranks_->exchange({}, parcels);
}

void ObservedSides::move_rows(const Side& side, double* rows, Index width, bool to_owners) const {
  const auto begin = [&](int rank) { return group_of(side, rank) * width; };
  move_parts(rows, rows + side.first() * width, begin, to_owners);
}

void ObservedSides::bring_pieces(const Side& side, Matrix& parts) const {
  const auto begin = [&](int rank) { return side.pieces() * rank / ranks() * parts.rows(); };
  move_parts(parts.data(), parts.data() + side.first_piece * parts.rows(), begin, false);
}

void ObservedSides::move_residual(const Side& side, std::vector<double>& all, bool to_owners) const {
  const auto begin = [&](int rank) -> Index {
    return leads()               ? side.entries->start[std::size_t(group_of(side, rank))]
           : rank > this->rank() ? Index(side.residual.size())
                                 : 0;
  };
  move_parts(all.data(), side.residual.data(), begin, to_owners);
}

template <class Visit>
void ObservedSides::stream(const Side& side, const Visit& visit) const {
  const GroupedEntries& entries = *side.entries;
  parallel_for(side.last_piece - side.first_piece, threads_, [&](Index own) {
    const Index piece = side.first_piece + own;
    for (Index i = side.cuts[std::size_t(piece)]; i < side.cuts[std::size_t(piece) + 1]; ++i) {
      const auto start = entries.start[std::size_t(i)];
      for (const Pending& change : side.pending)
        if (change.own[i] != 0)
          take_off_entries(entries.index.data() + start, entries.count(i), change.own[i], change.other.data(),
                           side.residual_of(i));
      visit(piece, i);
    }
  });
  side.pending.clear();
}

void ObservedSides::take_off(const Vector& left, const Vector& right) {
  Vector both(left.size() + right.size());
  both << left, right;
  ask(SideOrder::take_off, 0, 0, 0, [&] { do_take_off(both); });
}
void ObservedSides::do_take_off(Vector& both) {
  const Index rows = sides_[0].groups(), cols = sides_[1].groups();
  tell(both, rows + cols, 1);
  Vector left = both.head(rows), right = both.tail(cols);
  sides_[1].pending.push_back({right, left});
  sides_[0].pending.push_back({std::move(left), std::move(right)});
}

void ObservedSides::rewrite(const Expansion& x) {
  Rows scaled[2], factors[2];
  for (const Index mode : {0, 1}) {
    scaled[mode] = x.factors[mode] * x.weights.asDiagonal();
    factors[mode] = x.factors[mode];
  }
  ask(SideOrder::rewrite, 0, x.rank(), 0, [&] { do_rewrite(x.rank(), scaled, factors); });
}
void ObservedSides::do_rewrite(Index rank, Rows (&scaled)[2], Rows (&factors)[2]) {
  for (const Index mode : {0, 1}) {
    const Side& along = sides_[mode];
    Rows &own = scaled[mode], &other = factors[1 - mode];
    if (!leads()) own.resize(along.groups(), rank);
    move_rows(along, own.data(), rank, true);
    tell(other, sides_[1 - mode].groups(), rank);
    along.pending.clear();  // all of it is written anew
    stream(along, [&](Index, Index i) {
      const auto start = along.entries->start[std::size_t(i)];
      take_off_rows(along.entries->index.data() + start, along.entries->value.data() + start,
                    along.entries->count(i), own.data() + i * rank, other.data(), rank, along.residual_of(i));
    });
  }
}

ObservedSides::Rows ObservedSides::contract(Index mode, Rows other) const {
  Rows sums;
  ask(SideOrder::contract, mode, other.cols(), 0, [&] { do_contract(mode, other.cols(), other, sums); });
  return sums;
}
void ObservedSides::do_contract(Index mode, Index width, Rows& other, Rows& sums) const {
  const Side& along = side(mode);
  tell(other, side(1 - mode).groups(), width);
  sums.resize(along.groups(), width);
  stream(along, [&](Index, Index i) {
    residual_rows(along.entries->index.data() + along.entries->start[std::size_t(i)], along.residual_of(i),
                  along.entries->count(i), other.data(), width, sums.data() + i * width);
  });
  move_rows(along, sums.data(), width, false);
}

void ObservedSides::parabolas(Index mode, const Vector& other, const Vector* squares, const Vector& own,
                              double weight, Parabolas& out) const {
  const Index groups = side(mode).groups();
  Rows factors(other.size(), squares ? 2 : 1), sums;
  factors.col(0) = other;
  if (squares) factors.col(1) = *squares;
  ask(SideOrder::parabolas, mode, factors.cols(), 0,
      [&] { do_parabolas(mode, factors.cols(), factors, sums); });
  out.a = sums.col(squares ? 2 : 1);
  out.b.resize(groups);
  for (Index i = 0; i < groups; ++i)
    out.b[i] = sums(i, 0) + sums(i, 1) * weight * own[i];  // as if the atom were not there
}
void ObservedSides::do_parabolas(Index mode, Index count, Rows& factors, Rows& sums) const {
  const Side& along = side(mode);
  tell(factors, side(1 - mode).groups(), count);
  const Vector other = factors.col(0), squares = factors.col(count - 1);
  sums.resize(along.groups(), count + 1);
  stream(along, [&](Index, Index i) {
    const auto start = along.entries->start[std::size_t(i)];
    const GroupSums found = sums_of(along.entries->index.data() + start, along.residual_of(i),
                                    along.entries->count(i), other.data(), squares.data());
    sums(i, 0) = found.product;
    sums(i, 1) = found.norm;
    if (count > 1) sums(i, 2) = found.squares;
  });
  move_rows(along, sums.data(), count + 1, false);
}

double ObservedSides::squares() const {
  Matrix parts;
  ask(SideOrder::squares, 0, 0, 0, [&] { do_squares(parts); });
  return sum_of(parts);
}
void ObservedSides::do_squares(Matrix& parts) const {
  const Side& rows = side(0);
  parts = Matrix::Zero(1, rows.pieces());
  stream(rows, [&](Index piece, Index i) {
    const Eigen::Map<const Vector> own(rows.residual_of(i), rows.entries->count(i));
    parts(0, piece) += own.squaredNorm();
  });
  bring_pieces(rows, parts);
}

Vector ObservedSides::products(Rows left, Rows right, const Vector& atom_left,
                               const Vector& atom_right) const {
  Vector u = atom_left, v = atom_right;
  Matrix parts;
  const Index count = left.cols();
  ask(SideOrder::products, 0, count, 0, [&] { do_products(count, left, right, u, v, parts); });
  return parts.rowwise().sum();
}
void ObservedSides::do_products(Index count, Rows& left, Rows& right, Vector& atom_left, Vector& atom_right,
                                Matrix& parts) const {
  const Side& rows = side(0);
  if (!leads()) {
    left.resize(rows.groups(), count);
    atom_left.resize(rows.groups());
  }
  move_rows(rows, left.data(), count, true);
  move_rows(rows, atom_left.data(), 1, true);
  tell(right, side(1).groups(), count);
  tell(atom_right, side(1).groups(), 1);
  parts = Matrix::Zero(count, rows.pieces());
  Matrix sums(count, rows.pieces());
  stream(rows, [&](Index piece, Index i) {
    const double own = atom_left[i];
    if (own == 0) return;
    weighted_rows(rows.entries->index.data() + rows.entries->start[std::size_t(i)], atom_right.data(),
                  rows.entries->count(i), right.data(), count, sums.col(piece).data());
    parts.col(piece) += own * left.row(i).transpose().cwiseProduct(sums.col(piece));
  });
  bring_pieces(rows, parts);
}

Matrix ObservedSides::gram(const Factors& a, const Factors& b) const {
  const bool same = &a == &b;
  Matrix of_a[2] = {a[0], a[1]}, of_b[2], parts;
  if (!same) of_b[0] = b[0], of_b[1] = b[1];
  const Index count_b = same ? -1 : b.count();
  ask(SideOrder::gram, 0, a.count(), double(count_b),
      [&] { do_gram(a.count(), count_b, of_a, of_b, parts); });
  Matrix sum = parts.col(0).reshaped(a.count(), b.count());
  for (Index piece = 1; piece < parts.cols(); ++piece) sum.reshaped() += parts.col(piece);
  return sum;
}
void ObservedSides::do_gram(Index count_a, Index count_b, Matrix (&a)[2], Matrix (&b)[2],
                            Matrix& parts) const {
  // Blocks of entries as rows of a matrix with a column per atom: their products are dense ones.
  constexpr Index kBlock = 512;
  const bool same = count_b < 0;
  const Side& rows = side(0);
  const GroupedEntries& entries = *rows.entries;
  for (const Index mode : {0, 1}) {
    tell(a[mode], side(mode).groups(), count_a);
    if (!same) tell(b[mode], side(mode).groups(), count_b);
  }
  parts = Matrix::Zero(count_a * (same ? count_a : count_b), rows.pieces());
  parallel_for(rows.last_piece - rows.first_piece, threads_, [&](Index own) {
    const Index piece = rows.first_piece + own;
    Matrix sum = Matrix::Zero(count_a, same ? count_a : count_b);
    Matrix block_a(kBlock, count_a), block_b(kBlock, same ? 0 : count_b);
    std::vector<Index> row(kBlock);
    Index i = rows.cuts[std::size_t(piece)];
    const Index end = entries.start[std::size_t(rows.cuts[std::size_t(piece) + 1])];
    for (Index first = entries.start[std::size_t(i)]; first < end; first += kBlock) {
      const Index count = std::min(kBlock, end - first);
      for (Index e = 0; e < count; ++e) {
        while (entries.start[std::size_t(i) + 1] <= first + e) ++i;
        row[std::size_t(e)] = i;
      }
      const auto fill = [&](const Matrix(&z)[2], Matrix& block) {
        for (Index k = 0; k < block.cols(); ++k) {
          const double *left = z[0].col(k).data(), *right = z[1].col(k).data();
          double* to = block.col(k).data();
          for (Index e = 0; e < count; ++e)
            to[e] = left[row[std::size_t(e)]] * right[entries.index[std::size_t(first + e)]];
        }
      };
      fill(a, block_a);
      if (!same) fill(b, block_b);
      sum += transposed_product(block_a.topRows(count), (same ? block_a : block_b).topRows(count));
    }
    parts.col(piece) = sum.reshaped();
  });
  bring_pieces(rows, parts);
}

double ObservedSides::sweep(Index mode, const Panel& other, bool nonnegative, int passes, Panel& X) const {
  Panel Z = other;
  Matrix parts;
  const Index rank = X.cols();
  ask(SideOrder::sweep, mode, rank, double(2 * passes + int(nonnegative)),
      [&] { do_sweep(mode, rank, nonnegative, passes, Z, X, parts); });
  return 0.5 * sum_of(parts);
}
void ObservedSides::do_sweep(Index mode, Index rank, bool nonnegative, int passes, Panel& other, Panel& X,
                             Matrix& parts) const {
  const Side& along = side(mode);
  tell(other, side(1 - mode).groups(), rank);
  Rows rows;  // as they travel
  if (ranks_) {
    rows = leads() ? Rows(X) : Rows(along.groups(), rank);
    move_rows(along, rows.data(), rank, true);
    if (!leads()) X = rows;
  }
  parts = Matrix::Zero(1, along.pieces());
  observed_sweep(*along.entries, along.cuts, {along.first_piece, along.last_piece}, other,
                 {.nonnegative = nonnegative, .passes = passes, .threads = threads_}, X, parts.data());
  bring_pieces(along, parts);
  if (!ranks_) return;
  rows = X;
  move_rows(along, rows.data(), rank, false);
  if (leads()) X = rows;
}

void ObservedSides::visit_residual(Index mode, bool replace,
                                   const std::function<void(std::vector<double>&)>& use) {
  const Side& along = side(mode);
  stream(along, [](Index, Index) {});  // what is pending is taken off now
  if (!team_) return use(along.residual);
  std::vector<double> all(along.entries->index.size());
  const auto move = [&](SideOrder order) {
    ask(order, mode, 0, 0, [&] { do_residual(along, all, order == SideOrder::take_residual); });
  };
  if (!replace) {
    move(SideOrder::give_residual);
    std::copy(along.residual.begin(), along.residual.end(), all.begin());
  }
  use(all);
  if (!replace) return;
  std::copy_n(all.begin(), along.residual.size(), along.residual.begin());
  move(SideOrder::take_residual);
}
void ObservedSides::do_residual(const Side& along, std::vector<double>& all, bool back) const {
  if (!leads()) stream(along, [](Index, Index) {});
  move_residual(along, all, back);
}

}  // namespace pursuit
