#include "objective/poisson_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "objective/row_tiles.hpp"

namespace pursuit {
namespace {

using lanes::PackBits;
using lanes::Wide;
using lanes::WideBits;
using packs::Pack;
using row_tiles::kSquare;
using row_tiles::RowWork;
using row_tiles::work_of;

constexpr double kRescaled = 0.1;     // a row whose sum is off by more gets the right one first
constexpr double kUncovered = 1e4;    // times the floor: an entry below this was hardly covered
constexpr double kLeastLeft = 1e-6;   // no step takes more of an entry...
constexpr double kForbidden = 1e100;  // ...since this is what it would cost
constexpr int kHalvings = 40;
constexpr int kLineSteps = 60;

template <class Lane, class Bits>
struct RowKernel : row_tiles::RowTiles<Lane, Bits> {
  using Base = row_tiles::RowTiles<Lane, Bits>;
  using Base::at;
  using Base::combine;
  using Base::for_tiles;
  using Base::kLane;
  using Base::logarithm;
  using Base::sum_of;
  using Base::sums_of;

  /// x, and q = y / x less what is exposed.
  PURSUIT_INLINE static void model(RowWork& w) {
    Index used = 0;
    for (Index k = 0; k < w.rank(); ++k)
      if (w.u[k] != 0) {
        w.active[used] = k;
        w.step[used++] = w.u[k];
      }
    for_tiles(
        w, [&](Index first, Index length) __attribute__((always_inline)) {
          combine(w, first, length, w.d.floor, used, w.active, w.step, w.x);
        });
  }

  PURSUIT_INLINE static void slopes(RowWork& w) {
    for (Index e = 0; e < w.padded; e += kLane) at(w.q + e) = at(w.y + e) / at(w.x + e);
    if (w.row.exposed)
      for (Index e = 0; e < w.padded; e += kLane) at(w.q + e) -= at(w.exposed + e);
    std::fill_n(w.slope, w.rank() + kSquare, 0.0);
    for_tiles(
        w, [&](Index first, Index length) __attribute__((always_inline)) {
          for (Index k = 0; k < w.rank(); k += kSquare) {
            Lane sum[kSquare] = {};
            const double* line = w.turned + k * w.line;
            for (Index e = 0; e < length; e += kLane) {
              const Lane q = at(w.q + first + e);
#pragma GCC unroll 4
              for (Index l = 0; l < kSquare; ++l) sum[l] += q * at(line + l * w.line + e);
            }
            Pack sums, before;
            sums_of(sum, sums);
            std::memcpy(&before, w.slope + k, sizeof before);
            sums += before;
            std::memcpy(w.slope + k, &sums, sizeof sums);
          }
        });
  }

  /// Along u the best multiple is known, and a bound on it where entries have a floor.
  PURSUIT_INLINE static bool rescale(RowWork& w) {
    if (w.d.first > 0) return false;
    double gained = 0, linear = 0, quadratic = 0;
    for (Index k = 0; k < w.rank(); ++k) {
      gained += w.slope[k] * w.u[k];
      linear += (w.linear(k) - w.d.l2 * w.u[k]) * w.u[k];
      quadratic += w.d.l2 * w.u[k] * w.u[k];
    }
    if (w.row.exposed) {
      Lane paid = {};
      for (Index e = 0; e < w.padded; e += kLane) paid += at(w.exposed + e) * (at(w.x + e) - w.d.floor);
      const double sum = sum_of(paid);
      linear += sum;
      gained += sum;
    }
    if (!(gained > 0 && linear + quadratic > 0)) return false;
    // quadratic s^2 + linear s = gained
    const double s = quadratic > 0
                         ? 2 * gained / (linear + std::sqrt(linear * linear + 4 * quadratic * gained))
                         : gained / linear;
    if (std::abs(s - 1) < kRescaled || !std::isfinite(s) || !(s > 0)) return false;
    for (Index k = 0; k < w.rank(); ++k) w.u[k] *= s;
    for (Index e = 0; e < w.padded; e += kLane) at(w.x + e) = w.d.floor + s * (at(w.x + e) - w.d.floor);
    return true;
  }

  /// f of coordinate k alone, all the way down: Newton on 1 / (sum of y v / x), which is concave, so that it
  /// comes to the end from below.
  PURSUIT_INLINE static void descend_coordinate(RowWork& w, Index k) {
    for (int pass = 0; pass < kLineSteps; ++pass) {
      double slope = 0, curvature = 0, exposed = 0;
      for_tiles(
          w, [&](Index first, Index length) __attribute__((always_inline)) {
            const double* line = w.turned + k * w.line;
            Lane s = {}, c = {}, m = {};
            for (Index e = 0; e < length; e += kLane) {
              const Lane v = at(line + e), part = at(w.y + first + e) * v / at(w.x + first + e);
              s += part;
              c += part * v / at(w.x + first + e);
              m += at(w.exposed + first + e) * v;
            }
            slope += sum_of(s);
            curvature += sum_of(c);
            exposed += sum_of(m);
          });
      const double linear = w.linear(k) + exposed;
      if (!(linear > 0)) return;
      double change = (slope - linear) / (curvature + w.d.l2);
      if (slope > linear) change *= slope / linear;
      if (!(curvature > 0)) change = -w.u[k];
      change = std::max(change, -w.u[k]);
      if (!std::isfinite(change) || std::abs(change) <= 1e-6 * w.u[k] || change == 0) return;
      w.u[k] = std::max(0.0, w.u[k] + change);
      for_tiles(
          w, [&](Index first, Index length) __attribute__((always_inline)) {
            const double* line = w.turned + k * w.line;
            for (Index e = 0; e < length; e += kLane) {
              Lane moved = at(w.x + first + e) + change * at(line + e);
              moved = moved > w.d.floor ? moved : Lane{} + w.d.floor;
              at(w.x + first + e) = moved;
            }
          });
    }
  }

