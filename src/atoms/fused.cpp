// Piecewise constant vectors with few pieces, exactly, by dynamic programming over (entries, pieces) with
// functional pruning (Rigaill 2010): for the first t entries and j pieces, the cost as a function of the last
// level mu is the lower envelope of one parabola per possible start of the last piece. A start that leaves
// the envelope never returns, and few are on it at a time.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "atoms/cone_set.hpp"
#include "atoms/simple_members.hpp"
#include "pursuit/atoms/structures.hpp"
#include "pursuit/base/error.hpp"

namespace pursuit {
namespace {

/// A mu^2 - 2 B mu + constant.
struct Parabola {
  double a, b, constant;

  double lowest_at(double lo, double hi) const { return a > 0 ? std::clamp(b / a, lo, hi) : lo; }
  double at(double mu) const { return (a * mu - 2 * b) * mu + constant; }
};

/// Where the envelope is the parabola of one start.
struct Stretch {
  double lo, hi;
  int start;
};

/// Buffers of one thread, kept between calls.
struct Workspace {
  std::vector<double> a, b;         // sums over the first t entries
  std::vector<double> cost, fewer;  // of the first t entries with j pieces, and with j - 1
  std::vector<int> starts;          // of the last piece, for every (j, t)
  std::vector<Stretch> envelope, next;
};

class Fused final : public ConeSet {
 public:
  Fused(Index pieces, bool nonnegative)
      : ConeSet({.symmetric = !nonnegative, .exact_fit = true}), pieces_(pieces), nonnegative_(nonnegative) {
    if (pieces < 1) throw InvalidArgument(fmt::format("fused:{}: at least 1 piece is needed", pieces));
  }

  std::string spec() const override {
    return fmt::format("{}fused:{}", nonnegative_ ? "nonneg+" : "", pieces_);
  }

  bool contains(ConstVectorRef u, double tolerance) const override {
    if (!has_unit_norm(u, tolerance) || (nonnegative_ && u.minCoeff() < 0)) return false;
    return (u.tail(u.size() - 1).array() != u.head(u.size() - 1).array()).count() < pieces_;
  }

  void require_dimension(Index n) const override {
    if (pieces_ > n)
      throw InvalidArgument(fmt::format("{}: {} pieces do not fit a vector of {} entries; allowed are 1..{}",
                                        spec(), pieces_, n, n));
  }

  AtomSetPtr narrowed(const Constraint& constraint) const override {
    const bool signs = std::holds_alternative<Nonnegativity>(constraint);
    return signs ? std::make_shared<Fused>(pieces_, true) : nullptr;
  }

  double project(ConstVectorRef a, ConstVectorRef b, VectorRef x) const override {
    thread_local Workspace w;
    const Index n = b.size();
    w.a.assign(std::size_t(n + 1), 0.0);
    w.b.assign(std::size_t(n + 1), 0.0);
    double lo = nonnegative_ ? 0.0 : std::numeric_limits<double>::max(), hi = nonnegative_ ? 0.0 : -lo;
    for (Index i = 0; i < n; ++i) {
      w.a[std::size_t(i + 1)] = w.a[std::size_t(i)] + a[i];
      w.b[std::size_t(i + 1)] = w.b[std::size_t(i)] + b[i];
      if (!(a[i] > 0)) continue;
      hi = std::max(hi, b[i] / a[i]);
      if (!nonnegative_) lo = std::min(lo, b[i] / a[i]);
    }
    if (lo > hi) lo = hi = 0;  // no curvature anywhere
    hi += 1;                   // never empty; no best level lies in the part that is too much

    w.starts.assign(std::size_t(pieces_ * (n + 1)), 0);
    w.cost.assign(std::size_t(n + 1), 0.0);
    for (Index t = 1; t <= n; ++t) {
      const Parabola one{w.a[std::size_t(t)], w.b[std::size_t(t)], 0};
      w.cost[std::size_t(t)] = one.at(one.lowest_at(lo, hi));
    }
    for (Index j = 1; j < pieces_; ++j) add_piece(lo, hi, w, w.starts.data() + j * (n + 1));

    double gain = 0;
    Index end = n;
    for (Index j = pieces_ - 1; end > 0; --j) {
      const Index start = w.starts[std::size_t(j * (n + 1) + end)];
      const Parabola piece = between(w, start, end, 0);
      const double level = piece.lowest_at(lo, hi);
      x.segment(start, end - start).setConstant(level);
      gain -= piece.at(level);
      end = start;
    }
    return gain;
  }

