#include "correction/fits_over_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "atoms/thinned_column.hpp"
#include "data/matrix_over_ranks.hpp"
#include "data/ranked_sides.hpp"
#include "objective/coordinate_sweep.hpp"
#include "objective/matrix_target.hpp"
#include "pursuit/objective/full_squares.hpp"

namespace pursuit {
namespace {

/// What all have to know...
struct FitsTask {
  Index mode = 0, rank = 0, oldest = 0;
  bool contraction = false;  // rank 0 wants it too
};

/// ...and of every atom: how it is fitted, its weight, and where its non-zeros end among those of all.
struct Atom {
  SparseFit fit;
  double weight;
  std::int64_t end;
};

/// A number that is not zero.
struct Entry {
  Index place;
  double value;
};

/// What rank 0 makes of what it is told of a column.
struct Verdict {
  enum Kind : std::int64_t { fitted, all_wanted, failed } kind;
  std::int64_t nonzeros;
  double weight;
};

/// An atom has another factor and another weight.
struct Change {
  Index atom;
  double weight;
  std::vector<Entry> before, after;  // non-zeros
};

/// Rank 0's side of it.
struct Leader {
  const AtomSets& sets;
  Index panel;
  Sign sign;
  const Panel& other;  // factors of the other mode
  Matrix gram;
  const Panel& factors;
  const Vector& weights;
  std::vector<Change> changes = {};
  Panel contraction = {};
  std::exception_ptr failure = {};
};

/// All ranks make it together and call the same.
class FitsOfRank {
 public:
  FitsOfRank(const RankedRows& rows, Leader* leader)
      : ranks_(rows.ranks()), sides_(rows.sides()), leader_(leader) {}

  void run(FitsTask task) {
    begin(task);
    for (Index k = task_.oldest; k < task_.rank; ++k)
      if (gram_(k, k) > 0 && !fit(k)) return;
    if (!task_.contraction) return;
    Panel whole = shared_->to_leader(task_.mode, P_);
    if (leader_) leader_->contraction = std::move(whole);
  }

 private:
  Index first() const { return sides_.first(task_.mode); }
  Index own() const { return sides_.own(task_.mode); }
  Index size() const { return sides_.shares(task_.mode).cuts().back(); }
  template <class Number>
  void tell(std::vector<Number>& numbers) const {
    ranks_.broadcast(numbers.data(), numbers.size() * sizeof(Number));
  }

  void begin(const FitsTask& task) {
    task_ = task;
    ranks_.broadcast(&task_, sizeof task_);
    const Index r = task_.rank;
    gram_ = leader_ ? leader_->gram : Matrix(r, r);
    ranks_.broadcast(gram_.data(), std::size_t(gram_.size()) * sizeof(double));
    shared_.emplace(sides_.factors(r));
    shared_->from_leader(1 - task_.mode, leader_ ? leader_->other : Panel());
    sides_.contract(task_.mode, shared_->whole(1 - task_.mode), shared_->own(1 - task_.mode), P_);

    std::vector<Entry> nonzeros;  // of all atoms
    atoms_.resize(std::size_t(r));
    for (Index k = 0; k < r && leader_; ++k) {
      Atom& atom = atoms_[std::size_t(k)];
      if (k >= task_.oldest)
        atom.fit = *sparse_fit(leader_->sets.of(leader_->panel, k), leader_->sign, size());
      atom.weight = leader_->weights[k];
      const auto column = leader_->factors.col(k);
      for (Index i = 0; i < column.size(); ++i)
        if (column[i] != 0) nonzeros.push_back({i, column[i]});
      atom.end = std::int64_t(nonzeros.size());
    }
    tell(atoms_);
    nonzeros.resize(std::size_t(atoms_.back().end));
    tell(nonzeros);
    X_ = Panel::Zero(own(), r);
    nonzeros_.resize(std::size_t(r));
    auto next = nonzeros.begin();
    for (Index k = 0; k < r; ++k) {
      const Atom& atom = atoms_[std::size_t(k)];
      const auto end = nonzeros.begin() + std::ptrdiff_t(atom.end);
      nonzeros_[std::size_t(k)].assign(next, end);
      for (const Entry& entry : nonzeros_[std::size_t(k)]) set(k, entry.place, atom.weight * entry.value);
      next = end;
    }
  }

  void set(Index k, Index place, double value) {
    if (place >= first() && place < first() + own()) X_(place - first(), k) = value;
  }

