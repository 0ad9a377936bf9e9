#include "pursuit/objective/observed.hpp"

#include <algorithm>
#include <utility>

#include "base/kernel.hpp"
#include "base/packs.hpp"
#include "base/parallel.hpp"
#include "linalg/products.hpp"
#include "objective/observed_sweep.hpp"

namespace pursuit {
namespace {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Index kWorthThreads = 50000;  // entries; with fewer, threads wait for each other most of the time
constexpr Index kPieces = 256;          // at most
constexpr Index kPieceWork = 4096;      // entries, at least
constexpr Index kLanes = 4;             // sums run side by side, and are added in the end

/// r_e -= own * other[index_e].
PURSUIT_KERNEL void take_off(const int* index, Index count, double own, const double* other, double* r) {
  for (Index e = 0; e < count; ++e) r[e] -= own * other[index[e]];
}

/// Sums over the entries of a group.
struct GroupSums {
  double product = 0, norm = 0, squares = 0;  // of r v, v^2 and s
};
PURSUIT_KERNEL GroupSums sums_of(const int* index, const double* r, Index count, const double* v,
                                 const double* s) {
  double product[kLanes] = {}, norm[kLanes] = {}, squares[kLanes] = {};
  Index e = 0;
  for (; e + kLanes <= count; e += kLanes)
    for (Index l = 0; l < kLanes; ++l) {
      const int j = index[e + l];
      product[l] += r[e + l] * v[j];
      norm[l] += v[j] * v[j];
      squares[l] += s[j];
    }
  for (; e < count; ++e) {
    const int j = index[e];
    product[0] += r[e] * v[j];
    norm[0] += v[j] * v[j];
    squares[0] += s[j];
  }
  return {(product[0] + product[1]) + (product[2] + product[3]), (norm[0] + norm[1]) + (norm[2] + norm[3]),
          (squares[0] + squares[1]) + (squares[2] + squares[3])};
}

/// sum[k] = sum_e factor_e Z(index_e, k) for so many columns of Z, which lies by rows.
template <Index kColumns, class Factor>
PURSUIT_INLINE void sum_columns(const int* index, Index count, const Factor& factor, const double* Z,
                                Index width, double* sum) {
  double own[kColumns] = {};
  for (Index e = 0; e < count; ++e) {
    const double f = factor(e);
    const double* row = Z + index[e] * width;
    for (Index k = 0; k < kColumns; ++k) own[k] += f * row[k];
  }
  for (Index k = 0; k < kColumns; ++k) sum[k] = own[k];
}
template <class Factor>
PURSUIT_INLINE void sum_rows(const int* index, Index count, const Factor& factor, const double* Z,
                             Index width, double* sum) {
  Index k = 0;
  for (; k + 8 <= width; k += 8) sum_columns<8>(index, count, factor, Z + k, width, sum + k);
  for (; k + 4 <= width; k += 4) sum_columns<4>(index, count, factor, Z + k, width, sum + k);
  for (; k < width; ++k) sum_columns<1>(index, count, factor, Z + k, width, sum + k);
}

/// sum = sum_e r_e Z.row(index_e), and the same with weights of the other mode in the place of r.
PURSUIT_KERNEL void residual_rows(const int* index, const double* r, Index count, const double* Z,
                                  Index width, double* sum) {
  sum_rows(
      index, count, [&](Index e) { return r[e]; }, Z, width, sum);
}
PURSUIT_KERNEL void weighted_rows(const int* index, const double* weights, Index count, const double* Z,
                                  Index width, double* sum) {
  sum_rows(
      index, count, [&](Index e) { return weights[index[e]]; }, Z, width, sum);
}

/// r_e = y_e - <own, Z.row(index_e)>.
PURSUIT_KERNEL void take_off_rows(const int* index, const float* y, Index count, const double* own,
                                  const double* Z, Index width, double* r) {
  for (Index e = 0; e < count; ++e) {
    const double* row = Z + index[e] * width;
    double x[kLanes] = {};
    Index k = 0;
    for (; k + kLanes <= width; k += kLanes)
      for (Index l = 0; l < kLanes; ++l) x[l] += own[k + l] * row[k + l];
    for (; k < width; ++k) x[0] += own[k] * row[k];
    r[e] = double(y[e]) - ((x[0] + x[1]) + (x[2] + x[3]));
  }
}

double sum_of(const std::vector<double>& parts) {
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

}  // namespace

ObservedSquares::Side::Side(const GroupedEntries& grouped) : axis(grouped.size()), entries(grouped) {
  const Index total = Index(grouped.index.size());
  const Index pieces = std::clamp<Index>(total / kPieceWork, 1, kPieces);
  cuts.push_back(0);
  for (Index i = 0; i < grouped.size(); ++i)
    if (grouped.start[std::size_t(i) + 1] >= total * Index(cuts.size()) / pieces && i + 1 < grouped.size())
      cuts.push_back(i + 1);
  cuts.push_back(grouped.size());
  residual.assign(grouped.value.begin(), grouped.value.end());
}

template <class Visit>
void ObservedSquares::stream(const Side& side, const Visit& visit) const {
  const GroupedEntries& entries = side.entries;
  parallel_for(Index(side.cuts.size()) - 1, threads_, [&](Index piece) {
    for (Index i = side.cuts[std::size_t(piece)]; i < side.cuts[std::size_t(piece) + 1]; ++i) {
      const auto start = entries.start[std::size_t(i)];
      for (const Pending& change : side.pending)
        if (change.own[i] != 0)
          take_off(entries.index.data() + start, entries.count(i), change.own[i], change.other.data(),
                   side.residual.data() + start);
      visit(piece, i);
    }
  });
  side.pending.clear();
}

class ObservedSquares::System final : public ModeSystem {
 public:
  System(ObservedSquares& f, Index mode) : f_(f), mode_(mode), side_(f.side(mode)) {}