  /// Members with one piece are constant; with two, non-negative ones may vanish at one end, and with three
  /// everywhere but at one entry.
  void least_bad(ConstVectorRef g, VectorRef u) const override {
    if (!nonnegative_ || pieces_ == 1)
      constant_along(nonnegative_ ? Vector::Zero(g.size()) : Vector(g), u);
    else if (pieces_ == 2)
      best_end_stretch(g, true, true, u);
    else
      best_coordinate(g, u);
  }

 private:
  static Parabola between(const Workspace& w, Index start, Index end, double constant) {
    return {w.a[std::size_t(end)] - w.a[std::size_t(start)], w.b[std::size_t(end)] - w.b[std::size_t(start)],
            constant};
  }

  /// w.cost becomes the cost with one piece more; starts[t] says where its last piece starts.
  static void add_piece(double lo, double hi, Workspace& w, int* starts) {
    const auto n = Index(w.cost.size()) - 1;
    w.fewer.swap(w.cost);
    w.cost.assign(w.fewer.size(), 0.0);
    w.envelope.assign(1, {lo, hi, 0});
    for (Index t = 0; t < n; ++t) {
      if (t > 0) admit(t, w);
      double best = std::numeric_limits<double>::infinity();
      for (const Stretch& stretch : w.envelope) {
        const Parabola cost = between(w, stretch.start, t + 1, w.fewer[std::size_t(stretch.start)]);
        if (const double lowest = cost.at(cost.lowest_at(stretch.lo, stretch.hi)); lowest < best) {
          best = lowest;
          starts[t + 1] = stretch.start;
        }
      }
      w.cost[std::size_t(t + 1)] = best;
    }
  }

  /// A last piece may start after entry t: it takes the part of the envelope that lies above its own cost.
  static void admit(Index t, Workspace& w) {
    const double own = w.fewer[std::size_t(t)];
    w.next.clear();
    const auto take = [&](double lo, double hi, int start) {
      if (!(lo < hi)) return;
      if (!w.next.empty() && w.next.back().start == start)
        w.next.back().hi = hi;
      else
        w.next.push_back({lo, hi, start});
    };
    for (const Stretch& stretch : w.envelope) {
      // a mu^2 - 2 b mu + constant <= own between the roots b/a -+ sqrt(b^2 - a (constant - own)) / a.
      const Parabola cost = between(w, stretch.start, t, w.fewer[std::size_t(stretch.start)]);
      double from = stretch.lo, to = stretch.hi;
      if (cost.a > 0) {
        const double middle = cost.b / cost.a, square = middle * middle - (cost.constant - own) / cost.a;
        const double half = square >= 0 ? std::sqrt(square) : -1.0;
        from = half >= 0 ? std::clamp(middle - half, stretch.lo, stretch.hi) : stretch.hi;
        to = half >= 0 ? std::clamp(middle + half, stretch.lo, stretch.hi) : stretch.hi;
      } else if (cost.constant > own) {
        from = to = stretch.hi;
      }
      take(stretch.lo, from, int(t));
      take(from, to, stretch.start);
      take(to, stretch.hi, int(t));
    }
    w.envelope.swap(w.next);
  }

  Index pieces_;
  bool nonnegative_;
};

}  // namespace

Atoms fused(Index pieces) {
  return std::make_shared<Fused>(pieces, false);
}

}  // namespace pursuit