  /// Entries that hardly anything covers bend f so much that a quadratic says nothing of it.
  PURSUIT_INLINE static bool cover(RowWork& w) {
    bool uncovered = false;
    for (Index e = 0; e < w.row.size; ++e) uncovered |= w.y[e] > 0 && w.x[e] < kUncovered * w.d.floor;
    if (!uncovered) return false;
    for (Index k = w.d.first; k < w.rank(); ++k) descend_coordinate(w, k);
    return true;
  }

  /// Of the coordinates that may move: H += sum of y / x^2 v v^T, with q as y / x^2.
  PURSUIT_INLINE static void add_block(const RowWork& w, Index first, Index length, Index a, Index b,
                                       Index count) {
    const double *own[kSquare], *other[kSquare];
#pragma GCC unroll 4
    for (Index l = 0; l < kSquare; ++l) {
      own[l] = w.turned + w.active[std::min(a + l, count - 1)] * w.line;
      other[l] = w.turned + w.active[std::min(b + l, count - 1)] * w.line;
    }
    Lane sum[kSquare][kSquare] = {};
    for (Index e = 0; e < length; e += kLane) {
      const Lane weight = at(w.q + first + e);
      Lane left[kSquare];
#pragma GCC unroll 4
      for (Index i = 0; i < kSquare; ++i) left[i] = weight * at(own[i] + e);
#pragma GCC unroll 4
      for (Index j = 0; j < kSquare; ++j) {
        const Lane right = at(other[j] + e);
#pragma GCC unroll 4
        for (Index i = 0; i < kSquare; ++i) sum[j][i] += left[i] * right;
      }
    }
    for (Index j = 0; j < std::min(kSquare, count - b); ++j) {
      Pack sums;
      sums_of(sum[j], sums);
      for (Index i = 0; i < std::min(kSquare, count - a); ++i) w.hessian[(b + j) * count + a + i] += sums[i];
    }
  }
  PURSUIT_INLINE static void products(RowWork& w, Index count) {
    std::fill_n(w.hessian, count * count, 0.0);
    for_tiles(
        w, [&](Index first, Index length) __attribute__((always_inline)) {
          for (Index a = 0; a < count; a += kSquare)
            for (Index b = a; b < count; b += kSquare) add_block(w, first, length, a, b, count);
        });
    for (Index a = 0; a < count; ++a)
      for (Index b = a + 1; b < count; ++b) w.hessian[a * count + b] = w.hessian[b * count + a];
  }
  PURSUIT_INLINE static void curvatures(RowWork& w, Index count) {
    for (Index e = 0; e < w.padded; e += kLane) at(w.q + e) = at(w.y + e) / (at(w.x + e) * at(w.x + e));
    products(w, count);
    for (Index a = 0; a < count; ++a) w.hessian[a * count + a] += w.d.l2;
  }

  /// The quadratic, by coordinate descent over d >= -u.
  PURSUIT_INLINE static void solve(const RowWork& w, Index count, const double* gradient, double* sums) {
    std::copy_n(gradient, count, sums);
    std::fill_n(w.step, count, 0.0);
    for (int pass = 0; pass < w.d.passes; ++pass)
      for (Index a = 0; a < count; ++a) {
        const double* column = w.hessian + a * count;
        const double most = -w.u[w.active[a]] - w.step[a], curvature = column[a];
        const double change = curvature > 0 ? std::max(-sums[a] / curvature, most) : sums[a] > 0 ? most : 0.0;
        if (change == 0) continue;
        w.step[a] += change;
        for (Index b = 0; b < count; ++b) sums[b] += change * column[b];
      }
  }

  /// What falls beyond the quadratic cost more than it says, at most, for a step of this length.
  PURSUIT_INLINE static double excess(const RowWork& w, double length) {
    Lane sum = {};
    for (Index e = 0; e < w.padded; e += kLane) {
      Lane t = length * at(w.t + e);
      t = t < 0 ? t : Lane{};
      const Lane y = at(w.y + e), left = 1.0 + t;
      const Lane allowed = left > kLeastLeft ? left : Lane{} + kLeastLeft;
      sum -= y * t * t * t / allowed;
      sum += (left < kLeastLeft ? y : Lane{}) * kForbidden;
    }
    return 0.5 * sum_of(sum);
  }