  void parabolas(Index k, const Factors* squares, Parabolas& out) override {
    const auto v = other().col(k);
    const double* s = squares ? (*squares)[1 - mode_].data() : v.data();
    out.a.resize(side_.axis.own());
    out.b.resize(side_.axis.own());
    const auto own = f_.x_.factors[mode_].col(k);
    const double weight = f_.x_.weights[k];
    f_.stream(side_, [&](Index, Index i) {
      const auto start = side_.entries.start[std::size_t(i)];
      const GroupSums sums = sums_of(side_.entries.index.data() + start, side_.residual.data() + start,
                                     side_.entries.count(i), v.data(), s);
      out.a[i] = squares ? sums.squares : sums.norm;
      out.b[i] = sums.product + sums.norm * weight * own[i];  // as if the atom were not there
    });
  }

  void move(Index k, ConstVectorRef factor, double weight) override {
    Vector change = weight * factor - f_.x_.weights[k] * f_.x_.factors[mode_].col(k);
    f_.x_.factors[mode_].col(k) = factor;
    f_.x_.weights[k] = weight;
    Vector held = other().col(k);
    if (mode_ == 0)
      f_.add(std::move(change), std::move(held));
    else
      f_.add(std::move(held), std::move(change));
  }

 private:
  const Panel& other() const { return f_.x_.factors[1 - mode_]; }