  /// False where it cannot be made.
  bool fit(Index k) {
    const SparseFit& asked = atoms_[std::size_t(k)].fit;
    leave_to(k, P_, gram_, X_, b_);
    Vector sample;
    double lower_squares = 0;
    bring_sample(sample, lower_squares);
    LikelyBounds bounds{-1, 0};  // none
    if (leader_ && std::isfinite(lower_squares))
      bounds = likely_bounds(sample, size(), asked).value_or(bounds);
    ranks_.broadcast(&bounds, sizeof bounds);
    std::vector<Entry> fresh;
    Verdict verdict{Verdict::all_wanted, 0, 0};
    if (bounds.up >= 0) {
      const Blocks blocks = bring_blocks(bounds);
      if (leader_) {
        Vector u;
        if (const auto t =
                fit_thinned(size(), sample, bounds, blocks, lower_squares, asked, gram_(k, k), u)) {
          for (Index i = 0; i < u.size(); ++i)
            if (u[i] != 0) fresh.push_back({blocks.place(i), u[i]});
          verdict = {Verdict::fitted, std::int64_t(fresh.size()), *t};
        }
      }
      ranks_.broadcast(&verdict, sizeof verdict);
    }
    if (verdict.kind == Verdict::all_wanted) {
      const Vector column = bring_column();
      if (leader_) verdict = fit_whole(k, column, fresh);
      ranks_.broadcast(&verdict, sizeof verdict);
    }
    if (verdict.kind == Verdict::failed) return false;
    fresh.resize(std::size_t(verdict.nonzeros));
    tell(fresh);
    take(k, std::move(fresh), verdict.weight);
    return true;
  }

  Verdict fit_whole(Index k, const Vector& column, std::vector<Entry>& fresh) {
    Vector u(column.size());
    double weight = 0;
    try {
      weight = leader_->sets.of(leader_->panel, k).fit(gram_(k, k), column, leader_->sign, u);
    } catch (...) {
      leader_->failure = std::current_exception();
      return {Verdict::failed, 0, 0};
    }
    for (Index i = 0; i < u.size(); ++i)
      if (u[i] != 0) fresh.push_back({i, u[i]});
    return {Verdict::fitted, std::int64_t(fresh.size()), weight};
  }

  /// Zeros stand in the places that become empty.
  void take(Index k, std::vector<Entry> fresh, double weight) {
    std::vector<Entry>& nonzeros = nonzeros_[std::size_t(k)];
    const auto old = std::move(nonzeros);
    nonzeros = std::move(fresh);
    for (const Entry& entry : old) set(k, entry.place, 0);
    for (const Entry& entry : nonzeros) set(k, entry.place, weight * entry.value);
    if (leader_) leader_->changes.push_back({k, weight, old, nonzeros});
  }

  /// To rank 0: the sample of the column, and the sum of the squares of its entries below zero, which is no
  /// number where an entry is none.
  void bring_sample(Vector& sample, double& lower_squares) {
    const Sampling sampling(size());
    const MemberShares& shares = sides_.shares(task_.mode);
    std::vector<double> mine;
    for (Index s = sampling.before(first()); s < sampling.before(first() + own()); ++s)
      mine.push_back(b_[sampling.place(s) - first()]);
    mine.push_back(b_.allFinite() ? b_.cwiseMin(0.0).squaredNorm()
                                  : std::numeric_limits<double>::quiet_NaN());
    std::vector<std::vector<double>> all(leader_ ? std::size_t(ranks_.size()) : 0);
    std::vector<Parcel> incoming;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      all[rank].resize(std::size_t(sampling.before(shares.first(int(rank) + 1)) -
                                   sampling.before(shares.first(int(rank))) + 1));
      incoming.push_back({int(rank), all[rank].data(), all[rank].size() * sizeof(double)});
    }
    ranks_.exchange({{0, mine.data(), mine.size() * sizeof(double)}}, incoming);
    sample.resize(leader_ ? sampling.size : 0);
    Index s = 0;
    for (const std::vector<double>& part : all) {
      for (std::size_t i = 0; i + 1 < part.size(); ++i) sample[s++] = part[i];
      lower_squares += part.back();
    }
  }