  PURSUIT_INLINE static void newton(RowWork& w) {
    double* gradient = w.sums + w.rank();
    Index count = 0;
    for (Index k = w.d.first; k < w.rank(); ++k) {
      const double slope = w.linear(k) - w.slope[k];
      if (!(w.u[k] > 0 || slope < 0)) continue;
      gradient[count] = slope;
      w.active[count++] = k;
    }
    if (count == 0) return;
    curvatures(w, count);
    solve(w, count, gradient, w.sums);
    double linear = 0, promised = 0;  // g . d, and half of (g + H d) . d beside it
    for (Index a = 0; a < count; ++a) {
      linear += gradient[a] * w.step[a];
      promised += 0.5 * (w.sums[a] + gradient[a]) * w.step[a];
    }
    if (!(promised < 0)) return;
    for_tiles(
        w, [&](Index first, Index length) __attribute__((always_inline)) {
          combine(w, first, length, 0.0, count, w.active, w.step, w.t);
        });
    for (Index e = 0; e < w.padded; e += kLane) at(w.t + e) /= at(w.x + e);
    double length = 1;
    int halvings = 0;
    const double bend = promised - linear;
    while (!(length * linear + length * length * bend + excess(w, length) <= 0)) {
      if (++halvings > kHalvings) return;
      length *= 0.5;
    }
    for (Index a = 0; a < count; ++a) {
      double& u = w.u[w.active[a]];
      u = length == 1 && w.step[a] == -u ? 0.0 : std::max(0.0, u + length * w.step[a]);
    }
    for (Index e = 0; e < w.padded; e += kLane) at(w.x + e) *= 1.0 + length * at(w.t + e);
  }

  PURSUIT_INLINE static double costs(const RowWork& w) {
    Lane sum = {};
    for (Index e = 0; e < w.padded; e += kLane) {
      Lane log;
      logarithm(at(w.x + e), log);
      sum += at(w.exposed + e) * (at(w.x + e) - w.d.floor) - at(w.y + e) * log;
    }
    return sum_of(sum);
  }

  PURSUIT_INLINE static double descend(RowWork& w) {
    model(w);
    slopes(w);
    if (cover(w) || rescale(w)) slopes(w);
    newton(w);
    return w.d.value ? costs(w) : 0.0;
  }
  PURSUIT_INLINE static void gram(RowWork& w) {
    std::iota(w.active, w.active + w.rank(), Index(0));
    products(w, w.rank());
  }
  PURSUIT_INLINE static double stay(RowWork& w) {
    model(w);
    return costs(w);
  }
};

PURSUIT_KERNEL_V4 double descend_v4(RowWork& w) {
  return RowKernel<Wide, WideBits>::descend(w);
}
PURSUIT_KERNEL_V3 double descend_v3(RowWork& w) {
  return RowKernel<Pack, PackBits>::descend(w);
}
double descend_baseline(RowWork& w) {
  return RowKernel<Pack, PackBits>::descend(w);
}
PURSUIT_KERNEL_V4 double stay_v4(RowWork& w) {
  return RowKernel<Wide, WideBits>::stay(w);
}
PURSUIT_KERNEL_V3 double stay_v3(RowWork& w) {
  return RowKernel<Pack, PackBits>::stay(w);
}
double stay_baseline(RowWork& w) {
  return RowKernel<Pack, PackBits>::stay(w);
}

PURSUIT_KERNEL_V4 void gram_v4(RowWork& w) {
  RowKernel<Wide, WideBits>::gram(w);
}
PURSUIT_KERNEL_V3 void gram_v3(RowWork& w) {
  RowKernel<Pack, PackBits>::gram(w);
}
void gram_baseline(RowWork& w) {
  RowKernel<Pack, PackBits>::gram(w);
}

}  // namespace

double RowNewton::descend(const CountRow& row, const RowDescent& d, const double* background, double scale,
                          double* u) {
  RowWork w = work_of(row, d, background, scale, u, memory_);
  switch (level_) {
    case KernelLevel::v4: return descend_v4(w);
    case KernelLevel::v3: return descend_v3(w);
    default: return descend_baseline(w);
  }
}

void RowNewton::gram(const CountRow& row, const FactorRows& other, const double* factors, double* sums) {
  const RowDescent d{other, 0};
  RowWork w = work_of(row, d, nullptr, 0, nullptr, memory_);
  std::copy_n(factors, row.size, w.q);
  std::fill(w.q + row.size, w.q + w.padded, 0.0);
  switch (level_) {
    case KernelLevel::v4: gram_v4(w); break;
    case KernelLevel::v3: gram_v3(w); break;
    default: gram_baseline(w);
  }
  std::copy_n(w.hessian, other.rank * other.rank, sums);
}

double RowNewton::costs(const CountRow& row, const RowDescent& d, const double* u, double* x) {
  RowWork w = work_of(row, d, nullptr, 0, const_cast<double*>(u), memory_);
  const double result = level_ == KernelLevel::v4   ? stay_v4(w)
                        : level_ == KernelLevel::v3 ? stay_v3(w)
                                                    : stay_baseline(w);
  if (x) std::copy_n(w.x, row.size, x);
  return result;
}

}  // namespace pursuit