  ObservedSquares& f_;
  Index mode_;
  const Side& side_;
};

ObservedSquares::ObservedSquares(ObservedMatrix data, bool symmetric, int threads)
    : data_(std::move(data)),
      threads_(data_.size() < kWorthThreads ? 1 : threads),
      sides_{Side(data_.by_row()), Side(data_.by_col())},
      x_(Panel(data_.rows(), 0), Panel(data_.cols(), 0), Vector(0), symmetric) {
  null_value_ = value();
}

void ObservedSquares::contract(Index mode, const Factors& z, Panel& out) const {
  const RowMajorMatrix other = z[1 - mode];
  const Index width = other.cols();
  const Side& along = side(mode);
  RowMajorMatrix sums(along.axis.own(), width);
  stream(along, [&](Index, Index i) {
    const auto start = along.entries.start[std::size_t(i)];
    residual_rows(along.entries.index.data() + start, along.residual.data() + start, along.entries.count(i),
                  other.data(), width, sums.data() + i * width);
  });
  out = sums;
}

double ObservedSquares::value() const {
  if (!value_) {
    const Side& rows = side(0);
    std::vector<double> parts(rows.cuts.size() - 1, 0.0);
    stream(rows, [&](Index piece, Index i) {
      const Eigen::Map<const Vector> own(rows.residual.data() + rows.entries.start[std::size_t(i)],
                                         rows.entries.count(i));
      parts[std::size_t(piece)] += own.squaredNorm();
    });
    value_ = 0.5 * sum_of(parts);
  }
  return *value_;
}

void ObservedSquares::add(Vector left, Vector right) {
  sides_[1].pending.push_back({right, left});
  sides_[0].pending.push_back({std::move(left), std::move(right)});
  value_.reset();
}

void ObservedSquares::move_to(Expansion x) {
  x_ = std::move(x);
  value_.reset();
  for (const Index mode : {0, 1}) {
    const Side& along = side(mode);
    const RowMajorMatrix own = x_.factors[mode] * x_.weights.asDiagonal(), other = x_.factors[1 - mode];
    along.pending.clear();  // all of it is written anew
    stream(along, [&](Index, Index i) {
      const auto start = along.entries.start[std::size_t(i)];
      take_off_rows(along.entries.index.data() + start, along.entries.value.data() + start,
                    along.entries.count(i), own.data() + i * own.cols(), other.data(), own.cols(),
                    along.residual.data() + start);
    });
  }
}

void ObservedSquares::append(const Factors& atom, double) {
  x_.append(atom, 0);
}

void ObservedSquares::reweigh(const Vector& weights) {
  const Vector change = weights - x_.weights;
  if (const Index changed = (change.array() != 0).count(); changed > 1) {
    move_to({std::move(x_.factors), weights});
  } else if (changed == 1) {
    Index k = 0;
    change.cwiseAbs().maxCoeff(&k);
    x_.weights = weights;
    add(change[k] * x_.left().col(k), x_.right().col(k));
  }
}

void ObservedSquares::replace(Index k, const Factors& atom, double, double weight) {
  x_.factors.replace(k, atom);
  x_.weights[k] = weight;
  if (weight != 0) add(weight * x_.left().col(k), x_.right().col(k));
}

void ObservedSquares::keep(const std::vector<Index>& atoms) {
  x_.keep(atoms);
}

Matrix ObservedSquares::products_with(const Factors& a, const Factors& atom) const {
  const Side& rows = side(0);
  const RowMajorMatrix left = a[0], right = a[1];
  const Index pieces = Index(rows.cuts.size()) - 1;
  Matrix parts = Matrix::Zero(a.count(), pieces);
  Matrix sums(a.count(), pieces);
  stream(rows, [&](Index piece, Index i) {
    const double own = atom[0](i, 0);
    if (own == 0) return;
    weighted_rows(rows.entries.index.data() + rows.entries.start[std::size_t(i)], atom[1].data(),
                  rows.entries.count(i), right.data(), right.cols(), sums.col(piece).data());
    parts.col(piece) += own * left.row(i).transpose().cwiseProduct(sums.col(piece));
  });
  return parts.rowwise().sum();
}

Matrix ObservedSquares::gram(const Factors& a, const Factors& b) const {
  if (b.count() == 1) return products_with(a, b);
  // Blocks of entries as rows of a matrix with a column per atom: their products are dense ones.
  constexpr Index kBlock = 512;
  const Side& rows = side(0);
  const GroupedEntries& entries = rows.entries;
  const bool same = &a == &b;
  const Index pieces = Index(rows.cuts.size()) - 1;
  std::vector<Matrix> parts(static_cast<std::size_t>(pieces));
  parallel_for(pieces, threads_, [&](Index piece) {
    Matrix& sum = parts[std::size_t(piece)] = Matrix::Zero(a.count(), b.count());
    Matrix of_a(kBlock, a.count()), of_b(kBlock, same ? 0 : b.count());
    std::vector<Index> row(kBlock);
    Index i = rows.cuts[std::size_t(piece)];
    const Index end = entries.start[std::size_t(rows.cuts[std::size_t(piece) + 1])];
    for (Index first = entries.start[std::size_t(i)]; first < end; first += kBlock) {
      const Index count = std::min(kBlock, end - first);
      for (Index e = 0; e < count; ++e) {
        while (entries.start[std::size_t(i) + 1] <= first + e) ++i;
        row[std::size_t(e)] = i;
      }
      const auto fill = [&](const Factors& z, Matrix& block) {
        for (Index k = 0; k < z.count(); ++k) {
          const double *left = z[0].col(k).data(), *right = z[1].col(k).data();
          double* to = block.col(k).data();
          for (Index e = 0; e < count; ++e)
            to[e] = left[row[std::size_t(e)]] * right[entries.index[std::size_t(first + e)]];
        }
      };
      fill(a, of_a);
      if (!same) fill(b, of_b);
      sum += transposed_product(of_a.topRows(count), (same ? of_a : of_b).topRows(count));
    }
  });
  for (std::size_t piece = 1; piece < parts.size(); ++piece) parts[0] += parts[piece];
  return parts[0];
}

Objective::WeightQuadratic ObservedSquares::weight_quadratic() const {
  Panel image;
  contract(0, x_.factors, image);
  Matrix G = gram(x_.factors, x_.factors);
  Vector linear = axis(0).dots(x_.factors[0], image) + G * x_.weights;
  return {std::move(G), std::move(linear)};
}

std::unique_ptr<ModeSystem> ObservedSquares::along(Index mode) {
  return std::make_unique<System>(*this, mode);
}

void ObservedSquares::visit_state(StateArchive& archive) {
  visit(archive, "x", x_);
  archive("value", value_);
  for (Index mode = 0; mode < modes(); ++mode) {
    Side& along = sides_[std::size_t(mode)];
    if (!archive.reads()) stream(along, [](Index, Index) {});  // what is pending is taken off now
    along.pending.clear();
    archive("residual" + std::to_string(mode), along.residual, Index(along.residual.size()));
  }
}

class ObservedSquares::Sweeps final : public FreeSweeps {
 public:
  explicit Sweeps(const ObservedSquares& f) : f_(f) {}

  double sweep(Index mode, const Factors& at, bool nonnegative, bool, Panel& X) override {
    const Side& along = f_.side(mode);
    return observed_sweep(along.entries, along.cuts, at[1 - mode],
                          {.nonnegative = nonnegative, .passes = kPasses, .threads = f_.threads_}, X);
  }

 private:
  static constexpr int kPasses = 6;  // over the coordinates of a row: cheap beside its system

  const ObservedSquares& f_;
};

std::unique_ptr<FreeSweeps> ObservedSquares::free_sweeps(const FreeSweepsOf& what) const {
  if (x_.symmetric() || !what.nonnegative || what.prices.any()) return nullptr;
  return std::make_unique<Sweeps>(*this);
}

}  // namespace pursuit