  Blocks bring_blocks(const LikelyBounds& bounds) {
    Blocks mine;
    mine.add(b_, first(), bounds);
    const std::int64_t count = std::int64_t(mine.numbers.size());
    const std::vector<std::byte> counts = gather(ranks_, &count, sizeof count);
    std::vector<Blocks> all(counts.size() / sizeof count);
    std::vector<Parcel> incoming;
    const auto parcels = [](int rank, Blocks& blocks, std::vector<Parcel>& to) {
      if (blocks.numbers.empty()) return;
      to.push_back({rank, blocks.numbers.data(), blocks.numbers.size() * sizeof(Index)});
      to.push_back({rank, blocks.entries.data(), blocks.entries.size() * sizeof(double)});
    };
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const auto theirs = std::size_t(reinterpret_cast<const std::int64_t*>(counts.data())[rank]);
      all[rank].numbers.resize(theirs);
      all[rank].entries.resize(theirs * std::size_t(kThinningBlock));
      parcels(int(rank), all[rank], incoming);
    }
    std::vector<Parcel> outgoing;
    parcels(0, mine, outgoing);
    ranks_.exchange(outgoing, incoming);
    Blocks column;
    for (const Blocks& part : all) column.append(part);
    return column;
  }

  Vector bring_column() {
    Vector column(leader_ ? size() : 0);
    const MemberShares& shares = sides_.shares(task_.mode);
    std::vector<Parcel> outgoing, incoming;
    if (own() > 0) outgoing.push_back({0, b_.data(), std::size_t(own()) * sizeof(double)});
    for (int rank = 0; rank < ranks_.size() && leader_; ++rank)
      if (const Index begin = shares.first(rank), count = shares.first(rank + 1) - begin; count > 0)
        incoming.push_back({rank, column.data() + begin, std::size_t(count) * sizeof(double)});
    ranks_.exchange(outgoing, incoming);
    return column;
  }

  Ranks& ranks_;
  const RankedSides& sides_;
  Leader* leader_;
  FitsTask task_;
  std::optional<SharedFactors> shared_;
  Matrix gram_;
  std::vector<Atom> atoms_;  // as they were
  Panel P_, X_;              // own rows: of the contraction, and of the factors, times their weights
  std::vector<std::vector<Entry>> nonzeros_;  // of the factors
  Vector b_;
};

}  // namespace

bool fits_over_ranks(Objective& f, const AtomSets& sets, Index panel, Index oldest,
                     const CorrectionOptions& options) {
  constexpr double kWorthSharing = 1 << 20;  // entries that rank 0 would go over for every atom
  constexpr Index kOfAFit = 16;              // of them in the fit itself, for every entry
  auto* squares = dynamic_cast<FullSquares*>(&f);
  const DataMatrix* matrix = squares ? matrix_of(*squares->target()) : nullptr;
  const auto shared = matrix ? over_ranks(*matrix) : std::nullopt;
  if (!shared || shared->team->ranks().size() == 1 || !sets.all_single() || options.bounded_weights ||
      options.known_of(panel) > 0)
    return false;
  const Index mode = sets.mode_of(panel), rank = f.iterate().rank(), n = f.axis(mode).size();
  if (double(n) * double(rank + kOfAFit) < kWorthSharing) return false;
  for (Index k = oldest; k < rank; ++k)
    if (!sparse_fit(sets.of(panel, k), options.sign, n)) return false;
  const Factors& factors = f.iterate().factors;
  Leader leader{.sets = sets,
                .panel = panel,
                .sign = options.sign,
                .other = factors[1 - mode],
                .gram = grams_but(f, mode, factors, factors),
                .factors = factors[mode],
                .weights = f.iterate().weights};
  const FitsTask task{
      .mode = mode, .rank = rank, .oldest = oldest, .contraction = panel + 1 == sets.panels()};
  shared->team->ask({.order = Order::fits, .matrix = shared->number},
                    [&] { FitsOfRank(*shared->rows, &leader).run(task); });
  if (leader.failure) std::rethrow_exception(leader.failure);
  const auto change = [&](Panel& own, Vector& weights) {
    for (const Change& to : leader.changes) {
      for (const Entry& entry : to.before) own(entry.place, to.atom) = 0;
      for (const Entry& entry : to.after) own(entry.place, to.atom) = entry.value;
      weights[to.atom] = to.weight;
    }
  };
  squares->refit(mode, change, std::move(leader.gram), std::move(leader.contraction));
  return true;
}

void follow_fits(const RankedRows& rows) {
  FitsOfRank(rows, nullptr).run({});
}

}  // namespace pursuit
